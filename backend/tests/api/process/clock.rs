//! A start while the database's clock is behind its stored times.

use std::net::TcpListener;
use std::time::Instant;

use actix_web::rt::time::sleep;
use futures_util::future::join;
use serde_json::Value;

use super::{LOOK_EVERY, PATIENCE, Site};
use crate::auth::register::otp_body;

/// A stored event this long after now, as if the clock had been set back since.
const LATER: &str = "INSERT INTO audit_log (aktor, aksi, objek, isi, created_at)
    VALUES ('cli', 'uji', 'uji:1', '{}', clock_timestamp() + $1::TEXT::INTERVAL)";
const DECLARATIONS: &str = "SELECT count(*) FROM audit_log WHERE aksi = 'jam.dinyatakan_benar'";

impl Site {
    async fn happened_in(&self, when: &str) {
        self.db.execute(LATER, &[&when]).await.unwrap();
    }

    /// Moves everything that happened in the shop two hours into the future.
    async fn two_hours_later(&self) {
        self.db
            .batch_execute(
                "ALTER TABLE ledger_transfer DISABLE TRIGGER ledger_hanya_tambah;
                 ALTER TABLE audit_log DISABLE TRIGGER audit_hanya_tambah;
                 UPDATE ledger_transfer SET created_at = created_at + INTERVAL '2 hours';
                 UPDATE audit_log SET created_at = created_at + INTERVAL '2 hours';
                 ALTER TABLE ledger_transfer ENABLE TRIGGER ledger_hanya_tambah;
                 ALTER TABLE audit_log ENABLE TRIGGER audit_hanya_tambah;
                 UPDATE kode_otp SET created_at = created_at + INTERVAL '2 hours', sent_at = sent_at + INTERVAL '2 hours';
                 UPDATE kode_terkirim SET created_at = created_at + INTERVAL '2 hours';
                 INSERT INTO node (name, version, started_at, alive_until, late_since)
                     VALUES ('n9', '1', clock_timestamp(), clock_timestamp() + INTERVAL '2 hours', clock_timestamp() + INTERVAL '2 hours');
                 UPDATE snap_transaksi SET created_at = created_at + INTERVAL '2 hours', started_at = started_at + INTERVAL '2 hours',
                     ends_at = ends_at + INTERVAL '2 hours', cmd_exp = cmd_exp + INTERVAL '2 hours'",
            )
            .await
            .unwrap();
    }

    async fn declarations(&self) -> i64 {
        self.db.query_one(DECLARATIONS, &[]).await.unwrap().get(0)
    }

    async fn time_left(&self, shop: &super::ProcessShop) -> i64 {
        let now = self.ask("GET", &format!("/ops/v1/mesin/{}", shop.idmesin), &shop.key, &Value::Null).await.unwrap().ok();
        now["tl"].as_i64().unwrap()
    }
}

/// Waits until the port answers `/readyz` with 503; returns that answer's body.
async fn not_ready(port: u16) -> String {
    let http = awc::Client::default();
    let since = Instant::now();
    loop {
        if let Ok(mut answer) = http.get(format!("http://127.0.0.1:{port}/readyz")).send().await {
            assert_eq!(answer.status(), 503, "not open while the clock is behind");
            assert!(["x-content-type-options", "x-request-id"].iter().all(|name| answer.headers().contains_key(*name)));
            let alive = http.get(format!("http://127.0.0.1:{port}/healthz")).send().await.unwrap();
            assert_eq!(alive.status(), 200);
            return String::from_utf8(answer.body().await.unwrap().to_vec()).unwrap();
        }
        assert!(since.elapsed() < PATIENCE, "nothing answers");
        sleep(LOOK_EVERY).await;
    }
}

#[actix_web::test]
async fn a_start_with_the_clock_behind_waits_and_says_so_and_opens_when_it_is_right() {
    let mut site = Site::new().await;
    site.happened_in("12 seconds").await;
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = port.to_string();
    let env = [("NYALA__HTTP__PORT", text.as_str())];
    let (answer, ()) = join(not_ready(port), site.start_with(&env)).await;
    assert!(answer.contains("menunggu jam basis data"), "{answer}");
    assert_eq!(site.ask("GET", "/readyz", "", &Value::Null).await.unwrap().status, 200);
    let log = site.log();
    assert!(log.contains("the server waits for the clock before it opens") && log.contains("is right again"), "{log}");
}

#[actix_web::test]
async fn a_clock_that_stays_behind_is_refused_with_the_cure_and_declared_right_once() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(120).await;
    site.buy(&shop).await.unwrap().ok();
    site.until("RUNNING").await;
    let telp = otp_body("81234500777");
    site.ask("POST", "/scan/v1/auth/request_otp", "", &telp).await.unwrap().ok();
    site.kill().await;
    site.two_hours_later().await;

    let mut command = site.program(&["serve"]);
    command.env("NYALA__DATABASE__CLOCK_WAIT_S", "1");
    let out = actix_web::rt::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let why = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && why.contains("timedatectl") && why.contains("nyala serve --clock-is-right"), "{why}");
    assert_eq!(site.declarations().await, 0);

    site.start_as(&["serve", "--clock-is-right"], &[]).await;
    assert_eq!(site.declarations().await, 1);
    let left = site.time_left(&shop).await;
    assert!((1..=120_000).contains(&left), "{left} ms of a run of 120 s");
    let again = site.ask("POST", "/scan/v1/auth/request_otp", "", &telp).await.unwrap();
    assert!(again.retry_after_s() <= 60, "a cooldown of 60 s: {}", again.message);
    // Times in the future that made customers or staff wait are set to now, so that the wait ends.
    for waits in [
        "SELECT count(*) FROM kode_otp WHERE greatest(created_at, sent_at) > clock_timestamp()",
        "SELECT count(*) FROM kode_terkirim WHERE created_at > clock_timestamp()",
        "SELECT count(*) FROM pin_gagal WHERE created_at > clock_timestamp()",
        "SELECT count(*) FROM petugas WHERE dihitung_sejak > clock_timestamp()",
        "SELECT count(*) FROM push WHERE due_at > clock_timestamp() + INTERVAL '11 minutes'",
        "SELECT count(*) FROM mesin WHERE jalan_sampai > clock_timestamp()",
        "SELECT count(*) FROM node WHERE alive_until > clock_timestamp() + INTERVAL '1 minute'",
    ] {
        assert_eq!(site.db.query_one(waits, &[]).await.unwrap().get::<_, i64>(0), 0, "{waits}");
    }
    site.kill().await;

    site.start("").await;
    assert_eq!(site.declarations().await, 1, "later starts need no other");
    site.kill().await;
    site.happened_in("1 hour").await;
    let mut command = site.program(&["serve"]);
    command.env("NYALA__DATABASE__CLOCK_WAIT_S", "0");
    let out = actix_web::rt::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert!(!out.status.success(), "what happened later than that counts again");
}

#[actix_web::test]
async fn dates_that_lie_ahead_by_their_nature_keep_no_server_waiting() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(86_400).await;
    site.buy(&shop).await.unwrap().ok();
    site.until("RUNNING").await;
    site.db.execute("UPDATE quota_emoney SET masa_aktif = clock_timestamp() + INTERVAL '9 years'", &[]).await.unwrap();
    site.kill().await;
    site.start_with(&[("NYALA__DATABASE__CLOCK_WAIT_S", "0")]).await;
}
