//! Coins that boards have counted, and what they were worth when they were. They are in no drawer and no balance.

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::{MachineId, ShiftId};
use nyala_core::domain::timestamp::Timestamp;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::{Days, OfMachine, of_machine};
use crate::error::LedgerError;

/// Coins that were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Koin {
    pub jumlah: i64,
    /// What they were worth when they were counted.
    pub rupiah: i64,
}

/// By day and machine.
///
/// # Errors
/// When the database does not answer.
pub async fn by_machine(tx: &Transaction<'_>, days: Days<'_>) -> Result<Vec<OfMachine>, LedgerError> {
    const COUNTED: &str = "
        SELECT width_bucket(h.dihitung_at, $2::TIMESTAMPTZ[]) AS day, h.idmesin, SUM(h.jumlah)::BIGINT, SUM(h.nilai)::BIGINT, ''
        FROM koin_hitung h WHERE h.idoutlet = $1 AND h.dihitung_at >= $3 AND h.dihitung_at < $4 GROUP BY day, h.idmesin";
    days.read(tx, COUNTED).await?.iter().map(of_machine).collect()
}

/// Of the shift's outlet, since the shift was opened; `None`: none of its boards counts coins.
///
/// # Errors
/// When the database does not answer.
pub async fn since_opening(client: &impl GenericClient, shift: ShiftId, until: Timestamp) -> Result<Option<Koin>, LedgerError> {
    const SUM: &str = "
        SELECT COALESCE(SUM(h.jumlah), 0)::BIGINT, COALESCE(SUM(h.nilai), 0)::BIGINT
        FROM shift b LEFT JOIN koin_hitung h ON h.idoutlet = b.idoutlet AND h.dihitung_at >= b.dibuka_at AND h.dihitung_at < $2
        WHERE b.id = $1 AND EXISTS (SELECT FROM koin_seri s JOIN mesin m USING (idmesin) WHERE m.idoutlet = b.idoutlet)
        GROUP BY b.id";
    let stmt = client.prepare_cached(SUM).await?;
    client.query_opt(&stmt, &[&shift, &until]).await?.as_ref().map(koin).transpose()
}

/// Of a machine, in all and since a moment; `None`: its board counts no coins.
///
/// # Errors
/// When the database does not answer.
pub async fn of_machine_since(
    client: &impl GenericClient,
    idmesin: MachineId,
    from: Timestamp,
) -> Result<Option<(i64, Koin)>, LedgerError> {
    const SUM: &str = "
        SELECT COALESCE(SUM(h.jumlah), 0)::BIGINT, COALESCE(SUM(h.nilai), 0)::BIGINT, s.jumlah
        FROM koin_seri s LEFT JOIN koin_hitung h ON h.idmesin = s.idmesin AND h.dihitung_at >= $2 WHERE s.idmesin = $1 GROUP BY s.idmesin";
    let stmt = client.prepare_cached(SUM).await?;
    let Some(row) = client.query_opt(&stmt, &[&idmesin, &from]).await? else { return Ok(None) };
    Ok(Some((row.try_get(2)?, koin(&row)?)))
}

fn koin(row: &Row) -> Result<Koin, LedgerError> {
    Ok(Koin { jumlah: row.try_get(0)?, rupiah: row.try_get(1)? })
}
