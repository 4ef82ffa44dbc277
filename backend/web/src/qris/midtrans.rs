//! Midtrans' Core API (docs.midtrans.com): an order is charged by its id, asked about by its id, and cancelled by it. The status of an answer is in
//! its body.

use std::cell::OnceCell;

use awc::{Client, ClientRequest};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use nyala_core::bill::{PaymentState, ProviderReport};
use nyala_core::domain::id::OwnerId;
use nyala_core::domain::secret::Secret;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::bill::{Charge, DueBill};
use nyala_store::clock::Clock;
use nyala_store::config::{QrisSettings, ServerKeys};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::{ANSWER_LIMIT, ProviderError};
use super::notification::{Notification, Signer};
use super::provider::PaymentProvider;

/// The longest answer that is read.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Length of a refusal's own text in the log, in characters.
const MAX_LOGGED_CHARS: usize = 200;
const MINUTE_MS: i64 = 60_000;
/// Status codes of bodies.
const CREATED: &str = "201";
const UNKNOWN_ORDER: &str = "404";
const CANNOT_CHANGE: &str = "412";

thread_local! {
    // A client's connections belong to the runtime of the thread that made it.
    static CLIENT: OnceCell<Client> = const { OnceCell::new() };
}

fn client() -> Client {
    CLIENT.with(|cell| cell.get_or_init(|| Client::builder().disable_redirects().timeout(ANSWER_LIMIT).finish()).clone())
}

pub struct Midtrans {
    base_url: String,
    keys: ServerKeys,
    clock: Clock,
}

/// What each answer has.
#[derive(Debug, Deserialize)]
struct Answer {
    status_code: String,
    #[serde(default)]
    status_message: String,
}

#[derive(Debug, Deserialize)]
struct Charged {
    qr_string: String,
    #[serde(default)]
    transaction_id: Option<String>,
    #[serde(default)]
    actions: Vec<Action>,
}

#[derive(Debug, Deserialize)]
struct Action {
    name: String,
    #[serde(default)]
    url: String,
}

impl Midtrans {
    pub fn new(settings: &QrisSettings, keys: ServerKeys, clock: Clock) -> Self {
        Self { base_url: settings.midtrans_base_url.trim_end_matches('/').to_owned(), keys, clock }
    }

    fn key(&self, owner: OwnerId) -> Result<&Secret, ProviderError> {
        self.keys.of(owner).ok_or(ProviderError::NoKey(owner))
    }

    async fn send(&self, request: ClientRequest, owner: OwnerId, body: Option<Value>) -> Result<Value, ProviderError> {
        let unreachable = |e: &dyn std::fmt::Display| ProviderError::Unreachable(e.to_string());
        let request = request.basic_auth(&**self.key(owner)?, "").insert_header(("Accept", "application/json"));
        let sent = match body {
            Some(body) => request.send_json(&body).await,
            None => request.send().await,
        };
        let mut answer = sent.map_err(|e| unreachable(&e))?;
        let bytes = answer.body().limit(MAX_ANSWER_BYTES).await.map_err(|e| unreachable(&e))?;
        serde_json::from_slice(&bytes).map_err(|_| ProviderError::NotUnderstood(format!("HTTP {} without JSON", answer.status())))
    }

    async fn charge(&self, bill: &DueBill) -> Result<Charge, ProviderError> {
        let body = charge_body(bill, self.clock.now());
        let answer = self.send(client().post(format!("{}/v2/charge", self.base_url)), bill.idowner, Some(body)).await?;
        let head: Answer = read(&answer)?;
        if head.status_code != CREATED {
            return Err(refused(head));
        }
        let charged: Charged = read(&answer)?;
        let is_link = |action: &Action| action.name == "deeplink-redirect" && action.url.starts_with("https://");
        let deeplink = charged.actions.into_iter().find(is_link).map(|action| action.url);
        Ok(Charge { qr: charged.qr_string, deeplink, reference: charged.transaction_id })
    }

    async fn ask(&self, bill: &DueBill) -> Result<ProviderReport, ProviderError> {
        let url = format!("{}/v2/{}/status", self.base_url, bill.id);
        report(&self.send(client().get(url), bill.idowner, None).await?, bill)
    }

    async fn end(&self, bill: &DueBill) -> Result<ProviderReport, ProviderError> {
        let url = format!("{}/v2/{}/cancel", self.base_url, bill.id);
        let answer = self.send(client().post(url), bill.idowner, None).await?;
        // What is over is not cancelled: its state says how it ended.
        if read::<Answer>(&answer)?.status_code == CANNOT_CHANGE {
            return self.ask(bill).await;
        }
        report(&answer, bill)
    }
}

fn charge_body(bill: &DueBill, now: Timestamp) -> Value {
    let minutes = (now.ms_until(bill.expires_at) + MINUTE_MS - 1) / MINUTE_MS;
    json!({
        "payment_type": "qris",
        "transaction_details": { "order_id": bill.id.as_str(), "gross_amount": bill.nominal },
        "custom_expiry": { "expiry_duration": minutes.max(1), "unit": "minute" },
    })
}

/// The state of an order in an answer about it.
fn report(answer: &Value, bill: &DueBill) -> Result<ProviderReport, ProviderError> {
    let head: Answer = read(answer)?;
    if head.status_code == UNKNOWN_ORDER {
        return Ok(PaymentState::Unknown.into());
    }
    if answer.get("transaction_status").is_none() {
        return Err(refused(head));
    }
    let about: Notification = read(answer)?;
    if about.order_id != bill.id.as_str() {
        return Err(ProviderError::NotUnderstood("an answer about another order".to_owned()));
    }
    about.report()
}

fn read<T: DeserializeOwned>(answer: &Value) -> Result<T, ProviderError> {
    T::deserialize(answer).map_err(|e| ProviderError::NotUnderstood(e.to_string().chars().take(MAX_LOGGED_CHARS).collect()))
}

fn refused(answer: Answer) -> ProviderError {
    let text = answer.status_message.chars().take(MAX_LOGGED_CHARS).collect();
    ProviderError::Refused { status: answer.status_code, text }
}

impl PaymentProvider for Midtrans {
    fn serves(&self, owner: OwnerId) -> bool {
        self.keys.of(owner).is_some()
    }

    fn create<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<Charge, ProviderError>> {
        self.charge(bill).boxed_local()
    }

    fn status<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<ProviderReport, ProviderError>> {
        self.ask(bill).boxed_local()
    }

    fn cancel<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<ProviderReport, ProviderError>> {
        self.end(bill).boxed_local()
    }

    fn verify(&self, notification: &Notification) -> Option<Signer> {
        match &self.keys {
            ServerKeys::One(key) => notification.is_signed_by(key).then_some(Signer::AnyOwner),
            ServerKeys::PerOwner(keys) => {
                let signer = keys.iter().find(|(_, key)| notification.is_signed_by(key));
                signer.map(|(owner, _)| Signer::Owner(*owner))
            }
        }
    }
}
