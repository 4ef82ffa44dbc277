//! Sends due pushes to the browsers' push services (RFC 8030), and retries those that failed.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{CONTENT_ENCODING, RETRY_AFTER};
use awc::Client;
use awc::http::StatusCode;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::push::endpoint::Endpoint;
use nyala_identity::push::subscription::Subscription;
use nyala_ledger::push_queue::Browser;
use nyala_store::secrets::Kid;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::Push;
use super::error::PushError;
use super::metrics::Outcome;
use super::taken::{self, Settled, Taken};
use super::vapid::Vapid;

/// How often the queue is read.
const EVERY: Duration = Duration::from_secs(1);
/// Pushes that are sent at the same time.
const AT_ONCE: usize = 32;
/// How long a service may take for one push, and the longest response that is read.
const SEND_LIMIT: Duration = Duration::from_secs(10);
const MAX_ANSWER_BYTES: usize = 4 * 1024;
/// Lease of a claimed push: when its server dies, another one may claim the push after this time. It is longer than all that a server
/// does with a push.
const LEASE_MS: i64 = 60_000;
/// Pauses after the first attempt and the second; the third is the last.
const PAUSES_MS: [i64; 2] = [5_000, 30_000];
/// The longest pause that a service may ask for.
const MAX_PAUSE_MS: i64 = 120_000;

/// A service's response to a message.
enum ServiceResponse {
    Taken,
    /// Retry later, after the pause that the service requests.
    Later(Option<i64>),
    Gone,
    Refused(StatusCode),
}

/// Runs until the process ends.
pub async fn send_loop(push: Arc<Push>) {
    let client = Client::builder().disable_redirects().timeout(SEND_LIMIT).finish();
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Separate tasks: those that have a connection continue while the next pushes are read.
    let mut on_their_way = JoinSet::new();
    let mut more = false;
    loop {
        tokio::select! {
            _ = every.tick() => {}
            Some(ended) = on_their_way.join_next() => {
                if let Err(panicked) = ended {
                    std::panic::resume_unwind(panicked.into_panic());
                }
                if !more {
                    continue;
                }
            }
        }
        let room = AT_ONCE - on_their_way.len();
        if room == 0 {
            continue;
        }
        match push.claim(room).await {
            Ok(taken) => {
                more = taken.len() == room;
                for one in taken {
                    let (push, client) = (push.clone(), client.clone());
                    on_their_way.spawn_local(async move { push.handle(&client, one).await });
                }
            }
            Err(e) => {
                more = false;
                tracing::warn!(error = %e, "pushes cannot be read; it will be tried again");
            }
        }
    }
}

impl Push {
    async fn claim(&self, free_slots: usize) -> Result<Vec<Taken>, PushError> {
        let (db, now) = (self.store.get().await?, self.store.now());
        Ok(taken::claim(&db, now, free_slots, now.plus_ms(LEASE_MS)).await?)
    }

    /// Sends one push, and stores the result.
    async fn handle(&self, client: &Client, one: Taken) {
        let now = self.store.now();
        let browser = one.browser().filter(|_| one.is_useful(now) && one.tries() <= PAUSES_MS.len() + 1);
        if let Some(until) = browser.and_then(|_| one.quiet_until(now)) {
            if let Err(e) = self.postpone(&one, until).await {
                tracing::warn!(error = %e, "a push was not postponed; it will be tried again");
            }
            return;
        }
        let (outcome, pause_ms) = match browser {
            Some(browser) => self.send(client, &one, browser).await,
            None => (Outcome::Needless, None),
        };
        self.metrics.ended(outcome);
        if let Err(e) = self.settle(&one, outcome, pause_ms).await {
            tracing::warn!(error = %e, "what became of a push is not written down; it is sent again");
        }
    }

    async fn send(&self, client: &Client, one: &Taken, browser: &Browser) -> (Outcome, Option<i64>) {
        let known = Subscription::stored(&browser.endpoint, &browser.p256dh, &browser.auth, &self.hosts);
        // The push service's host is no longer accepted.
        let Some((endpoint, key, auth)) = known else { return (Outcome::Gone, None) };
        let identity = match Kid::new(browser.kid).map(|kid| self.identity(kid)).transpose() {
            Ok(identity) => identity.flatten(),
            Err(e) => {
                tracing::error!(error = %e, "a push was not signed");
                return (Outcome::Failed, None);
            }
        };
        // The key that the browser has subscribed with is retired: the app subscribes again.
        let Some(identity) = identity else { return (Outcome::Gone, None) };
        let body = match self.encrypted(one, &key, &auth) {
            Ok(body) => body,
            Err(e) => {
                tracing::error!(error = %e, "a push was not made");
                return (Outcome::Failed, None);
            }
        };
        let answer = match self.post(client, one, (&identity, &endpoint), body).await {
            Ok(answer) => answer,
            Err(e) => {
                tracing::error!(error = %e, "a push was not signed");
                return (Outcome::Failed, None);
            }
        };
        match answer {
            ServiceResponse::Taken => (Outcome::Sent, None),
            ServiceResponse::Gone => (Outcome::Gone, None),
            ServiceResponse::Refused(status) => {
                tracing::warn!(service = endpoint.origin(), %status, "a push was refused");
                (Outcome::Failed, None)
            }
            ServiceResponse::Later(asked_ms) => match PAUSES_MS.get(one.tries().saturating_sub(1)) {
                Some(pause_ms) => (Outcome::Again, Some(asked_ms.unwrap_or(0).clamp(*pause_ms, MAX_PAUSE_MS))),
                None => (Outcome::Failed, None),
            },
        }
    }

    fn encrypted(&self, one: &Taken, key: &p256::PublicKey, auth: &web_push_native::Auth) -> Result<Vec<u8>, PushError> {
        Ok(web_push_native::encrypt(one.message(&self.keyring.get())?, key, auth)?)
    }

    async fn post(
        &self,
        client: &Client,
        one: &Taken,
        (identity, endpoint): (&Vapid, &Endpoint),
        body: Vec<u8>,
    ) -> Result<ServiceResponse, PushError> {
        let request = client
            .post(endpoint.as_str())
            .insert_header(("Authorization", identity.authorization(endpoint, self.store.now())?))
            .insert_header((CONTENT_ENCODING, "aes128gcm"))
            .insert_header(("TTL", one.ttl_s()))
            .insert_header(("Urgency", "high"))
            .insert_header(("Topic", one.tag(&self.keyring.get())))
            .content_type("application/octet-stream");
        let mut response = match request.send_body(body).await {
            Ok(response) => response,
            Err(e) => {
                tracing::debug!(service = endpoint.origin(), error = %e, "a push service does not answer");
                return Ok(ServiceResponse::Later(None));
            }
        };
        // Read to the end, so that the connection can be reused; the status alone decides.
        let _ = response.body().limit(MAX_ANSWER_BYTES).await;
        let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse::<u32>().ok());
        Ok(match response.status() {
            status if status.is_success() => ServiceResponse::Taken,
            StatusCode::NOT_FOUND | StatusCode::GONE => ServiceResponse::Gone,
            status if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
                ServiceResponse::Later(seconds.map(|s| i64::from(s) * 1000))
            }
            status => ServiceResponse::Refused(status),
        })
    }

    async fn postpone(&self, one: &Taken, until: Timestamp) -> Result<(), PushError> {
        let db = self.store.get().await?;
        Ok(one.postpone(&db, until).await?)
    }

    async fn settle(&self, one: &Taken, outcome: Outcome, pause_ms: Option<i64>) -> Result<(), PushError> {
        let (db, now) = (self.store.get().await?, self.store.now());
        let settled = match outcome {
            Outcome::Sent => Settled::Sent,
            Outcome::Gone => Settled::Gone,
            Outcome::Again => Settled::Again(now.plus_ms(pause_ms.unwrap_or(MAX_PAUSE_MS))),
            Outcome::Failed | Outcome::Needless => Settled::Dropped,
        };
        Ok(one.settle(&db, settled, now).await?)
    }
}
