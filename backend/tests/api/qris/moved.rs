//! Bills of customers who move to another number or who go, while the bill can still be paid.

use futures_util::future::{join, join_all};
use nyala_core::domain::id::CustomerId;
use serde_json::{Value, json};
use uuid::Uuid;

use super::id_of;
use crate::auth::number_move::{MoveShop, OLD};
use crate::auth::register::register_body;
use crate::support::counter::Counter;
use crate::support::helpers::{Customer, PASSWORD, Setup};

const BILLS: &str = "/scan/v1/epayment/tagihan";
/// Within the time for which a bill can be paid.
const SHORT_WAIT_S: i64 = 60;

/// A shop that takes QRIS, where both numbers have an account.
struct BilledMove {
    shop: MoveShop,
    /// With what becomes of it: open bills of the old and of the new number, from a till and from a phone, and one that has ended unpaid.
    bills: Vec<String>,
}

impl BilledMove {
    async fn open() -> Self {
        Self::on(Setup::new().with(|c| c.moves.wait_s = SHORT_WAIT_S)).await
    }

    async fn on(setup: Setup) -> Self {
        let shop = MoveShop::on(setup.start().await).await;
        shop.app.takes_qris(shop.outlet, "simulated").await;
        shop.app.funded(&shop.siti, shop.outlet, 50_000).await;
        shop.app.funded(&shop.new, shop.outlet, 20_000).await;
        let mut bills = Vec::new();
        for customer in [&shop.siti, &shop.new] {
            bills.push(at_the_till(&shop, customer.id).await);
            bills.push(on_the_phone(&shop, customer).await);
        }
        let ended = on_the_phone(&shop, &shop.new).await;
        shop.app.at_provider(&ended, &json!({"aksi": "kedaluwarsa"})).await.ok();
        assert_eq!(shop.app.bill(&ended, "status").await.as_deref(), Some("kedaluwarsa"));
        bills.push(ended);
        Self { shop, bills }
    }

    /// All are paid after the move: the one who stays is credited, and sees each.
    async fn are_credited(&self, token: &str) {
        let MoveShop { app, outlet, siti, .. } = &self.shop;
        assert_eq!(self.shop.balances(token).await, [(70_000, "Melati".to_owned())]);
        let mut balance = 70_000;
        for id in &self.bills {
            let path = format!("{BILLS}/{id}");
            let open = app.get(&path, Some(token)).await.ok();
            assert!(open["status"] == "menunggu" || open["status"] == "kedaluwarsa", "{open}");
            app.at_provider(id, &json!({"aksi": "bayar", "kali": 3})).await.ok();
            balance += 10_000;
            let seen = app.get(&path, Some(token)).await.ok();
            assert_eq!((&seen["status"], &seen["saldo_akhir"]), (&json!("dibayar"), &json!(balance)));
        }
        assert_eq!(self.shop.balances(token).await, [(balance, "Melati".to_owned())]);
        let by_qris = "SELECT count(*) FROM pembelian_emoney WHERE cara_bayar = 'qris' AND id_customer_global = $1";
        assert_eq!(app.insert(by_qris, &[&siti.id]).await, 5);
        // A new customer with the old number sees none of them.
        let code = app.send_code(OLD).await;
        let other = app.post("/scan/v1/auth/register", None, &register_body(OLD, &code)).await.ok();
        for id in &self.bills {
            let foreign = app.get(&format!("{BILLS}/{id}"), other["token"].as_str()).await;
            foreign.expect(404, "tagihan tidak ditemukan");
        }
        let till = app.see(&self.shop.hadi, &format!("tagihan/{}", self.bills[2])).await.ok();
        assert_eq!((&till["status"], &till["idoutlet"]), (&json!("dibayar"), &json!(outlet.idoutlet)));
        app.assert_sound().await;
    }
}

async fn at_the_till(shop: &MoveShop, customer: CustomerId) -> String {
    id_of(&shop.app.ask(&shop.hadi, "tagihan", &json!({"id_customer_global": customer, "nominal": 10_000})).await.ok())
}

async fn on_the_phone(shop: &MoveShop, customer: &Customer) -> String {
    let body = json!({"id": Uuid::new_v4(), "idoutlet": shop.outlet.idoutlet, "nominal": 10_000});
    id_of(&shop.app.post(BILLS, Some(&customer.token), &body).await.ok())
}

#[actix_web::test]
async fn bills_that_are_open_while_the_app_moves_are_credited_to_the_one_who_stays() {
    let moved = BilledMove::open().await;
    let body = moved.shop.codes().await;
    let token = moved.shop.in_the_app(&body).await.ok()["token"].as_str().unwrap().to_owned();
    moved.are_credited(&token).await;
}

#[actix_web::test]
async fn bills_that_are_open_while_a_tills_move_happens_are_credited_to_the_one_who_stays() {
    let moved = BilledMove::open().await;
    moved.shop.at_the_till().await.ok();
    moved.shop.app.advance_s(SHORT_WAIT_S);
    moved.shop.until_over().await;
    let token = moved.shop.log_in(crate::auth::number_move::NEW).await.ok()["token"].as_str().unwrap().to_owned();
    moved.are_credited(&token).await;
}

/// Each payment is credited before the move, and moves along, or after it.
#[actix_web::test]
async fn payments_at_the_moment_of_the_move_are_credited_once() {
    let moved = BilledMove::on(Setup::new().running_clock()).await;
    let MoveShop { app, .. } = &moved.shop;
    let body = moved.shop.codes().await;
    let paid = json!({"aksi": "bayar", "kali": 3});
    let payments = join_all(moved.bills.iter().map(|id| app.at_provider(id, &paid)));
    let (answer, payments) = join(moved.shop.in_the_app(&body), payments).await;
    payments.into_iter().for_each(|payment| _ = payment.ok());
    let token = answer.ok()["token"].as_str().unwrap().to_owned();
    for id in &moved.bills {
        app.until_bill(id, "dibayar").await;
    }
    assert_eq!(moved.shop.balances(&token).await, [(120_000, "Melati".to_owned())]);
    app.assert_sound().await;
}

/// Credited, and then there is a balance left, or held for the owner.
#[actix_web::test]
async fn a_payment_at_the_moment_of_the_deletion_is_credited_or_held() {
    let app = Setup::new().running_clock().start().await;
    let outlet = app.outlet("Melati").await;
    app.takes_qris(outlet, "simulated").await;
    for n in 0..6 {
        let siti = app.register_customer(&format!("8123456789{n}"), "Siti", "Rahma").await;
        let body = json!({"id": Uuid::new_v4(), "idoutlet": outlet.idoutlet, "nominal": 20_000});
        let id = id_of(&app.post(BILLS, Some(&siti.token), &body).await.ok());
        let password = json!({"password": PASSWORD});
        let gone = app.post("/scan/v1/akun/hapus", Some(&siti.token), &password);
        let (gone, ()) = join(gone, app.pay(&id)).await;
        let status = app.bill(&id, "status").await.unwrap();
        match gone.status {
            200 => assert_eq!(status, "tertahan"),
            _ => {
                gone.expect(409, "masih ada saldo Rp 20.000");
                assert_eq!(status, "dibayar");
            }
        }
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_is_paid_after_its_customer_has_gone_is_held_and_credited_to_nobody() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, siti, .. } = &counter;
    let (ended, cancelled) = (counter.bill(10_000).await, counter.bill(20_000).await);
    app.at_provider(&ended, &json!({"aksi": "kedaluwarsa"})).await.ok();
    app.post("/scan/v1/akun/hapus", Some(&siti.token), &json!({"password": PASSWORD})).await.ok();
    assert_eq!(app.bill(&cancelled, "status").await.as_deref(), Some("batal"), "the deletion has cancelled it");
    // The number registers again, as another customer.
    let code = app.send_code(&siti.telp).await;
    let other = app.post("/scan/v1/auth/register", None, &register_body(&siti.telp, &code)).await.ok();
    for (id, amount) in [(&ended, 10_000), (&cancelled, 20_000)] {
        app.at_provider(id, &json!({"aksi": "bayar", "kali": 3})).await.ok();
        let seen = counter.see(id).await;
        assert_eq!((&seen["status"], &seen["idpembelian_emoney"]), (&json!("tertahan"), &Value::Null));
        let columns = [app.bill(id, "sebab").await, app.bill(id, "jumlah_dibayar").await];
        assert_eq!(columns, [Some("pelanggan dihapus".to_owned()), Some(amount.to_string())]);
    }
    assert_eq!((app.topups().await, app.insert("SELECT count(*) FROM ledger_transfer", &[]).await), (0, 0));
    let accounts = app.get("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", other["token"].as_str()).await.ok();
    assert_eq!(accounts, json!([]));
    let entries = app.see(rina, "perhatian").await.ok();
    assert_eq!((entries.as_array().unwrap().len(), &entries[0]["jenis"]), (1, &json!("qris")));
    assert_eq!(app.audited().await.iter().filter(|(action, ..)| action == "tagihan.tertahan").count(), 2);
    app.assert_no_violation().await;
}
