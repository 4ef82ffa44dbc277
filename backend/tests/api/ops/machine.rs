//! Machines and their stickers (docs/contract.md §4).

use std::collections::HashSet;

use nyala_core::domain::id::MachineId;
use nyala_core::domain::machine_code::MachineCode;
use nyala_identity::qr;
use serde_json::json;

use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn a_new_machine_can_be_scanned_and_typed() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Laundry").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let made = app.ops(&key, "mesin", &json!({"idoutlet": outlet.idoutlet, "nama": "Mesin 1", "driver": "sim"})).await.ok();
    let (id, qr, code) = (made["id"].as_i64().unwrap(), made["qr"].as_str().unwrap(), made["kode"].as_str().unwrap());
    assert_eq!(qr::machine::parse(qr, &app.state.keyring.get()).map(|(idmesin, _)| idmesin), Some(MachineId::new(id)));
    assert_eq!(MachineCode::parse(code).unwrap().as_str(), code);
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    for text in [qr.to_owned(), code.to_owned(), code.to_lowercase()] {
        let body = json!({"qr": text, "limit": 10, "skip": 0, "search": ""});
        let found = app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &body).await.ok();
        assert_eq!(found["data_mesin"]["id"], id, "{text}");
        assert_eq!(found["data_mesin"]["status"], "idle");
    }
    assert_eq!(app.audited().await[0].2, format!("mesin:{id}"));
}

#[actix_web::test]
async fn a_device_is_offline_until_its_first_message() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Laundry").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let made = app.ops(&key, "mesin", &json!({"idoutlet": outlet.idoutlet, "nama": "Mesin 1", "driver": "mqtt"})).await.ok();
    let status = app.get(&format!("/ops/v1/mesin/{}", made["id"]), Some(&key)).await.ok();
    assert_eq!(status["status"], "offline");
}

#[actix_web::test]
async fn many_machines_have_each_a_name_and_a_code() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Laundry").await;
    let key = app.key(Scope::Owner(outlet.idowner)).await;
    let body = json!({"idoutlet": outlet.idoutlet, "jumlah": 500, "awalan": "Mesin", "driver": "sim"});
    let made = app.ops(&key, "mesin/bulk", &body).await.ok();
    let machine = made["mesin"].as_array().unwrap();
    let code: HashSet<&str> = machine.iter().map(|m| m["kode"].as_str().unwrap()).collect();
    assert_eq!((machine.len(), code.len()), (500, 500));
    assert!(machine.is_sorted_by_key(|m| m["id"].as_i64()), "ids rise with the numbers");
    for (n, m) in machine.iter().enumerate() {
        let id = m["id"].as_i64().unwrap();
        let sticker = qr::machine::parse(m["qr"].as_str().unwrap(), &app.state.keyring.get());
        assert_eq!(sticker.map(|(idmesin, _)| idmesin), Some(MachineId::new(id)));
        let row = app.db.query_one("SELECT nama, kode FROM mesin WHERE idmesin = $1", &[&id]).await.unwrap();
        assert_eq!((row.get::<_, String>(0), row.get::<_, &str>(1)), (format!("Mesin {}", n + 1), m["kode"].as_str().unwrap()));
    }
    let dashed = json!({"idoutlet": outlet.idoutlet, "jumlah": 1, "awalan": "M-", "driver": "sim"});
    let id = app.ops(&key, "mesin/bulk", &dashed).await.ok()["mesin"][0]["id"].as_i64().unwrap();
    let name: String = app.db.query_one("SELECT nama FROM mesin WHERE idmesin = $1", &[&id]).await.unwrap().get(0);
    assert_eq!(name, "M-1");
}

#[actix_web::test]
async fn what_is_out_of_range_is_400_and_changes_nothing() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Laundry").await;
    let key = app.key(Scope::Root).await;
    let before = app.footprint().await;
    let one = json!({"idoutlet": outlet.idoutlet, "nama": "Mesin 1", "driver": "sim"});
    let many = json!({"idoutlet": outlet.idoutlet, "jumlah": 2, "awalan": "Mesin", "driver": "sim"});
    let bad = [
        ("mesin", "driver", vec![json!("SIM"), json!("http"), json!(null)]),
        ("mesin", "nama", vec![json!(""), json!("x".repeat(101)), json!("\u{0}")]),
        ("mesin/bulk", "jumlah", vec![json!(0), json!(20_001), json!(-1), json!("2"), json!(1e18)]),
        ("mesin/bulk", "awalan", vec![json!(""), json!("x".repeat(95))]),
    ];
    for (call, field, values) in bad {
        for value in values {
            let mut body = if call == "mesin" { one.clone() } else { many.clone() };
            body[field] = value;
            let answer = app.ops(&key, call, &body).await;
            assert_eq!(answer.status, 400, "{call} {body}: {}", answer.message);
        }
    }
    assert_eq!(app.footprint().await, before);
}
