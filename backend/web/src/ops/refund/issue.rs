//! `POST /ops/v1/refund` refunds part or all of a purchase's price, `POST /ops/v1/hapus` deletes a purchase and refunds what is left of
//! it (supervisor and above, a kasir with an approval).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{ComplaintId, StaffId, WalletId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::role::Role;
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole;
use nyala_identity::staff::approval::Act;
use nyala_ledger::complaint;
use nyala_ledger::refund as ledger;
use nyala_ledger::refund::{Grounds, Refundable, Refunded, Visible};
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::live::balances::{Balances, Moved};
use crate::ops::approval::{Approval, Approved, with_approver};
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Refund {
    /// The receipt number.
    idtransaksi: ReceiptNumber,
    /// Rupiah to refund: at least 1, at most what is left of the price.
    #[schema(minimum = 1, maximum = 9223372036854775807_i64)]
    #[serde(deserialize_with = "whole::deserialize")]
    nominal: i64,
    #[schema(value_type = Reason)]
    alasan: String,
    /// The purchase's customer: needed when two customers share the receipt number, and always from a kasir.
    idcustomer: Option<WalletId>,
    /// The complaint about this purchase that it answers.
    // As in `TopUp`: a field that was added later is not hashed when it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    idkeluhan: Option<ComplaintId>,
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Hapus {
    /// The receipt number.
    idtransaksi: ReceiptNumber,
    #[schema(value_type = Reason)]
    alasan: String,
    /// The purchase's customer: needed when two customers share the receipt number, and always from a kasir.
    idcustomer: Option<WalletId>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MoneyBack {
    /// The receipt number.
    idtransaksi: String,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    /// Id of the movement: `entri` of the history row.
    entri: i64,
    /// Rupiah refunded.
    jumlah: i64,
    saldo_akhir: i64,
    /// RFC 3339: the account had expired and is now valid until then; null: its expiry did not change.
    #[schema(required)]
    berlaku_sampai: Option<Timestamp>,
    /// Including this one.
    ke: GivenBackOften,
}

/// Refunds and deletions of this month.
#[derive(Debug, Serialize, ToSchema)]
pub struct GivenBackOften {
    /// To this account.
    pub pelanggan: i64,
    /// For purchases at this machine.
    pub mesin: i64,
}

/// Refunds part or all of a purchase's price.
#[utoipa::path(
    post, path = "/ops/v1/refund", tag = "operator", security(("operator" = []), ("session" = [])), request_body = Refund,
    params(IdempotencyKey, Approval),
    responses(
        (status = 200, body = Answer<MoneyBack>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 409, description = "Also `laporan sudah dijawab`", body = Empty),
        (status = 422, description = "Also `laporan ini milik transaksi lain`", body = Empty),
    )
)]
pub async fn refund(
    by: Approved,
    key: IdempotencyKey,
    store: web::Data<Store>,
    balances: web::Data<Balances>,
    body: Json<Refund>,
) -> Result<HttpResponse, AppError> {
    let Refund { idtransaksi, nominal, alasan, idcustomer, idkeluhan } = &*body;
    let amount = Amount::Part { nominal: *nominal, complaint: *idkeluhan };
    let refund = Issue { receipt: idtransaksi, idcustomer: *idcustomer, reason: alasan, amount };
    refund.run((by, key), (&store, &balances), &*body).await
}

/// Deletes a purchase and refunds what earlier refunds have left of its price. It answers the complaint about it, if there is one.
#[utoipa::path(
    post, path = "/ops/v1/hapus", tag = "operator", security(("operator" = []), ("session" = [])), request_body = Hapus,
    params(IdempotencyKey, Approval),
    responses(
        (status = 200, body = Answer<MoneyBack>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 409, body = Empty), (status = 422, body = Empty),
    )
)]
pub async fn hapus(
    by: Approved,
    key: IdempotencyKey,
    store: web::Data<Store>,
    balances: web::Data<Balances>,
    body: Json<Hapus>,
) -> Result<HttpResponse, AppError> {
    let Hapus { idtransaksi, alasan, idcustomer } = &*body;
    let deletion = Issue { receipt: idtransaksi, idcustomer: *idcustomer, reason: alasan, amount: Amount::Rest };
    deletion.run((by, key), (&store, &balances), &*body).await
}

/// How much of a purchase's price is refunded.
#[derive(Debug, Clone, Copy)]
enum Amount {
    /// A refund of this many rupiah, which answers a complaint.
    Part { nominal: i64, complaint: Option<ComplaintId> },
    /// A deletion: what earlier refunds have left.
    Rest,
}

impl Amount {
    /// The complaint that it answers: the named one, or that of a purchase which is deleted.
    async fn complaint(
        self,
        tx: &Transaction<'_>,
        refundable: &Refundable,
        visible: Visible,
    ) -> Result<Option<complaint::Open>, AppError> {
        let Self::Part { complaint: named, .. } = self else {
            return Ok(complaint::of_purchase(tx, refundable.usage()).await?);
        };
        let Some(id) = named else { return Ok(None) };
        let found = complaint::lock(tx, id, visible.scope).await?;
        if found.purchase != refundable.usage() {
            return Err(AppError::Unprocessable("laporan ini milik transaksi lain"));
        }
        Ok(Some(found))
    }
}

/// A refund to be issued, as a request names it.
struct Issue<'a> {
    receipt: &'a ReceiptNumber,
    /// A kasir must give it, because the approval names it.
    idcustomer: Option<WalletId>,
    reason: &'a str,
    amount: Amount,
}

impl Issue<'_> {
    /// Issues the refund once per key. `body` is the request that the key stands for.
    async fn run(
        self,
        (by, key): (Approved, IdempotencyKey),
        (store, balances): (&Store, &Balances),
        body: &impl Serialize,
    ) -> Result<HttpResponse, AppError> {
        let Self { receipt, idcustomer, reason, amount } = self;
        let (name, cause) = match amount {
            Amount::Part { .. } => ("refund", Cause::Refund),
            Amount::Rest => ("hapus", Cause::Deletion),
        };
        let operator = by.operator;
        if idcustomer.is_none() && operator.role == Role::Kasir {
            return Err(AppError::Unprocessable("idcustomer wajib diisi"));
        }
        let act = idcustomer.map(|idcustomer| match amount {
            Amount::Part { nominal, .. } => Act::refund(receipt.as_str(), idcustomer, nominal),
            Amount::Rest => Act::delete(receipt.as_str(), idcustomer),
        });
        let reason = text::parse("alasan", reason, text::MAX_REASON_CHARS)?;
        if matches!(amount, Amount::Part { nominal, .. } if nominal < 1) {
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
                let refundable = ledger::lock(tx, receipt, visible).await?;
                let complaint = amount.complaint(tx, &refundable, visible).await?;
                let refunded = match amount {
                    Amount::Part { nominal, .. } => ledger::refund(tx, &refundable, nominal, grounds).await?,
                    Amount::Rest => ledger::delete(tx, &refundable, grounds).await?,
                };
                if let Some(complaint) = &complaint {
                    let accepted = complaint::Answer::Accepted(refunded.amount);
                    complaint::answer(tx, complaint, accepted, &principal, now).await?;
                }
                let Refunded { id_customer_global, idcustomer, balance, .. } = refunded;
                moved = Some(Moved { id_customer_global, idcustomer, balance, cause });
                record(tx, (name, receipt), (refunded, complaint.map(|complaint| complaint.id)), grounds, approver).await
            })
            .await?;
        balances.notify(moved);
        Ok(answer)
    }
}

async fn record(
    tx: &Transaction<'_>,
    (action, receipt): (&'static str, &ReceiptNumber),
    (refunded, complaint): (Refunded, Option<ComplaintId>),
    grounds: Grounds<'_>,
    approver: Option<StaffId>,
) -> Result<MoneyBack, AppError> {
    let Refunded { entry: entri, usage, idcustomer, idoutlet, amount: jumlah, balance: saldo_akhir, usable_until, .. } = refunded;
    let content = json!({
        "idtransaksi": receipt, "idcustomer": idcustomer, "jumlah": jumlah, "alasan": grounds.reason, "saldo_akhir": saldo_akhir,
        "masa_aktif": usable_until.map(Timestamp::ms),
    });
    let mut content = with_approver(content, approver);
    if let Some(complaint) = complaint {
        content["idkeluhan"] = json!(complaint);
    }
    let entry = AuditEntry { principal: grounds.principal, action, object: format!("ledger_transfer:{entri}"), content };
    audit::write_at(tx, Some(idoutlet), &entry, grounds.now).await?;
    let often = ledger::how_often(tx, usage, grounds.now).await?;
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
