//! `POST /ops/v1/pasang`: exchanges a pairing code for the cookie of a paired browser (docs/till.md).

use actix_web::http::header::SET_COOKIE;
use actix_web::{HttpRequest, HttpResponse, web};
use nyala_identity::staff::Staff;
use nyala_identity::staff::browser;
use nyala_identity::staff::ended::SessionEnded;
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
use crate::ops::till::this_browser::{NamedBrowser, OutletOf};

#[derive(Debug, Deserialize, ToSchema)]
pub struct Pasang {
    /// Eight characters, as they are shown to a supervisor or printed by `nyala perangkat pasang`; blanks, dashes and case do not matter.
    kode: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Paired {
    perangkat: NamedBrowser,
    /// Null in a person's own browser.
    outlet: Option<OutletOf>,
}

/// Pairs this browser with an outlet, or with one person.
#[utoipa::path(
    post, path = "/ops/v1/pasang", tag = "kasir", request_body = Pasang,
    responses(
        (status = 200, body = Answer<Paired>), (status = 400, body = Empty), (status = 403, body = Empty),
        (status = 422, description = "`kode pasang salah atau kedaluwarsa`", body = Empty), (status = 429, body = Empty),
    )
)]
pub async fn pasang(
    req: HttpRequest,
    staff: web::Data<Staff>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    body: Json<Pasang>,
) -> Result<HttpResponse, AppError> {
    let (now, address) = (store.now(), client_ip::counted(&req, &http.trusted_proxies));
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let (id, secret) = staff.pair(&tx, &body.kode, address, now).await?;
    let paired = browser::by_id(&tx, id).await?;
    let entry = AuditEntry {
        principal: &format!("perangkat:{id}"),
        action: "perangkat.pasang",
        object: format!("perangkat:{id}"),
        content: json!({}),
    };
    audit::write_at(&tx, paired.outlet.as_ref().map(|outlet| outlet.idoutlet), &entry, now).await?;
    tx.commit().await?;
    staff.notify(SessionEnded::Browser(id));
    let cookie = staff.cookie(&secret, client_ip::over_tls(&req, &http))?;
    let mut answer =
        answer::ok(Paired { perangkat: NamedBrowser::new(id, paired.name), outlet: paired.outlet.map(OutletOf::from) });
    answer.headers_mut().insert(SET_COOKIE, cookie);
    Ok(answer)
}
