//! `POST /scan/v1/push/berhenti`: stops pushes to a browser.

use actix_web::{HttpResponse, web};
use nyala_identity::push::endpoint::Endpoint;
use nyala_identity::push::subscription;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::push::Push;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Berhenti {
    pub endpoint: String,
}

/// Ends the customer's subscription of one browser. Answers 200 even if there was no subscription.
#[utoipa::path(
    post, path = "/scan/v1/push/berhenti", tag = "push", security(("pelanggan" = [])), request_body = Berhenti,
    responses((status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty))
)]
pub async fn berhenti(
    store: web::Data<Store>,
    push: web::Data<Push>,
    customer: Customer,
    body: Json<Berhenti>,
) -> Result<HttpResponse, AppError> {
    if let Some(endpoint) = Endpoint::parse(&body.endpoint, push.hosts()) {
        let client = store.get().await?;
        subscription::remove(&client, customer.id, &endpoint).await?;
    }
    Ok(done("Pemberitahuan dimatikan"))
}
