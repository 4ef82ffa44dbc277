//! `get_layanan`: the machine behind a sticker and its services (docs/contract.md §2).

use nyala_core::domain::id::MachineId;
use serde_json::{Value, json};

use crate::support::arrange::{column, receipt};
use crate::support::helpers::{AROUND_A_CODE, Answer, Customer, TestApp, other_digits};

const PATH: &str = "/scan/v1/transaksi/get_layanan";

async fn scan(app: &TestApp, siti: &Customer, qr: &str) -> Answer {
    app.post(PATH, Some(&siti.token), &json!({"qr": qr, "limit": 10, "skip": 0, "search": ""})).await
}

#[actix_web::test]
async fn the_sticker_and_its_typed_code_lead_to_the_machine() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    let scanned = scan(&app, &siti, &machine.qr).await.ok();
    assert_eq!(
        scanned,
        json!({
            "data_mesin": {
                "id": machine.idmesin, "nama": "M1", "idowner": outlet.idowner, "status": "idle", "tl": null, "ends_at": null,
                "outlet": {"idoutlet": outlet.idoutlet, "nama": "Melati", "kota": "Bandung", "tutup": null}
            },
            "data_layanan": [{"id": machine.idlayanan, "nama": "Cuci Kilat", "durasi": 1800, "harga": 10_000, "harga_sampai": null,
                "idoutlet": outlet.idoutlet}]
        })
    );
    let typed = format!(" {}-{} ", &machine.code[..4].to_lowercase(), &machine.code[4..]);
    for text in [machine.code.clone(), typed, format!("  {}\n", machine.qr)] {
        assert_eq!(scan(&app, &siti, &text).await.ok(), scanned, "{text}");
    }
}

#[actix_web::test]
async fn what_is_no_sticker_of_ours_is_not_found() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let (revoked, retired) = (app.machine(outlet, "M1").await, app.machine(outlet, "M2").await);
    app.db.execute("UPDATE mesin SET qr_versi = 2 WHERE idmesin = $1", &[&revoked.idmesin]).await.unwrap();
    app.db.execute("UPDATE mesin SET aktif = FALSE WHERE idmesin = $1", &[&retired.idmesin]).await.unwrap();
    let customers_own = nyala_identity::qr::customer::make(&app.state.keyring.get(), siti.id, app.now());
    let foreign = nyala_identity::qr::machine::make(&nyala_store::secrets::Secrets::random(), revoked.idmesin, 2);
    let unknown = nyala_identity::qr::machine::make(&app.state.keyring.get(), MachineId::new(999_999), 1);
    let long = "A".repeat(20_000);
    for text in [&revoked.qr, &retired.qr, &retired.code, &customers_own, &foreign, &unknown, &long] {
        scan(&app, &siti, text).await.expect(404, "Mesin Not found");
    }
    for text in ["", " ", "00000000", "\u{0}", "' OR 1=1 --", "https://example.com/NYM1.1.x.y", "🧺"] {
        scan(&app, &siti, text).await.expect(404, "Mesin Not found");
    }
    scan(&app, &siti, &nyala_identity::qr::machine::make(&app.state.keyring.get(), revoked.idmesin, 2)).await.ok();
}

async fn status(app: &TestApp, siti: &Customer, qr: &str) -> Value {
    let machine = scan(app, siti, qr).await.ok()["data_mesin"].take();
    json!([machine["status"], machine["tl"], machine["ends_at"]])
}

#[actix_web::test]
async fn a_machine_is_idle_busy_or_offline() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    let buy = app.hold(epay, &machine, &receipt(1)).await;
    assert_eq!(status(&app, &siti, &machine.qr).await, json!(["busy", null, null]));
    app.started(&buy).await;
    let ends_at = app.now().ms() + 1_800_000;
    app.advance_s(100);
    assert_eq!(status(&app, &siti, &machine.qr).await, json!(["busy", 1_700_000, ends_at]));
    app.advance_s(1701);
    assert_eq!(status(&app, &siti, &machine.qr).await, json!(["busy", 0, ends_at]), "over, and not yet recorded");
    app.finished(&buy).await;
    assert_eq!(status(&app, &siti, &machine.qr).await, json!(["idle", null, null]));
    for set in ["online = FALSE", "online = TRUE, perlu_petugas = TRUE"] {
        app.db.execute(&format!("UPDATE mesin SET {set}"), &[]).await.unwrap();
        assert_eq!(status(&app, &siti, &machine.qr).await, json!(["offline", null, null]), "{set}");
    }
}

#[actix_web::test]
async fn services_come_in_pages_and_by_name() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    for name in ["Kering", "Diskon 50%", "A_B", "axb", "Cuci \\ Setrika"] {
        app.service(outlet, name, 5_000).await;
    }
    app.service(other, "Kering Mawar", 1_000).await;
    app.db.execute("UPDATE layanan SET aktif = FALSE WHERE nama = 'axb'", &[]).await.unwrap();
    app.service(outlet, "axb", 7_000).await;
    let names = async |limit: u32, skip: u32, search: Value| {
        let body = json!({"qr": machine.qr, "limit": limit, "skip": skip, "search": search});
        let data = app.post(PATH, Some(&siti.token), &body).await.ok();
        column(&data["data_layanan"], "nama").iter().map(|v| v.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["Cuci Kilat", "Kering", "Diskon 50%", "A_B", "Cuci \\ Setrika", "axb"];
    assert_eq!(names(100, 0, json!("")).await, all);
    assert_eq!(names(2, 0, json!(null)).await, all[..2]);
    assert_eq!(names(2, 4, json!("")).await, all[4..]);
    assert_eq!(names(2, 6, json!("")).await, [""; 0]);
    assert_eq!(names(10, 0, json!(" cUCI ")).await, ["Cuci Kilat", "Cuci \\ Setrika"]);
    assert_eq!(names(10, 0, json!("%")).await, ["Diskon 50%"]);
    assert_eq!(names(10, 0, json!("_")).await, ["A_B"]);
    assert_eq!(names(10, 0, json!("\\")).await, ["Cuci \\ Setrika"]);
    assert_eq!(names(10, 0, json!("tidak ada")).await, [""; 0]);
}

#[actix_web::test]
async fn malformed_scans_are_400() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let qr = app.machine(outlet, "M1").await.qr;
    let long = "x".repeat(101);
    for (limit, skip, search) in [
        (json!(0), json!(0), json!("")),
        (json!(101), json!(0), json!("")),
        (json!(-1), json!(0), json!("")),
        (json!("10"), json!(0), json!("")),
        (json!(1.5), json!(0), json!("")),
        (json!(10), json!(-1), json!("")),
        (json!(10), json!(i64::MIN), json!("")),
        (json!(10), json!(null), json!("")),
        (json!(10), json!(1e300), json!("")),
        (json!(10), json!(0), json!(7)),
        (json!(10), json!(0), json!("a\u{0}b")),
        (json!(10), json!(0), json!(long)),
    ] {
        let body = json!({"qr": qr, "limit": limit, "skip": skip, "search": search});
        assert_eq!(app.post(PATH, Some(&siti.token), &body).await.status, 400, "{body}");
    }
    for body in ["", "{", "[]", "null", r#"{"limit":10,"skip":0}"#, r#"{"qr":"x","skip":0}"#, r#"{"qr":7,"limit":10,"skip":0}"#] {
        let answer = app.call("POST", PATH, Some(&siti.token), &[], Some(body.as_bytes().to_vec())).await;
        assert_eq!(answer.status, 400, "{body}");
    }
    let far = json!({"qr": qr, "limit": 100, "skip": i64::MAX, "search": ""});
    assert_eq!(app.post(PATH, Some(&siti.token), &far).await.ok()["data_layanan"], json!([]));
}

#[actix_web::test]
async fn a_code_is_accepted_with_surrounding_characters_and_in_any_digits() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    let right = scan(&app, &siti, &machine.code).await.ok();
    for (before, after) in AROUND_A_CODE {
        for code in [&machine.code, &machine.qr] {
            let text = format!("{before}{code}{after}");
            assert_eq!(scan(&app, &siti, &text).await.ok(), right, "{text:?}");
        }
        let halves = format!("{}{before}{after}{}", &machine.code[..4], &machine.code[4..]);
        assert_eq!(scan(&app, &siti, &halves).await.ok(), right, "{halves:?}");
    }
    for code in other_digits(&machine.code) {
        assert_eq!(scan(&app, &siti, &code).await.ok(), right, "{code}");
    }
    scan(&app, &siti, &format!("{0}{0}", machine.code)).await.expect(404, "Mesin Not found");
}

#[actix_web::test]
async fn a_search_finds_any_letter_in_any_case() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    for (nama, searches) in [
        ("Cuci \u{c9}LITE", vec!["\u{e9}lite", "\u{c9}LITE", "e\u{301}Lite", "cuci \u{e9}"]),
        ("cuci \u{e9}toile", vec!["\u{c9}TOILE", "E\u{301}T"]),
        ("Stra\u{df}e", vec!["STRASSE", "stra\u{df}e", "STRA\u{1e9e}E"]),
        ("\u{39f}\u{394}\u{39f}\u{3a3}", vec!["\u{3bf}\u{3b4}\u{3bf}\u{3c2}", "\u{3bf}\u{3b4}\u{3bf}\u{3c3}"]),
        ("\u{421}\u{422}\u{418}\u{420}\u{41a}\u{410}", vec!["\u{441}\u{442}\u{438}\u{440}\u{43a}\u{430}"]),
        ("100%", vec!["%"]),
    ] {
        app.db.execute("UPDATE layanan SET nama = $1", &[&nama]).await.unwrap();
        for search in searches {
            let body = json!({"qr": machine.qr, "limit": 10, "skip": 0, "search": search});
            let found = app.post(PATH, Some(&siti.token), &body).await.ok();
            assert_eq!(found["data_layanan"][0]["nama"], nama, "{search}");
        }
    }
    let body = json!({"qr": machine.qr, "limit": 10, "skip": 0, "search": "elite"});
    assert_eq!(app.post(PATH, Some(&siti.token), &body).await.ok()["data_layanan"], json!([]));
}

#[actix_web::test]
async fn pages_of_a_search_are_pages_of_what_it_finds() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    const ADD: &str = "INSERT INTO layanan (idoutlet, nama, durasi_s, harga, created_at)
        SELECT idoutlet, CASE WHEN n % 2 = 0 THEN '\u{c9}LITE ' ELSE 'Biasa ' END || n, durasi_s, harga, created_at
        FROM layanan, generate_series(1, 9) n";
    app.db.execute(ADD, &[]).await.unwrap();
    let mut pages = vec![];
    for (limit, skip) in [(3, 0), (3, 3), (3, 6)] {
        let body = json!({"qr": machine.qr, "limit": limit, "skip": skip, "search": "\u{e9}lite"});
        let found = app.post(PATH, Some(&siti.token), &body).await.ok();
        pages.push(json!(column(&found["data_layanan"], "nama")));
    }
    assert_eq!(json!(pages), json!([["\u{c9}LITE 2", "\u{c9}LITE 4", "\u{c9}LITE 6"], ["\u{c9}LITE 8"], []]));
}
