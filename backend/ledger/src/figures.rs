//! Sums of the ledger by business day, for reports: what an outlet earned, sold and returned, and what it owes (docs/board.md, Figures). Days are the parts
//! between `bounds`, which are in their order.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, OutletId, OwnerId};
use nyala_core::domain::ledger_kind::{LedgerKind, newer_kinds};
use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::error::LedgerError;

/// Condition, as a literal: the movement `l` is of a customer. Test starts are paid, with nothing, by an account of the house; they are in no
/// figure. This is the only place that says so.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_customers {
    () => {
        "(l.jumlah > 0 OR l.idcustomer NOT IN (SELECT h.idcustomer FROM customer_global g JOIN customer h ON h.id_customer_global = g.id \
         WHERE g.internal))"
    };
}
pub use __is_customers as is_customers;

/// The machine of the post `l`, as a literal. Older posts have none.
#[doc(hidden)]
#[macro_export]
macro_rules! __machine_of_post {
    () => {
        "COALESCE(l.idmesin, (SELECT t.idmesin FROM snap_transaksi t WHERE t.id = l.idtransaksi))"
    };
}
pub use __machine_of_post as machine_of_post;

/// Which days of which outlet.
#[derive(Debug, Clone, Copy)]
pub struct Days<'a> {
    pub idoutlet: OutletId,
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

/// What happened at a machine on a day: posts, or refunds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfMachine {
    pub day: usize,
    pub idmesin: MachineId,
    pub count: i64,
    /// Rupiah.
    pub amount: i64,
    /// Who refunded, as the ledger has it; empty of posts.
    pub by: String,
}

/// $1 outlet, $2 bounds, $3 the first, $4 the last of them.
pub const POSTS: &str = concat!(
    "
SELECT day, idmesin, count(*), SUM(jumlah)::BIGINT, '' FROM (
    SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, ",
    machine_of_post!(),
    " AS idmesin, l.jumlah
    FROM ledger_transfer l
    WHERE l.kind = 'post' AND l.idoutlet = $1 AND l.created_at >= $3 AND l.created_at < $4 AND ",
    is_customers!(),
    "
) p GROUP BY day, idmesin"
);

const REFUNDS: &str = "
SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, t.idmesin, count(*), SUM(l.jumlah)::BIGINT, l.aktor
FROM ledger_transfer l JOIN snap_transaksi t ON t.id = l.idtransaksi
WHERE l.kind IN ('hapus', 'refund') AND l.idoutlet = $1 AND l.created_at >= $3 AND l.created_at < $4 GROUP BY day, t.idmesin, l.aktor";

/// Cycles that began, and what they cost.
pub async fn posts(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<OfMachine>, LedgerError> {
    days.read(tx, POSTS).await?.iter().map(of_machine).collect()
}

/// Refunds and deletions.
pub async fn refunds(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<OfMachine>, LedgerError> {
    days.read(tx, REFUNDS).await?.iter().map(of_machine).collect()
}

/// $1 outlet, $2 begin, $3 end.
const TOTAL: &str = concat!(
    "
SELECT count(*), COALESCE(SUM(l.jumlah), 0)::BIGINT FROM ledger_transfer l
WHERE l.kind = 'post' AND l.idoutlet = $1 AND l.created_at >= $2 AND l.created_at < $3 AND ",
    is_customers!()
);

/// How many cycles began, and what they cost together.
pub async fn total(
    tx: &Transaction<'_>,
    idoutlet: OutletId,
    (from, until): (Timestamp, Timestamp),
) -> Result<(i64, i64), LedgerError> {
    let stmt = tx.prepare_cached(TOTAL).await?;
    let row = tx.query_one(&stmt, &[&idoutlet, &from, &until]).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
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

const OWED: &str = "
SELECT c.idoutlet, SUM(q.credits_posted - q.debits_posted)::BIGINT FROM customer c JOIN quota_emoney q USING (idcustomer)
WHERE c.idoutlet = ANY($1) GROUP BY c.idoutlet";

/// What the outlets of an owner owe now: balances of the accounts that were opened there, held money too.
pub async fn owed(tx: &Transaction<'_>, outlets: &[OutletId]) -> Result<Vec<(OutletId, i64)>, LedgerError> {
    let stmt = tx.prepare_cached(OWED).await?;
    let rows = tx.query(&stmt, &[&outlets]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// All outlets of an owner.
pub async fn outlets_of(tx: &Transaction<'_>, idowner: OwnerId) -> Result<Vec<OutletId>, LedgerError> {
    let stmt = tx.prepare_cached("SELECT idoutlet FROM outlet WHERE idowner = $1 ORDER BY idoutlet").await?;
    Ok(tx.query(&stmt, &[&idowner]).await?.iter().map(|row| row.get(0)).collect())
}

/// What changed the balances of the accounts that were opened at an outlet. They are used at all outlets of its owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Balance that was sold.
    pub topup: i64,
    /// Balance that was taken back.
    pub reversed: i64,
    /// Posts.
    pub used: i64,
    /// Refunds and deletions.
    pub refunded: i64,
    /// Paid out in cash.
    pub paid_out: i64,
    /// Bonus and expired balance that ended.
    pub forfeited: i64,
    /// Balance of another system.
    pub opening: i64,
}

impl Changes {
    pub const fn sum(&self) -> i64 {
        self.topup - self.reversed - self.used + self.refunded - self.paid_out - self.forfeited + self.opening
    }
}

/// $1 outlets of the accounts, $2 bounds, $3 the first of them, $4 all outlets of the owner. What comes after the last bound is a part, too.
pub const CHANGED: &str = concat!(
    "
SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, 'post', SUM(l.jumlah)::BIGINT
FROM ledger_transfer l JOIN customer c ON c.idcustomer = l.idcustomer AND c.idoutlet = ANY($1)
WHERE l.kind = 'post' AND l.idoutlet = ANY($4) AND l.created_at >= $3 GROUP BY day
UNION ALL
SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, 'refund', SUM(l.jumlah)::BIGINT
FROM ledger_transfer l JOIN customer c ON c.idcustomer = l.idcustomer AND c.idoutlet = ANY($1)
WHERE l.kind IN ('hapus', 'refund') AND l.idoutlet = ANY($4) AND l.created_at >= $3 GROUP BY day
UNION ALL
SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, 'batal', SUM(l.jumlah)::BIGINT
FROM ledger_transfer l JOIN customer c ON c.idcustomer = l.idcustomer AND c.idoutlet = ANY($1)
WHERE l.kind IN ('batal', 'void') AND l.kind = 'batal' AND l.idoutlet = ANY($4) AND l.created_at >= $3 GROUP BY day
UNION ALL
SELECT width_bucket(p.created_at, $2::TIMESTAMPTZ[]) AS day, 'topup', SUM(p.quota)::BIGINT
FROM pembelian_emoney p JOIN customer c ON c.idcustomer = p.idcustomer AND c.idoutlet = ANY($1)
WHERE p.idoutlet = ANY($4) AND p.created_at >= $3 GROUP BY day
UNION ALL
SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, l.kind, SUM(l.jumlah)::BIGINT
FROM ledger_transfer l JOIN customer c ON c.idcustomer = l.idcustomer AND c.idoutlet = ANY($1)
WHERE l.kind IN ",
    newer_kinds!(),
    " AND l.idoutlet = ANY($4) AND l.created_at >= $3 GROUP BY day, l.kind"
);

/// What changed the balances of accounts of the outlets `of`, at any of the `outlets` of their owner: on each day, and last everything after
/// the last bound.
pub async fn changed(
    tx: &Transaction<'_>,
    bounds: &[Timestamp],
    (of, outlets): (&[OutletId], &[OutletId]),
) -> Result<Vec<Changes>, LedgerError> {
    let stmt = tx.prepare_cached(CHANGED).await?;
    let first = bounds.first().copied().unwrap_or_default();
    let rows = tx.query(&stmt, &[&of, &bounds, &first, &outlets]).await?;
    let mut changes = vec![Changes::default(); bounds.len()];
    for row in &rows {
        let (kind, amount): (LedgerKind, i64) = (row.try_get(1)?, row.try_get(2)?);
        let of = changes.get_mut(day(row)?).ok_or_else(|| LedgerError::internal("a day outside of the period"))?;
        match kind {
            LedgerKind::TopUp => of.topup += amount,
            LedgerKind::Reversal => of.reversed += amount,
            LedgerKind::Post => of.used += amount,
            LedgerKind::Refund | LedgerKind::Deletion => of.refunded += amount,
            LedgerKind::Payout => of.paid_out += amount,
            LedgerKind::Forfeit => of.forfeited += amount,
            LedgerKind::Opening => of.opening += amount,
            // A move stays at its outlet: its two rows cancel.
            LedgerKind::MoveIn | LedgerKind::MoveOut => {}
            LedgerKind::Hold | LedgerKind::Void => return Err(LedgerError::internal("a hold owes its customer nothing new")),
        }
    }
    Ok(changes)
}

const CASH: &str = "
SELECT width_bucket(s.ditutup_at, $2::TIMESTAMPTZ[]) AS day, SUM(s.selisih)::BIGINT FROM shift s
WHERE s.idoutlet = $1 AND s.ditutup_at >= $3 AND s.ditutup_at < $4 GROUP BY day";

/// What drawers had more than expected (less: negative) when they were counted, by day.
pub async fn cash_differences(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<(usize, i64)>, LedgerError> {
    days.read(tx, CASH).await?.iter().map(|row| Ok((day(row)?, row.try_get(1)?))).collect()
}

/// $1 outlet.
pub const SINCE_SERVICE: &str = concat!(
    "
SELECT p.idmesin, count(*) FROM (
    SELECT ",
    machine_of_post!(),
    " AS idmesin, l.created_at FROM ledger_transfer l
    WHERE l.kind = 'post' AND l.idoutlet = $1
        AND l.created_at >= (SELECT min(COALESCE(m.servis_at, m.created_at - INTERVAL '100 years')) FROM mesin m WHERE m.idoutlet = $1 AND m.aktif)
        AND ",
    is_customers!(),
    "
) p JOIN mesin m USING (idmesin) WHERE m.servis_at IS NULL OR p.created_at > m.servis_at GROUP BY p.idmesin"
);

/// Cycles of each machine since it was serviced, or since it is there.
pub async fn since_service(tx: &Transaction<'_>, idoutlet: OutletId) -> Result<Vec<(MachineId, i64)>, LedgerError> {
    let stmt = tx.prepare_cached(SINCE_SERVICE).await?;
    let rows = tx.query(&stmt, &[&idoutlet]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}
