//! Top-up: the outlet issues e-money (its account K) into a wallet. The first one opens the account there (docs/contract.md §4).

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::error::DomainError;
use nyala_core::domain::expiry::has_expired;
use nyala_core::domain::id::{CustomerId, OutletId, OwnerId, PackageId, ShiftId, TopUpId, WalletId};
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::cash::{self, CashKind};
use super::error::LedgerError;
use super::shift;
use crate::payout::top_up_counts;

pub const DEFAULT_PACKAGE: &str = "Top-Up";
/// For how many days a paid sale is usable, at least, in an account into which it could not have been sold.
const PAID_DAYS: i32 = 7;
/// 9999-12-31T23:59:59.999Z, the last instant that RFC 3339 can write.
const LAST_INSTANT_MS: i64 = 253_402_300_799_999;

/// The kind of an E-Pay account (docs/product.md §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountKind {
    /// 1: expires at `masa_aktif`; a later top-up may move that on, never back.
    Expiring { masa_aktif: Timestamp },
    /// 2: never expires.
    Lasting,
    /// No kind was requested: an existing account keeps its kind, a new one is of kind 2.
    Plain,
}

impl AccountKind {
    /// 2 unless asked otherwise; 1 needs `masa_aktif`, 2 refuses it. Every failure is a 400.
    pub fn parse(kind: Option<i64>, masa_aktif: Option<Timestamp>) -> Result<Self, DomainError> {
        match (kind.unwrap_or(2), masa_aktif) {
            (2, None) if kind.is_none() => Ok(Self::Plain),
            (1, Some(masa_aktif)) if (1..=LAST_INSTANT_MS).contains(&masa_aktif.ms()) => Ok(Self::Expiring { masa_aktif }),
            (1, Some(_)) => Err(DomainError::malformed("masa_aktif harus milidetik epoch sampai tahun 9999")),
            (1, None) => Err(DomainError::malformed("jenis_emoney 1 perlu masa_aktif (milidetik epoch)")),
            (2, None) => Ok(Self::Lasting),
            (2, Some(_)) => Err(DomainError::malformed("jenis_emoney 2 tidak kedaluwarsa, jangan isi masa_aktif")),
            _ => Err(DomainError::malformed("jenis_emoney harus 1 atau 2")),
        }
    }

    pub fn number(self) -> i16 {
        match self {
            Self::Expiring { .. } => 1,
            Self::Lasting | Self::Plain => 2,
        }
    }

    pub fn masa_aktif(self) -> Option<Timestamp> {
        match self {
            Self::Expiring { masa_aktif } => Some(masa_aktif),
            Self::Lasting | Self::Plain => None,
        }
    }

    /// Kind and expiry that a package or an outlet gives: valid for `days` days from now, or plain.
    pub fn given(days: Option<i32>, now: Timestamp) -> Self {
        days.map_or(Self::Plain, |days| Self::Expiring { masa_aktif: after_days(now, days) })
    }
}

const fn after_days(now: Timestamp, days: i32) -> Timestamp {
    now.plus_ms(days as i64 * 24 * 60 * 60 * 1000)
}

/// Why a sale into an account is refused.
const OTHER_KIND: &str = "rekening E-Pay di outlet itu berjenis lain";
const EXPIRED: &str = "saldo di outlet itu sudah kedaluwarsa, pilih paket yang punya masa berlaku";

/// An account as a sale meets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    pub idcustomer: WalletId,
    pub kind: AccountKind,
    /// It is empty and has no top-up that is neither reversed nor paid out: it takes the kind of the next one.
    pub fresh: bool,
}

impl Account {
    /// The kind after a sale of `sold`; the 409 when it cannot be sold.
    pub fn after(self, sold: AccountKind, now: Timestamp) -> Result<AccountKind, &'static str> {
        use AccountKind::{Expiring, Lasting, Plain};
        match (self.kind, sold) {
            _ if self.fresh => Ok(sold),
            (Expiring { masa_aktif }, Plain) if has_expired(masa_aktif, now) => Err(EXPIRED),
            (Expiring { .. }, Plain) => Ok(self.kind),
            (Expiring { masa_aktif: before }, Expiring { masa_aktif }) => Ok(Expiring { masa_aktif: before.max(masa_aktif) }),
            (Lasting | Plain, Lasting | Plain) => Ok(Lasting),
            _ => Err(OTHER_KIND),
        }
    }

    /// The kind after a sale that is paid already and is never refused: one that could not be sold leaves the account as it is, and the
    /// balance usable for a week.
    fn after_paid(self, sold: AccountKind, now: Timestamp) -> AccountKind {
        self.after(sold, now).unwrap_or(match self.kind {
            AccountKind::Expiring { masa_aktif } => {
                AccountKind::Expiring { masa_aktif: masa_aktif.max(after_days(now, PAID_DAYS)) }
            }
            lasting => lasting,
        })
    }
}

/// A customer's account at an outlet, if there is one.
pub async fn account(
    client: &impl GenericClient,
    id_customer_global: CustomerId,
    idoutlet: OutletId,
) -> Result<Option<Account>, LedgerError> {
    const ACCOUNT: &str = concat!(
        "SELECT q.idcustomer, q.jenis_emoney, q.masa_aktif, q.credits_posted = q.debits_posted AND NOT EXISTS (
            SELECT FROM pembelian_emoney p
            WHERE p.id_customer_global = c.id_customer_global AND p.idcustomer = c.idcustomer AND ",
        top_up_counts!(),
        ") FROM customer c JOIN quota_emoney q USING (idcustomer) WHERE c.id_customer_global = $1 AND c.idoutlet = $2"
    );
    let stmt = client.prepare_cached(ACCOUNT).await?;
    let row = client.query_opt(&stmt, &[&id_customer_global, &idoutlet]).await?;
    Ok(row.map(|row| {
        let expires = (row.get::<_, i16>(1) == 1).then(|| row.get(2));
        let kind = expires.map_or(AccountKind::Lasting, |masa_aktif| AccountKind::Expiring { masa_aktif });
        Account { idcustomer: row.get(0), kind, fresh: row.get(3) }
    }))
}

/// The same with a lock. It is a separate statement, so that the next one sees what the previous holder of the lock has committed.
async fn locked_account(tx: &Transaction<'_>, wallet: WalletRef) -> Result<Option<Account>, LedgerError> {
    const LOCK: &str = "
        SELECT FROM quota_emoney q JOIN customer c USING (idcustomer)
        WHERE c.id_customer_global = $1 AND c.idoutlet = $2 FOR NO KEY UPDATE OF q";
    let stmt = tx.prepare_cached(LOCK).await?;
    tx.query_opt(&stmt, &[&wallet.id_customer_global, &wallet.idoutlet]).await?;
    account(tx, wallet.id_customer_global, wallet.idoutlet).await
}

/// What is sold: `nominal` rupiah paid for `quota` rupiah of balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub nominal: i64,
    pub quota: i64,
    pub name: String,
    pub kind: AccountKind,
    /// One of the outlet's own.
    pub idpaket: Option<PackageId>,
}

impl Package {
    /// `quota` defaults to `nominal`, both 1 to 20,000,000; `name` to `Top-Up`. Every failure is a 400.
    pub fn parse(nominal: Rupiah, quota: Option<Rupiah>, name: Option<&str>, kind: AccountKind) -> Result<Self, DomainError> {
        let nominal = nominal.within("nominal", 1)?;
        let quota = quota.map_or(Ok(nominal), |q| q.within("quota", 1))?;
        let name = text::parse("nama_paket", name.unwrap_or(DEFAULT_PACKAGE), text::MAX_NAME_CHARS)?;
        Ok(Self { nominal, quota, name, kind, idpaket: None })
    }
}

/// How long anybody but an owner may take a top-up back.
pub const REVERSE_WITHIN_MS: i64 = 30 * 60 * 1000;
/// A sale of the same amount to the same customer at the same outlet within this time counts as a mistake until it is confirmed.
const TWIN_WITHIN_MS: i64 = 60 * 1000;
/// Sales of a kasir without a supervisor's yes count together for this long.
const ALONE_WITHIN_MS: i64 = 60 * 60 * 1000;

/// Means of payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Means {
    Tunai,
    Qris,
    Transfer,
}

impl Means {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tunai => "tunai",
            Self::Qris => "qris",
            Self::Transfer => "transfer",
        }
    }
}

/// The open shift of the till where it is sold, which this transaction holds.
#[derive(Debug, Clone, Copy)]
pub struct AtShift {
    pub id: ShiftId,
    pub means: Means,
    /// Sold although the same was sold a moment ago.
    pub again: bool,
}

/// How it is paid for.
#[derive(Debug, Clone, Copy)]
pub enum Payment {
    /// Outside of any shift; how, if it is known.
    OutsideShift(Option<Means>),
    AtShift(AtShift),
}

impl Payment {
    pub const fn means(self) -> Option<&'static str> {
        match self {
            Self::OutsideShift(None) => None,
            Self::OutsideShift(Some(means)) | Self::AtShift(AtShift { means, .. }) => Some(means.as_str()),
        }
    }

    const fn shift(self) -> Option<ShiftId> {
        match self {
            Self::OutsideShift(_) => None,
            Self::AtShift(shift) => Some(shift.id),
        }
    }
}

/// Whose wallet, at which outlet.
#[derive(Debug, Clone, Copy)]
pub struct WalletRef {
    pub id_customer_global: CustomerId,
    pub idoutlet: OutletId,
    pub idowner: OwnerId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToppedUp {
    pub idpembelian_emoney: TopUpId,
    pub idcustomer: WalletId,
    /// The balance after this top-up, in rupiah.
    pub balance: i64,
}

/// $1 customer, $2 outlet, $3 owner, $4 kind, $5 expiry, $6 now. Nothing when the account is there.
const OPEN: &str = "
    WITH made AS (
        INSERT INTO customer (id_customer_global, idoutlet, owner_idowner, created_at) VALUES ($1, $2, $3, $6)
        ON CONFLICT (id_customer_global, idoutlet) DO NOTHING RETURNING idcustomer
    ), wallet AS (
        INSERT INTO akun (jenis, idoutlet, idcustomer) SELECT 'W', $2, idcustomer FROM made RETURNING idakun, idcustomer
    )
    INSERT INTO quota_emoney (idcustomer, idakun, jenis_emoney, masa_aktif, updated_at)
    SELECT idcustomer, idakun, $4::SMALLINT, $5::TIMESTAMPTZ, $6 FROM wallet";

/// $1 account, $2 outlet, $3 its kind, $4 its expiry, $5 quota, $6 price, $7 package, $8 now, $9 actor, $10 means, $11 shift, $12 one of the
/// outlet's packages, $13 the sale's own kind, $14 its own expiry, $15 customer.
const APPLY: &str = "
    WITH wallet AS (
        UPDATE quota_emoney q SET credits_posted = q.credits_posted + $5,
            jenis_emoney = $3::SMALLINT, masa_aktif = $4::TIMESTAMPTZ, topup_at = $8, updated_at = $8,
            jenis_dulu = COALESCE(q.jenis_dulu, q.jenis_emoney),
            masa_aktif_dulu = CASE WHEN q.jenis_dulu IS NULL THEN q.masa_aktif ELSE q.masa_aktif_dulu END
        FROM customer c
        WHERE q.idcustomer = $1 AND c.idcustomer = q.idcustomer
        RETURNING q.idcustomer, q.idakun, q.saldo, c.owner_idowner
    ), sale AS (
        INSERT INTO pembelian_emoney
            (idcustomer, id_customer_global, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at,
             cara_bayar, idshift, idpaket, jenis_emoney, masa_aktif)
        SELECT idcustomer, $15::BIGINT, owner_idowner, $2, $7::TEXT, $6::BIGINT, $5, saldo, $8, $10, $11, $12, $13, $14 FROM wallet
        RETURNING id, idcustomer, saldo_akhir
    ), movement AS (
        INSERT INTO ledger_transfer
            (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, created_at)
        SELECT 'topup', k.idakun, w.idakun, $5, s.id, $15, w.idcustomer, $2, $9::TEXT, $8
        FROM sale s JOIN wallet w USING (idcustomer) JOIN akun k ON k.idoutlet = $2 AND k.jenis = 'K'
        RETURNING id
    )
    SELECT id, idcustomer, saldo_akhir, (SELECT count(*) FROM movement) FROM sale";

/// Precedes [`topup`]. Until the transaction ends no other sale to this customer at this outlet is made, so that the later one sees the sum of
/// both. For a sale at a shift it makes the refusals that no approval changes: 409 for the same sale a moment ago, 422 for cash that the drawer has
/// no room for. The lock comes after the shift's and before the wallet's.
pub async fn prepare(
    tx: &Transaction<'_>,
    wallet: WalletRef,
    nominal: i64,
    payment: Payment,
    now: Timestamp,
) -> Result<(), LedgerError> {
    hold_sales(tx, wallet).await?;
    let Payment::AtShift(shift) = payment else { return Ok(()) };
    if !shift.again && has_twin(tx, wallet, nominal, now).await? {
        return Err(LedgerError::Conflict("top-up yang sama baru saja dibuat"));
    }
    if shift.means == Means::Tunai {
        shift::check_room(tx, shift.id, nominal).await?;
    }
    Ok(())
}

/// Holds all sales to a customer at an outlet until the transaction ends; 404 when the customer was deleted or has moved to another number.
pub(super) async fn hold_sales(tx: &Transaction<'_>, wallet: WalletRef) -> Result<(), LedgerError> {
    const THERE: &str = "SELECT FROM customer_global WHERE id = $1 AND dihapus_at IS NULL AND pindah_ke IS NULL FOR KEY SHARE";
    const HOLD: &str = "SELECT pg_advisory_xact_lock(hashtextextended('topup:' || $1::BIGINT || ':' || $2::BIGINT, 0))";
    let stmt = tx.prepare_cached(HOLD).await?;
    tx.query_one(&stmt, &[&wallet.id_customer_global, &wallet.idoutlet]).await?;
    let stmt = tx.prepare_cached(THERE).await?;
    let found = tx.query_opt(&stmt, &[&wallet.id_customer_global]).await?;
    found.map(drop).ok_or(LedgerError::NotFound("nomor belum terdaftar"))
}

/// Remembers that a kasir made a sale without a supervisor's yes.
pub async fn mark_alone(tx: &Transaction<'_>, idpembelian_emoney: TopUpId) -> Result<(), LedgerError> {
    let stmt = tx.prepare_cached("UPDATE pembelian_emoney SET tanpa_izin = TRUE WHERE id = $1").await?;
    tx.execute(&stmt, &[&idpembelian_emoney]).await?;
    Ok(())
}

/// Stores the reference of a payment by QRIS that the seller has seen.
pub async fn keep_reference(tx: &Transaction<'_>, idpembelian_emoney: TopUpId, reference: &str) -> Result<(), LedgerError> {
    let stmt = tx.prepare_cached("UPDATE pembelian_emoney SET ref_bayar = $2 WHERE id = $1").await?;
    tx.execute(&stmt, &[&idpembelian_emoney, &reference]).await?;
    Ok(())
}

/// Rupiah of a customer's sales at an outlet within an hour by any cashier without approval, without reversed ones.
pub async fn sold_alone(tx: &Transaction<'_>, wallet: WalletRef, now: Timestamp) -> Result<i64, LedgerError> {
    const SUM: &str = "
        SELECT COALESCE(SUM(harga_paket), 0)::BIGINT FROM pembelian_emoney
        WHERE id_customer_global = $1 AND idoutlet = $2 AND tanpa_izin AND batal_at IS NULL
            AND created_at > $3 AND created_at < $4";
    let stmt = tx.prepare_cached(SUM).await?;
    // Not further ahead either: what was sold while the clock was years ahead is no sale of this hour.
    let (since, until) = (now.plus_ms(-ALONE_WITHIN_MS), now.plus_ms(ALONE_WITHIN_MS));
    Ok(tx.query_one(&stmt, &[&wallet.id_customer_global, &wallet.idoutlet, &since, &until]).await?.get(0))
}

/// Credits `package` to the wallet, and opens the account if it does not exist. 409 when the account is of another kind, or has expired and the
/// sale gives no new expiry. 400 when `masa_aktif` is not in the future. Cash goes into the drawer of the shift that [`prepare`] has checked.
pub async fn topup(
    tx: &Transaction<'_>,
    wallet: WalletRef,
    package: &Package,
    payment: Payment,
    principal: &str,
    now: Timestamp,
) -> Result<ToppedUp, LedgerError> {
    let done = put(tx, wallet, package, payment, principal, now).await?;
    if let Payment::AtShift(AtShift { id, means: Means::Tunai, .. }) = payment {
        let kind = CashKind::TopUp { idpembelian_emoney: done.idpembelian_emoney };
        cash::record(tx, id, kind, package.nominal, principal, now).await?;
    }
    Ok(done)
}

/// Whether any till made the same sale a moment ago, and it is not reversed.
async fn has_twin(tx: &Transaction<'_>, wallet: WalletRef, nominal: i64, now: Timestamp) -> Result<bool, LedgerError> {
    const TWIN: &str = "
        SELECT EXISTS (SELECT FROM pembelian_emoney WHERE id_customer_global = $1 AND idoutlet = $2 AND harga_paket = $3
            AND idshift IS NOT NULL AND batal_at IS NULL AND created_at > $4 AND created_at < $5)";
    let stmt = tx.prepare_cached(TWIN).await?;
    let (since, until) = (now.plus_ms(-TWIN_WITHIN_MS), now.plus_ms(TWIN_WITHIN_MS));
    Ok(tx.query_one(&stmt, &[&wallet.id_customer_global, &wallet.idoutlet, &nominal, &since, &until]).await?.get(0))
}

async fn put(
    tx: &Transaction<'_>,
    wallet: WalletRef,
    package: &Package,
    payment: Payment,
    principal: &str,
    now: Timestamp,
) -> Result<ToppedUp, LedgerError> {
    in_future(package.kind, now)?;
    let account = locked_or_opened(tx, wallet, package.kind, now).await?;
    let after = account.after(package.kind, now).map_err(LedgerError::Conflict)?;
    apply(tx, Sold { wallet, idcustomer: account.idcustomer, kind: after }, package, payment, principal, now).await
}

/// Credits a sale whose money is there already, which nothing refuses: into an account of any kind, and without the questions of a till.
pub async fn credit_paid(
    tx: &Transaction<'_>,
    wallet: WalletRef,
    package: &Package,
    payment: Payment,
    principal: &str,
    now: Timestamp,
) -> Result<ToppedUp, LedgerError> {
    let account = locked_or_opened(tx, wallet, package.kind, now).await?;
    let after = account.after_paid(package.kind, now);
    let is_refused = account.after(package.kind, now).is_err();
    // As the account takes it: a reversal of another top-up leaves it that expiry.
    let package = if is_refused { &Package { kind: after, ..package.clone() } } else { package };
    apply(tx, Sold { wallet, idcustomer: account.idcustomer, kind: after }, package, payment, principal, now).await
}

/// The account with a lock. It is opened if it does not exist.
async fn locked_or_opened(
    tx: &Transaction<'_>,
    wallet: WalletRef,
    kind: AccountKind,
    now: Timestamp,
) -> Result<Account, LedgerError> {
    if let Some(account) = locked_account(tx, wallet).await? {
        return Ok(account);
    }
    open_account(tx, wallet, kind, now).await?;
    let opened = locked_account(tx, wallet).await?;
    opened.ok_or_else(|| LedgerError::internal("an account that was opened is gone"))
}

/// The 400 for an expiry that is over already.
pub fn in_future(kind: AccountKind, now: Timestamp) -> Result<(), DomainError> {
    if kind.masa_aktif().is_some_and(|until| until <= now) {
        return Err(DomainError::malformed("masa_aktif harus di masa depan"));
    }
    Ok(())
}

/// Opens a customer's account at an outlet, without balance; nothing when it is there.
pub async fn open_account(tx: &Transaction<'_>, wallet: WalletRef, kind: AccountKind, now: Timestamp) -> Result<(), LedgerError> {
    let WalletRef { id_customer_global, idoutlet, idowner } = wallet;
    let stmt = tx.prepare_cached(OPEN).await?;
    tx.execute(&stmt, &[&id_customer_global, &idoutlet, &idowner, &kind.number(), &kind.masa_aktif(), &now]).await?;
    Ok(())
}

/// The account that is sold into, and its kind after the sale.
struct Sold {
    wallet: WalletRef,
    idcustomer: WalletId,
    kind: AccountKind,
}

async fn apply(
    tx: &Transaction<'_>,
    Sold { wallet, idcustomer, kind }: Sold,
    package: &Package,
    payment: Payment,
    principal: &str,
    now: Timestamp,
) -> Result<ToppedUp, LedgerError> {
    let WalletRef { id_customer_global, idoutlet, .. } = wallet;
    let stmt = tx.prepare_cached(APPLY).await?;
    let row = tx
        .query_opt(
            &stmt,
            &[
                &idcustomer,
                &idoutlet,
                &kind.number(),
                &kind.masa_aktif(),
                &package.quota,
                &package.nominal,
                &package.name,
                &now,
                &principal,
                &payment.means(),
                &payment.shift(),
                &package.idpaket,
                &package.kind.number(),
                &package.kind.masa_aktif(),
                &id_customer_global,
            ],
        )
        .await?
        .ok_or_else(|| LedgerError::internal(format!("account {idcustomer} is gone")))?;
    if row.get::<_, i64>(3) != 1 {
        return Err(LedgerError::internal(format!("outlet {idoutlet} has no account K")));
    }
    Ok(ToppedUp { idpembelian_emoney: row.get(0), idcustomer: row.get(1), balance: row.get(2) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paid_sale_fits_into_every_account() {
        use AccountKind::{Expiring, Lasting, Plain};
        const DAY: i64 = 86_400_000;
        let now = Timestamp::from_ms(1_795_000_000_000);
        let until = |days| Expiring { masa_aktif: now.plus_ms(days * DAY) };
        for (kind, sold, expected) in [
            (Lasting, Plain, Lasting),
            (Lasting, until(30), Lasting),
            (until(2), Plain, until(2)),
            (until(2), until(30), until(30)),
            (until(-1), Plain, until(7)),
            (until(-1), until(3), until(3)),
        ] {
            let account = Account { idcustomer: WalletId::new(1), kind, fresh: false };
            assert_eq!(account.after_paid(sold, now), expected, "{kind:?} {sold:?}");
        }
    }

    #[test]
    fn kind_one_needs_an_expiry_and_kind_two_refuses_it() {
        assert_eq!(AccountKind::parse(None, None).unwrap(), AccountKind::Plain);
        assert_eq!(
            AccountKind::parse(Some(1), Some(Timestamp::from_ms(5))).unwrap(),
            AccountKind::Expiring { masa_aktif: Timestamp::from_ms(5) }
        );
        let bad = [
            (Some(1), None),
            (Some(1), Some(0)),
            (Some(1), Some(i64::MAX)),
            (Some(2), Some(5)),
            (None, Some(5)),
            (Some(3), None),
            (Some(-1), None),
        ];
        for (kind, masa_aktif) in bad {
            assert!(AccountKind::parse(kind, masa_aktif.map(Timestamp::from_ms)).is_err(), "{kind:?} {masa_aktif:?}");
        }
    }
}
