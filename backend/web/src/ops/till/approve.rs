//! `POST /ops/v1/izin`: a supervisor's PIN at another person's till, for one action on one object (docs/till.md).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::id::StaffId;
use nyala_core::domain::pin::Pin;
use nyala_core::domain::role::Role;
use nyala_identity::staff::Staff;
use nyala_identity::staff::approval::Act;
use nyala_identity::staff::operator::principal;
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::client_ip;
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::SixDigits;
use crate::ops::people::key::Seller;

/// The header of the approval in the call that it allows.
pub const HEADER: &str = "X-Izin";

#[derive(Debug, Deserialize, ToSchema)]
pub struct Izin {
    /// The supervisor.
    idpetugas: StaffId,
    #[schema(value_type = SixDigits)]
    pin: Pin,
    #[schema(pattern = "^(topup|batal|refund|hapus|kas|tarik|pindah)$")]
    aksi: String,
    /// `<id_customer_global>:<nominal>` for `topup`, `<id>` for `batal`, `<idtransaksi>:<idcustomer>:<nominal>` for `refund`,
    /// `<idtransaksi>:<idcustomer>` for `hapus`, `<jenis>:<nominal>` for `kas`, `<idcustomer>:<dibayar>` for `tarik`, `<id of the code>:<telp>` for
    /// `pindah`.
    #[schema(pattern = "^[0-9A-Za-z:]{1,64}$")]
    objek: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalGiven {
    /// For the header `X-Izin`, once, within two minutes.
    izin: String,
}

/// A supervisor's approval of one action.
#[utoipa::path(
    post, path = "/ops/v1/izin", tag = "kasir", security(("session" = [])), request_body = Izin,
    responses(
        (status = 200, body = Answer<ApprovalGiven>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty), (status = 404, body = Empty), (status = 409, body = Empty), (status = 429, body = Empty),
    )
)]
pub async fn izin(
    req: HttpRequest,
    seller: Seller,
    staff: web::Data<Staff>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    body: Json<Izin>,
) -> Result<HttpResponse, AppError> {
    let act = Act::read(&body.aksi, &body.objek).ok_or_else(|| {
        AppError::bad_input("aksi harus topup, batal, refund, hapus, kas, tarik atau pindah, dan objek sesuai aksinya")
    })?;
    let address = client_ip::counted(&req, &http.trusted_proxies);
    let known = staff.check_pin(req.headers(), address, body.idpetugas, &body.pin, None).await?;
    if known.person.role < Role::Supervisor || known.browser.id != seller.till.browser {
        return Err(AppError::NotAllowed("persetujuan hanya dari supervisor"));
    }
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let izin = staff.approve(&tx, seller.till, known.person.id, &act, now).await?;
    let entry = AuditEntry {
        principal: &principal(known.person.id),
        action: "izin.beri",
        object: format!("sesi_petugas:{}", seller.till.session),
        content: json!({ "aksi": body.aksi, "objek": act.object_for_audit(), "untuk": seller.operator.principal() }),
    };
    audit::write_at(&tx, seller.till.idoutlet, &entry, now).await?;
    tx.commit().await?;
    Ok(answer::ok(ApprovalGiven { izin }))
}
