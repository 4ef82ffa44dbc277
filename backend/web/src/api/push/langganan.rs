//! `POST /scan/v1/push/langganan`: subscribes this browser to pushes.

use actix_web::{HttpResponse, web};
use nyala_identity::push::subscription::{self, Subscriber, Subscription, Wrong};
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Login;
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{PushAuth, PushEndpoint, PushKey};
use crate::push::Push;

/// The fields of a browser's `PushSubscription`.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Langganan {
    #[schema(value_type = PushEndpoint)]
    endpoint: String,
    #[schema(value_type = PushKey)]
    p256dh: String,
    #[schema(value_type = PushAuth)]
    auth: String,
}

impl Langganan {
    /// The subscription, or what is wrong with it.
    pub fn subscription(&self, push: &Push) -> Result<Subscription, AppError> {
        Subscription::parse(&self.endpoint, &self.p256dh, &self.auth, push.hosts()).map_err(refusal)
    }
}

/// Subscribes the browser until this login ends. A subscription of another customer moves to this one.
#[utoipa::path(
    post, path = "/scan/v1/push/langganan", tag = "push", security(("pelanggan" = [])), request_body = Langganan,
    responses(
        (status = 200, body = Empty),
        (status = 400, body = Empty),
        (status = 401, body = Empty),
        (status = 422, description = "`p256dh bukan titik P-256`", body = Empty),
    )
)]
pub async fn langganan(
    store: web::Data<Store>,
    push: web::Data<Push>,
    Login(session): Login,
    body: Json<Langganan>,
) -> Result<HttpResponse, AppError> {
    let new = body.subscription(&push)?;
    let by = Subscriber {
        id_customer_global: session.id,
        token_version: session.version,
        token: session.token.0,
        expires_at: session.exp,
    };
    // The app has just read it, and replaces a subscription that was made with another one.
    let (kid, _) = push.key().map_err(AppError::internal)?;
    let mut client = store.get().await?;
    if subscription::add(&mut client, by, (&new, kid), store.now()).await? {
        Ok(done("Pemberitahuan dinyalakan"))
    } else {
        Err(AppError::Unauthorized)
    }
}

fn refusal(wrong: Wrong) -> AppError {
    match wrong {
        Wrong::Endpoint => {
            AppError::bad_input("`endpoint` harus alamat https layanan push Google, Mozilla, Apple atau Microsoft")
        }
        Wrong::Key => AppError::bad_input("`p256dh` harus 65 byte dalam base64url"),
        Wrong::Auth => AppError::bad_input("`auth` harus 16 byte dalam base64url"),
        Wrong::Point => AppError::Unprocessable("p256dh bukan titik P-256"),
    }
}
