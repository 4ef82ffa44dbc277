//! `POST /ops/v1/topup/{id}/batal`: reverses a top-up, whole and once (supervisor and above, a kasir with an approval).

use actix_web::{HttpResponse, web};
use deadpool_postgres::GenericClient;
use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{StaffId, TopUpId, WalletId};
use nyala_core::domain::role::Role;
use nyala_core::domain::text;
use nyala_identity::staff::approval::Act;
use nyala_ledger::refund::Grounds;
use nyala_ledger::reversal::{self, Reverser};
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
pub struct Batal {
    #[schema(value_type = Reason)]
    alasan: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TopUpVoided {
    /// A decimal string, as in the history.
    idpembelian_emoney: String,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    saldo_akhir: i64,
}

/// Reverses a top-up: within half an hour, or at any time by an owner.
#[utoipa::path(
    post, path = "/ops/v1/topup/{id}/batal", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(("id" = inline(TopUpId), Path, description = "idpembelian_emoney"), IdempotencyKey, Approval), request_body = Batal,
    responses(
        (status = 200, body = Answer<TopUpVoided>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "`perlu persetujuan supervisor`, `persetujuan tidak berlaku`", body = Empty),
        (status = 404, body = Empty),
        (status = 409, description = "`top-up sudah dibatalkan`; `shift belum dibuka`: its cash lies in a drawer", body = Empty),
        (status = 422, description = "`saldo sudah terpakai`, `lewat 30 menit, minta pemilik`, `uang di laci tidak cukup`", body = Empty),
    )
)]
pub async fn topup_batal(
    by: Approved,
    id: web::Path<String>,
    key: IdempotencyKey,
    store: web::Data<Store>,
    balances: web::Data<Balances>,
    body: Json<Batal>,
) -> Result<HttpResponse, AppError> {
    let operator = by.operator;
    let id = TopUpId::parse(&id).ok_or(AppError::NotFound("top-up tidak ditemukan"))?;
    let reason = text::parse("alasan", &body.alasan, text::MAX_REASON_CHARS)?;
    let (now, actor) = (store.now(), operator.principal());
    let grounds = Grounds { principal: &actor, reason: &reason, now };
    let call = IdempotentCall::new(&operator, key, &format!("topup/{id}/batal"), &*body, now)?;
    let mut client = store.get().await?;
    let mut moved = None;
    let answer = call
        .once(&mut client, async |tx| {
            let approver = by.check(tx, Some(&Act::reversal(id)), now).await?;
            let top_up = reversal::lock(tx, id, operator.scope).await?;
            let any_age = operator.role >= Role::Owner || is_owner(tx, approver).await?;
            let reverser = Reverser { browser: operator.at.map(|till| till.browser), any_age };
            let done = reversal::reverse(tx, &top_up, reverser, grounds).await?;
            let content = json!({
                "idcustomer": done.idcustomer, "idoutlet": done.idoutlet, "nominal": done.nominal, "quota": done.quota,
                "alasan": reason, "saldo_akhir": done.balance,
            });
            let content = with_approver(content, approver);
            let object = format!("pembelian_emoney:{id}");
            let entry = AuditEntry { principal: &actor, action: "batal", object, content };
            audit::write_at(tx, Some(done.idoutlet), &entry, now).await?;
            moved = Some(Moved {
                id_customer_global: done.id_customer_global,
                idcustomer: done.idcustomer,
                balance: done.balance,
                cause: Cause::Reversal,
            });
            Ok(TopUpVoided { idpembelian_emoney: id.to_string(), idcustomer: done.idcustomer, saldo_akhir: done.balance })
        })
        .await?;
    balances.notify(moved);
    Ok(answer)
}

/// An owner's approval counts as the owner's own decision.
async fn is_owner(client: &impl GenericClient, approver: Option<StaffId>) -> Result<bool, AppError> {
    const ROLE: &str = "SELECT role = 'owner' FROM kunci_operator WHERE id = $1";
    let Some(approver) = approver else { return Ok(false) };
    let stmt = client.prepare_cached(ROLE).await?;
    Ok(client.query_one(&stmt, &[&approver]).await?.get(0))
}
