//! The server apart from its calls: health, metrics, envelopes for all responses, headers, other origins.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderMap;
use nyala_core::domain::origin::Origin;
use nyala_machines::threads::STUCK_AFTER_MS;
use nyala_store::db::clock;

use crate::ops::operator::Scope;
use crate::realtime::phone::soon;
use crate::server::cross_site::addresses;
use crate::server::openapi::document;
use crate::support::arrange::receipt;
use crate::support::helpers::{Setup, TestApp};
use crate::support::shop::buy;

/// A response that need not be an envelope.
pub struct Raw {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Raw {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }
}

pub async fn raw(app: &TestApp, method: &str, path: &str, headers: &[(&str, &str)]) -> Raw {
    let mut req = app.http.request(method.parse().unwrap(), format!("{}{path}", app.base_url)).no_decompress();
    for (name, value) in headers {
        req = req.insert_header((*name, *value));
    }
    let mut res = req.send().await.unwrap_or_else(|e| panic!("{method} {path}: {e}"));
    let body = res.body().limit(1 << 20).await.unwrap();
    Raw { status: res.status(), headers: res.headers().clone(), body: String::from_utf8_lossy(&body).into_owned() }
}

/// Makes the database unavailable, like a crashed or unreachable one.
async fn lose_database(app: &TestApp) {
    let name: String = app.db.query_one("SELECT current_database()::TEXT", &[]).await.unwrap().get(0);
    let mut elsewhere = app.state.store.db.config().clone();
    elsewhere.dbname("postgres");
    let (admin, _) = nyala_store::db::lock::connect(&elsewhere).await.unwrap();
    admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
}

#[actix_web::test]
async fn unknown_addresses_are_404_envelopes_for_every_method() {
    let app = TestApp::spawn().await;
    for path in [
        "/nothing",
        "/scan/v1/nothing",
        "/scan/v1/auth/nothing",
        "/scan/v2/auth/login",
        "/scan",
        "/dev/nothing",
        "/assets/x.js",
        "/scan/v1/auth/login/",
    ] {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            app.call(method, path, None, &[("accept", "*/*")], None).await.expect(404, "alamat tidak ditemukan");
        }
    }
}

#[actix_web::test]
async fn a_wrong_method_is_a_405_envelope_that_names_the_right_one() {
    let app = TestApp::spawn().await;
    for (method, path, right) in [
        ("GET", "/scan/v1/auth/login", "POST"),
        ("DELETE", "/scan/v1/dashboard/get_dashboard", "GET"),
        ("POST", "/healthz", "GET"),
        ("TRACE", "/healthz", "GET"),
    ] {
        let answer = app.call(method, path, None, &[], None).await;
        answer.expect(405, &format!("alamat ini tidak menerima {method}; yang diterima: {right}"));
        assert_eq!(answer.headers.get("allow").unwrap(), right);
    }
}

#[actix_web::test]
async fn every_path_of_the_document_lists_its_methods() {
    let app = TestApp::spawn().await;
    let key = app.key(Scope::Root).await;
    let document = document();
    for method in ["get", "post"] {
        for path in addresses(&document, method) {
            let other = if method == "get" { "POST" } else { "GET" };
            if addresses(&document, &other.to_lowercase()).contains(&path) {
                continue;
            }
            for wrong in [other, "PUT", "DELETE", "PATCH"] {
                let answer = app.call(wrong, &path, Some(&key), &[], None).await;
                let right = method.to_uppercase();
                answer.expect(405, &format!("alamat ini tidak menerima {wrong}; yang diterima: {right}"));
                assert_eq!(answer.headers.get("allow").unwrap(), right.as_str(), "{wrong} {path}");
            }
        }
    }
}

#[actix_web::test]
async fn every_answer_has_a_request_id_and_the_security_headers() {
    let app = TestApp::spawn().await;
    for path in ["/healthz", "/metrics", "/openapi.json", "/", "/nothing", "/scan/v1/auth/login", "/docs/"] {
        let res = raw(&app, "GET", path, &[]).await;
        assert_eq!(res.header("x-request-id").len(), 32, "{path}");
        for directive in ["object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
            assert!(res.header("content-security-policy").contains(directive), "{path}: {directive}");
        }
        assert_eq!(res.header("x-content-type-options"), "nosniff", "{path}");
    }
    let kept = raw(&app, "GET", "/healthz", &[("x-request-id", "dari-proxy-0001")]).await;
    assert_eq!(kept.header("x-request-id"), "dari-proxy-0001");
    for bad in ["short", "has blank in it", "<script>alert(1)</script>", &"x".repeat(65)] {
        let replaced = raw(&app, "GET", "/healthz", &[("x-request-id", bad)]).await;
        assert_eq!(replaced.header("x-request-id").len(), 32, "{bad}");
    }
}

#[actix_web::test]
async fn head_is_get_without_the_body() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let bearer = format!("Bearer {}", siti.token);
    for path in ["/healthz", "/readyz", "/openapi.json", "/scan/v1/dashboard/get_dashboard"] {
        let head = raw(&app, "HEAD", path, &[("authorization", &bearer)]).await;
        assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""), "{path}");
        assert!(head.header("content-type").starts_with("application/json"), "{path}");
    }
    assert_eq!(raw(&app, "HEAD", "/nothing", &[]).await.status, 404);
}

#[actix_web::test]
async fn ready_while_it_takes_work_and_the_database_answers() {
    let app = TestApp::spawn().await;
    app.get("/healthz", None).await.expect(200, "OK");
    app.get("/readyz", None).await.expect(200, "OK");
    app.state.machines.set_open(false);
    app.get("/readyz", None).await.expect(503, "sedang mulai atau berhenti");
    app.get("/healthz", None).await.expect(200, "OK");
    app.state.machines.set_open(true);
    lose_database(&app).await;
    app.get("/readyz", None).await.expect(503, "basis data tidak menjawab");
    app.get("/healthz", None).await.expect(200, "OK");
}

#[actix_web::test]
async fn a_stalled_thread_is_unhealthy_until_its_event_loop_turns() {
    let app = TestApp::spawn().await;
    let health = async || app.get("/healthz", None).await;
    let hangs = app.state.threads.join();
    app.state.threads.advance_ms(STUCK_AFTER_MS + 1);
    // The server's own thread completes an event-loop turn within a moment; the other one never does.
    soon("the server's own thread's turn", async {
        while app.state.threads.stuck() > 1 {
            actix_web::rt::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    health().await.expect(503, "1 utas kerja macet");
    hangs.turned();
    health().await.expect(200, "OK");
}

/// Makes the database refuse writes, like one with a full disk, or accept them again.
async fn full_disk(app: &TestApp, full: bool) {
    const FULL: &str = "
        CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
        END $$;
        CREATE TRIGGER no_room BEFORE INSERT ON nota EXECUTE FUNCTION no_room();
        CREATE FUNCTION no_new_file() RETURNS event_trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'could not create file: No space left on device' USING ERRCODE = 'disk_full';
        END $$;
        CREATE EVENT TRIGGER no_new_file ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION no_new_file();";
    app.db.batch_execute(if full { FULL } else { "DROP FUNCTION no_room, no_new_file CASCADE" }).await.unwrap();
}

/// A write that fits into existing pages still succeeds on a full disk, so its success proves nothing.
#[actix_web::test]
async fn not_ready_from_the_first_write_that_failed_until_there_is_room_again() {
    const PROBED_EVERY_S: i64 = 5;
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.balance_of(&siti, shop, 10_000).await;
    let ready = async || app.get("/readyz", None).await;
    ready().await.expect(200, "OK");
    full_disk(&app, true).await;
    app.advance_s(PROBED_EVERY_S);
    ready().await.expect(200, "OK");
    app.buy(&siti, &buy(1, shop, epay)).await.expect(503, "layanan sedang sibuk, coba lagi");
    for _ in 0..3 {
        ready().await.expect(503, "basis data tidak dapat menyimpan");
        app.advance_s(PROBED_EVERY_S);
    }
    full_disk(&app, false).await;
    ready().await.expect(200, "OK");
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    app.assert_no_violation().await;
}

/// A dump holds its locks on every table until its end, which may take an hour.
#[actix_web::test]
async fn ready_again_while_a_dump_runs() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.balance_of(&siti, shop, 10_000).await;
    let ready = async || {
        app.advance_s(5);
        app.get("/readyz", None).await
    };
    full_disk(&app, true).await;
    app.buy(&siti, &buy(1, shop, epay)).await.expect(503, "layanan sedang sibuk, coba lagi");
    ready().await.expect(503, "basis data tidak dapat menyimpan");
    let (dump, _) = nyala_store::db::lock::connect(app.state.store.db.config()).await.unwrap();
    dump.batch_execute("BEGIN; LOCK TABLE write_probe IN ACCESS SHARE MODE").await.unwrap();
    ready().await.expect(503, "basis data tidak dapat menyimpan");
    full_disk(&app, false).await;
    ready().await.expect(200, "OK");
    dump.batch_execute("COMMIT").await.unwrap();
}

#[actix_web::test]
async fn not_ready_on_a_database_that_may_only_be_read() {
    let app = TestApp::spawn().await;
    let read_only = async |on: bool| {
        let name: String = app.db.query_one("SELECT current_database()::TEXT", &[]).await.unwrap().get(0);
        app.db.batch_execute(&format!("ALTER DATABASE {name} SET default_transaction_read_only = {on}")).await.unwrap();
        const OTHERS: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()";
        app.db.batch_execute(OTHERS).await.unwrap();
        app.advance_s(5);
    };
    read_only(true).await;
    soon("the refusal", async {
        while app.get("/readyz", None).await.message != "basis data tidak dapat menyimpan" {
            // The pool finds its dead connections one after the other.
            app.advance_s(5);
        }
    })
    .await;
    app.db.batch_execute("SET default_transaction_read_only = off").await.unwrap();
    read_only(false).await;
    soon("readiness", async {
        while app.get("/readyz", None).await.status != 200 {
            app.advance_s(5);
        }
    })
    .await;
}

/// The value of the sample whose line begins with `sample`.
fn sample(text: &str, sample: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' ')?.parse().ok())
}

#[actix_web::test]
async fn metrics_count_events_and_contain_no_personal_data() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    let running = app.hold(epay, &app.machine(outlet, "M1").await, &receipt(1)).await;
    app.started(&running).await;
    app.hold(epay, &app.machine(outlet, "M2").await, &receipt(2)).await;
    for _ in 0..3 {
        app.get(&format!("/scan/v1/transaksi/get_detail_snap_transaksi/{}", receipt(1)), Some(&siti.token)).await.ok();
    }
    for path in ["/a", "/b", "/c"] {
        raw(&app, "BREW", path, &[]).await;
    }
    let res = raw(&app, "GET", "/metrics", &[]).await;
    assert!(res.header("content-type").starts_with("application/openmetrics-text"));
    let text = res.body;
    let detail = "/scan/v1/transaksi/get_detail_snap_transaksi/{id}";
    for (name, value) in [
        (format!("nyala_http_requests_total{{route=\"{detail}\",method=\"GET\",status=\"200\"}}"), 3.0),
        ("nyala_http_requests_total{route=\"unmatched\",method=\"other\",status=\"404\"}".to_owned(), 3.0),
        ("nyala_http_request_duration_seconds_count".to_owned(), 6.0),
        ("nyala_purchases_open{state=\"RUNNING\"}".to_owned(), 1.0),
        ("nyala_purchases_open{state=\"HELD\"}".to_owned(), 1.0),
        ("nyala_purchases_open{state=\"UNSURE\"}".to_owned(), 0.0),
        ("nyala_database_up".to_owned(), 1.0),
        ("nyala_database_waiting".to_owned(), 0.0),
        ("nyala_password_queue_length".to_owned(), 0.0),
    ] {
        assert_eq!(sample(&text, &name), Some(value), "{name} in\n{text}");
    }
    assert!(sample(&text, "nyala_database_connections").unwrap() >= 1.0);
    assert!(sample(&text, "nyala_database_wait_seconds_count").unwrap() >= 3.0);
    assert!(!text.contains(&receipt(1)) && !text.contains(&siti.telp) && !text.contains("Melati"));
    lose_database(&app).await;
    let lost = raw(&app, "GET", "/metrics", &[]).await;
    assert_eq!((lost.status, sample(&lost.body, "nyala_database_up")), (StatusCode::OK, Some(0.0)));
    assert_eq!(sample(&lost.body, "nyala_purchases_open{state=\"RUNNING\"}"), None, "an unknown count is not told");
}

#[actix_web::test]
async fn the_distance_from_the_databases_clock_is_a_metric() {
    let app = TestApp::spawn().await;
    for ahead_s in [-30, 0, 30] {
        let theirs = nyala_store::db::clock::database_now(&app.db).await.unwrap();
        app.clock.set(theirs.plus_ms(-ahead_s * 1000));
        clock::correct(&app.state.store, &app.state.metrics.clock_distance).await.unwrap();
        let told_s = sample(&raw(&app, "GET", "/metrics", &[]).await.body, "nyala_clock_distance_seconds").unwrap();
        // The clock is stopped while the two requests are made.
        assert!((ahead_s as f64..ahead_s as f64 + 20.0).contains(&told_s), "{told_s} s, not {ahead_s} s");
    }
}

#[actix_web::test]
async fn only_listed_origins_may_use_the_calls() {
    let listed = "https://app.example";
    let app = Setup::new().with(|c| c.http.allowed_origins = vec![Origin::parse(listed).unwrap()]).start().await;
    let login = "/scan/v1/auth/login";
    let ask =
        [("origin", listed), ("access-control-request-method", "POST"), ("access-control-request-headers", "authorization")];
    let permission = raw(&app, "OPTIONS", login, &ask).await;
    assert_eq!(permission.status, 204);
    assert_eq!(permission.header("access-control-allow-origin"), listed);
    assert!(permission.header("access-control-allow-headers").contains("authorization"));
    assert!(permission.header("access-control-allow-methods").contains("POST"));
    let answer = raw(&app, "GET", "/healthz", &[("origin", listed)]).await;
    assert_eq!(
        (answer.header("access-control-allow-origin"), answer.header("vary").to_lowercase().contains("origin")),
        (listed, true)
    );
    assert!(!answer.headers.contains_key("access-control-allow-credentials"));
    for stranger in ["https://evil.example", "null", "https://app.example.evil", "http://app.example"] {
        let answer = raw(&app, "GET", "/healthz", &[("origin", stranger)]).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (StatusCode::OK, ""), "{stranger}");
        let ask = [("origin", stranger), ("access-control-request-method", "POST")];
        let refused = raw(&app, "OPTIONS", login, &ask).await;
        assert_eq!(
            (refused.status, refused.header("access-control-allow-origin")),
            (StatusCode::METHOD_NOT_ALLOWED, ""),
            "{stranger}"
        );
    }
}
