//! WhatsApp Cloud API: an authentication template, in which the code appears twice, and a template for moves to another number
//! (docs/decisions/0022-codes-come-by-a-whatsapp-template.md; developers.facebook.com, "Authentication templates" and "Error
//! codes").

use std::cell::OnceCell;

use awc::Client;
use awc::http::StatusCode;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use nyala_core::domain::secret::Secret;
use nyala_store::config;
use serde::Deserialize;
use serde_json::json;

use super::{Content, OutgoingMessage, SEND_LIMIT, SendError, Sender};

/// The longest response that is read.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Length of a refusal's own text in the log, in characters.
const MAX_LOGGED_CHARS: usize = 200;

thread_local! {
    // A client's connections belong to the runtime of the thread that made it.
    static CLIENT: OnceCell<Client> = const { OnceCell::new() };
}

pub struct Meta {
    url: String,
    access_token: Secret,
    template: String,
    move_template: String,
    language: String,
}

#[derive(Deserialize)]
struct Taken {
    messages: Vec<TakenMessage>,
}

#[derive(Deserialize)]
struct TakenMessage {
    id: String,
}

#[derive(Deserialize)]
struct Refusal {
    error: RefusalError,
}

#[derive(Deserialize)]
struct RefusalError {
    code: i64,
    #[serde(default)]
    message: String,
}

impl Meta {
    pub fn new(config: &config::WhatsAppSettings) -> Self {
        Self {
            url: format!("{}/{}/messages", config.meta_base_url.trim_end_matches('/'), config.meta_phone_number_id),
            access_token: config.meta_access_token.clone(),
            template: config.meta_template.clone(),
            move_template: config.meta_template_move.clone(),
            language: config.meta_language.clone(),
        }
    }

    /// The body of a notice of a move has the other number and the time; its button opens the address that is approved with the template, with
    /// the secret behind it.
    fn body(&self, message: &OutgoingMessage) -> serde_json::Value {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let (template, body, button) = match &message.content {
            Content::Code(code) => (&self.template, json!([text(code.as_str())]), text(code.as_str())),
            Content::Move(notice) => (&self.move_template, json!([text(&notice.to), text(&notice.when)]), text(&notice.secret)),
        };
        json!({
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": message.telp.full(),
            "type": "template",
            "template": {
                "name": template,
                "language": { "code": self.language },
                "components": [
                    { "type": "body", "parameters": body },
                    { "type": "button", "sub_type": "url", "index": "0", "parameters": [button] },
                ],
            },
        })
    }

    async fn post(&self, message: &OutgoingMessage) -> Result<(), SendError> {
        let client =
            CLIENT.with(|cell| cell.get_or_init(|| Client::builder().disable_redirects().timeout(SEND_LIMIT).finish()).clone());
        let sent = client.post(&self.url).bearer_auth(&*self.access_token).send_json(&self.body(message)).await;
        let mut answer = sent.map_err(|e| SendError::Unreachable(e.to_string()))?;
        let bytes = answer.body().limit(MAX_ANSWER_BYTES).await.map_err(|e| SendError::Unreachable(e.to_string()))?;
        read_answer(answer.status(), &bytes)
    }
}

impl Sender for Meta {
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> LocalBoxFuture<'a, Result<(), SendError>> {
        self.post(message).boxed_local()
    }
}

/// A message was accepted when the response has a message id. A 200 without one is a refusal like any other.
fn read_answer(status: StatusCode, bytes: &[u8]) -> Result<(), SendError> {
    let taken = || serde_json::from_slice::<Taken>(bytes).is_ok_and(|t| t.messages.iter().any(|m| !m.id.is_empty()));
    if status.is_success() && taken() {
        return Ok(());
    }
    let error = serde_json::from_slice::<Refusal>(bytes).ok().map(|r| r.error);
    Err(match error.as_ref().map(|e| e.code) {
        Some(131_026) => SendError::Undeliverable,
        Some(131_056) => SendError::PairLimit,
        Some(130_429) => SendError::Throughput,
        Some(80_007) => SendError::AccountLimit,
        code => SendError::Refused {
            status: status.as_u16(),
            code,
            text: error.map(|e| e.message.chars().take(MAX_LOGGED_CHARS).collect()).unwrap_or_default(),
        },
    })
}
