//! The WhatsApp Cloud API, played by a local server that checks its requests (docs/decisions/0022-codes-come-by-a-whatsapp-template.md).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use nyala_core::domain::secret::Secret;
use nyala_store::config::SenderKind;
use serde_json::{Value, json};

use crate::auth::register::{TELP, otp_body, register_body};
use crate::support::helpers::{Setup, TestApp};

const REQUEST: &str = "/scan/v1/auth/request_otp";

/// The response to the next message.
#[derive(Clone)]
pub enum MetaReply {
    Json(u16, Value),
    Raw(u16, &'static str),
    Never,
    /// Accepted, after this time.
    After(Duration),
}

#[derive(Clone)]
pub struct Cloud {
    base_url: String,
    reply: Arc<Mutex<MetaReply>>,
    pub seen: Arc<Mutex<Vec<Value>>>,
}

fn accepted() -> Value {
    json!({"messaging_product": "whatsapp", "contacts": [{"input": "6281234567890", "wa_id": "6281234567890"}],
           "messages": [{"id": "wamid.HBgL", "message_status": "accepted"}]})
}

pub fn taken() -> MetaReply {
    MetaReply::Json(200, accepted())
}

pub fn refused(http: u16, code: i64, message: &str) -> MetaReply {
    MetaReply::Json(
        http,
        json!({"error": {"message": format!("(#{code}) {message}"), "type": "OAuthException", "code": code,
                         "error_data": {"messaging_product": "whatsapp", "details": message}, "fbtrace_id": "Az8or2yhqkZfEZ"}}),
    )
}

impl Cloud {
    pub fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let cloud = Self {
            base_url: format!("http://{}/v23.0", listener.local_addr().unwrap()),
            reply: Arc::new(Mutex::new(taken())),
            seen: Arc::default(),
        };
        let data = web::Data::new(cloud.clone());
        let server = HttpServer::new(move || App::new().app_data(data.clone()).default_service(web::to(Self::handle)));
        actix_web::rt::spawn(server.workers(1).listen(listener).unwrap().disable_signals().run());
        cloud
    }

    /// Returns 404 and 401 like the real API, so that a wrong path or key fails the test.
    async fn handle(cloud: web::Data<Self>, req: HttpRequest, body: web::Bytes) -> HttpResponse {
        let auth = req.headers().get("authorization").and_then(|v| v.to_str().ok());
        if (req.method().as_str(), req.path()) != ("POST", "/v23.0/106540352242922/messages") {
            return HttpResponse::NotFound().finish();
        }
        if auth != Some("Bearer EAAJB-rahasia") || req.headers().get("content-type").is_none_or(|v| v != "application/json") {
            return HttpResponse::Unauthorized().finish();
        }
        // A test that has seen the message may then change the reply to the next one.
        let reply = {
            let mut seen = cloud.seen.lock().unwrap();
            seen.push(serde_json::from_slice(&body).unwrap());
            cloud.reply.lock().unwrap().clone()
        };
        match reply {
            MetaReply::Json(status, body) => HttpResponse::build(status.try_into().unwrap()).json(body),
            MetaReply::Raw(status, body) => HttpResponse::build(status.try_into().unwrap()).body(body),
            MetaReply::Never => std::future::pending().await,
            MetaReply::After(time) => {
                actix_web::rt::time::sleep(time).await;
                HttpResponse::Ok().json(accepted())
            }
        }
    }

    pub fn answer(&self, reply: MetaReply) {
        *self.reply.lock().unwrap() = reply;
    }

    pub async fn app(&self) -> TestApp {
        self.setup().start().await
    }

    pub fn setup(&self) -> Setup {
        let base_url = self.base_url.clone();
        Setup::new().with(|c| {
            c.whatsapp.sender = SenderKind::Meta;
            c.whatsapp.meta_base_url = base_url;
            c.whatsapp.meta_phone_number_id = "106540352242922".to_owned();
            c.whatsapp.meta_access_token = Secret::new("EAAJB-rahasia");
            c.whatsapp.meta_template = "kode_masuk".to_owned();
        })
    }

    pub fn last(&self) -> Value {
        self.seen.lock().unwrap().last().cloned().expect("a message")
    }
}

#[actix_web::test]
async fn the_code_is_sent_as_the_template_wants_it_and_is_good() {
    let cloud = Cloud::start();
    let app = cloud.app().await;
    app.post(REQUEST, None, &otp_body(TELP)).await.ok();
    let sent = cloud.last();
    let code = sent["template"]["components"][0]["parameters"][0]["text"].as_str().unwrap();
    assert!(code.len() == 6 && code.bytes().all(|b| b.is_ascii_digit()), "{code}");
    let text = json!([{"type": "text", "text": code}]);
    assert_eq!(
        sent,
        json!({"messaging_product": "whatsapp", "recipient_type": "individual", "to": "6281234567890", "type": "template",
               "template": {"name": "kode_masuk", "language": {"code": "id"}, "components": [
                   {"type": "body", "parameters": text},
                   {"type": "button", "sub_type": "url", "index": "0", "parameters": text}]}})
    );
    app.post("/scan/v1/auth/register", None, &register_body(TELP, code)).await.ok();
    assert_eq!(app.get("/dev/whatsapp", None).await.status, 404, "the development sender is not there");
}

/// Refusals after which the same message may be accepted later.
pub fn temporary_refusals() -> [MetaReply; 7] {
    [
        refused(400, 131_056, "(Business Account, Consumer Account) pair rate limit hit"),
        refused(400, 130_429, "Rate limit hit"),
        refused(400, 80_007, "The WhatsApp Business Account has reached its rate limit"),
        refused(401, 190, "Access token has expired"),
        refused(404, 132_001, "Template name does not exist in the translation"),
        MetaReply::Raw(500, "<html>oops</html>"),
        MetaReply::Raw(200, "not json"),
    ]
}

#[actix_web::test]
async fn every_documented_refusal_is_503_and_starts_no_cooldown_and_no_count() {
    let cloud = Cloud::start();
    let app = cloud.app().await;
    let more =
        [refused(400, 131_026, "Message undeliverable"), MetaReply::Json(200, json!({"messages": []})), MetaReply::Raw(302, "")];
    for reply in temporary_refusals().into_iter().chain(more) {
        cloud.answer(reply);
        app.post(REQUEST, None, &otp_body(TELP)).await.expect(503, "kode gagal dikirim, coba lagi");
    }
    let unsent = cloud.last()["template"]["components"][0]["parameters"][0]["text"].as_str().unwrap().to_owned();
    app.post("/scan/v1/auth/register", None, &register_body(TELP, &unsent)).await.expect(404, "record not found");
    cloud.answer(taken());
    app.post(REQUEST, None, &otp_body(TELP)).await.ok();
    assert_eq!(app.post(REQUEST, None, &otp_body(TELP)).await.retry_after_s(), 60);
}

#[actix_web::test]
async fn codes_that_were_not_sent_count_against_no_limit() {
    let cloud = Cloud::start();
    let app = cloud
        .setup()
        .with(|c| {
            c.auth.otp_per_ip_hour = 2;
            c.auth.otp_per_hour = 2;
            c.auth.otp_per_telp_day = 2;
        })
        .start()
        .await;
    cloud.answer(refused(400, 131_026, "Message undeliverable"));
    for _ in 0..4 {
        app.post(REQUEST, None, &otp_body(TELP)).await.expect(503, "kode gagal dikirim, coba lagi");
    }
    cloud.answer(taken());
    app.post(REQUEST, None, &otp_body(TELP)).await.ok();
    app.post(REQUEST, None, &otp_body("81234567891")).await.ok();
    assert_eq!(app.post(REQUEST, None, &otp_body("81234567892")).await.retry_after_s(), 3600);
}

#[actix_web::test]
async fn an_unsent_code_leaves_the_one_before_good() {
    let cloud = Cloud::start();
    let app = cloud.app().await;
    app.post(REQUEST, None, &otp_body(TELP)).await.ok();
    let code = cloud.last()["template"]["components"][0]["parameters"][0]["text"].as_str().unwrap().to_owned();
    app.advance_s(60);
    cloud.answer(refused(400, 130_429, "Rate limit hit"));
    app.post(REQUEST, None, &otp_body(TELP)).await.expect(503, "kode gagal dikirim, coba lagi");
    app.post("/scan/v1/auth/register", None, &register_body(TELP, &code)).await.ok();
}

#[actix_web::test]
async fn a_refused_connection_is_503() {
    let cloud = Cloud::start();
    // A port that was free a moment ago, called over TLS: the client is built, and its connection is refused.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let app = Cloud { base_url: format!("https://127.0.0.1:{port}"), ..cloud }.app().await;
    app.post(REQUEST, None, &otp_body(TELP)).await.expect(503, "kode gagal dikirim, coba lagi");
}

#[actix_web::test]
async fn a_silent_cloud_does_not_hold_a_request() {
    let cloud = Cloud::start();
    cloud.answer(MetaReply::Never);
    let app = cloud.app().await;
    app.post(REQUEST, None, &otp_body(TELP)).await.expect(503, "kode gagal dikirim, coba lagi");
    cloud.answer(taken());
    app.post(REQUEST, None, &otp_body(TELP)).await.ok();
}

#[actix_web::test]
async fn a_code_still_counts_after_its_caller_disconnects() {
    let cloud = Cloud::start();
    let app = cloud.app().await;
    let (gone, mut counted) = (app.http.post(format!("{}{REQUEST}", app.base_url)).send_json(&otp_body(TELP)), 0);
    cloud.answer(MetaReply::Never);
    // The request is dropped once the cloud has received it, long before any response.
    let seen = cloud.seen.clone();
    tokio::select! {
        _ = gone => unreachable!("the cloud never answers"),
        () = async { while seen.lock().unwrap().is_empty() { tokio::task::yield_now().await } } => {}
    }
    assert_eq!(app.post(REQUEST, None, &otp_body(TELP)).await.retry_after_s(), 60, "it is still on its way");
    // Finally the code counts as not sent and is deleted.
    while counted < 600 {
        let left: i64 = app.db.query_one("SELECT count(*) FROM kode_otp", &[]).await.unwrap().get(0);
        if left == 0 {
            return;
        }
        counted += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the code of a caller who went away was never settled");
}
