//! Balances of another system: imported from a file, and credited to who has the number, at once or when the number is registered
//! (docs/money.md, Moving in).

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::{CustomerId, OpeningId, OutletId, OwnerId};
use nyala_core::domain::rupiah::MaxBalance;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::opening::{Opening, WrongLine};

use super::came_back::usable_again;
use super::error::LedgerError;
use super::topup::{AccountKind, WalletRef, open_account};
use super::{cap, newer_kinds};

/// Who books an import, where and when.
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    pub idoutlet: OutletId,
    /// SHA-256 of the file, in hexadecimal digits.
    pub file: &'a str,
    pub max: MaxBalance,
    pub principal: &'a str,
    pub now: Timestamp,
}

/// An outlet of which balances are imported or credited.
#[derive(Debug, Clone, Copy)]
struct Issuer {
    idoutlet: OutletId,
    idowner: OwnerId,
    /// Days for which a new account is good; `None`: without limit.
    days: Option<i32>,
}

/// The outlet that a file was imported for.
pub async fn imported_for(client: &impl GenericClient, file: &str) -> Result<Option<OutletId>, LedgerError> {
    const FIND: &str = "SELECT idoutlet FROM saldo_awal WHERE berkas = $1 LIMIT 1";
    let stmt = client.prepare_cached(FIND).await?;
    Ok(client.query_opt(&stmt, &[&file]).await?.map(|row| row.get(0)))
}

/// Books all of `openings`, or none of them: the lines that would lift a balance above its maximum. While it runs, no number is registered.
pub async fn import(tx: &Transaction<'_>, openings: &[Opening], import: &Import<'_>) -> Result<Vec<WrongLine>, LedgerError> {
    const ADD: &str = "
        INSERT INTO saldo_awal (idoutlet, telp, nama, jumlah, berkas, baris, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id";
    // What waits for the number to be registered, with its customer once it is.
    const KNOWN: &str = "
        SELECT (SELECT id FROM customer_global WHERE telp = $1),
            COALESCE((SELECT SUM(jumlah) FROM saldo_awal WHERE telp = $1 AND idoutlet = $2 AND diambil_at IS NULL), 0)::BIGINT";
    newer_kinds::refuse_older(tx).await?;
    tx.execute("SELECT pg_advisory_xact_lock(hashtextextended('saldo_awal', 0))", &[]).await?;
    let issuer = issuer(tx, import.idoutlet).await?;
    let (add, known) = (tx.prepare_cached(ADD).await?, tx.prepare_cached(KNOWN).await?);
    let mut wrong = Vec::new();
    for opening in openings {
        let Opening { line, telp, name, amount } = opening;
        let row = tx.query_one(&known, &[&telp.as_str(), &import.idoutlet]).await?;
        let (customer, waiting): (Option<CustomerId>, i64) = (row.get(0), row.get(1));
        let fits = match customer {
            Some(customer) => {
                open_account(tx, issuer.wallet_of(customer), AccountKind::given(issuer.days, import.now), import.now).await?;
                cap::fits(tx, issuer.wallet_of(customer), *amount, import.max).await?
            }
            None => import.max.allows(waiting, *amount),
        };
        if !fits {
            wrong.push(WrongLine { line: *line, why: LedgerError::OverMaxBalance(import.max).to_string() });
            continue;
        }
        let row = tx.query_one(&add, &[&import.idoutlet, &telp.as_str(), name, amount, &import.file, line, &import.now]).await?;
        if let Some(customer) = customer {
            credit(tx, (row.get(0), *amount), issuer.wallet_of(customer), import.principal, import.now).await?;
        }
    }
    Ok(wrong)
}

/// Credits what waits for a number to the customer who has just registered it. No import begins until the transaction ends.
pub async fn claim(tx: &Transaction<'_>, customer: CustomerId, telp: &Telp, now: Timestamp) -> Result<(), LedgerError> {
    const WAITING: &str =
        "SELECT id, jumlah, idoutlet FROM saldo_awal WHERE telp = $1 AND diambil_at IS NULL ORDER BY id FOR UPDATE";
    tx.execute("SELECT pg_advisory_xact_lock_shared(hashtextextended('saldo_awal', 0))", &[]).await?;
    let stmt = tx.prepare_cached(WAITING).await?;
    let principal = format!("pelanggan:{customer}");
    for row in tx.query(&stmt, &[&telp.as_str()]).await? {
        let issuer = issuer(tx, row.get(2)).await?;
        let wallet = issuer.wallet_of(customer);
        open_account(tx, wallet, AccountKind::given(issuer.days, now), now).await?;
        credit(tx, (row.get(0), row.get(1)), wallet, &principal, now).await?;
    }
    Ok(())
}

async fn issuer(client: &impl GenericClient, idoutlet: OutletId) -> Result<Issuer, LedgerError> {
    let stmt = client.prepare_cached("SELECT idowner, berlaku_hari FROM outlet WHERE idoutlet = $1").await?;
    let row = client.query_opt(&stmt, &[&idoutlet]).await?.ok_or(LedgerError::NotFound("outlet tidak ditemukan"))?;
    Ok(Issuer { idoutlet, idowner: row.get(0), days: row.get(1) })
}

impl Issuer {
    const fn wallet_of(self, id_customer_global: CustomerId) -> WalletRef {
        WalletRef { id_customer_global, idoutlet: self.idoutlet, idowner: self.idowner }
    }
}

/// The outlet issues the balance into a wallet that is there, and that stays as it is; one that has expired is good for some days.
/// $1 customer, $2 outlet, $3 amount, $4 opening, $5 now, $6 actor.
const CREDIT: &str = concat!(
    "
    WITH wallet AS (
        UPDATE quota_emoney q SET credits_posted = q.credits_posted + $3::BIGINT, topup_at = $5, updated_at = $5, ",
    usable_again!("$5", "$3"),
    "
        FROM customer c JOIN outlet o ON o.idoutlet = c.idoutlet
        WHERE c.id_customer_global = $1 AND c.idoutlet = $2 AND q.idcustomer = c.idcustomer RETURNING q.idcustomer, q.idakun
    ), taken AS (
        UPDATE saldo_awal s SET idcustomer = w.idcustomer, diambil_at = $5 FROM wallet w WHERE s.id = $4 AND s.diambil_at IS NULL RETURNING s.id
    ), movement AS (
        INSERT INTO ledger_transfer
            (kind, debit_akun, credit_akun, jumlah, dibayar, idsaldo_awal, id_customer_global, idcustomer, idoutlet, aktor, created_at)
        SELECT 'saldo_awal', k.idakun, w.idakun, $3, $3, t.id, $1, w.idcustomer, $2, $6::TEXT, $5
        FROM wallet w CROSS JOIN taken t JOIN akun k ON k.idoutlet = $2 AND k.jenis = 'K'
        RETURNING id
    )
    SELECT count(*) FROM movement"
);

async fn credit(
    tx: &Transaction<'_>,
    (id, amount): (OpeningId, i64),
    wallet: WalletRef,
    principal: &str,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let stmt = tx.prepare_cached(CREDIT).await?;
    let row = tx.query_one(&stmt, &[&wallet.id_customer_global, &wallet.idoutlet, &amount, &id, &now, &principal]).await?;
    match row.get::<_, i64>(0) {
        1 => Ok(()),
        rows => Err(LedgerError::internal(format!("opening balance {id} has {rows} movements"))),
    }
}
