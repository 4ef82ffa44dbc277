//! `/ops/v1/push/…`: alerts to a person's own browser, as customers' pushes (docs/contract.md §8).

use actix_web::{HttpResponse, web};
use nyala_identity::push::endpoint::Endpoint;
use nyala_identity::push::staff::{self, StaffBrowser};
use nyala_store::db::Store;

use crate::api::push::berhenti::Berhenti;
use crate::api::push::kunci::KunciPush;
use crate::api::push::langganan::Langganan;
use crate::http::answer::{Answer, Empty, done, ok};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::ops::people::key::Seller;
use crate::push::Push;

/// The caller's own browser. An outlet's tablet is anybody's.
fn own_browser(seller: &Seller) -> Result<StaffBrowser, AppError> {
    match seller.till.idoutlet {
        None => Ok(StaffBrowser { person: seller.operator.id, browser: seller.till.browser }),
        Some(_) => Err(AppError::NotAllowed("hanya di ponsel sendiri")),
    }
}

/// The server's key, for `pushManager.subscribe`.
#[utoipa::path(
    get, path = "/ops/v1/push/kunci", operation_id = "ops_push_kunci", tag = "papan", security(("session" = [])),
    responses(
        (status = 200, body = Answer<KunciPush>), (status = 401, body = Empty),
        (status = 403, body = Empty, description = "`hanya di ponsel sendiri`"),
    )
)]
pub async fn key(seller: Seller, push: web::Data<Push>) -> Result<HttpResponse, AppError> {
    own_browser(&seller)?;
    Ok(ok(KunciPush::of(&push)?))
}

/// Subscribes the browser until it is paired again or ended.
#[utoipa::path(
    post, path = "/ops/v1/push/langganan", operation_id = "ops_push_langganan", tag = "papan", security(("session" = [])),
    request_body = Langganan,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty, description = "`hanya di ponsel sendiri`"),
        (status = 422, body = Empty, description = "`p256dh bukan titik P-256`"),
    )
)]
pub async fn subscribe(
    seller: Seller,
    store: web::Data<Store>,
    push: web::Data<Push>,
    body: Json<Langganan>,
) -> Result<HttpResponse, AppError> {
    let of = own_browser(&seller)?;
    let new = body.subscription(&push)?;
    let (kid, _) = push.key().map_err(AppError::internal)?;
    let mut client = store.get().await?;
    staff::add(&mut client, of, (&new, kid), store.now()).await?;
    Ok(done("Pemberitahuan dinyalakan"))
}

/// Ends the browser's subscription. Answers 200 even if there was none.
#[utoipa::path(
    post, path = "/ops/v1/push/berhenti", operation_id = "ops_push_berhenti", tag = "papan", security(("session" = [])),
    request_body = Berhenti,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty, description = "`hanya di ponsel sendiri`"),
    )
)]
pub async fn stop(
    seller: Seller,
    store: web::Data<Store>,
    push: web::Data<Push>,
    body: Json<Berhenti>,
) -> Result<HttpResponse, AppError> {
    let of = own_browser(&seller)?;
    if let Some(endpoint) = Endpoint::parse(&body.endpoint, push.hosts()) {
        let client = store.get().await?;
        staff::remove(&client, of, &endpoint).await?;
    }
    Ok(done("Pemberitahuan dimatikan"))
}
