//! What `hapus` and `refund` do: permission, the movement, response, audit log.

use actix_web::HttpResponse;
use deadpool_postgres::Transaction;
use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{StaffId, WalletId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::role::Role;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::approval::Act;
use nyala_ledger::refund::{self, GivenBack, Grounds, Visible};
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::http::error::AppError;
use crate::live::balances::{Balances, Moved};
use crate::ops::approval::{Approved, with_approver};
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};

#[derive(Debug, Serialize, ToSchema)]
pub struct MoneyBack {
    /// The receipt number.
    idtransaksi: String,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    /// The movement's id, `entri` of the history row.
    entri: i64,
    /// Rupiah given back.
    jumlah: i64,
    saldo_akhir: i64,
    /// RFC 3339: the account had expired, and is good until then; null: it is as it was.
    #[schema(required)]
    berlaku_sampai: Option<Timestamp>,
    /// This one included.
    ke: GivenBackOften,
}

/// Refunds and deletions of this month.
#[derive(Debug, Serialize, ToSchema)]
pub struct GivenBackOften {
    /// To this account.
    pub pelanggan: i64,
    /// For uses of this machine.
    pub mesin: i64,
}

/// How much of a purchase's price goes back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Share {
    /// A refund of so many rupiah.
    Part(i64),
    /// A deletion: what refunds have left.
    Rest,
}

/// A purchase whose price is given back, as a request names it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Purchase<'a> {
    pub receipt: &'a ReceiptNumber,
    /// A kasir must give it, because the approval names it.
    pub idcustomer: Option<WalletId>,
    pub reason: &'a str,
}

/// Gives the price back, once for each key. `body` is what the key stands for.
pub(super) async fn give_back(
    (by, key): (Approved, IdempotencyKey),
    (store, balances): (&Store, &Balances),
    body: &impl Serialize,
    purchase: Purchase<'_>,
    share: Share,
) -> Result<HttpResponse, AppError> {
    let Purchase { receipt, idcustomer, reason } = purchase;
    let (name, cause) = match share {
        Share::Part(_) => ("refund", Cause::Refund),
        Share::Rest => ("hapus", Cause::Deletion),
    };
    let operator = by.operator;
    if idcustomer.is_none() && operator.role == Role::Kasir {
        return Err(AppError::Unprocessable("idcustomer wajib diisi"));
    }
    let act = idcustomer.map(|idcustomer| match share {
        Share::Part(nominal) => Act::refund(receipt.as_str(), idcustomer, nominal),
        Share::Rest => Act::delete(receipt.as_str(), idcustomer),
    });
    let reason = text::parse("alasan", reason, text::MAX_REASON_CHARS)?;
    if matches!(share, Share::Part(nominal) if nominal < 1) {
        return Err(AppError::bad_input("nominal harus paling sedikit 1 rupiah"));
    }
    let (now, principal) = (store.now(), operator.principal());
    let grounds = Grounds { principal: &principal, reason: &reason, now };
    let call = IdempotentCall::new(&operator, key, name, body, now)?;
    let mut client = store.get().await?;
    let mut moved = None;
    let answer = call
        .once(&mut client, async |tx| {
            let approver = by.check(tx, act.as_ref(), now).await?;
            let visible = Visible { scope: operator.scope, wallet: idcustomer };
            let refundable = refund::lock(tx, receipt, visible).await?;
            let back = match share {
                Share::Part(nominal) => refund::refund(tx, &refundable, nominal, grounds).await?,
                Share::Rest => refund::delete(tx, &refundable, grounds).await?,
            };
            let GivenBack { id_customer_global, idcustomer, balance, .. } = back;
            moved = Some(Moved { id_customer_global, idcustomer, balance, cause });
            record(tx, name, receipt, back, grounds, approver).await
        })
        .await?;
    balances.tell(moved);
    Ok(answer)
}

async fn record(
    tx: &Transaction<'_>,
    action: &'static str,
    receipt: &ReceiptNumber,
    given_back: GivenBack,
    grounds: Grounds<'_>,
    approver: Option<StaffId>,
) -> Result<MoneyBack, AppError> {
    let GivenBack { entry: entri, usage, idcustomer, idoutlet, amount: jumlah, balance: saldo_akhir, usable_until, .. } =
        given_back;
    let content = json!({
        "idtransaksi": receipt, "idcustomer": idcustomer, "jumlah": jumlah, "alasan": grounds.reason, "saldo_akhir": saldo_akhir,
        "masa_aktif": usable_until.map(Timestamp::ms),
    });
    let content = with_approver(content, approver);
    let entry = AuditEntry { principal: grounds.principal, action, object: format!("ledger_transfer:{entri}"), content };
    audit::write_at(tx, Some(idoutlet), &entry, grounds.now).await?;
    let often = refund::how_often(tx, usage, grounds.now).await?;
    let ke = GivenBackOften { pelanggan: often.customer, mesin: often.machine };
    Ok(MoneyBack {
        idtransaksi: receipt.as_str().to_owned(),
        idcustomer,
        entri,
        jumlah,
        saldo_akhir,
        berlaku_sampai: usable_until,
        ke,
    })
}
