//! Development routes. They exist only when `dev.routes` is set, which production refuses. `http::dev_guard` admits only requests made directly to
//! this machine.

pub mod mesin_fault;
pub mod qris;
pub mod whatsapp;

use actix_web::http::header;
use actix_web::web::{ServiceConfig, get, post};
use actix_web::{HttpRequest, HttpResponse};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/whatsapp", get().to(whatsapp::whatsapp))
        .route("/mesin/{id}/fault", post().to(mesin_fault::mesin_fault))
        .route("/qris", get().to(qris::orders))
        .route("/qris/{order_id}", post().to(qris::act));
}

/// Whether a browser asks for a page: only those that navigate ask for HTML.
fn wants_page(req: &HttpRequest) -> bool {
    let accept = req.headers().get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    accept.contains("text/html") && !accept.contains("application/json")
}

/// A page of a list, which reloads itself.
fn page(title: &str, empty: &str, items: &str) -> HttpResponse {
    let body = if items.is_empty() { format!("<p>{empty}</p>") } else { format!("<ol>{items}</ol>") };
    let page = format!(
        "<!doctype html><html lang=\"id\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"refresh\" content=\"3\"><title>{title} (pengembangan)</title>\
         <style>body{{font:16px/1.5 system-ui;max-width:40rem;margin:2rem auto;padding:0 1rem}}ol{{list-style:none;padding:0}}\
         li{{border:1px solid #8884;border-radius:.5rem;padding:.75rem 1rem;margin:.5rem 0}}b{{font-size:1.5rem;letter-spacing:.15em}}\
         span{{opacity:.7}}p{{margin:.25rem 0 0}}form{{display:inline}}:root{{color-scheme:light dark}}</style>\
         <h1>{title} (pengembangan)</h1>{body}</html>"
    );
    HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page)
}
