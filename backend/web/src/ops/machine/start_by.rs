//! How a machine is started: by a relay that stays closed, or by coin pulses (docs/contract.md §6).

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::whole::Whole;
use nyala_core::purchase::device::Pulses;
use nyala_ledger::pulse_machines;
use nyala_store::db::pool::DbClient;
use serde::{Deserialize, Serialize};
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use crate::http::error::AppError;

/// What starts a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cara {
    /// A relay that is closed for the whole run.
    Relai,
    /// Coin pulses; the machine runs its own cycle.
    Pulsa,
}

impl Cara {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Relai => "relai",
            Self::Pulsa => "pulsa",
        }
    }

    pub fn from_stored(text: &str) -> Self {
        if text == Self::Pulsa.as_str() { Self::Pulsa } else { Self::Relai }
    }
}

/// Fields about it, of a new machine or of one that is changed. What is not given keeps its value.
#[derive(Debug, Clone, Copy, Default)]
pub struct StartBy {
    /// `relai` when never given. It changes while nothing runs.
    pub way: Option<Cara>,
    /// Milliseconds; 50 and 100 when never given.
    pub width: Option<Whole>,
    pub gap: Option<Whole>,
    /// Seconds without its running signal after which the machine has ended; 60 when never given.
    pub sense: Option<Whole>,
    /// Pulses of each service at this machine; null: as many as the service says.
    pub pulses: Option<Option<Whole>>,
    /// Rupiah of a coin that falls into it; 0 when never given.
    pub coin_value: Option<Rupiah>,
}

/// Number of pulses in a request.
///
/// # Errors
/// 400 when it is out of range.
pub fn number(pulses: Whole) -> Result<i32, AppError> {
    whole("pulsa", pulses, Pulses::MAX)
}

fn whole(field: &str, value: Whole, max: i32) -> Result<i32, AppError> {
    let valid = i32::try_from(value.get()).ok().filter(|value| (1..=max).contains(value));
    valid.ok_or_else(|| AppError::bad_input(format!("{field} harus 1 sampai {max}")))
}

/// How a machine is started, as it is stored.
#[derive(Debug, Serialize, ToSchema)]
pub struct Menyala {
    cara: Cara,
    /// Milliseconds.
    lebar_ms: i32,
    jeda_ms: i32,
    /// Seconds.
    sense_s: i32,
    /// Null: as many as the service says.
    #[schema(required)]
    pulsa: Option<i32>,
}

impl Menyala {
    /// With the rupiah of a coin that falls into the machine.
    ///
    /// # Errors
    /// 404, and the database's.
    pub async fn read(client: &DbClient, idmesin: MachineId) -> Result<(Self, i32), AppError> {
        const READ: &str = "SELECT cara, lebar_ms, jeda_ms, sense_s, pulsa, nilai_koin FROM mesin WHERE idmesin = $1";
        let stmt = client.prepare_cached(READ).await?;
        let row = client.query_opt(&stmt, &[&idmesin]).await?.ok_or(AppError::MachineNotFound)?;
        let starts = Self {
            cara: Cara::from_stored(row.try_get(0)?),
            lebar_ms: row.try_get(1)?,
            jeda_ms: row.try_get(2)?,
            sense_s: row.try_get(3)?,
            pulsa: row.try_get(4)?,
        };
        Ok((starts, row.try_get(5)?))
    }
}

impl StartBy {
    /// Whether nothing is to change.
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self { way: None, width: None, gap: None, sense: None, pulses: None, coin_value: None })
    }

    /// Comes before the transaction of [`StartBy::apply`].
    ///
    /// # Errors
    /// 503 while a server of an older release is alive, which would start the machine by its relay.
    pub async fn check(&self, client: &DbClient) -> Result<(), AppError> {
        if self.way == Some(Cara::Pulsa) {
            pulse_machines::check(client).await?;
        }
        Ok(())
    }

    /// Stores the fields of a machine whose row is locked. One that is `reactivated` is checked, too: a service may have more pulses by now.
    ///
    /// # Errors
    /// 400 for a number out of range, 422 for pulses that take too long.
    pub async fn apply(&self, tx: &Transaction<'_>, idmesin: MachineId, reactivated: bool) -> Result<(), AppError> {
        const CHANGE: &str = "
            UPDATE mesin SET cara = COALESCE($2, cara), lebar_ms = COALESCE($3, lebar_ms), jeda_ms = COALESCE($4, jeda_ms),
                sense_s = COALESCE($5, sense_s), pulsa = CASE WHEN $6 THEN $7 ELSE pulsa END,
                nilai_koin = COALESCE($8::BIGINT::INT, nilai_koin)
            WHERE idmesin = $1
            RETURNING cara, lebar_ms, jeda_ms, COALESCE(pulsa, (SELECT max(l.pulsa) FROM layanan l WHERE l.idoutlet = mesin.idoutlet AND l.aktif), 1)";
        const MAX_MS: i32 = 5_999;
        if self.is_empty() && !reactivated {
            return Ok(());
        }
        if self.way == Some(Cara::Pulsa) {
            pulse_machines::refuse_older(tx).await?;
        }
        let of = |field, value: Option<Whole>, max| value.map(|value| whole(field, value, max)).transpose();
        let (width, gap) = (of("lebar_ms", self.width, MAX_MS)?, of("jeda_ms", self.gap, MAX_MS)?);
        let (sense, pulses) = (of("sense_s", self.sense, Pulses::MAX_SENSE_S)?, self.pulses.flatten().map(number).transpose()?);
        let way = self.way.map(Cara::as_str);
        let coin = self.coin_value.map(|value| value.within("nilai_koin", 0)).transpose()?;
        let params: [&(dyn ToSql + Sync); 8] = [&idmesin, &way, &width, &gap, &sense, &self.pulses.is_some(), &pulses, &coin];
        let row = tx.query_one(CHANGE, &params).await?;
        let stored = Pulses { width_ms: row.try_get(1)?, gap_ms: row.try_get(2)?, n: row.try_get(3)?, sense_s: 1 };
        let by_pulses = Cara::from_stored(row.try_get(0)?) == Cara::Pulsa;
        if by_pulses && !stored.are_valid() { Err(TOO_LONG) } else { Ok(()) }
    }
}

/// Refuses pulses of a service that would take too long at a machine of the outlet.
///
/// # Errors
/// 422.
pub async fn fits(tx: &Transaction<'_>, idoutlet: OutletId, n: i32) -> Result<(), AppError> {
    const LONGEST: &str = "
        SELECT lebar_ms, jeda_ms FROM mesin WHERE idoutlet = $1 AND cara = 'pulsa' AND pulsa IS NULL AND aktif
        ORDER BY lebar_ms + jeda_ms DESC LIMIT 1";
    let Some(row) = tx.query_opt(LONGEST, &[&idoutlet]).await? else { return Ok(()) };
    let pulses = Pulses { n, width_ms: row.try_get(0)?, gap_ms: row.try_get(1)?, sense_s: 1 };
    if pulses.are_valid() { Ok(()) } else { Err(TOO_LONG) }
}

/// [`Pulses::MAX_MS`].
const TOO_LONG: AppError = AppError::Unprocessable("pulsa x (lebar_ms + jeda_ms) paling lama 6000 ms");
