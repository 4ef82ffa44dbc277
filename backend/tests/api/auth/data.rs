//! All that is stored of a customer, for the customer (docs/money.md, A person's data).

use std::io::{Cursor, Read};

use actix_web::http::StatusCode;
use nyala_core::domain::timestamp::Timestamp;
use serde_json::{Value, json};
use zip::ZipArchive;

use crate::ops::operator::Scope;
use crate::push::service::PushService;
use crate::support::arrange::receipt;
use crate::support::helpers::{Customer, TestApp};

const PATH: &str = "/scan/v1/akun/data";

impl TestApp {
    async fn data(&self, who: &Customer) -> (StatusCode, Vec<u8>) {
        let request = self.http.get(format!("{}{PATH}", self.base_url)).bearer_auth(&who.token);
        let mut answer = request.send().await.unwrap();
        let body = answer.body().limit(1 << 20).await.unwrap();
        if answer.status().is_success() {
            assert_eq!(answer.headers().get("content-type").unwrap(), "application/zip");
            assert_eq!(answer.headers().get("cache-control").unwrap(), "no-store");
        }
        (answer.status(), body.to_vec())
    }
}

/// A file of the zip as text.
fn file(zip: &[u8], name: &str) -> String {
    let mut archive = ZipArchive::new(Cursor::new(zip)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The records of a table without the columns' names.
fn rows(zip: &[u8], name: &str) -> Vec<Vec<String>> {
    let text = file(zip, name);
    let lines = text.strip_prefix('\u{feff}').expect("a byte order mark").lines().skip(1);
    lines.map(|line| line.split(';').map(str::to_owned).collect()).collect()
}

#[actix_web::test]
async fn a_customer_gets_what_is_stored_and_nobody_elses() {
    let service = PushService::start();
    let app = service.setup().start().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    app.funded(&budi, outlet, 70_000).await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    app.used(epay, &app.machine(outlet, "Cuci 1").await, &receipt(1)).await;
    let complaint = json!({"id": receipt(1), "alasan": "lain", "catatan": "=1+1"});
    let complaint = app.post("/scan/v1/transaksi/masalah", Some(&siti.token), &complaint).await.ok();
    let refund =
        json!({"idtransaksi": receipt(1), "nominal": 2_500, "alasan": "mesin bocor", "idkeluhan": complaint["idkeluhan"]});
    app.ops(&app.key(Scope::Supervisor(outlet.idoutlet)).await, "refund", &refund).await.ok();
    app.code_for(&siti).await;
    let phone = service.browser("siti");
    app.subscribe(&siti, &phone).await.ok();
    app.subscribe(&budi, &service.browser("budi")).await.ok();

    let (status, zip) = app.data(&siti).await;
    assert_eq!(status, 200);
    let mut names: Vec<String> = ZipArchive::new(Cursor::new(&zip)).unwrap().file_names().map(str::to_owned).collect();
    names.sort();
    assert_eq!(names, ["akun.csv", "keluhan.csv", "masuk.csv", "profil.json", "push.csv", "riwayat.csv"]);
    let profile: Value = serde_json::from_str(&file(&zip, "profil.json")).unwrap();
    assert_eq!((&profile["nama"], &profile["telp"]), (&json!("Siti Rahma"), &json!("81234567890")));
    let accounts = rows(&zip, "akun.csv");
    assert_eq!((accounts.len(), &accounts[0][1..5]), (1, &["Melati", "Bandung", "42500", "2"].map(str::to_owned)[..]));
    let history: Vec<_> = rows(&zip, "riwayat.csv").iter().map(|row| (row[2].clone(), row[7].clone(), row[9].clone())).collect();
    let expected = [
        ("pembelian_emoney", "50000", "uji"),
        ("snap_transaksi", "-10000", "uji"),
        ("snap_transaksi_refund", "2500", "supervisor"),
    ];
    assert_eq!(history, expected.map(|(kind, amount, by)| (kind.to_owned(), amount.to_owned(), by.to_owned())));
    let complaints = rows(&zip, "keluhan.csv");
    assert_eq!(
        (&complaints[0][1], &complaints[0][4], &complaints[0][5]),
        (&receipt(1), &"'=1+1".to_owned(), &"diterima".to_owned())
    );
    assert_eq!(complaints[0][9], "supervisor", "staff appear as roles");
    let until = "SELECT endpoint, expires_at FROM langganan_push WHERE id_customer_global = $1";
    let row = app.db.query_one(until, &[&siti.id]).await.unwrap();
    assert_eq!(row.get::<_, String>(0), phone.endpoint);
    let pushes = [[phone.endpoint.clone(), app.now().rfc3339(), row.get::<_, Timestamp>(1).rfc3339()]];
    assert_eq!(rows(&zip, "push.csv"), pushes, "of this customer's browsers only");
    assert!(rows(&zip, "masuk.csv").iter().any(|row| row[1] == "update_password"));
    for file in names.iter().map(|name| file(&zip, name)) {
        assert!(!file.contains("Budi") && !file.contains("81234567891"), "{file}");
    }
}

#[actix_web::test]
async fn three_times_a_day() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    for _ in 0..3 {
        assert_eq!(app.data(&siti).await.0, 200);
    }
    let answer = app.get(PATH, Some(&siti.token)).await;
    assert_eq!(answer.retry_after_s(), 24 * 3_600);
    app.advance_s(24 * 3_600);
    assert_eq!(app.data(&siti).await.0, 200);
    app.get(PATH, None).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");
}
