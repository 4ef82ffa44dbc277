//! What outlets owe: the balances of the accounts that were opened there, and what changed them.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{OutletId, OwnerId};
use nyala_core::domain::ledger_kind::LedgerKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::{Calendar, Day};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::day;
use crate::error::LedgerError;

const OWED: &str = "
SELECT c.idoutlet, SUM(q.credits_posted - q.debits_posted)::BIGINT FROM customer c JOIN quota_emoney q USING (idcustomer)
WHERE c.idoutlet = ANY($1) GROUP BY c.idoutlet";

/// What the outlets of an owner owe now: balances of the accounts that were opened there, held money too.
pub async fn owed(tx: &Transaction<'_>, outlets: &[OutletId]) -> Result<Vec<(OutletId, i64)>, LedgerError> {
    let stmt = tx.prepare_cached(OWED).await?;
    let rows = tx.query(&stmt, &[&outlets]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// All outlets of an owner, with their days.
pub async fn outlets_of(tx: &Transaction<'_>, idowner: OwnerId) -> Result<Vec<(OutletId, Calendar)>, LedgerError> {
    const OUTLETS: &str = "SELECT idoutlet, zona, hari_mulai FROM outlet WHERE idowner = $1 ORDER BY idoutlet";
    let stmt = tx.prepare_cached(OUTLETS).await?;
    let read = |row: &Row| {
        let calendar = Calendar::stored(row.try_get(1)?, row.try_get(2)?);
        Ok((row.try_get(0)?, calendar.ok_or_else(|| LedgerError::internal("an outlet without days"))?))
    };
    tx.query(&stmt, &[&idowner]).await?.iter().map(read).collect()
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

    fn add(&mut self, kind: LedgerKind, amount: i64) {
        match kind {
            LedgerKind::TopUp => self.topup += amount,
            LedgerKind::Reversal => self.reversed += amount,
            LedgerKind::Post => self.used += amount,
            LedgerKind::Refund | LedgerKind::Deletion => self.refunded += amount,
            LedgerKind::Payout => self.paid_out += amount,
            LedgerKind::Forfeit => self.forfeited += amount,
            LedgerKind::Opening => self.opening += amount,
            // A move stays at its outlet: its two rows cancel. A hold owes its customer nothing new.
            LedgerKind::MoveIn | LedgerKind::MoveOut | LedgerKind::Hold | LedgerKind::Void => {}
        }
    }
}

/// $1 outlets of the accounts, $2 bounds, $3 the first of them, $4 all outlets of the owner, and of each of these the whole days that `siklus_hari` is
/// read for: $5 the first of them, $6 when it begins, $7 its number. What comes after the last bound ($8) is a part, too.
/// Before them the ledger is read, outlet by outlet: as a join of ranges, a generic plan would read all of it.
const CHANGED: &str = "
WITH o AS (SELECT * FROM unnest($4::BIGINT[], $5::DATE[], $6::TIMESTAMPTZ[], $7::INTEGER[]) o (idoutlet, hari, dari, nomor))
SELECT LEAST(o.nomor + s.hari - o.hari, $8::INTEGER) AS day, 'post' AS kind, SUM(s.jumlah)::BIGINT
FROM o JOIN siklus_hari s ON s.idoutlet = o.idoutlet AND s.hari >= o.hari AND s.idoutlet_akun = ANY($1) GROUP BY day
UNION ALL
SELECT p.day, 'post', p.jumlah FROM o, LATERAL (
    SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, SUM(l.jumlah)::BIGINT AS jumlah
    FROM ledger_transfer l JOIN customer c ON c.idcustomer = l.idcustomer AND c.idoutlet = ANY($1)
    WHERE l.kind = 'post' AND l.idoutlet = o.idoutlet AND l.created_at >= $3 AND l.created_at < o.dari GROUP BY day
) p
UNION ALL
SELECT width_bucket(l.created_at, $2::TIMESTAMPTZ[]) AS day, l.kind, SUM(l.jumlah)::BIGINT
FROM ledger_transfer l JOIN customer c ON c.idcustomer = l.idcustomer AND c.idoutlet = ANY($1)
WHERE l.kind NOT IN ('pending', 'post', 'void') AND l.idoutlet = ANY($4) AND l.created_at >= $3 GROUP BY day, l.kind";

/// What changed the balances of accounts of the outlets `of`, at any of the `outlets` of their owner: on each day from `first` on, and last
/// everything after the last bound.
pub async fn changed(
    tx: &Transaction<'_>,
    (first, bounds): (Day, &[Timestamp]),
    of: &[OutletId],
    outlets: &[(OutletId, Calendar)],
) -> Result<Vec<Changes>, LedgerError> {
    let (Some(begin), Some(end)) = (bounds.first(), bounds.last()) else { return Ok(Vec::new()) };
    let after = i32::try_from(bounds.len()).map_err(LedgerError::internal)?;
    let (mut ids, mut days, mut begins, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (id, calendar) in outlets {
        // The days of another outlet may be others: then only those after the period are whole.
        let is_same = (0..).zip(bounds).all(|(n, bound)| calendar.begin(first.plus(n)) == *bound);
        let day = if is_same { first } else { calendar.day_from(*end) };
        ids.push(*id);
        days.push(day);
        begins.push(calendar.begin(day));
        numbers.push(if is_same { 1 } else { after });
    }
    let stmt = tx.prepare_cached(CHANGED).await?;
    let params: [&(dyn ToSql + Sync); 8] = [&of, &bounds, begin, &ids, &days, &begins, &numbers, &after];
    let mut changes = vec![Changes::default(); bounds.len()];
    for row in &tx.query(&stmt, &params).await? {
        let changes = changes.get_mut(day(row)?).ok_or_else(|| LedgerError::internal("a day outside of the period"))?;
        changes.add(row.try_get(1)?, row.try_get(2)?);
    }
    Ok(changes)
}
