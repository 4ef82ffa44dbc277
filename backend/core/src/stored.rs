//! How values of this crate are stored in PostgreSQL. The trait and the types must meet in one of their two crates; the feature `sql`
//! keeps the database out of everything else here.

use bytes::BytesMut;
use postgres_types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::domain::driver_kind::DriverKind;
use crate::domain::id::{self, for_each_id};
use crate::domain::ledger_kind::LedgerKind;
use crate::domain::machine_kind::MachineKind;
use crate::domain::shard::Shard;
use crate::domain::timestamp::Timestamp;
use crate::figures::calendar::Day;
use crate::purchase::state::PurchaseState;

/// Milliseconds between the Unix epoch and PostgreSQL's (2000-01-01).
const PG_EPOCH_MS: i64 = 946_684_800_000;

type SqlError = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for Timestamp {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, SqlError> {
        let micros = (self.ms() - PG_EPOCH_MS).checked_mul(1000).ok_or("instant out of range")?;
        out.extend_from_slice(&micros.to_be_bytes());
        Ok(IsNull::No)
    }
    accepts!(TIMESTAMPTZ);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Timestamp {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        let micros = i64::from_be_bytes(raw.try_into()?);
        Ok(Self::from_ms(micros.div_euclid(1000) + PG_EPOCH_MS))
    }
    accepts!(TIMESTAMPTZ);
}

impl ToSql for Day {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, SqlError> {
        out.extend_from_slice(&self.since_2000().to_be_bytes());
        Ok(IsNull::No)
    }
    accepts!(DATE);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for DriverKind {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        let text = <&str>::from_sql(ty, raw)?;
        Self::from_stored(text).ok_or_else(|| format!("unknown driver {text}").into())
    }
    accepts!(TEXT);
}

impl ToSql for MachineKind {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, SqlError> {
        self.as_str().to_sql(ty, out)
    }
    accepts!(TEXT);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for MachineKind {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        let text = <&str>::from_sql(ty, raw)?;
        Self::from_stored(text).ok_or_else(|| format!("unknown kind of machine {text}").into())
    }
    accepts!(TEXT);
}

impl<'a> FromSql<'a> for LedgerKind {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        let text = <&str>::from_sql(ty, raw)?;
        Self::from_stored(text).ok_or_else(|| format!("unknown kind of ledger row {text}").into())
    }
    accepts!(TEXT);
}

impl ToSql for PurchaseState {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, SqlError> {
        self.as_str().to_sql(ty, out)
    }
    accepts!(TEXT);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for PurchaseState {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        let text = <&str>::from_sql(ty, raw)?;
        Self::from_stored(text).ok_or_else(|| format!("unknown state {text}").into())
    }
    accepts!(TEXT);
}

impl ToSql for Shard {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, SqlError> {
        self.get().to_sql(ty, out)
    }
    accepts!(INT4);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Shard {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
        i32::from_sql(ty, raw).map(Self::new)
    }
    accepts!(INT4);
}

macro_rules! store {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            impl ToSql for id::$name {
                fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, SqlError> {
                    self.get().to_sql(ty, out)
                }
                accepts!(INT8);
                to_sql_checked!();
            }

            impl<'a> FromSql<'a> for id::$name {
                fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, SqlError> {
                    i64::from_sql(ty, raw).map(Self::new)
                }
                accepts!(INT8);
            }
        )*
    };
}
for_each_id!(store);
