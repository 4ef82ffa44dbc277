//! `POST /scan/v1/auth/logout`: ends one token (docs/contract.md §7).

use actix_web::{HttpResponse, web};
use nyala_identity::auth::Auth;
use nyala_identity::auth::session::Session;
use nyala_identity::push::subscription;
use nyala_store::db::Store;

use crate::api::auth::customer::Login;
use crate::http::answer::{Empty, done};
use crate::http::error::AppError;

/// Ended tokens per customer that have not expired. Thirty logouts a day for a month are not normal use. Beyond this the next logout
/// ends all tokens of the customer, instead of extending the list without limit.
const MAX_ENDED: i64 = 1_000;

/// Ends the token of the request on all connections; other phones stay logged in.
#[utoipa::path(
    post, path = "/scan/v1/auth/logout", tag = "auth", security(("pelanggan" = [])),
    responses((status = 200, body = Empty))
)]
pub async fn logout(Login(session): Login, auth: web::Data<Auth>, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    // Runs to its end even when the caller disconnects, as the app does, so that open sockets are always notified of a committed logout.
    actix_web::rt::spawn(async move { end(&auth, &store, &session).await }).await.map_err(AppError::internal)??;
    Ok(done("Berhasil Logout!"))
}

async fn end(auth: &Auth, store: &Store, session: &Session) -> Result<(), AppError> {
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let stmt = tx
        .prepare_cached(
            "WITH new AS (
                 INSERT INTO ended_token (id_customer_global, token, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING)
             SELECT count(*) FROM ended_token WHERE id_customer_global = $1",
        )
        .await?;
    let before: i64 = tx.query_one(&stmt, &[&session.id, &session.token.0.as_slice(), &session.exp]).await?.try_get(0)?;
    if before < MAX_ENDED {
        subscription::end_login(&tx, session.id, &session.token.0).await?;
        tx.commit().await?;
        auth.versions.ended(session);
        return Ok(());
    }
    let all = tx
        .prepare_cached(
            "WITH forget AS (DELETE FROM ended_token WHERE id_customer_global = $1)
             UPDATE customer_global SET token_version = token_version + 1 WHERE id = $1 RETURNING token_version",
        )
        .await?;
    let version = tx.query_one(&all, &[&session.id]).await?.try_get(0)?;
    subscription::end_all(&tx, session.id).await?;
    tx.commit().await?;
    auth.versions.changed(session.id, version, now);
    Ok(())
}
