//! `POST /ops/v1/pindah`: the customer has lost the old number and shows the code of the new one (docs/money.md, Moving to a new number).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::MoveId;
use nyala_core::domain::role::Role;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::auth::number_move::{self, MovedCustomer, NumberMove};
use nyala_identity::staff::Staff;
use nyala_identity::staff::approval::Act;
use nyala_identity::whatsapp::WhatsApp;
use nyala_ledger::newer_kinds;
use nyala_store::config::ServerSettings;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::secrets::Keyring;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::moves;
use crate::ops::approval::{Approval, NEEDED, with_approver};
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};
use crate::ops::people::key::Seller;
use crate::ops::people::payee::{Named, Payee};
use crate::ops::shift::open as call;

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct PindahKasir {
    /// The text of the code on the phone with the new number, not older than 5 minutes.
    qr: String,
    /// The old number, in any form.
    telp: Telp,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PindahDiminta {
    #[schema(value_type = i64)]
    idpindah: MoveId,
    /// RFC 3339: until then the owner of the old number may say no.
    terjadi_at: Timestamp,
}

/// Asks for a move of all accounts of a number to the number of the code. The old number is notified, and may refuse until it happens. For a `kasir` this
/// needs an approval of `pindah`, `<id of the code>:<telp>`.
#[utoipa::path(
    post, path = "/ops/v1/pindah", operation_id = "pindah_kasir", tag = "kasir", security(("session" = [])), request_body = PindahKasir,
    params(IdempotencyKey, Approval),
    responses(
        (status = 200, body = Answer<PindahDiminta>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "`perlu persetujuan supervisor`; `persetujuan tidak berlaku`; an API key", body = Empty),
        (status = 404, description = "`nomor belum terdaftar`", body = Empty),
        (status = 409, description = "`nomor lama dan baru sama`; `pemilik nomor lama menolak`, for 30 days; `pindah sudah diminta`; \
            `nomor baru masih punya mesin yang belum selesai`", body = Empty),
        (status = 422, description = "`pindah lewat kasir belum diaktifkan`", body = Empty),
        (status = 429, description = "Sixty numbers an hour at one till", body = Empty),
        (status = 503, description = "While a server of an older release is alive", body = Empty),
    )
)]
pub async fn pindah(
    seller: Seller,
    key: IdempotencyKey,
    approval: Approval,
    (staff, keyring, whatsapp, settings): (web::Data<Staff>, web::Data<Keyring>, web::Data<WhatsApp>, web::Data<ServerSettings>),
    body: Json<PindahKasir>,
) -> Result<HttpResponse, AppError> {
    let own = seller.operator.principal();
    let by = call::keeper(&seller, &own)?;
    let now = staff.store.now();
    let once = IdempotentCall::new(&seller.operator, key, "pindah", &*body, now)?;
    let mut client = staff.store.get().await?;
    newer_kinds::check(&client).await?;
    let mut asked = None;
    let answer = once
        .once(&mut client, async |tx| {
            let needs_approval = seller.operator.role < Role::Supervisor;
            if needs_approval && approval.is_missing() {
                return Err(NEEDED);
            }
            if !whatsapp.sends_moves() {
                return Err(AppError::Unprocessable("pindah lewat kasir belum diaktifkan"));
            }
            let secrets = keyring.get();
            let new = Named::Qr(&body.qr).find(tx, (&staff, &seller.operator), &secrets, now).await?;
            let approver = match needs_approval {
                true => {
                    let act = Act::move_number(new.id, &body.telp);
                    Some(approval.use_up(tx, &seller.operator, &act, NEEDED, now).await?)
                }
                false => None,
            };
            let old = Named::Telp(&body.telp).find(tx, (&staff, &seller.operator), &secrets, now).await?;
            let of = NumberMove { old: moved(old), new: moved(new), principal: own.clone() };
            let done = number_move::ask(tx, &of, (by.idoutlet, now.plus_ms(settings.moves.wait_s * 1000)), now).await?;
            let content = json!({ "dari": of.old.id, "ke": of.new.id, "terjadi_at": done.happens_at });
            let entry = AuditEntry {
                principal: by.principal,
                action: "pindah.minta",
                object: format!("pindah:{}", done.id),
                content: with_approver(content, approver),
            };
            audit::write_at(tx, Some(by.idoutlet), &entry, now).await?;
            asked = Some(done.id);
            Ok(PindahDiminta { idpindah: done.id, terjadi_at: done.happens_at })
        })
        .await?;
    drop(client);
    if let Some(id) = asked {
        // What fails here is done by a later pass.
        if let Err(e) = moves::notify(&staff.store, &whatsapp, &settings, id).await {
            tracing::warn!(error = %e, idpindah = id.get(), "the old number was not notified of its move, retrying");
        }
    }
    Ok(answer)
}

fn moved(payee: Payee) -> MovedCustomer {
    MovedCustomer { id: payee.id, telp: payee.telp }
}
