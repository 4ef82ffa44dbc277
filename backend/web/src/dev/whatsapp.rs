//! `GET /dev/whatsapp`: the messages of the development sender (docs/contract.md §5).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::whatsapp::{Content, OutgoingMessage, WhatsApp, log};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{page, wants_page};
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
    Ok(if wants_page(&req) { page("WhatsApp", "Belum ada pesan.", &items(&messages)) } else { ok(messages) })
}

/// Messages on the page; the JSON response contains all of them.
const ON_PAGE: usize = 100;

/// Only digits come from outside, and links of the server's own, so nothing needs escaping.
fn items(messages: &[WhatsAppMessage]) -> String {
    let item = |m: &WhatsAppMessage| {
        let code = m.code.as_deref().unwrap_or_default();
        format!("<li><b>{code}</b> <span>+{} · {}</span><p>{}</p></li>", m.to, m.at.rfc3339(), m.text)
    };
    messages.iter().take(ON_PAGE).map(item).collect()
}
