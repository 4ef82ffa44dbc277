//! What a test start is bought with: an outlet's internal customer and its service 'Uji', which are made when they are first needed.

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{CustomerId, OutletId, OwnerId, ServiceId, WalletId};
use nyala_core::domain::timestamp::Timestamp;

use super::error::LedgerError;
use super::topup::{AccountKind, WalletRef, open_account};

/// The longest test start, in seconds.
pub const MAX_TEST_S: i32 = 120;
/// The service's name.
const SERVICE: &str = "Uji";

/// Pulses of a machine's tests since an instant, as SQL. $4 machine.
macro_rules! tested_pulses {
    ($since:literal) => {
        concat!(
            "(SELECT sum(s.pulsa) FROM snap_transaksi s WHERE s.idmesin = $4 AND s.uji AND s.durasi_s = 0 AND s.created_at >= ",
            $since,
            ")"
        )
    };
}
pub(crate) use tested_pulses;

/// Who buys a test start at an outlet, and what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HouseAccount {
    pub id_customer_global: CustomerId,
    pub idcustomer: WalletId,
    pub idlayanan: ServiceId,
}

/// The house account of an outlet. It has no balance, because a test start costs nothing.
pub async fn house_account(
    tx: &Transaction<'_>,
    idoutlet: OutletId,
    idowner: OwnerId,
    now: Timestamp,
) -> Result<HouseAccount, LedgerError> {
    const FIND: &str = "
        SELECT c.id_customer_global, c.idcustomer, l.idlayanan
        FROM outlet o JOIN customer c ON c.idcustomer = o.idcustomer_uji JOIN layanan l ON l.idoutlet = o.idoutlet AND l.internal
        WHERE o.idoutlet = $1";
    let find = tx.prepare_cached(FIND).await?;
    let found = async || -> Result<Option<HouseAccount>, LedgerError> {
        let row = tx.query_opt(&find, &[&idoutlet]).await?;
        Ok(row.map(|row| HouseAccount { id_customer_global: row.get(0), idcustomer: row.get(1), idlayanan: row.get(2) }))
    };
    if let Some(account) = found().await? {
        return Ok(account);
    }
    // Under the lock of the outlet, another call may have made it.
    tx.query_one("SELECT FROM outlet WHERE idoutlet = $1 FOR NO KEY UPDATE", &[&idoutlet]).await?;
    if let Some(account) = found().await? {
        return Ok(account);
    }
    const CUSTOMER: &str = "
        INSERT INTO customer_global (internal, nama_awal, nama_akhir, created_at, updated_at) VALUES (TRUE, $1, 'Mesin', $2, $2) RETURNING id";
    const SERVE: &str = "
        INSERT INTO layanan (idoutlet, nama, durasi_s, harga, aktif, internal, created_at) VALUES ($1, $2, $3, 0, FALSE, TRUE, $4)";
    const KEEP: &str = "
        UPDATE outlet SET idcustomer_uji = (SELECT idcustomer FROM customer WHERE id_customer_global = $2 AND idoutlet = $1)
        WHERE idoutlet = $1";
    let id_customer_global: CustomerId = tx.query_one(CUSTOMER, &[&SERVICE, &now]).await?.get(0);
    open_account(tx, WalletRef { id_customer_global, idoutlet, idowner }, AccountKind::Lasting, now).await?;
    tx.execute(SERVE, &[&idoutlet, &SERVICE, &MAX_TEST_S, &now]).await?;
    tx.execute(KEEP, &[&idoutlet, &id_customer_global]).await?;
    found().await?.ok_or_else(|| LedgerError::internal(format!("outlet {idoutlet} has no house account")))
}
