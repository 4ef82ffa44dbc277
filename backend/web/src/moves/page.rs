//! `/pindah/<secret>`: the page to which the message about a move leads. The owner of the old number says no there without a login. Looking at it
//! changes nothing, because programs look at links, too.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{self, ServiceConfig, get, post};
use nyala_identity::auth::number_move::{self, Linked, MoveState, Objection};
use nyala_store::db::Store;

use crate::http::error::AppError;

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/pindah/{rahasia}", get().to(show)).route("/pindah/{rahasia}", post().to(refuse));
}

/// What is about to happen, and the button that prevents it.
#[utoipa::path(
    get, path = "/pindah/{rahasia}", operation_id = "pindah_halaman", tag = "akun",
    params(("rahasia" = String, Path, description = "From the message to the old number")),
    responses(
        (status = 200, body = String, content_type = "text/html"),
        (status = 404, body = String, content_type = "text/html", description = "No such link")
    )
)]
pub async fn show(store: web::Data<Store>, secret: web::Path<String>) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    Ok(page(number_move::linked(&*client, &secret).await?))
}

/// The owner of the old number says no.
#[utoipa::path(
    post, path = "/pindah/{rahasia}", operation_id = "pindah_halaman_tolak", tag = "akun",
    params(("rahasia" = String, Path, description = "From the message to the old number")),
    responses(
        (status = 200, body = String, content_type = "text/html"),
        (status = 404, body = String, content_type = "text/html", description = "No such link")
    )
)]
pub async fn refuse(store: web::Data<Store>, secret: web::Path<String>) -> Result<HttpResponse, AppError> {
    let mut client = store.get().await?;
    number_move::refuse(&mut client, Objection::Link(&secret), store.now()).await?;
    Ok(page(number_move::linked(&*client, &secret).await?))
}

/// Numbers and times only, so nothing needs escaping.
fn page(of: Option<Linked>) -> HttpResponse {
    let (status, title, body) = match of {
        None => (StatusCode::NOT_FOUND, "Tautan ini tidak berlaku", "<p>Buka tautan dari pesan yang terbaru.</p>".to_owned()),
        Some(Linked { from, to, when, state, .. }) => {
            let (title, body) = match state {
                MoveState::Waits => (
                    "Akun Anda akan pindah nomor",
                    format!(
                        "<p>Akun Nyala nomor {from} akan pindah ke nomor {to} pada {when}.</p>\
                         <p>Kalau Anda sendiri yang meminta di kasir, tidak perlu melakukan apa-apa.</p>\
                         <form method=\"post\"><button>Bukan saya, batalkan</button></form>"
                    ),
                ),
                MoveState::Refused => ("Pindah nomor dibatalkan", format!("<p>Akun dan saldo tetap di nomor {from}.</p>")),
                MoveState::Happened => ("Akun sudah pindah", format!("<p>Akun nomor {from} sudah pindah ke nomor {to}.</p>")),
                MoveState::Ended => ("Pindah nomor tidak jadi", format!("<p>Akun dan saldo tetap di nomor {from}.</p>")),
            };
            (StatusCode::OK, title, body)
        }
    };
    HttpResponse::build(status).content_type("text/html; charset=utf-8").body(format!(
        "<!doctype html><html lang=\"id\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta name=\"robots\" content=\"noindex\"><title>{title} - Nyala</title>\
         <style>:root{{color-scheme:light dark}}body{{font:18px/1.5 system-ui;max-width:32rem;margin:2rem auto;padding:0 1rem}}\
         h1{{font-size:1.5rem;line-height:1.2}}button{{font:inherit;font-weight:600;width:100%;min-height:3.25rem;padding:.75rem 1rem;\
         border:0;border-radius:.75rem;background:#b3261e;color:#fff}}button:focus-visible{{outline:3px solid;outline-offset:3px}}</style>\
         <main><h1>{title}</h1>{body}</main></html>"
    ))
}
