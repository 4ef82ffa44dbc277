//! A customer who goes (docs/money.md, A person's data).

use futures_util::future::join;
use nyala_core::domain::address::Block;
use nyala_core::domain::id::WalletId;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::auth::register::{otp_body, register_body};
use crate::ops::operator::Scope;
use crate::push::service::PushService;
use crate::support::arrange::{Epay, receipt};
use crate::support::helpers::{Answer, Customer, PASSWORD, Setup, TestApp};
use crate::support::shop::{Shop, buy};

const TELP: &str = "81299887766";

impl TestApp {
    async fn leave(&self, who: &Customer, more: &Value) -> Answer {
        let mut body = json!({"password": PASSWORD});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/scan/v1/akun/hapus", Some(&who.token), &body).await
    }

    /// Tables in which a text is, in any column of any row.
    pub async fn tables_with(&self, text: &str) -> Vec<String> {
        const TABLES: &str =
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname";
        let mut found = Vec::new();
        for row in self.db.query(TABLES, &[]).await.unwrap() {
            let table: String = row.get(0);
            let sql = format!("SELECT count(*) FROM \"{table}\" t WHERE t::TEXT ILIKE '%' || $1 || '%'");
            if self.db.query_one(&sql, &[&text]).await.unwrap().get::<_, i64>(0) > 0 {
                found.push(table);
            }
        }
        found
    }
}

#[actix_web::test]
async fn nothing_that_names_a_person_is_left() {
    let service = PushService::start();
    let app = service.setup().with(|config| config.http.trusted_proxies = vec![Block::parse("127.0.0.1").unwrap()]).start().await;
    let outlet = app.outlet("Melati").await;
    let from = [("X-Forwarded-For", "203.0.113.77")];
    let ask = async |path: &str, body: Value| app.call("POST", path, None, &from, Some(body.to_string().into_bytes())).await;
    ask("/scan/v1/auth/request_otp", otp_body(TELP)).await.ok();
    let code = app.last_code(TELP).await;
    let mut body = register_body(TELP, &code);
    body["nama"] = json!("Zulaikha Widyaningrum");
    let token = ask("/scan/v1/auth/register", body).await.ok()["token"].as_str().unwrap().to_owned();
    let id = app.insert_id("SELECT id FROM customer_global", &[]).await;
    let siti = Customer { id, telp: TELP.to_owned(), token };
    ask("/scan/v1/auth/request_otp_forgot_password", otp_body(TELP)).await.ok();
    app.subscribe(&siti, &service.browser("telepon-zulaikha")).await.ok();

    let rina = app.seller(outlet).await;
    let sale = json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": 50_000, "cara_bayar": "transfer"});
    let made = app.ask(&rina, "topup", &sale).await.ok();
    assert_eq!(made["nama"], "Zulaikha W.");
    let sold = "INSERT INTO saldo_awal (idoutlet, telp, nama, jumlah, berkas, baris, created_at) VALUES ($1, $2, 'Zulaikha', 1, 'x', 2, $3)";
    app.db.execute(sold, &[&outlet.idoutlet, &TELP, &app.now()]).await.unwrap();
    let opened = "UPDATE saldo_awal SET idcustomer = $1, diambil_at = $2";
    let idcustomer = made["idcustomer"].as_i64().unwrap();
    app.db.batch_execute("SET session_replication_role = replica").await.unwrap();
    app.db.execute(opened, &[&idcustomer, &app.now()]).await.unwrap();
    app.db
        .execute(
            "INSERT INTO tagihan (id, id_customer_global, idowner, idoutlet, nominal, quota, nama_paket, penyedia, status, qr, kedaluwarsa_at, aktor, created_at)
             VALUES ('NYL00000000000000000001', $1, $2, $3, 4000, 4000, 'Top-Up', 'simulated', 'kedaluwarsa', 'qris-zulaikha', $4, 'uji', $4)",
            &[&id, &outlet.idowner, &outlet.idoutlet, &app.now()],
        )
        .await
        .unwrap();
    let idakun = app.insert("SELECT idakun FROM quota_emoney", &[]).await;
    let epay = Epay { idcustomer: WalletId::new(idcustomer), id_customer_global: id, outlet, idakun };
    app.used(epay, &app.machine(outlet, "Cuci 1").await, &receipt(1)).await;
    let complaint = json!({"id": receipt(1), "alasan": "lain", "catatan": "Jemput di Jalan Kenanga 5"});
    app.post("/scan/v1/transaksi/masalah", Some(&siti.token), &complaint).await.ok();

    let marks = ["zulaikha", "widyaningrum", TELP, "203.0.113.77", "kenanga"];
    for mark in marks {
        assert!(!app.tables_with(mark).await.is_empty(), "{mark}");
    }
    app.leave(&siti, &json!({"lepas_saldo": 40_000})).await.expect(200, "Akun sudah dihapus");
    for mark in marks {
        let mut left = app.tables_with(mark).await;
        // The count of codes that an address was sent stays for a day. It does not say which number got them.
        left.retain(|table| table != "kode_terkirim");
        assert_eq!(left, [""; 0], "{mark}");
    }
    let row = app
        .db
        .query_one("SELECT telp, nama_awal, nama_akhir, dihapus_at FROM customer_global WHERE id = $1", &[&id])
        .await
        .unwrap();
    let telp = format!("1{:012}", id.get());
    let deleted = (row.get::<_, String>(0), row.get::<_, String>(1), row.get::<_, String>(2));
    assert_eq!(deleted, (telp, "Pelanggan".to_owned(), "Dihapus".to_owned()));
    assert_eq!(row.get::<_, Timestamp>(3), app.now());
}

#[actix_web::test]
async fn who_goes_is_out_everywhere_and_may_come_back_to_nothing() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let other =
        app.post("/scan/v1/auth/login", None, &json!({"country_code": "62", "telp": TELP, "password": PASSWORD})).await.ok();
    let epay = app.funded(&siti, outlet, 30_000).await;
    let far = app.outlet("Mawar").await;
    app.funded(&siti, far, 20_000).await;
    let left = "masih ada saldo Rp 50.000";
    app.leave(&siti, &json!({})).await.expect(409, left);
    app.leave(&siti, &json!({"lepas_saldo": 49_999})).await.expect(409, left);
    app.leave(&siti, &json!({"lepas_saldo": null})).await.expect(409, left);
    for bad in [json!(-1), json!(1.5), json!("x")] {
        let answer = app.leave(&siti, &json!({"lepas_saldo": bad})).await;
        assert!([400, 409].contains(&answer.status), "{bad}: {}", answer.message);
    }
    let answer = app.leave(&siti, &json!({"lepas_saldo": 50_000})).await;
    assert_eq!((answer.status, &answer.data), (200, &Value::Null));

    for token in [&siti.token, other["token"].as_str().unwrap()] {
        assert_eq!(app.get("/scan/v1/dashboard/get_dashboard", Some(token)).await.status, 401);
    }
    app.login(TELP, PASSWORD).await.expect(404, "record not found");
    assert_eq!(app.balance(epay.idcustomer).await, 0);
    let forfeited = "SELECT sum(jumlah)::BIGINT FROM ledger_transfer WHERE kind = 'hangus'";
    assert_eq!(app.insert(forfeited, &[]).await, 50_000);
    assert_eq!(app.audit_of("akun.hapus").await, [json!({"hangus": 50_000})]);
    // A till that has just found the customer sells nothing any more.
    let key = app.key(Scope::Owner(outlet.idowner)).await;
    for body in [json!({"id_customer_global": siti.id}), json!({"telp": TELP})] {
        let mut sale = json!({"idoutlet": outlet.idoutlet, "nominal": 1_000});
        sale.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        app.ops(&key, "topup", &sale).await.expect(404, "nomor belum terdaftar");
    }
    let code = app.send_code(TELP).await;
    let token =
        app.post("/scan/v1/auth/register", None, &register_body(TELP, &code)).await.ok()["token"].as_str().unwrap().to_owned();
    let history = json!({"skip": 0, "limit": 20, "jenis": "", "outlet": ""});
    assert_eq!(app.post("/scan/v1/transaksi/list_history", Some(&token), &history).await.ok()["history_data"], Value::Null);
    assert_eq!(app.get("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", Some(&token)).await.ok(), json!([]));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn no_customer_goes_with_a_wrong_password_a_running_machine_or_an_open_bill() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 10_000).await;
    app.takes_qris(outlet, "simulated").await;
    let bill = json!({"id": uuid::Uuid::new_v4(), "idoutlet": outlet.idoutlet, "nominal": 20_000});
    let bill = app.post("/scan/v1/epayment/tagihan", Some(&siti.token), &bill).await.ok();
    let bought = app.hold(epay, &app.machine(outlet, "Cuci 1").await, &receipt(1)).await;
    app.leave(&siti, &json!({})).await.expect(409, "masih ada mesin yang belum selesai");
    app.started(&bought).await;
    app.leave(&siti, &json!({})).await.expect(409, "masih ada mesin yang belum selesai");
    let status = app.bill(bill["idtagihan"].as_str().unwrap(), "status").await;
    assert_eq!(status.as_deref(), Some("menunggu"), "it can still be paid");
    app.finished(&bought).await;
    let mut wrong = 0;
    let refused = loop {
        let answer = app.leave(&siti, &json!({"password": "Salah12345"})).await;
        if answer.status != 422 {
            break answer;
        }
        answer.expect(422, "hashedPassword is not the hash of the given password");
        wrong += 1;
    };
    assert!(refused.retry_after_s() > 0 && wrong > 1);
    assert_eq!(app.login(TELP, PASSWORD).await.status, 429, "it counts as a login");
    app.advance_s(24 * 3_600);
    app.post("/scan/v1/akun/hapus", None, &json!({"password": PASSWORD}))
        .await
        .expect(401, "sesi tidak berlaku, silakan masuk lagi");
    assert_eq!(app.leave(&siti, &json!({"password": 1})).await.status, 400);
    app.leave(&siti, &json!({})).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_sale_that_meets_the_deletion_is_made_before_it_or_not_at_all() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Owner(outlet.idowner)).await;
    for n in 0..5 {
        let siti = app.register_customer(&format!("8129988776{n}"), "Siti", "Rahma").await;
        let sale = json!({"id_customer_global": siti.id, "idoutlet": outlet.idoutlet, "nominal": 1_000});
        let (gone, sold) = join(app.leave(&siti, &json!({})), app.ops(&key, "topup", &sale)).await;
        let met = (gone.status, sold.status);
        assert!([(200, 404), (409, 200)].contains(&met), "{met:?}: {} {}", gone.message, sold.message);
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn nobody_goes_while_an_older_server_is_alive_and_no_bill_is_cancelled_for_it() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    app.takes_qris(outlet, "simulated").await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    app.funded(&siti, outlet, 10_000).await;
    let bill = json!({"id": uuid::Uuid::new_v4(), "idoutlet": outlet.idoutlet, "nominal": 20_000});
    let bill = app.post("/scan/v1/epayment/tagihan", Some(&siti.token), &bill).await.ok();
    let id = bill["idtagihan"].as_str().unwrap();
    app.older_server_is_alive(true).await;
    app.leave(&siti, &json!({"lepas_saldo": 10_000})).await.expect(503, "layanan sedang sibuk, coba lagi");
    assert_eq!(app.bill(id, "status").await.as_deref(), Some("menunggu"));
    app.get("/scan/v1/dashboard/get_dashboard", Some(&siti.token)).await.ok();
    app.older_server_is_alive(false).await;
    app.leave(&siti, &json!({"lepas_saldo": 10_000})).await.ok();
    assert_eq!(app.bill(id, "status").await.as_deref(), Some("batal"));
    app.assert_no_violation().await;
}

/// Each of these holds a wallet, a complaint or a till's sale, and needs the customer's row, too. It is done or refused, and neither waits for the other
/// for good.
#[actix_web::test]
async fn money_that_moves_at_the_moment_of_the_deletion_is_there_or_refused() {
    let app = Setup::new().running_clock().start().await;
    let shop = app.shop(1_800).await;
    let rina = app.seller(shop.outlet).await;
    let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(shop.outlet.idoutlet)).await;
    app.takes_qris(shop.outlet, "simulated").await;
    for n in 0..15 {
        let siti = app.register_customer(&format!("812998877{n:02}"), "Siti", "Rahma").await;
        let epay = app.funded(&siti, shop.outlet, 30_000).await;
        let machine = app.machine(shop.outlet, &format!("Mesin {n}")).await;
        let used = app.used(epay, &machine, &receipt(n)).await;
        let order = buy(n, Shop { idmesin: machine.idmesin, ..shop }, epay.idcustomer);
        let complaint = json!({"id": used.receipt, "alasan": "hasil"});
        let complaint = app.post("/scan/v1/transaksi/masalah", Some(&siti.token), &complaint).await.ok()["idkeluhan"].clone();
        let other = async {
            match n % 5 {
                0 => app.buy(&siti, &order).await,
                1 => {
                    let refund = json!({
                        "idtransaksi": used.receipt, "idcustomer": epay.idcustomer, "nominal": 4_000, "alasan": "bocor", "idkeluhan": complaint,
                    });
                    app.ask(&hadi, "refund", &refund).await
                }
                2 => {
                    app.ask(&hadi, &format!("keluhan/{complaint}/tolak"), &json!({"kalimat": "Mesin berjalan sampai selesai"}))
                        .await
                }
                3 => app.ask(&rina, "tagihan", &json!({"id_customer_global": siti.id, "nominal": 10_000})).await,
                _ => app.ask(&hadi, "tarik", &json!({"qr": app.code_of(siti.id), "dibayar": 20_000, "hangus": 0})).await,
            }
        };
        let given_up = json!({"lepas_saldo": 20_000});
        let (gone, other) = join(app.leave(&siti, &given_up), other).await;
        let met = format!("{n}: {gone:?} {other:?}");
        assert!([200, 409].contains(&gone.status), "{met}");
        assert!([200, 401, 404, 409, 422].contains(&other.status), "{met}");
        // An answered complaint does not prevent the deletion.
        assert!(gone.status == 200 || (other.status == 200 && n % 5 != 2), "{met}");
    }
    app.assert_sound().await;
}
