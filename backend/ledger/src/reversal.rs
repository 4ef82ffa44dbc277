//! A top-up that is taken back: the wallet pays the outlet that issued it, the whole quota and once (docs/till.md).

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{CustomerId, OutletId, TillId, TopUpId, WalletId};
use nyala_core::domain::scope::Scope;
use nyala_core::domain::timestamp::Timestamp;

use super::cash::CashKind;
use super::error::LedgerError;
use super::refund::Grounds;
use super::shift;
use super::topup::REVERSE_WITHIN_MS;
use crate::payout::top_up_counts;
use crate::push_queue::queue_back;

/// A top-up whose row is locked.
#[derive(Debug)]
pub struct ReversibleTopUp {
    id: TopUpId,
    /// Rupiah that were paid for it.
    nominal: i64,
    created_at: Timestamp,
    reversed: bool,
    /// Its cash lies in a drawer that is counted.
    is_tills_cash: bool,
}

/// Who reverses.
#[derive(Debug, Clone, Copy)]
pub struct Reverser {
    /// The browser of the till where it happens.
    pub browser: Option<TillId>,
    /// May reverse what is older than half an hour.
    pub any_age: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reversed {
    pub idcustomer: WalletId,
    pub id_customer_global: CustomerId,
    pub idoutlet: OutletId,
    pub quota: i64,
    pub nominal: i64,
    pub balance: i64,
}

/// Finds and locks a top-up; 404 when it belongs to another owner or outlet.
pub async fn lock(tx: &Transaction<'_>, id: TopUpId, scope: Scope) -> Result<ReversibleTopUp, LedgerError> {
    const LOCK: &str = "
        SELECT harga_paket, created_at, batal_at IS NOT NULL, idshift IS NOT NULL AND cara_bayar = 'tunai' FROM pembelian_emoney
        WHERE id = $1 AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3) FOR UPDATE";
    let stmt = tx.prepare_cached(LOCK).await?;
    let row = tx.query_opt(&stmt, &[&id, &scope.owner, &scope.outlet]).await?;
    let row = row.ok_or(LedgerError::NotFound("top-up tidak ditemukan"))?;
    Ok(ReversibleTopUp { id, nominal: row.get(0), created_at: row.get(1), reversed: row.get(2), is_tills_cash: row.get(3) })
}

/// The movement mirrors the top-up's. No row when the wallet has less than the quota. $1 top-up, $2 now, $3 actor, $4 reason.
const REVERSE: &str = concat!(
    "
    WITH sold AS (
        SELECT debit_akun, credit_akun, jumlah, id_customer_global, idcustomer, idoutlet FROM ledger_transfer
        WHERE idpembelian_emoney = $1 AND kind = 'topup'
    ), wallet AS (
        UPDATE quota_emoney q SET debits_posted = q.debits_posted + s.jumlah, updated_at = $2
        FROM sold s WHERE q.idcustomer = s.idcustomer AND q.saldo >= s.jumlah RETURNING q.saldo
    ), sale AS (
        UPDATE pembelian_emoney SET batal_at = $2 WHERE id = $1 AND EXISTS (SELECT FROM wallet)
    ), movement AS (
        INSERT INTO ledger_transfer
            (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, alasan, created_at)
        SELECT 'batal', s.credit_akun, s.debit_akun, s.jumlah, $1, s.id_customer_global, s.idcustomer, s.idoutlet, $3::TEXT, $4::TEXT, $2
        FROM sold s, wallet
    ), told AS (
        SELECT s.id_customer_global FROM sold s, wallet
    ), ",
    queue_back!("topup_batal", "$1", "told", "$2"),
    "
    SELECT s.idcustomer, s.id_customer_global, s.idoutlet, s.jumlah, w.saldo FROM sold s, wallet w"
);

/// Kind and expiry of the account follow the top-ups that are neither reversed nor paid out, those of earlier versions together, and returned
/// money. Without such a top-up they stay until the next one, and so they do in an account into which balance was moved or brought along. A
/// separate statement, so that it sees the reversal. $1 account, $2 customer.
const FOLLOW: &str = concat!(
    "
    WITH standing AS (
        SELECT count(*) AS many, bool_or(jenis_emoney IS NULL) AS older, bool_or(jenis_emoney = 1) AS dated, max(masa_aktif) AS until,
            max(created_at) AS newest
        FROM pembelian_emoney p WHERE id_customer_global = $2 AND idcustomer = $1 AND ",
    top_up_counts!(),
    "
    ), kept AS (
        SELECT s.newest, s.many > 0 AND NOT EXISTS (SELECT FROM ledger_transfer l
                WHERE l.id_customer_global = $2 AND l.idcustomer = $1 AND l.kind IN ('pindah_masuk', 'saldo_awal')) AS stands, CASE WHEN s.older THEN COALESCE(q.jenis_dulu, q.jenis_emoney) WHEN s.dated THEN 1 ELSE 2 END AS kind,
            GREATEST(s.until, q.kembali_sampai,
                CASE WHEN s.older THEN CASE WHEN q.jenis_dulu IS NULL THEN q.masa_aktif ELSE q.masa_aktif_dulu END END) AS until
        FROM quota_emoney q, standing s WHERE q.idcustomer = $1
    )
    UPDATE quota_emoney q SET topup_at = k.newest,
        jenis_emoney = CASE WHEN k.stands THEN k.kind ELSE q.jenis_emoney END,
        masa_aktif = CASE WHEN NOT k.stands THEN q.masa_aktif WHEN k.kind = 1 THEN k.until END
    FROM kept k WHERE q.idcustomer = $1"
);

/// Reverses the top-up. 409 when it is already reversed, or when it was paid in cash and no drawer is open here. 422 when the balance or the
/// drawer has too little, or after half an hour.
pub async fn reverse(
    tx: &Transaction<'_>,
    top_up: &ReversibleTopUp,
    by: Reverser,
    grounds: Grounds<'_>,
) -> Result<Reversed, LedgerError> {
    let Grounds { principal, reason, now } = grounds;
    if top_up.reversed {
        return Err(LedgerError::Conflict("top-up sudah dibatalkan"));
    }
    // Before the wallet: the order of locks.
    let drawer = match (top_up.is_tills_cash, by.browser) {
        (true, Some(browser)) => Some(shift::hold_alone(tx, browser).await?),
        (true, None) => return Err(LedgerError::Conflict("shift belum dibuka")),
        (false, Some(browser)) => {
            shift::hold_if_open(tx, browser).await?;
            None
        }
        (false, None) => None,
    };
    let stmt = tx.prepare_cached(REVERSE).await?;
    let row = tx.query_opt(&stmt, &[&top_up.id, &now, &principal, &reason]).await?;
    let row = row.ok_or(LedgerError::Unprocessable("saldo sudah terpakai"))?;
    let stmt = tx.prepare_cached(FOLLOW).await?;
    tx.execute(&stmt, &[&row.get::<_, WalletId>(0), &row.get::<_, CustomerId>(1)]).await?;
    // After the balance: what is spent, no owner takes back either.
    if !by.any_age && top_up.created_at.ms_until(now) > REVERSE_WITHIN_MS {
        return Err(LedgerError::Unprocessable("lewat 30 menit, minta pemilik"));
    }
    if let Some(shift) = drawer {
        let kind = CashKind::Reversal { idpembelian_emoney: top_up.id };
        shift::take_out(tx, shift, (kind, top_up.nominal), principal, now).await?;
    }
    Ok(Reversed {
        idcustomer: row.get(0),
        id_customer_global: row.get(1),
        idoutlet: row.get(2),
        quota: row.get(3),
        nominal: top_up.nominal,
        balance: row.get(4),
    })
}
