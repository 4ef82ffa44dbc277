//! Access to `/metrics` and to the reason why a server is not ready. Strangers learn only whether it is ready.

use actix_web::rt::net::TcpStream;
use nyala_machines::threads::STUCK_AFTER_MS;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::listener::raw;
use crate::support::helpers::{Setup, TestApp};

const REFUSED: &str = "/metrics hanya untuk mesin ini sendiri, alamat di http.metrics_from, atau lewat port http.metrics_port, dan tidak lewat proxy";
const OF_PROXIES: [(&str, &str); 6] = [
    ("forwarded", "for=203.0.113.9"),
    ("x-forwarded-for", "203.0.113.9"),
    ("x-forwarded-proto", "https"),
    ("x-forwarded-host", "cuci.example"),
    ("x-real-ip", "203.0.113.9"),
    ("via", "1.1 proxy"),
];

#[actix_web::test]
async fn metrics_are_refused_through_a_proxy_for_any_spelling_of_the_path() {
    let app = TestApp::spawn().await;
    assert_eq!(raw(&app, "GET", "/metrics", &[]).await.status, 200, "this machine");
    for proxied in OF_PROXIES {
        for path in ["/metrics", "/%6detrics", "/%6Detrics", "/metric%73", "/%6d%65%74%72%69%63%73"] {
            for method in ["GET", "HEAD"] {
                let answer = raw(&app, method, path, &[proxied]).await;
                assert_eq!(answer.status, 403, "{method} {path} {proxied:?}");
                assert!(!answer.body.contains("nyala_"), "{path}");
            }
        }
        app.call("GET", "/metrics", None, &[proxied], None).await.expect(403, REFUSED);
    }
    for path in ["//metrics", "/./metrics", "/metrics;x", "/%2fmetrics", "/metrics/"] {
        assert!(!raw(&app, "GET", path, &[]).await.body.contains("nyala_"), "{path}");
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[actix_web::test]
async fn the_metrics_port_serves_metrics_and_nothing_else() {
    let port = free_port();
    let _app = Setup::new().with(|c| c.http.metrics_port = port).start().await;
    let ask = async |path: &str, header: &str| {
        let mut client = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let page = ask("/metrics", "").await;
    assert!(page.starts_with("HTTP/1.1 200 ") && page.contains("nyala_database_up 1\n"), "{page}");
    let proxied = ask("/metrics", "X-Forwarded-For: 203.0.113.9\r\n").await;
    assert!(proxied.starts_with("HTTP/1.1 403 ") && proxied.contains(REFUSED), "{proxied}");
    for path in ["/", "/healthz", "/readyz", "/openapi.json", "/scan/v1/auth/login", "/dev/whatsapp"] {
        let other = ask(path, "").await;
        assert!(other.starts_with("HTTP/1.1 404 ") && other.contains("alamat tidak ditemukan"), "{path}: {other}");
    }
}

#[actix_web::test]
async fn strangers_learn_whether_it_is_ready_and_nothing_else() {
    let app = TestApp::spawn().await;
    for proxied in OF_PROXIES {
        app.call("GET", "/readyz", None, &[proxied], None).await.expect(200, "OK");
        app.call("GET", "/healthz", None, &[proxied], None).await.expect(200, "OK");
    }
    app.state.machines.set_open(false);
    let _hangs = app.state.threads.join();
    app.state.threads.advance_ms(STUCK_AFTER_MS + 1);
    for proxied in OF_PROXIES {
        app.call("GET", "/readyz", None, &[proxied], None).await.expect(503, "belum siap");
        app.call("GET", "/healthz", None, &[proxied], None).await.expect(503, "tidak sehat");
    }
    app.get("/readyz", None).await.expect(503, "sedang mulai atau berhenti");
}
