//! Balance that is paid out in cash: all that was paid for and is still there. The bonus ends with it (docs/money.md, Paying out).

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::expiry::has_expired;
use nyala_core::domain::id::{CustomerId, OutletId, PayoutId, ShiftId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::open_states;

use super::cash::CashKind;
use super::error::LedgerError;
use super::{newer_kinds, paid, shift};
use crate::push_queue::queue_balance;

/// Condition, as a literal: the top-up `p` was neither reversed nor paid out, so it decides kind and expiry of its account.
#[doc(hidden)]
#[macro_export]
macro_rules! __top_up_counts {
    () => {
        "p.batal_at IS NULL AND p.id > COALESCE((SELECT max(n.sampai_topup) FROM penarikan n WHERE n.idcustomer = p.idcustomer), 0)"
    };
}
pub use __top_up_counts as top_up_counts;

/// What a payout of the whole account pays, and what ends with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payable {
    pub paid: i64,
    pub bonus: i64,
}

/// A customer's account at an outlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayoutAccount {
    pub customer: CustomerId,
    pub wallet: WalletId,
    pub idoutlet: OutletId,
}

/// Locks the account's wallet, and says what it pays. Purchases are looked for after that: one that comes later finds no balance.
///
/// # Errors
/// 409 `nomor ini baru pindah, tunggu 24 jam`, 409 `masih ada mesin yang belum selesai`, 422 `saldo ini sudah kedaluwarsa`,
/// 422 `tidak ada saldo yang bisa ditarik`.
pub async fn payable(tx: &Transaction<'_>, account: PayoutAccount, now: Timestamp) -> Result<Payable, LedgerError> {
    const LOCK: &str = "SELECT jenis_emoney, masa_aktif FROM quota_emoney WHERE idcustomer = $1 FOR NO KEY UPDATE";
    const HAS_MOVED: &str =
        "SELECT EXISTS (SELECT FROM pindah WHERE dari = $1 AND cara = 'kasir' AND selesai_at > $2 AND sebab IS NULL)";
    let stmt = tx.prepare_cached(LOCK).await?;
    let row = tx.query_one(&stmt, &[&account.wallet]).await?;
    let expires = (row.try_get::<_, i16>(0)? == 1).then(|| row.try_get(1)).transpose()?;
    let stmt = tx.prepare_cached(HAS_MOVED).await?;
    if tx.query_one(&stmt, &[&account.customer, &now.plus_ms(-AFTER_MOVE_MS)]).await?.try_get(0)? {
        return Err(LedgerError::Conflict("nomor ini baru pindah, tunggu 24 jam"));
    }
    if has_open_purchase(tx, account.customer, Some(account.wallet)).await? {
        return Err(LedgerError::Conflict("masih ada mesin yang belum selesai"));
    }
    if expires.is_some_and(|expires| has_expired(expires, now)) {
        return Err(LedgerError::Unprocessable("saldo ini sudah kedaluwarsa"));
    }
    let balance = paid::balance(tx, account.customer, account.wallet).await?;
    if balance.paid() == 0 {
        return Err(LedgerError::Unprocessable("tidak ada saldo yang bisa ditarik"));
    }
    Ok(Payable { paid: balance.paid(), bonus: balance.bonus() })
}

/// How long after a move at a till nothing is paid out: who has taken over a number does not get cash at once.
const AFTER_MOVE_MS: i64 = 24 * 60 * 60 * 1000;

/// Whether a purchase of a customer is undecided or runs, of one account or of any.
///
/// # Errors
/// When the database does not answer.
pub async fn has_open_purchase(
    client: &impl GenericClient,
    customer: CustomerId,
    wallet: Option<WalletId>,
) -> Result<bool, LedgerError> {
    const OPEN: &str = concat!(
        "SELECT EXISTS (SELECT FROM snap_transaksi
         WHERE id_customer_global = $1 AND ($2::BIGINT IS NULL OR idcustomer = $2) AND state IN ",
        open_states!(),
        ")"
    );
    let stmt = client.prepare_cached(OPEN).await?;
    Ok(client.query_one(&stmt, &[&customer, &wallet]).await?.try_get(0)?)
}

/// The wallet pays the outlet that issued its balance. $1 account, $2 customer, $3 outlet, $4 shift, $5 paid, $6 bonus, $7 actor, $8 now.
const PAY_OUT: &str = concat!(
    "
    WITH wallet AS (
        UPDATE quota_emoney SET debits_posted = debits_posted + $5::BIGINT + $6::BIGINT, updated_at = $8
        WHERE idcustomer = $1 RETURNING idcustomer, idakun, saldo
    ), payout AS (
        INSERT INTO penarikan (idcustomer, id_customer_global, idoutlet, idshift, dibayar, hangus, sampai_topup, aktor, created_at)
        SELECT idcustomer, $2, $3, $4, $5, $6,
            (SELECT max(p.id) FROM pembelian_emoney p WHERE p.id_customer_global = $2 AND p.idcustomer = $1), $7::TEXT, $8
        FROM wallet RETURNING id
    ), l AS (
        INSERT INTO ledger_transfer
            (kind, debit_akun, credit_akun, jumlah, idpenarikan, id_customer_global, idcustomer, idoutlet, aktor, created_at)
        SELECT m.kind, w.idakun, k.idakun, m.amount, p.id, $2, w.idcustomer, $3, $7::TEXT, $8
        FROM payout p, wallet w, akun k, (VALUES ('penarikan', $5), ('hangus', $6)) m (kind, amount)
        WHERE k.idoutlet = $3 AND k.jenis = 'K' AND m.amount > 0 ORDER BY m.kind = 'hangus'
        RETURNING id, id_customer_global, kind
    ), ",
    queue_balance!("(SELECT * FROM l WHERE kind = 'penarikan') l", "$8"),
    "
    SELECT p.id, w.saldo, (SELECT count(*) FROM l) FROM payout p, wallet w"
);

/// Empties the account, whose wallet [`payable`] has locked, and takes the cash out of the drawer of a shift that this transaction holds alone.
///
/// # Errors
/// 422 `uang di laci tidak cukup`.
pub async fn pay_out(
    tx: &Transaction<'_>,
    account: PayoutAccount,
    amount: Payable,
    shift: ShiftId,
    (principal, now): (&str, Timestamp),
) -> Result<PayoutId, LedgerError> {
    newer_kinds::refuse_older(tx).await?;
    let PayoutAccount { customer, wallet, idoutlet } = account;
    let Payable { paid, bonus } = amount;
    let stmt = tx.prepare_cached(PAY_OUT).await?;
    let row = tx.query_one(&stmt, &[&wallet, &customer, &idoutlet, &shift, &paid, &bonus, &principal, &now]).await?;
    let (idpenarikan, left, rows): (PayoutId, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if (left, rows) != (0, if bonus > 0 { 2 } else { 1 }) {
        return Err(LedgerError::internal(format!("payout {idpenarikan} leaves {left} rupiah by {rows} rows")));
    }
    shift::take_out(tx, shift, (CashKind::Payout { idpenarikan }, paid), principal, now).await?;
    Ok(idpenarikan)
}
