//! Database ids: JSON numbers in answers, numbers or decimal strings in requests (docs/contract.md §1).

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::whole;

/// The most digits an id has: nineteen may be past 64 bits.
pub const MAX_DIGITS: usize = 18;

/// Calls a macro with each id type and its docstring: here, in `schema` and in `stored`.
macro_rules! for_each_id {
    ($apply:ident) => {
        $apply! {
            /// An id of whatever its place names: a cursor of a list, a filter.
            Id,
            /// A customer: `id_customer_global`.
            CustomerId,
            /// A customer's E-Pay account at one outlet: `idcustomer`.
            WalletId,
            /// `idmesin`.
            MachineId,
            /// `idoutlet`.
            OutletId,
            /// `idowner`.
            OwnerId,
            /// A call of a customer who waits for a machine: `panggilan.id`.
            CallId,
            /// A service of an outlet: `idlayanan`.
            ServiceId,
            /// A package of an outlet: `idpaket`.
            PackageId,
            /// `snap_transaksi.id`.
            PurchaseId,
            /// A top-up: `idpembelian_emoney`.
            TopUpId,
            /// A payout: `idpenarikan`.
            PayoutId,
            /// A move to a new number: `idpindah`.
            MoveId,
            /// A balance of another system: `idsaldo_awal`.
            OpeningId,
            /// A member of staff, or a program with a key: `kunci_operator.id`.
            StaffId,
            /// A till's browser: `id_perangkat`.
            TillId,
            /// A member of staff who has logged in at a till: `sesi_petugas.id`.
            TillSessionId,
            /// `idshift`.
            ShiftId,
            /// A device's key: `device_key.id`.
            DeviceKeyId,
            /// One start of a server of the cluster: `node.idnode`.
            NodeId,
            /// An alert: `alarm.id`.
            AlertId,
            /// A message of an alert to one browser: `alarm_kirim.id`.
            AlertMessageId,
            /// What a customer says went wrong with a purchase: `keluhan.id`.
            ComplaintId,
            /// A question about a device that is connected to another server: `device_question.id`.
            QuestionId,
        }
    };
}
pub(crate) use for_each_id;

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
            #[serde(transparent)]
            pub struct $name(i64);

            impl $name {
                /// Of a number that is known to be an id.
                pub const fn new(number: i64) -> Self {
                    Self(number)
                }

                pub const fn get(self) -> i64 {
                    self.0
                }

                pub const fn to_be_bytes(self) -> [u8; 8] {
                    self.0.to_be_bytes()
                }

                pub const fn from_be_bytes(bytes: [u8; 8]) -> Self {
                    Self(i64::from_be_bytes(bytes))
                }

                /// `None` unless `text` is a plain positive decimal number of at most [`MAX_DIGITS`] digits that count.
                pub fn parse(text: &str) -> Option<Self> {
                    parse(text).map(Self)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }

            /// Any number, as an operator types it after a command: `parse` is for what comes over the network.
            impl FromStr for $name {
                type Err = ParseIntError;
                fn from_str(text: &str) -> Result<Self, ParseIntError> {
                    text.parse().map(Self)
                }
            }

            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                    d.deserialize_any(IdVisitor).map(Self)
                }
            }
        )*
    };
}
for_each_id!(define);

/// No machine, outlet or customer will ever have it.
pub const MAX: i64 = 999_999_999_999_999_999;

fn parse(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| plain).and_then(within)
}

fn within(n: i64) -> Option<i64> {
    (1..=MAX).contains(&n).then_some(n)
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = i64;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("id berupa bilangan bulat positif")
    }
    fn visit_u64<E: de::Error>(self, v: u64) -> Result<i64, E> {
        i64::try_from(v).ok().and_then(within).ok_or_else(|| E::custom("id harus bilangan bulat positif"))
    }
    fn visit_i64<E: de::Error>(self, v: i64) -> Result<i64, E> {
        within(v).ok_or_else(|| E::custom("id harus bilangan bulat positif"))
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<i64, E> {
        whole::from_f64(v).and_then(within).ok_or_else(|| E::invalid_type(de::Unexpected::Float(v), &self))
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<i64, E> {
        parse(v).ok_or_else(|| E::custom("id harus bilangan bulat positif"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Id, MAX};

    #[test]
    fn a_number_and_a_string_are_the_same_id() {
        assert_eq!(serde_json::from_str::<Id>("7").unwrap(), serde_json::from_str::<Id>("\"7\"").unwrap());
        assert_eq!(serde_json::from_str::<Id>("7.0").unwrap(), serde_json::from_str::<Id>("\"007\"").unwrap());
        assert_eq!(Id::parse("999999999999999999"), Some(Id::new(MAX)));
        for bad in [
            "0",
            "-1",
            "1.5",
            "\"\"",
            "\"+7\"",
            "\"7 \"",
            "null",
            "1000000000000000000",
            "\"1000000000000000000\"",
            "1e18",
            "true",
        ] {
            assert!(serde_json::from_str::<Id>(bad).is_err(), "{bad}");
        }
    }
}
