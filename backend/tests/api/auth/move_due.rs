//! A till's move when its time has come, and what ends before it (docs/money.md, Moving to a new number).

use serde_json::{Value, json};
use uuid::Uuid;

use super::number_move::{DAY_S, MoveShop, NEW, OLD};
use crate::push::service::PushService;
use crate::realtime::phone::Phone;
use crate::support::helpers::{Customer, PASSWORD, Setup};

/// Shorter than a machine runs.
const SHORT_WAIT_S: i64 = 60;

async fn short_wait() -> MoveShop {
    MoveShop::on(Setup::new().with(|c| c.moves.wait_s = SHORT_WAIT_S).start().await).await
}

impl MoveShop {
    async fn leave(&self, who: &Customer, given_up: i64) {
        let body = json!({"password": PASSWORD, "lepas_saldo": given_up});
        self.app.post("/scan/v1/akun/hapus", Some(&who.token), &body).await.expect(200, "Akun sudah dihapus");
    }

    /// Why the move ended, and how many rows of the ledger it has.
    async fn ended(&self) -> (Option<String>, i64) {
        let why = self.app.insert_id("SELECT sebab FROM pindah WHERE selesai_at IS NOT NULL", &[]).await;
        (why, self.app.insert("SELECT count(*) FROM ledger_transfer WHERE idpindah IS NOT NULL", &[]).await)
    }
}

#[actix_web::test]
async fn a_move_waits_for_a_machine_of_the_new_number_and_then_happens() {
    let shop = short_wait().await;
    let MoveShop { app, outlet, siti, new, .. } = &shop;
    app.funded(siti, *outlet, 50_000).await;
    let epay = app.funded(new, *outlet, 30_000).await;
    shop.at_the_till().await.ok();
    let used = app.running(epay, &app.machine(*outlet, "Mesin 1").await, 1).await;
    app.advance_s(SHORT_WAIT_S);
    shop.stays().await;
    assert!(shop.waits().await.is_object(), "and until then its owner may say no");
    app.advance_s(1_800);
    app.until(&used.receipt, "FINISHED").await;
    shop.until_over().await;
    let token = shop.log_in(NEW).await.ok()["token"].as_str().unwrap().to_owned();
    assert_eq!(shop.balances(&token).await, [(70_000, "Melati".to_owned())]);
    app.assert_sound().await;
}

#[actix_web::test]
async fn who_says_no_while_it_waits_for_a_machine_keeps_everything() {
    let shop = short_wait().await;
    let MoveShop { app, outlet, siti, new, .. } = &shop;
    let epay = app.funded(new, *outlet, 30_000).await;
    let id = shop.at_the_till().await.ok()["idpindah"].clone();
    let used = app.running(epay, &app.machine(*outlet, "Mesin 1").await, 1).await;
    app.advance_s(SHORT_WAIT_S);
    shop.stays().await;
    app.post("/scan/v1/akun/pindah/tolak", Some(&siti.token), &json!({"idpindah": id})).await.ok();
    app.advance_s(1_800);
    app.until(&used.receipt, "FINISHED").await;
    shop.stays().await;
    assert_eq!((shop.telp_of(siti).await, shop.telp_of(new).await), (OLD.into(), NEW.into()));
    assert_eq!(app.balance(epay.idcustomer).await, 20_000);
}

#[actix_web::test]
async fn the_deletion_of_either_customer_ends_a_pending_move() {
    for goes in ["old", "new"] {
        let shop = MoveShop::open().await;
        let MoveShop { app, outlet, siti, new, .. } = &shop;
        app.funded(siti, *outlet, 50_000).await;
        app.funded(new, *outlet, 20_000).await;
        shop.at_the_till().await.ok();
        let link = shop.link().await;
        let (gone, given_up, stays, number, balance) =
            if goes == "old" { (siti, 50_000, new, NEW, 20_000) } else { (new, 20_000, siti, OLD, 50_000) };
        shop.leave(gone, given_up).await;
        assert_eq!(shop.ended().await, (Some("dihapus".to_owned()), 0));
        let (status, page) = shop.page("POST", &link).await;
        assert!(status == 200 && page.contains("tidak jadi"), "{page}");
        app.advance_s(DAY_S);
        let token = shop.log_in(number).await.ok()["token"].as_str().unwrap().to_owned();
        assert_eq!(shop.balances(&token).await, [(balance, "Melati".to_owned())]);
        assert_eq!(shop.telp_of(stays).await, number);
        let waits = app.get("/scan/v1/akun/pindah", Some(&token)).await.ok();
        assert_eq!(waits, Value::Null);
        assert_eq!(shop.ended().await.1, 0);
        app.assert_sound().await;
    }
}

/// As a server finds it that read the move before the deletion was committed, or after a restore has undone and repeated it.
#[actix_web::test]
async fn a_move_of_somebody_who_is_gone_ends_and_moves_nothing() {
    for goes in ["old", "new"] {
        let shop = MoveShop::open().await;
        let MoveShop { app, outlet, siti, new, .. } = &shop;
        let epays = [app.funded(siti, *outlet, 50_000).await, app.funded(new, *outlet, 20_000).await];
        shop.at_the_till().await.ok();
        let gone = if goes == "old" { siti } else { new };
        app.db.execute("UPDATE customer_global SET dihapus_at = $2 WHERE id = $1", &[&gone.id, &app.now()]).await.unwrap();
        app.advance_s(DAY_S);
        shop.until_over().await;
        assert_eq!(shop.ended().await, (Some("pelanggan tidak ada lagi".to_owned()), 0));
        for (epay, balance) in epays.iter().zip([50_000, 20_000]) {
            assert_eq!(app.balance(epay.idcustomer).await, balance);
        }
        assert_eq!((shop.telp_of(siti).await, shop.telp_of(new).await), (OLD.into(), NEW.into()));
        app.assert_sound().await;
    }
}

/// The phones of the old number get a push. When the move happens, sockets, logins, pushes and known phones of both numbers end.
#[actix_web::test]
async fn phones_get_a_push_of_a_move_and_their_logins_end_with_it() {
    let service = PushService::start();
    let setup = service.setup().with(|c| {
        c.auth.wrong_logins_per_phone = 1;
        c.http.workers = 2;
    });
    let shop = MoveShop::on(setup.start().await).await;
    let MoveShop { app, outlet, siti, new, .. } = &shop;
    app.takes_qris(*outlet, "simulated").await;
    let known = [app.login(OLD, PASSWORD).await.cookie(), app.login(NEW, PASSWORD).await.cookie()];
    let phones = [service.browser("old"), service.browser("new")];
    let mut sockets = Vec::new();
    for (customer, phone) in [(siti, &phones[0]), (new, &phones[1])] {
        app.subscribe(customer, phone).await.ok();
        sockets.push(Phone::join(app, &customer.token).await);
        sockets.push(Phone::join(app, &customer.token).await);
    }

    shop.at_the_till().await.ok();
    let told = service.until(1).await;
    assert_eq!((told.path.as_str(), told.header("ttl")), ("/old", "86400"));
    let message = phones[0].open(&told);
    let fields = ["judul", "isi", "tuju"].map(|key| message[key].clone());
    assert_eq!(fields, [json!("Akun akan pindah nomor"), json!("Bukan Anda? Buka untuk membatalkan"), json!("/dashboard")]);
    assert!(!message.to_string().contains(NEW), "{message}");
    for socket in &mut sockets {
        assert_eq!(socket.subscribe(4_711).await["status"], 404, "asking ends nothing");
    }

    app.advance_s(DAY_S);
    shop.until_over().await;
    for mut socket in sockets {
        assert_eq!(socket.closed().await, []);
    }
    for token in [&siti.token, &new.token] {
        app.get("/scan/v1/dashboard/get_dashboard", Some(token)).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");
        let refused = Phone::dial(app.address()).await.connect(Some(&json!({ "token": token }))).await;
        assert_eq!(refused.unwrap_err(), json!({"message": "unauthorized"}));
    }
    // Neither phone is a known one any more; the one that logs in now is.
    let after = app.login(NEW, PASSWORD).await;
    let (own, token) = (after.cookie(), after.ok()["token"].as_str().unwrap().to_owned());
    app.login(NEW, "salah").await.expect(401, "password is incorrect");
    for cookie in &known {
        app.login_from("", cookie, NEW, PASSWORD).await.retry_after_s();
    }
    app.login_from("", &own, NEW, PASSWORD).await.ok();
    // Nor does a push reach either of them.
    let paid_bill = async |customer: &Customer| {
        let bill = json!({"id": Uuid::new_v4(), "idoutlet": outlet.idoutlet, "nominal": 10_000});
        let bill = app.post("/scan/v1/epayment/tagihan", Some(&customer.token), &bill).await.ok();
        app.pay(bill["idtagihan"].as_str().unwrap()).await;
    };
    let moved = Customer { token, ..siti.clone() };
    paid_bill(&moved).await;
    app.all_pushed().await;
    assert_eq!(service.given().len(), 1);
    app.subscribe(&moved, &phones[0]).await.ok();
    paid_bill(&moved).await;
    assert_eq!(phones[0].open(&service.until(2).await)["judul"], "Pembayaran QRIS diterima");
}

/// The move in the app ends the same at once.
#[actix_web::test]
async fn sockets_of_both_numbers_end_with_a_move_in_the_app() {
    let shop = MoveShop::on(Setup::new().with(|c| c.http.workers = 2).start().await).await;
    let mut old = Vec::new();
    for token in [&shop.siti.token, &shop.new.token, &shop.siti.token, &shop.new.token] {
        old.push(Phone::join(&shop.app, token).await);
    }
    let budi = shop.app.register_customer("81234567899", "Budi", "Santoso").await;
    let mut other = Phone::join(&shop.app, &budi.token).await;
    let body = shop.codes().await;
    let token = shop.in_the_app(&body).await.ok()["token"].as_str().unwrap().to_owned();
    for mut phone in old {
        assert_eq!(phone.closed().await, []);
    }
    for phone in [&mut other, &mut Phone::join(&shop.app, &token).await] {
        assert_eq!(phone.subscribe(4_711).await["status"], 404);
    }
}
