//! Whether a machine may be sold: the condition of each statement that shows it or takes it.

use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use tokio_postgres::Row;

/// An outlet that is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    pub reason: String,
    pub since: Timestamp,
    /// When it opens by itself.
    pub until: Option<Timestamp>,
}

impl Closing {
    /// Of a row with an outlet's `ditutup_alasan`, `ditutup_sejak` and `ditutup_sampai`: `None` when it is open at `now`.
    pub fn of(row: &Row, now: Timestamp) -> Result<Option<Self>, DbError> {
        let (reason, since): (Option<String>, Option<Timestamp>) =
            (row.try_get("ditutup_alasan")?, row.try_get("ditutup_sejak")?);
        let until: Option<Timestamp> = row.try_get("ditutup_sampai")?;
        let is_over = until.is_some_and(|until| until <= now);
        Ok(reason.zip(since).filter(|_| !is_over).map(|(reason, since)| Self { reason, since, until }))
    }
}

/// Condition, as a literal: the device of machine `m` can start it. Coin pulses need a board that says so; an older one would ignore them.
#[doc(hidden)]
#[macro_export]
macro_rules! __can_start {
    () => {
        "(m.cara = 'relai' OR m.driver = 'sim'
            OR EXISTS (SELECT FROM perangkat_kini k WHERE k.idmesin = m.idmesin AND 'pulse' = ANY (k.bisa)))"
    };
}
pub use __can_start as can_start;

/// Condition, as a literal: machine `m` runs, and no open purchase says so. Its device reports the run of another command, or the sensor of a coin
/// machine sees it run.
#[doc(hidden)]
#[macro_export]
macro_rules! __runs_unsold {
    () => {
        "(m.jalan_cmd_id IS NOT NULL OR m.cara = 'pulsa' AND m.online AND m.sense_sejak IS NOT NULL)"
    };
}
pub use __runs_unsold as runs_unsold;

/// Condition, as a literal: at `$now`, neither machine `m` nor its outlet `o` is closed, and the outlet is not being prepared.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_not_closed {
    ($now:literal) => {
        concat!("m.ditutup_sejak IS NULL AND ", $crate::on_sale::is_open!($now))
    };
}
pub use __is_not_closed as is_not_closed;

/// Condition, as a literal: at `$now`, neither machine `m` nor its outlet `o` is closed, the outlet is not being prepared, and the device can
/// start the machine.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_on_sale {
    ($now:literal) => {
        concat!("(", $crate::on_sale::is_not_closed!($now), " AND ", $crate::on_sale::can_start!(), ")")
    };
}
pub use __is_on_sale as is_on_sale;

/// Condition, as a literal: at `$now`, the outlet `o` sells. Never NULL, not even for an outlet that is closed without an end.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_open {
    ($now:literal) => {
        concat!(
            "(o.dibuka_at IS NOT NULL AND (o.ditutup_sejak IS NULL OR COALESCE(o.ditutup_sampai <= ",
            $now,
            "::TIMESTAMPTZ, FALSE)))"
        )
    };
}
pub use __is_open as is_open;

/// Condition, as a literal: the service `l` is made for the machine `m`.
#[doc(hidden)]
#[macro_export]
macro_rules! __fits {
    () => {
        "((l.jenis IS NULL OR l.jenis = m.jenis) AND (l.ukuran IS NULL OR l.ukuran = m.ukuran))"
    };
}
pub use __fits as fits;
