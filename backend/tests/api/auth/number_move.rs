//! Moving to a new number, in the app and at a till (docs/money.md, Moving to a new number).

use std::time::Duration;

use actix_web::rt::time::sleep;
use futures_util::future::{join, join_all};
use nyala_core::domain::role::Role;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::approval::Act;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::support::arrange::{Outlet, receipt};
use crate::support::helpers::{Answer, Customer, PASSWORD, Setup, TestApp};
use crate::till::rules::AtTill;

pub const OLD: &str = "81234567890";
pub const NEW: &str = "81399999001";
pub const DAY_S: i64 = 86_400;

/// A customer with an account at a till's outlet, and the same person's new number.
pub struct MoveShop {
    pub app: TestApp,
    pub outlet: Outlet,
    pub hadi: AtTill,
    pub siti: Customer,
    pub new: Customer,
}

impl MoveShop {
    pub async fn open() -> Self {
        Self::on(TestApp::spawn().await).await
    }

    pub async fn on(app: TestApp) -> Self {
        let outlet = app.outlet("Melati").await;
        let rina = app.seller(outlet).await;
        let hadi = app.clerk(&rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
        let siti = app.register_customer(OLD, "Siti", "Rahma").await;
        let new = app.register_customer(NEW, "Siti", "Baru").await;
        Self { app, outlet, hadi, siti, new }
    }

    pub async fn send_codes(&self) -> Answer {
        self.app.post("/scan/v1/akun/pindah/kode", Some(&self.siti.token), &json!({"telp": NEW})).await
    }

    /// The body of a move in the app, with both codes.
    pub async fn codes(&self) -> Value {
        self.send_codes().await.ok();
        json!({"telp": NEW, "otp_lama": self.app.last_code(OLD).await, "otp_baru": self.app.last_code(NEW).await, "password": PASSWORD})
    }

    pub async fn in_the_app(&self, body: &Value) -> Answer {
        self.app.post("/scan/v1/akun/pindah", Some(&self.siti.token), body).await
    }

    pub async fn at_the_till(&self) -> Answer {
        self.app.ask(&self.hadi, "pindah", &json!({"qr": self.app.code_of(self.new.id), "telp": OLD})).await
    }

    /// The address in the newest message to the old number.
    pub async fn link(&self) -> String {
        let sent = self.app.get(&format!("/dev/whatsapp?telp={OLD}"), None).await.ok();
        let text = sent[0]["text"].as_str().unwrap().to_owned();
        assert_eq!(sent[0]["code"], json!(null), "{text}");
        text[text.find("/pindah/").unwrap()..].to_owned()
    }

    /// Status and text of a page.
    pub async fn page(&self, method: &str, path: &str) -> (u16, String) {
        let url = format!("{}{path}", self.app.base_url);
        let request = if method == "POST" { self.app.http.post(url) } else { self.app.http.get(url) };
        let mut answer = request.send().await.unwrap();
        assert!(answer.headers().get("content-type").unwrap().to_str().unwrap().starts_with("text/html"));
        (answer.status().as_u16(), String::from_utf8(answer.body().await.unwrap().to_vec()).unwrap())
    }

    pub async fn waits(&self) -> Value {
        self.app.get("/scan/v1/akun/pindah", Some(&self.siti.token)).await.ok()
    }

    /// Waits for a pass of the server after which the move is over.
    pub async fn until_over(&self) {
        for _ in 0..1_000 {
            if self.app.insert("SELECT count(*) FROM pindah WHERE selesai_at IS NULL AND ditolak_at IS NULL", &[]).await == 0 {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("the move did not happen");
    }

    /// Enough time for a pass of the server that would let it happen.
    pub async fn stays(&self) {
        let passes = async || {
            let sql = "SELECT count(*) FROM pindah WHERE selesai_at IS NOT NULL";
            self.app.insert(sql, &[]).await
        };
        for _ in 0..25 {
            assert_eq!(passes().await, 0);
            sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn balances(&self, token: &str) -> Vec<(i64, String)> {
        let accounts = self.app.get("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", Some(token)).await.ok();
        let accounts = accounts.as_array().cloned().unwrap_or_default();
        let of = |a: &Value| (a["quota_emoney"]["saldo"].as_i64().unwrap(), a["outlet"]["nama"].as_str().unwrap().to_owned());
        let mut all: Vec<_> = accounts.iter().map(of).collect();
        all.sort();
        all
    }

    pub async fn log_in(&self, telp: &str) -> Answer {
        self.app.post("/scan/v1/auth/login", None, &json!({"country_code": "62", "telp": telp, "password": PASSWORD})).await
    }

    pub async fn telp_of(&self, customer: &Customer) -> String {
        self.app.insert_id("SELECT telp FROM customer_global WHERE id = $1", &[&customer.id]).await
    }
}

#[actix_web::test]
async fn all_accounts_move_to_the_new_number_with_both_codes() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, siti, new, .. } = &shop;
    let other = app.outlet_of(outlet.idowner, "Kenanga").await;
    app.funded(siti, *outlet, 50_000).await;
    app.funded(new, *outlet, 20_000).await;
    let bonus = app.funded(new, other, 30_000).await;
    app.db.execute("UPDATE pembelian_emoney SET harga_paket = 10000 WHERE idcustomer = $1", &[&bonus.idcustomer]).await.unwrap();
    let body = shop.codes().await;
    let token = shop.in_the_app(&body).await.ok()["token"].as_str().unwrap().to_owned();

    for ended in [&siti.token, &new.token] {
        app.get("/scan/v1/dashboard/get_dashboard", Some(ended)).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");
    }
    assert_eq!(shop.balances(&token).await, [(30_000, "Kenanga".to_owned()), (70_000, "Melati".to_owned())]);
    assert_eq!((shop.telp_of(siti).await, shop.telp_of(new).await), (NEW.to_owned(), format!("1{:012}", new.id.get())));
    let again = shop.log_in(NEW).await.ok()["token"].as_str().unwrap().to_owned();
    assert_eq!(shop.balances(&again).await.len(), 2, "who logs in with the new number is there");
    shop.log_in(OLD).await.expect(404, "record not found");
    app.post("/scan/v1/auth/request_otp", None, &json!({"country_code": "62", "telp": OLD})).await.ok();

    let page = json!({"skip": 0, "limit": 10, "jenis": "pembelian_emoney", "outlet": ""});
    let rows = app.post("/scan/v1/transaksi/list_history", Some(&token), &page).await.ok()["history_data"].clone();
    let id: i64 = app.insert("SELECT id FROM pindah", &[]).await;
    let seen: Vec<Value> = rows.as_array().unwrap().iter().map(|r| json!([r["ref_type"], r["ref_id"], r["value"]])).collect();
    let came = |value: i64| json!(["pindah_masuk", id.to_string(), value]);
    assert_eq!(seen[..2], [came(30_000), came(20_000)]);
    let detail = app.get(&format!("/scan/v1/epayment/get_detail_pindah/{id}"), Some(&token)).await.ok();
    let (from, to) = ("0812••••7890", "0813••••9001");
    assert_eq!(detail, json!({"idpindah": id, "waktu": app.now().rfc3339(), "dari": from, "ke": to, "jumlah": 50_000}));
    let budi = app.register_customer("81234567899", "Budi", "Santoso").await;
    let foreign = app.get(&format!("/scan/v1/epayment/get_detail_pindah/{id}"), Some(&budi.token)).await;
    foreign.expect(404, "Transaksi ini tidak ditemukan");
    let paid: i64 = app.insert("SELECT SUM(dibayar)::BIGINT FROM ledger_transfer WHERE kind = 'pindah_masuk'", &[]).await;
    assert_eq!(paid, 30_000, "of the bonus nobody has paid");
    app.assert_sound().await;
}

#[actix_web::test]
async fn invalid_codes_passwords_and_numbers_move_nothing() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, siti, new, .. } = &shop;
    let epay = app.funded(new, *outlet, 20_000).await;
    let send = async |telp: &str| app.post("/scan/v1/akun/pindah/kode", Some(&siti.token), &json!({"telp": telp})).await;
    send(OLD).await.expect(409, "nomor lama dan baru sama");
    send("81200000000").await.expect(404, "nomor belum terdaftar");
    let body = shop.codes().await;
    let with = |field: &str, value: &str| {
        let mut body = body.clone();
        body[field] = json!(value);
        body
    };
    shop.in_the_app(&with("telp", OLD)).await.expect(409, "nomor lama dan baru sama");
    shop.in_the_app(&with("otp_lama", "000000")).await.expect(422, "your otp is invalid");
    shop.in_the_app(&with("otp_baru", body["otp_lama"].as_str().unwrap())).await.expect(422, "your otp is invalid");
    shop.in_the_app(&with("password", "salah12345")).await.expect(422, "hashedPassword is not the hash of the given password");
    let machine = app.machine(*outlet, "Mesin 1").await;
    let held = app.hold(epay, &machine, &receipt(1)).await;
    shop.in_the_app(&body).await.expect(409, "nomor baru masih punya mesin yang belum selesai");
    app.refused(&held).await;
    assert_eq!(shop.telp_of(siti).await, OLD);
    shop.in_the_app(&body).await.ok();
    app.assert_sound().await;
}

#[actix_web::test]
async fn a_till_moves_after_a_day_in_which_the_old_number_may_refuse() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, hadi, siti, new } = &shop;
    app.funded(siti, *outlet, 50_000).await;
    let epay = app.funded(new, *outlet, 20_000).await;
    let asked = shop.at_the_till().await.ok();
    let (id, at) = (asked["idpindah"].clone(), app.now().plus_ms(DAY_S * 1000));
    assert_eq!(asked, json!({"idpindah": id, "terjadi_at": at.rfc3339()}));
    assert_eq!(shop.waits().await, json!({"idpindah": id, "ke": "0813••••9001", "terjadi_at": at.rfc3339()}));
    shop.at_the_till().await.expect(409, "pindah sudah diminta");
    let (status, text) = shop.page("GET", &shop.link().await).await;
    assert!(status == 200 && text.contains("0812••••7890") && text.contains("0813••••9001"), "{text}");
    app.advance_s(DAY_S - 1);
    shop.stays().await;
    app.advance_s(1);
    shop.until_over().await;
    assert_eq!((shop.telp_of(siti).await, app.balance(epay.idcustomer).await), (NEW.to_owned(), 0));
    let token = shop.log_in(NEW).await.ok()["token"].as_str().unwrap().to_owned();
    assert_eq!(shop.balances(&token).await, [(70_000, "Melati".to_owned())]);
    let (status, text) = shop.page("POST", &shop.link().await).await;
    assert!(status == 200 && text.contains("sudah pindah"), "too late: {text}");

    // Nothing is sold to the number that has retired.
    let (code, hadi) = (app.code_of(new.id), &app.at(&hadi.till, hadi.person).await);
    let sale = |field: &str, value: Value| json!({field: value, "idoutlet": outlet.idoutlet, "nominal": 1_000});
    app.ask(hadi, "topup", &sale("qr", json!(code))).await.expect(404, "nomor belum terdaftar");
    app.ask(hadi, "topup", &sale("id_customer_global", json!(new.id))).await.expect(404, "nomor belum terdaftar");
    app.ask(hadi, "topup", &sale("telp", json!(OLD))).await.expect(404, "nomor belum terdaftar");
    app.ask(hadi, "topup", &sale("telp", json!(NEW))).await.ok();
    // Who took over a number does not get cash at once.
    let pay = json!({"qr": app.code_of(siti.id), "dibayar": 71_000, "hangus": 0});
    app.ask(hadi, "tarik", &pay).await.expect(409, "nomor ini baru pindah, tunggu 24 jam");
    app.advance_s(DAY_S);
    let hadi = &app.at(&hadi.till, hadi.person).await;
    app.ask(hadi, "tarik", &json!({"qr": app.code_of(siti.id), "dibayar": 71_000, "hangus": 0})).await.ok();
    app.assert_sound().await;
}

#[actix_web::test]
async fn the_old_number_says_no_in_the_app_or_by_the_link() {
    let shop = MoveShop::open().await;
    let MoveShop { app, siti, .. } = &shop;
    let id = shop.at_the_till().await.ok()["idpindah"].clone();
    let refuse =
        async |token: &str, id: &Value| app.post("/scan/v1/akun/pindah/tolak", Some(token), &json!({"idpindah": id})).await;
    refuse(&shop.new.token, &id).await.expect(404, "pindah tidak ditemukan");
    refuse(&siti.token, &json!(4_711)).await.expect(404, "pindah tidak ditemukan");
    for _ in 0..2 {
        refuse(&siti.token, &id).await.ok();
    }
    assert_eq!(shop.waits().await, json!(null));
    let entries = app.see(&shop.hadi, &format!("perhatian?idoutlet={}", shop.outlet.idoutlet)).await.ok();
    assert_eq!(
        json!([entries[0]["jenis"], entries[0]["tingkat"], entries[0]["sejak"]]),
        json!(["pindah", "kuning", app.now().rfc3339()])
    );
    shop.at_the_till().await.expect(409, "pemilik nomor lama menolak");
    app.advance_s(30 * DAY_S - 1);
    let hadi = app.at(&shop.hadi.till, shop.hadi.person).await;
    let body = || json!({"qr": app.code_of(shop.new.id), "telp": OLD});
    app.ask(&hadi, "pindah", &body()).await.expect(409, "pemilik nomor lama menolak");
    app.advance_s(1);
    app.ask(&hadi, "pindah", &body()).await.ok();
    let link = shop.link().await;
    for _ in 0..2 {
        let (status, text) = shop.page("GET", &link).await;
        assert!(status == 200 && text.contains("Bukan saya"), "looking changes nothing: {text}");
    }
    assert_eq!(shop.page("POST", &format!("{link}x")).await.0, 404);
    for _ in 0..2 {
        let (status, text) = shop.page("POST", &link).await;
        assert!(status == 200 && text.contains("dibatalkan"), "{text}");
    }
    app.advance_s(DAY_S);
    shop.stays().await;
    let actions: Vec<String> =
        app.audited().await.into_iter().map(|(action, ..)| action).filter(|a| a.starts_with("pindah")).collect();
    assert_eq!(actions, ["pindah.minta", "pindah.tolak", "pindah.minta", "pindah.tolak"]);
}

#[actix_web::test]
async fn each_refusal_at_the_till_has_its_sentence() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, hadi, siti, new } = &shop;
    let rina = app.kasir(outlet.idoutlet).await;
    let body = json!({"qr": app.code_of(new.id), "telp": OLD});
    app.ask(&rina, "pindah", &body).await.expect(403, "perlu persetujuan supervisor");
    let other = app.yes(&rina, hadi, &Act::move_number(new.id, &Telp::parse("81200000000").unwrap())).await;
    app.ask_with(&rina, "satu", Some(&other), "pindah", &body).await.expect(403, "persetujuan tidak berlaku");
    let unknown = json!({"qr": app.code_of(new.id), "telp": "81200000000"});
    app.ask(hadi, "pindah", &unknown).await.expect(404, "nomor belum terdaftar");
    app.ask(hadi, "pindah", &json!({"qr": app.code_of(siti.id), "telp": OLD})).await.expect(409, "nomor lama dan baru sama");
    let epay = app.funded(new, *outlet, 20_000).await;
    let held = app.hold(epay, &app.machine(*outlet, "Mesin 1").await, &receipt(1)).await;
    app.ask(hadi, "pindah", &body).await.expect(409, "nomor baru masih punya mesin yang belum selesai");
    app.refused(&held).await;
    let telp = Telp::parse(OLD).unwrap();
    let izin = app.yes(&rina, hadi, &Act::move_number(new.id, &telp)).await;
    let asked = app.ask_with(&rina, "dua", Some(&izin), "pindah", &body).await.ok();
    assert_eq!(app.ask_with(&rina, "dua", None, "pindah", &body).await.ok(), asked);
    let sent = app.get(&format!("/dev/whatsapp?telp={OLD}"), None).await.ok();
    assert_eq!(sent.as_array().unwrap().len(), 1, "a repeat sends no second message");

    let unset = Setup::new().with(|c| {
        c.whatsapp.sender = nyala_store::config::SenderKind::Meta;
        c.whatsapp.meta_base_url = "http://127.0.0.1:9".to_owned();
    });
    let unset = MoveShop::on(unset.start().await).await;
    unset.at_the_till().await.expect(422, "pindah lewat kasir belum diaktifkan");
}

#[actix_web::test]
async fn a_move_whose_message_was_not_sent_waits_for_it_and_then_the_whole_day() {
    let shop = MoveShop::open().await;
    let app = &shop.app;
    shop.at_the_till().await.ok();
    let first = shop.link().await;
    // As a server leaves it that dies before it has sent the message.
    app.advance_s(3_600);
    app.db.execute("UPDATE pindah SET kabar_at = $1", &[&app.now()]).await.unwrap();
    let notified = async || -> bool { app.insert_id("SELECT kabar_at IS NULL FROM pindah", &[]).await };
    for _ in 0..1_000 {
        if notified().await {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert_ne!(shop.link().await, first);
    assert_eq!(shop.page("GET", &first).await.0, 404, "the newest message counts");
    let at: Timestamp = app.insert_id("SELECT terjadi_at FROM pindah", &[]).await;
    assert_eq!(at, app.now().plus_ms(DAY_S * 1000));
    app.db.execute("UPDATE pindah SET kabar_at = $1", &[&app.now().plus_ms(10 * DAY_S * 1000)]).await.unwrap();
    app.advance_s(DAY_S);
    shop.stays().await;
}

/// The row of the old number stays with its open purchases: they go on, and what comes back of them comes to the same account.
#[actix_web::test]
async fn a_machine_runs_on_through_a_move() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, hadi, siti, new } = &shop;
    let epay = app.funded(siti, *outlet, 50_000).await;
    app.funded(new, *outlet, 20_000).await;
    let used = app.running(epay, &app.machine(*outlet, "Mesin 1").await, 1).await;
    let body = shop.codes().await;
    let token = shop.in_the_app(&body).await.ok()["token"].as_str().unwrap().to_owned();
    let dashboard = app.get("/scan/v1/dashboard/get_dashboard", Some(&token)).await.ok();
    assert_eq!(dashboard["list_snap_transaksi"][0]["id"], json!(used.receipt));
    let refund = json!({"idtransaksi": used.receipt, "idcustomer": epay.idcustomer, "nominal": 4_000, "alasan": "bocor"});
    app.ask(hadi, "refund", &refund).await.ok();
    assert_eq!(shop.balances(&token).await, [(64_000, "Melati".to_owned())]);
    app.assert_sound().await;
}

/// 2 wins; of two expiries the later one; what has expired ends, on either side, and nothing revives it.
#[actix_web::test]
async fn kinds_and_expiries_meet_and_nothing_expired_is_revived() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, siti, new, .. } = &shop;
    let now = app.now();
    let day = |days: i64| now.plus_ms(days * DAY_S * 1000);
    // The days after which the balance of the old and of the new number expires (None: never), and what the account is then.
    let cases = [
        ((Some(10), 5_000), (Some(20), 1_000), (Some(20), 6_000)),
        ((Some(20), 5_000), (Some(10), 1_000), (Some(20), 6_000)),
        ((Some(10), 5_000), (None, 1_000), (None, 6_000)),
        ((None, 5_000), (Some(10), 1_000), (None, 6_000)),
        ((Some(-1), 5_000), (Some(10), 1_000), (Some(10), 1_000)),
        ((Some(-1), 5_000), (None, 1_000), (None, 1_000)),
        ((Some(10), 5_000), (Some(-1), 1_000), (Some(10), 5_000)),
    ];
    let mut accounts = Vec::new();
    for (n, (old, moved, _)) in cases.iter().enumerate() {
        let place = if n == 0 { *outlet } else { app.outlet_of(outlet.idowner, &format!("Cabang {n}")).await };
        for (customer, (days, amount)) in [(siti, old), (new, moved)] {
            let epay = app.epay(customer, place, days.map(day)).await;
            app.topup(epay, *amount).await;
            if customer.id == siti.id {
                accounts.push(epay);
            }
        }
    }
    let body = shop.codes().await;
    shop.in_the_app(&body).await.ok();
    for (epay, (.., (days, amount))) in accounts.iter().zip(cases) {
        let sql = "SELECT saldo, jenis_emoney, masa_aktif FROM quota_emoney WHERE idcustomer = $1";
        let row = app.db.query_one(sql, &[&epay.idcustomer]).await.unwrap();
        let amount: i64 = amount;
        let kind: i16 = if days.is_some() { 1 } else { 2 };
        assert_eq!((row.get(0), row.get(1), row.get(2)), (amount, kind, days.map(day)), "{days:?} {amount}");
    }
    let forfeited: i64 = app.insert("SELECT SUM(jumlah)::BIGINT FROM ledger_transfer WHERE kind = 'hangus'", &[]).await;
    assert_eq!(forfeited, 5_000 + 5_000 + 1_000);
    app.assert_sound().await;
}

/// Sales to the new number, in cash and all at once with the move: each is there afterwards, or was refused.
#[actix_web::test]
async fn a_shift_sells_through_a_move() {
    let shop = MoveShop::on(Setup::new().running_clock().start().await).await;
    let MoveShop { app, outlet, siti, .. } = &shop;
    app.funded(siti, *outlet, 50_000).await;
    let body = shop.codes().await;
    let tills = join_all((0..4).map(|_| app.seller(*outlet))).await;
    let sell = async |till: &AtTill| {
        let mut sold = 0;
        for nominal in 1..=6 {
            let sale = json!({"telp": NEW, "idoutlet": outlet.idoutlet, "nominal": nominal * 1_000, "ulang": true});
            let answer = app.ask(till, "topup", &sale).await;
            match answer.status {
                200 => sold += nominal * 1_000,
                // The number was found, and has moved since.
                404 => drop(answer.expect(404, "nomor belum terdaftar")),
                _ => panic!("{answer:?}"),
            }
        }
        sold
    };
    let (moved, sold) = join(shop.in_the_app(&body), join_all(tills.iter().map(sell))).await;
    let token = moved.ok()["token"].as_str().unwrap().to_owned();
    assert_eq!(shop.balances(&token).await, [(50_000 + sold.iter().sum::<i64>(), "Melati".to_owned())]);
    app.assert_sound().await;
}

/// The pass of the server and a no at the same moment: it happened or it was refused, and never both.
#[actix_web::test]
async fn a_refusal_at_the_moment_of_the_move_counts_or_is_too_late() {
    let shop = MoveShop::open().await;
    let MoveShop { app, siti, new, .. } = &shop;
    for _ in 0..4 {
        app.db.execute("DELETE FROM pindah WHERE selesai_at IS NULL", &[]).await.unwrap();
        let hadi = app.at(&shop.hadi.till, shop.hadi.person).await;
        app.ask(&hadi, "pindah", &json!({"qr": app.code_of(new.id), "telp": OLD})).await.ok();
        let link = shop.link().await;
        app.advance_s(DAY_S);
        let refused = async {
            sleep(Duration::from_millis(rand::random_range(0..1_200))).await;
            shop.page("POST", &link).await.1.contains("dibatalkan")
        };
        let (refused, ()) = join(refused, shop.until_over()).await;
        let moved = shop.telp_of(siti).await == NEW;
        assert_ne!(refused, moved);
        if moved {
            break;
        }
    }
    app.assert_sound().await;
}

#[actix_web::test]
async fn nothing_moves_while_an_older_server_is_alive() {
    let shop = MoveShop::open().await;
    let app = &shop.app;
    shop.at_the_till().await.ok();
    app.older_server_is_alive(true).await;
    shop.at_the_till().await.expect(503, "layanan sedang sibuk, coba lagi");
    shop.send_codes().await.expect(503, "layanan sedang sibuk, coba lagi");
    app.advance_s(DAY_S);
    shop.stays().await;
    app.older_server_is_alive(false).await;
    shop.until_over().await;
    assert_eq!(shop.telp_of(&shop.siti).await, NEW);
}

#[actix_web::test]
async fn codes_that_were_sent_move_nothing_while_an_older_server_is_alive() {
    let shop = MoveShop::open().await;
    shop.app.funded(&shop.new, shop.outlet, 20_000).await;
    let body = shop.codes().await;
    shop.app.older_server_is_alive(true).await;
    shop.in_the_app(&body).await.expect(503, "layanan sedang sibuk, coba lagi");
    assert_eq!((shop.telp_of(&shop.siti).await, shop.telp_of(&shop.new).await), (OLD.to_owned(), NEW.to_owned()));
    shop.app.older_server_is_alive(false).await;
    shop.in_the_app(&body).await.ok();
    shop.app.assert_sound().await;
}

#[actix_web::test]
async fn the_bills_of_earlier_numbers_stay_with_who_stays() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, siti, new, .. } = &shop;
    app.takes_qris(*outlet, "simulated").await;
    let bill = json!({"id": "3f0c1c52-8a3b-4d0e-9a86-0d4b5f1c2a77", "idoutlet": outlet.idoutlet, "nominal": 20_000});
    let made = app.post("/scan/v1/epayment/tagihan", Some(&new.token), &bill).await.ok();
    let id = made["idtagihan"].as_str().unwrap();
    shop.in_the_app(&shop.codes().await).await.ok();
    // The account that stayed moves on to a customer with a third number, whose account stays then.
    let third = app.register_customer("81399999002", "Siti", "Lama").await;
    app.advance_s(61);
    app.post("/scan/v1/akun/pindah/kode", Some(&third.token), &json!({"telp": NEW})).await.ok();
    let codes = [app.last_code("81399999002").await, app.last_code(NEW).await];
    let body = json!({"telp": NEW, "otp_lama": codes[0], "otp_baru": codes[1], "password": PASSWORD});
    let token = app.post("/scan/v1/akun/pindah", Some(&third.token), &body).await.ok()["token"].as_str().unwrap().to_owned();
    let full = json!({"telp": NEW, "idoutlet": outlet.idoutlet, "nominal": 1_990_000, "cara_bayar": "transfer"});
    app.ask(&shop.hadi, "topup", &full).await.expect(422, "saldo paling banyak Rp 2.000.000");

    app.pay(id).await;
    let seen = app.get(&format!("/scan/v1/epayment/tagihan/{id}"), Some(&token)).await.ok();
    assert_eq!((&seen["status"], &seen["saldo_akhir"]), (&json!("dibayar"), &json!(20_000)));
    assert_eq!(shop.balances(&token).await, [(20_000, "Melati".to_owned())]);
    assert_eq!(shop.telp_of(siti).await, format!("1{:012}", siti.id.get()));
    app.assert_sound().await;
}

#[actix_web::test]
async fn no_number_of_a_customer_who_moved_and_goes_is_left() {
    let shop = MoveShop::open().await;
    let MoveShop { app, outlet, hadi, new, .. } = &shop;
    let rina = app.kasir(outlet.idoutlet).await;
    app.approval(&rina, hadi.person, "246810", "pindah", &format!("{}:{OLD}", new.id)).await;
    app.ask(&rina, "pelanggan/cari", &json!({"telp": OLD})).await.ok();
    shop.at_the_till().await.ok();
    let waiting = shop.waits().await["idpindah"].clone();
    app.post("/scan/v1/akun/pindah/tolak", Some(&shop.siti.token), &json!({"idpindah": waiting})).await.ok();
    let token = shop.in_the_app(&shop.codes().await).await.ok()["token"].as_str().unwrap().to_owned();
    let marks = [OLD, NEW, "0812••••7890", "0813••••9001"];
    for mark in &marks[1..] {
        assert!(!app.tables_with(mark).await.is_empty(), "{mark}");
    }
    app.post("/scan/v1/akun/hapus", Some(&token), &json!({"password": PASSWORD})).await.expect(200, "Akun sudah dihapus");
    for mark in marks {
        assert_eq!(app.tables_with(mark).await, [""; 0], "{mark}");
    }
    assert_eq!(app.audit_of("izin.beri").await.last().unwrap()["objek"], new.id.to_string());
}
