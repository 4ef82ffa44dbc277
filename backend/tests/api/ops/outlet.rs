//! Owners, outlets and services (docs/contract.md §4).

use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;

fn outlet_body(idowner: impl serde::Serialize) -> Value {
    json!({"idowner": idowner, "nama": " Nyala Dago ", "kota": "Bandung", "latitude": -6.88, "longitude": 107.61})
}

#[actix_web::test]
async fn from_an_owner_to_a_service() {
    let app = TestApp::spawn().await;
    let root = app.key(Scope::Root).await;
    let idowner = app.ops(&root, "owner", &json!({"nama": "Bu Ani"})).await.ok()["idowner"].as_i64().unwrap();
    let idoutlet = app.ops(&root, "outlet", &outlet_body(idowner)).await.ok()["idoutlet"].as_i64().unwrap();
    let body = json!({"idoutlet": idoutlet.to_string(), "nama": "Cuci", "durasi": 86400, "harga": 20_000_000});
    let id = app.ops(&root, "layanan", &body).await.ok()["id"].as_i64().unwrap();
    let row = app.db.query_one("SELECT nama, durasi_s, harga, aktif FROM layanan WHERE idlayanan = $1", &[&id]).await.unwrap();
    assert_eq!((row.get(0), row.get(1), row.get(2), row.get(3)), ("Cuci", 86400, 20_000_000_i64, true));
    let name: String = app.db.query_one("SELECT nama FROM outlet WHERE idoutlet = $1", &[&idoutlet]).await.unwrap().get(0);
    assert_eq!(name, "Nyala Dago", "blanks around a name are not kept");
    let akun = app.db.query("SELECT jenis FROM akun WHERE idoutlet = $1 ORDER BY jenis", &[&idoutlet]).await.unwrap();
    assert_eq!(akun.iter().map(|r| r.get(0)).collect::<Vec<&str>>(), ["K", "R"], "an outlet has its accounts from the start");
    let operator = "operator:1".to_owned();
    assert_eq!(
        app.audited().await,
        [
            ("owner.buat".to_owned(), operator.clone(), format!("owner:{idowner}")),
            ("outlet.buat".to_owned(), operator.clone(), format!("outlet:{idoutlet}")),
            ("layanan.buat".to_owned(), operator, format!("layanan:{id}")),
        ]
    );
}

#[actix_web::test]
async fn an_owner_opens_outlets_of_his_own_only() {
    let app = TestApp::spawn().await;
    let (mine, theirs) = (app.owner().await, app.owner().await);
    let key = app.key(Scope::Owner(mine)).await;
    app.ops(&key, "outlet", &outlet_body(mine)).await.ok();
    app.ops(&key, "outlet", &outlet_body(theirs)).await.expect(404, "owner tidak ditemukan");
    app.ops(&key, "outlet", &outlet_body(4711)).await.expect(404, "owner tidak ditemukan");
    let root = app.key(Scope::Root).await;
    app.ops(&root, "outlet", &outlet_body(4711)).await.expect(404, "owner tidak ditemukan");
}

#[actix_web::test]
async fn what_is_out_of_range_is_400_and_changes_nothing() {
    let app = TestApp::spawn().await;
    let root = app.key(Scope::Root).await;
    let outlet = app.outlet("Laundry").await;
    let before = app.footprint().await;
    let service = json!({"idoutlet": outlet.idoutlet, "nama": "Cuci", "durasi": 60, "harga": 1000});
    let good = [("owner", json!({"nama": "Bu Ani"})), ("outlet", outlet_body(outlet.idowner)), ("layanan", service)];
    let bad = [
        ("owner", "nama", vec![json!(""), json!("  "), json!("a\u{0}b"), json!("x".repeat(101)), json!(7), Value::Null]),
        ("outlet", "nama", vec![json!(""), json!("a\nb")]),
        ("outlet", "kota", vec![json!(""), json!("x".repeat(101))]),
        ("outlet", "latitude", vec![json!(90.1), json!(-91), json!("6"), json!(1e300)]),
        ("outlet", "longitude", vec![json!(180.5), json!(-181), Value::Null]),
        ("outlet", "idowner", vec![json!(0), json!(-1), json!("x"), json!(1.5), json!(true)]),
        ("layanan", "durasi", vec![json!(0), json!(-1), json!(86401), json!(1.5), json!("60"), json!(i64::MAX)]),
        ("layanan", "harga", vec![json!(-1), json!(20_000_001), json!(0.5), json!("1000"), json!(1e30)]),
        ("layanan", "idoutlet", vec![json!(0), json!(""), json!([1])]),
    ];
    for (call, field, values) in bad {
        for value in values {
            let mut body = good.iter().find(|(c, _)| *c == call).unwrap().1.clone();
            body[field] = value;
            let answer = app.ops(&root, call, &body).await;
            assert_eq!(answer.status, 400, "{call} {body}: {}", answer.message);
        }
    }
    assert_eq!(app.footprint().await, before);
}
