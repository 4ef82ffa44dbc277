//! A push service on this machine, and browsers that subscribe at it. It checks messages against RFC 8030, 8188, 8291 and 8292 with other
//! code than the server's.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::rt::time::{sleep, timeout};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use aes_gcm::aead::Aead;
use aes_gcm::{Aes128Gcm, KeyInit};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use hmac::{Hmac, Mac};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::{PublicKey, SecretKey, ecdh};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::support::helpers::{Answer, Customer, Setup, TestApp};

/// A time limit, on a busy machine, for work that the server does every second.
const PATIENCE: Duration = Duration::from_secs(30);
pub const CONTACT: &str = "mailto:it@laundry.example";

/// The response to a message: a status and a header.
pub type Reply = (u16, Option<(&'static str, &'static str)>);

/// A message as it was received.
#[derive(Debug, Clone)]
pub struct ReceivedPush {
    pub path: String,
    pub headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl ReceivedPush {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
    }
}

#[derive(Clone)]
pub struct PushService {
    pub origin: String,
    given: Arc<Mutex<Vec<ReceivedPush>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl PushService {
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let service = Self { origin, given: Arc::default(), replies: Arc::default() };
        let data = web::Data::new(service.clone());
        let server = HttpServer::new(move || App::new().app_data(data.clone()).default_service(web::to(Self::handle)));
        actix_web::rt::spawn(server.workers(1).listen(listener).unwrap().disable_signals().run());
        service
    }

    async fn handle(service: web::Data<Self>, req: HttpRequest, body: web::Bytes) -> HttpResponse {
        let headers = req.headers().iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
        let given = ReceivedPush { path: req.path().to_owned(), headers: headers.collect(), body: body.to_vec() };
        service.given.lock().unwrap().push(given);
        let (status, header) = service.replies.lock().unwrap().pop_front().unwrap_or((201, None));
        let mut answer = HttpResponse::build(status.try_into().unwrap());
        header.into_iter().for_each(|header| _ = answer.insert_header(header));
        answer.finish()
    }

    /// Sets the responses to the next messages. Later messages are accepted.
    pub fn answer(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().extend(replies);
    }

    pub fn given(&self) -> Vec<ReceivedPush> {
        self.given.lock().unwrap().clone()
    }

    /// Waits for the `n`th message.
    pub async fn until(&self, n: usize) -> ReceivedPush {
        let came = async {
            while self.given().len() < n {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, came).await.unwrap_or_else(|_| panic!("{} of {n} messages", self.given().len()));
        self.given()[n - 1].clone()
    }

    /// A server that accepts this service as a push service.
    pub fn setup(&self) -> Setup {
        Setup::new().with(|config| {
            config.push.hosts = vec!["127.0.0.1".to_owned()];
            config.push.contact = CONTACT.to_owned();
            (config.mesin.sim_min_ms, config.mesin.sim_max_ms) = (0, 5);
        })
    }

    pub fn browser(&self, name: &str) -> Browser {
        let auth = std::array::from_fn(|n| name.as_bytes().get(n).copied().unwrap_or(7));
        Browser {
            endpoint: format!("{}/{name}", self.origin),
            key: SecretKey::random(&mut p256::elliptic_curve::rand_core::OsRng),
            auth,
        }
    }
}

/// A browser that has asked its push service for an address.
pub struct Browser {
    pub endpoint: String,
    key: SecretKey,
    auth: [u8; 16],
}

fn point(key: &PublicKey) -> Vec<u8> {
    key.to_encoded_point(false).as_bytes().to_vec()
}

/// HKDF of one block (RFC 5869).
fn hkdf(salt: &[u8], ikm: &[u8], info: &[u8]) -> [u8; 32] {
    let mac = |key: &[u8], parts: &[&[u8]]| {
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).unwrap();
        parts.iter().for_each(|part| mac.update(part));
        <[u8; 32]>::from(mac.finalize().into_bytes())
    };
    mac(&mac(salt, &[ikm]), &[info, &[1]])
}

impl Browser {
    pub fn body(&self) -> Value {
        let p256dh = B64.encode(point(&self.key.public_key()));
        json!({"endpoint": self.endpoint, "p256dh": p256dh, "auth": B64.encode(self.auth)})
    }

    /// The decrypted content of a message (RFC 8291 §3.4, RFC 8188 §2).
    pub fn open(&self, given: &ReceivedPush) -> Value {
        assert_eq!(given.header("content-encoding"), "aes128gcm");
        let (salt, rest) = given.body.split_at(16);
        let (record_bytes, rest) = rest.split_at(4);
        let (sender, sealed) = rest[1..].split_at(rest[0].into());
        assert!(sealed.len() <= u32::from_be_bytes(record_bytes.try_into().unwrap()) as usize, "one record");
        let shared = ecdh::diffie_hellman(self.key.to_nonzero_scalar(), PublicKey::from_sec1_bytes(sender).unwrap().as_affine());
        let info = [b"WebPush: info\0".as_slice(), &point(&self.key.public_key()), sender].concat();
        let ikm = hkdf(&self.auth, shared.raw_secret_bytes(), &info);
        let key = hkdf(salt, &ikm, b"Content-Encoding: aes128gcm\0");
        let nonce = hkdf(salt, &ikm, b"Content-Encoding: nonce\0");
        let cipher = Aes128Gcm::new_from_slice(&key[..16]).unwrap();
        let mut plain = cipher.decrypt(nonce[..12].into(), sealed).expect("it was sealed for this browser");
        assert_eq!(plain.pop(), Some(2), "the last record");
        serde_json::from_slice(&plain).unwrap()
    }
}

impl TestApp {
    pub async fn push_key(&self, customer: &Customer) -> String {
        let data = self.get("/scan/v1/push/kunci", Some(&customer.token)).await.ok();
        data["kunci"].as_str().unwrap().to_owned()
    }

    pub async fn subscribe(&self, customer: &Customer, browser: &Browser) -> Answer {
        self.post("/scan/v1/push/langganan", Some(&customer.token), &browser.body()).await
    }

    /// The claims of a message's signature, which must be by the public key that browsers receive (RFC 8292).
    pub fn claims(&self, given: &ReceivedPush, key: &str) -> Value {
        let (token, of) = given.header("authorization").strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(of, key);
        let point = PublicKey::from_sec1_bytes(&B64.decode(key).unwrap()).unwrap().to_encoded_point(false);
        let decoding = DecodingKey::from_ec_components(&B64.encode(point.x().unwrap()), &B64.encode(point.y().unwrap())).unwrap();
        let mut validation = Validation::new(Algorithm::ES256);
        // The server's clock is stopped.
        (validation.validate_exp, validation.validate_aud) = (false, false);
        jsonwebtoken::decode(token, &decoding, &validation).unwrap().claims
    }

    /// Waits until no message to staff is due or being sent.
    pub async fn all_alerted(&self) {
        const LEFT: &str = "SELECT count(*) FROM alarm_kirim WHERE due_at <= $1 OR (tries > 0 AND due_at = $2)";
        let done = async {
            while self.insert(LEFT, &[&self.now(), &self.now().plus_ms(60_000)]).await > 0 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, done).await.expect("nothing is due");
    }

    /// Waits until no push is due or being sent. A push being sent is claimed for a minute, longer than any pause before a retry.
    pub async fn all_pushed(&self) {
        const LEFT: &str = "SELECT count(*) FROM push WHERE due_at <= $1 OR (tries > 0 AND due_at = $2)";
        let done = async {
            while self.insert(LEFT, &[&self.now(), &self.now().plus_ms(60_000)]).await > 0 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, done).await.expect("nothing is due");
    }
}
