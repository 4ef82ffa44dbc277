//! Money that returns to a wallet which has expired in the meantime extends it by some days, once after each top-up (docs/contract.md §4).

use deadpool_postgres::GenericClient;
use nyala_core::domain::id::WalletId;
use nyala_core::domain::timestamp::Timestamp;

use super::error::LedgerError;

/// Assignments for the statement that returns `$amount` to the wallet `q` at `$now`, with the wallet's customer `c` and outlet `o`. They read
/// only that row, so that a statement which waited for its lock sees the new values.
#[doc(hidden)]
#[macro_export]
macro_rules! __usable_again {
    ($now:literal, $amount:literal) => {
        concat!(
            "masa_aktif = CASE WHEN ",
            $crate::came_back::expired_anew!($now, $amount),
            " THEN ",
            $now,
            "::TIMESTAMPTZ + make_interval(days => o.kembali_hari) ELSE q.masa_aktif END, kembali_sampai = CASE WHEN ",
            $crate::came_back::expired_anew!($now, $amount),
            " THEN ",
            $now,
            "::TIMESTAMPTZ + make_interval(days => o.kembali_hari) ELSE q.kembali_sampai END, kembali_at = CASE WHEN ",
            $crate::came_back::expired_anew!($now, $amount),
            " THEN ",
            $now,
            "::TIMESTAMPTZ ELSE q.kembali_at END"
        )
    };
}
pub use __usable_again as usable_again;

/// A top-up at the instant of the last time came after it: what expires at an instant is not topped up at it.
#[doc(hidden)]
#[macro_export]
macro_rules! __expired_anew {
    ($now:literal, $amount:literal) => {
        concat!(
            "NOT ",
            $crate::expiry::is_good!($now),
            " AND ",
            $amount,
            " > 0 AND (q.kembali_at IS NULL OR q.topup_at >= q.kembali_at)"
        )
    };
}
pub use __expired_anew as expired_anew;

/// Until when money that came back since `since` has made the account valid, if it did: the instant, and its text in the outlet's time zone.
pub async fn usable_until(
    client: &impl GenericClient,
    idcustomer: WalletId,
    since: Timestamp,
) -> Result<Option<(Timestamp, String)>, LedgerError> {
    const UNTIL: &str = "
        SELECT q.kembali_sampai, to_char(q.kembali_sampai AT TIME ZONE o.zona, 'DD/MM/YYYY HH24:MI')
        FROM quota_emoney q JOIN customer c USING (idcustomer) JOIN outlet o ON o.idoutlet = c.idoutlet
        WHERE q.idcustomer = $1 AND q.jenis_emoney = 1 AND q.masa_aktif = q.kembali_sampai AND q.kembali_at >= $2";
    let stmt = client.prepare_cached(UNTIL).await?;
    Ok(client.query_opt(&stmt, &[&idcustomer, &since]).await?.map(|row| (row.get(0), row.get(1))))
}
