//! Cycles that began, and what they cost. Whole days are read from `siklus_hari`, which each post keeps in its own transaction; parts of days
//! from the ledger.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::{Calendar, Day};

use super::{Days, OfMachine, is_customers, of_machine};
use crate::error::LedgerError;

/// $1 outlet, $2 the first day, $3 the day after the last one. Days are counted from 1.
const POSTS: &str = "
SELECT hari - $2::DATE + 1, idmesin, SUM(siklus)::BIGINT, SUM(jumlah)::BIGINT, '' FROM siklus_hari
WHERE idoutlet = $1 AND hari >= $2 AND hari < $3 GROUP BY hari, idmesin";

/// Cycles of each day by machine.
pub async fn posts(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<OfMachine>, LedgerError> {
    let stmt = tx.prepare_cached(POSTS).await?;
    let rows = tx.query(&stmt, &[&days.idoutlet, &days.first, &days.after()]).await?;
    rows.iter().map(of_machine).collect()
}

/// $1 outlet, $2 the first day, $3 the day in which the time ends, $4 when that begins, $5 the end.
const TOTAL: &str = concat!(
    "
SELECT COALESCE(SUM(n), 0)::BIGINT, COALESCE(SUM(amount), 0)::BIGINT FROM (
    SELECT SUM(siklus), SUM(jumlah) FROM siklus_hari WHERE idoutlet = $1 AND hari >= $2 AND hari < $3
    UNION ALL
    SELECT count(*), SUM(l.jumlah) FROM ledger_transfer l
    WHERE l.kind = 'post' AND l.idoutlet = $1 AND l.created_at >= $4 AND l.created_at < $5 AND ",
    is_customers!(),
    "
) p (n, amount)"
);

/// How many cycles began from a day on until an instant, and what they cost together.
pub async fn total(
    tx: &Transaction<'_>,
    (idoutlet, calendar): (OutletId, &Calendar),
    first: Day,
    until: Timestamp,
) -> Result<(i64, i64), LedgerError> {
    let last = calendar.day_of(until);
    let stmt = tx.prepare_cached(TOTAL).await?;
    let row = tx.query_one(&stmt, &[&idoutlet, &first, &last, &calendar.begin(last), &until]).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

/// $1 outlet. The rest of the day of a service is read from the ledger; older posts have no machine there.
const SINCE_SERVICE: &str = concat!(
    "
WITH m AS MATERIALIZED (
    SELECT m.idmesin, m.servis_at, d.hari, awal_hari(d.hari + 1, o.zona, o.hari_mulai) AS besok
    FROM mesin m JOIN outlet o USING (idoutlet), hari_usaha(m.servis_at, o.zona, o.hari_mulai) d (hari)
    WHERE m.idoutlet = $1
)
SELECT idmesin, SUM(n)::BIGINT FROM (
    SELECT idmesin, s.siklus FROM siklus_hari s JOIN m USING (idmesin)
    WHERE s.idoutlet = $1 AND s.hari > COALESCE(m.hari, '-infinity')
    UNION ALL
    SELECT m.idmesin, p.n FROM m, LATERAL (
        SELECT count(*) FROM ledger_transfer l
        WHERE l.kind = 'post' AND l.idoutlet = $1 AND l.created_at > m.servis_at AND l.created_at < m.besok
            AND COALESCE(l.idmesin, (SELECT t.idmesin FROM snap_transaksi t WHERE t.id = l.idtransaksi)) = m.idmesin AND ",
    is_customers!(),
    "
    ) p (n) WHERE m.servis_at IS NOT NULL
) c (idmesin, n) GROUP BY idmesin"
);

/// Cycles of each machine since it was serviced, or since it is there.
pub async fn since_service(tx: &Transaction<'_>, idoutlet: OutletId) -> Result<Vec<(MachineId, i64)>, LedgerError> {
    let stmt = tx.prepare_cached(SINCE_SERVICE).await?;
    let rows = tx.query(&stmt, &[&idoutlet]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}
