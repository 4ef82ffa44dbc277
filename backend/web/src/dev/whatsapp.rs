//! `GET /dev/whatsapp`: the messages of the development sender (docs/contract.md §5).

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::whatsapp::{Content, OutgoingMessage, WhatsApp, log};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::answer::{Answer, Empty, ok};
use crate::http::error::AppError;
use crate::http::schema::NumberOrNothing;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WhatsAppQuery {
    /// Only messages to this number, in any form.
    #[param(value_type = NumberOrNothing, required = false, inline)]
    telp: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WhatsAppMessage {
    #[schema(example = "6281234567890")]
    to: String,
    text: String,
    /// Null in a message without a code.
    #[schema(required, example = "123456")]
    code: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

impl From<&OutgoingMessage> for WhatsAppMessage {
    fn from(message: &OutgoingMessage) -> Self {
        let code = if let Content::Code(code) = &message.content { Some(code.as_str().to_owned()) } else { None };
        Self { to: message.telp.full(), text: log::text(message), code, at: message.at }
    }
}

/// The messages, newest first; a page for a browser.
#[utoipa::path(
    get, path = "/dev/whatsapp", tag = "development", params(WhatsAppQuery),
    responses((status = 200, body = Answer<Vec<WhatsAppMessage>>), (status = 400, body = Empty), (status = 403, description = "Through a proxy, or by a name", body = Empty),
        (status = 404, body = Empty))
)]
pub async fn whatsapp(
    req: HttpRequest,
    whatsapp: web::Data<WhatsApp>,
    query: web::Query<WhatsAppQuery>,
) -> Result<HttpResponse, AppError> {
    let log = whatsapp.log.as_ref().ok_or(AppError::NotFound("pesan dikirim lewat WhatsApp sungguhan"))?;
    // In a query a plus is decoded as a blank, which a number may contain: `+62…` is still parsed as a number.
    let telp = query.telp.as_deref().filter(|t| !t.is_empty()).map(Telp::parse).transpose()?;
    let messages: Vec<WhatsAppMessage> = log.sent(telp.as_ref()).iter().map(WhatsAppMessage::from).collect();
    Ok(if wants_page(&req) {
        HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page(&messages))
    } else {
        ok(messages)
    })
}

/// Only browsers that navigate ask for HTML.
fn wants_page(req: &HttpRequest) -> bool {
    let accept = req.headers().get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    accept.contains("text/html") && !accept.contains("application/json")
}

/// Messages on the page; the JSON response contains all of them.
const ON_PAGE: usize = 100;

/// Only digits come from outside, and links of the server's own, so nothing needs escaping.
fn page(messages: &[WhatsAppMessage]) -> String {
    let items: String = messages
        .iter()
        .take(ON_PAGE)
        .map(|m| {
            format!(
                "<li><b>{}</b> <span>+{} · {}</span><p>{}</p></li>",
                m.code.as_deref().unwrap_or_default(),
                m.to,
                m.at.rfc3339(),
                m.text
            )
        })
        .collect();
    let body = if items.is_empty() { "<p>Belum ada pesan.</p>".to_owned() } else { format!("<ol>{items}</ol>") };
    format!(
        "<!doctype html><html lang=\"id\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"refresh\" content=\"3\"><title>WhatsApp (pengembangan)</title>\
         <style>body{{font:16px/1.5 system-ui;max-width:40rem;margin:2rem auto;padding:0 1rem}}ol{{list-style:none;padding:0}}\
         li{{border:1px solid #8884;border-radius:.5rem;padding:.75rem 1rem;margin:.5rem 0}}b{{font-size:1.5rem;letter-spacing:.15em}}\
         span{{opacity:.7}}p{{margin:.25rem 0 0}}:root{{color-scheme:light dark}}</style>\
         <h1>WhatsApp (pengembangan)</h1>{body}</html>"
    )
}
