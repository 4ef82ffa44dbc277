//! Sums by business day, for reports: what an outlet earned, sold and returned, and what it owes (docs/board.md, Figures). Days are the parts
//! between `bounds`, which are in their order.

pub mod balances;
pub mod coins;
pub mod cycles;

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::Day;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::error::LedgerError;

/// Condition, as a literal: the movement `l` is of a customer. Test starts are paid, with nothing, by an account of the house; they are in no
/// figure. Only this says so, and the function `siklus_buku` for `siklus_hari`.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_customers {
    () => {
        "(l.jumlah > 0 OR l.idcustomer NOT IN (SELECT h.idcustomer FROM customer_global g JOIN customer h ON h.id_customer_global = g.id \
         WHERE g.internal))"
    };
}
pub use __is_customers as is_customers;

/// Which days of which outlet.
#[derive(Debug, Clone, Copy)]
pub struct Days<'a> {
    pub idoutlet: OutletId,
    pub first: Day,
    /// When each day begins, and when the last one ends.
    pub bounds: &'a [Timestamp],
}

impl Days<'_> {
    fn from(&self) -> Timestamp {
        self.bounds.first().copied().unwrap_or_default()
    }

    fn until(&self) -> Timestamp {
        self.bounds.last().copied().unwrap_or_default()
    }

    /// The day after the last one.
    fn after(&self) -> Day {
        (1..self.bounds.len()).fold(self.first, |day, _| day.plus(1))
    }

    async fn read(&self, tx: &Transaction<'_>, sql: &str) -> Result<Vec<Row>, LedgerError> {
        let stmt = tx.prepare_cached(sql).await?;
        let params: [&(dyn ToSql + Sync); 4] = [&self.idoutlet, &self.bounds, &self.from(), &self.until()];
        Ok(tx.query(&stmt, &params).await?)
    }
}

/// The number of a row's day among [`Days`], the first column.
fn day(row: &Row) -> Result<usize, LedgerError> {
    let bucket: i32 = row.try_get(0)?;
    usize::try_from(bucket - 1).map_err(LedgerError::internal)
}

/// What happened at a machine on a day: posts, refunds, coins, or pulses of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfMachine {
    pub day: usize,
    pub idmesin: MachineId,
    pub count: i64,
    /// Rupiah.
    pub amount: i64,
    /// Who refunded, as the ledger has it; otherwise empty.
    pub by: String,
}

/// $1 outlet, $2 bounds, $3 the first, $4 the last of them.
const REFUNDS: &str = "
SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, t.idmesin, count(*), SUM(l.jumlah)::BIGINT, l.aktor
FROM ledger_transfer l JOIN snap_transaksi t ON t.id = l.idtransaksi
WHERE l.kind IN ('hapus', 'refund') AND l.idoutlet = $1 AND l.created_at >= $3 AND l.created_at < $4 GROUP BY day, t.idmesin, l.aktor";

/// Refunds and deletions.
pub async fn refunds(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<OfMachine>, LedgerError> {
    days.read(tx, REFUNDS).await?.iter().map(of_machine).collect()
}

/// Found by the outlet's house account, which has no other purchases.
const TESTED_PULSES: &str = "
SELECT width_bucket(t.created_at, $2::TIMESTAMPTZ[]) AS day, t.idmesin, SUM(t.pulsa)::BIGINT, 0::BIGINT, ''
FROM outlet o JOIN customer c ON c.idcustomer = o.idcustomer_uji JOIN snap_transaksi t ON t.id_customer_global = c.id_customer_global
WHERE o.idoutlet = $1 AND t.uji AND t.durasi_s = 0 AND t.created_at >= $3 AND t.created_at < $4 GROUP BY day, t.idmesin";

/// Pulses of tests, those that a device has refused, too.
pub async fn tested_pulses(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<OfMachine>, LedgerError> {
    days.read(tx, TESTED_PULSES).await?.iter().map(of_machine).collect()
}

fn of_machine(row: &Row) -> Result<OfMachine, LedgerError> {
    Ok(OfMachine {
        day: day(row)?,
        idmesin: row.try_get(1)?,
        count: row.try_get(2)?,
        amount: row.try_get(3)?,
        by: row.try_get(4)?,
    })
}

/// Top-ups that were reversed, or holds that were voided, on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned {
    pub day: usize,
    /// A top-up was reversed; otherwise a hold was voided.
    pub is_reversal: bool,
    pub count: i64,
    /// Rupiah of balance.
    pub amount: i64,
    /// Who did it, as the ledger has it.
    pub by: String,
}

const RETURNED: &str = concat!(
    "
SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, l.kind = 'batal', count(*), SUM(l.jumlah)::BIGINT, l.aktor
FROM ledger_transfer l
WHERE l.kind IN ('batal', 'void') AND l.idoutlet = $1 AND l.created_at >= $3 AND l.created_at < $4 AND ",
    is_customers!(),
    " GROUP BY day, l.kind, l.aktor"
);

/// Reversals and voids.
pub async fn returned(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<Returned>, LedgerError> {
    let read = |row: &Row| {
        Ok(Returned {
            day: day(row)?,
            is_reversal: row.try_get(1)?,
            count: row.try_get(2)?,
            amount: row.try_get(3)?,
            by: row.try_get(4)?,
        })
    };
    days.read(tx, RETURNED).await?.iter().map(read).collect()
}

/// Top-ups of a day by means of payment, those that were reversed later, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sold {
    pub day: usize,
    /// `tunai`, `qris`, `transfer`; `None`: not said.
    pub means: Option<String>,
    pub count: i64,
    /// Rupiah that were paid.
    pub paid: i64,
    /// Rupiah of balance.
    pub quota: i64,
}

const SOLD: &str = "
SELECT width_bucket(p.created_at, $2::TIMESTAMPTZ[]) AS day, p.cara_bayar, count(*), SUM(p.harga_paket)::BIGINT, SUM(p.quota)::BIGINT
FROM pembelian_emoney p WHERE p.idoutlet = $1 AND p.created_at >= $3 AND p.created_at < $4 GROUP BY day, p.cara_bayar";

/// Top-ups.
pub async fn sold(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<Sold>, LedgerError> {
    let read = |row: &Row| {
        Ok(Sold { day: day(row)?, means: row.try_get(1)?, count: row.try_get(2)?, paid: row.try_get(3)?, quota: row.try_get(4)? })
    };
    days.read(tx, SOLD).await?.iter().map(read).collect()
}

const CASH: &str = "
SELECT width_bucket(s.ditutup_at, $2::TIMESTAMPTZ[]) AS day, SUM(s.selisih)::BIGINT FROM shift s
WHERE s.idoutlet = $1 AND s.ditutup_at >= $3 AND s.ditutup_at < $4 GROUP BY day";

/// What drawers had more than expected (less: negative) when they were counted, by day.
pub async fn cash_differences(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<(usize, i64)>, LedgerError> {
    days.read(tx, CASH).await?.iter().map(|row| Ok((day(row)?, row.try_get(1)?))).collect()
}
