//! A balance that staff changed reaches the customer's phones at once (docs/contract.md §3).

use nyala_core::domain::id::WalletId;
use serde_json::json;

use super::phone::Phone;
use super::setup;
use crate::ops::operator::Scope;
use crate::support::arrange::receipt;
use crate::support::counter::counter_of;

#[actix_web::test]
async fn every_phone_of_the_customer_and_no_other_receives_committed_balances() {
    // Two workers, because the caller's thread is seldom the phone's.
    let app = setup().with(|c| c.http.workers = 2).start().await;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let mut phones = [Phone::join(&app, &siti.token).await, Phone::join(&app, &siti.token).await];
    let mut stranger = Phone::join(&app, &budi.token).await;

    let body = json!({"telp": siti.telp, "idoutlet": outlet.idoutlet, "nominal": 50_000});
    let made = app.ops(&key, "topup", &body).await.ok();
    let idcustomer = made["idcustomer"].as_i64().unwrap();
    let wrong = app.ops(&key, "topup", &json!({"telp": siti.telp, "idoutlet": outlet.idoutlet, "nominal": 7_000})).await.ok();
    let reversal = format!("topup/{}/batal", wrong["idpembelian_emoney"].as_str().unwrap());
    app.ops(&key, &reversal, &json!({"alasan": "salah"})).await.ok();
    // A refusal changes no balance and sends no event.
    app.ops(&key, &reversal, &json!({"alasan": "salah"})).await.expect(409, "top-up sudah dibatalkan");
    let idakun = app.insert("SELECT idakun FROM quota_emoney WHERE idcustomer = $1", &[&idcustomer]).await;
    let epay =
        crate::support::arrange::Epay { idcustomer: WalletId::new(idcustomer), id_customer_global: siti.id, outlet, idakun };
    app.running(epay, &app.machine(outlet, "Mesin 1").await, 1).await;
    app.ops(&key, "refund", &json!({"idtransaksi": receipt(1), "nominal": 4_000, "alasan": "bocor"})).await.ok();
    app.ops(&key, "hapus", &json!({"idtransaksi": receipt(1), "alasan": "bocor"})).await.ok();

    let changes = [(50_000, "topup"), (57_000, "topup"), (50_000, "batal"), (44_000, "refund"), (50_000, "hapus")];
    for phone in &mut phones {
        for (balance, why) in changes {
            assert_eq!(phone.event().await, json!(["saldo", {"idcustomer": idcustomer, "saldo": balance, "sebab": why}]));
        }
    }
    // Any further event would arrive before the answer.
    for phone in phones.iter_mut().chain([&mut stranger]) {
        assert_eq!(phone.subscribe(4_711).await["status"], 404);
    }
}

#[actix_web::test]
async fn a_payment_by_qris_and_a_payout_reach_the_phones_once_each() {
    let counter = counter_of(setup().with(|c| c.http.workers = 2).start().await).await;
    let (app, outlet, siti) = (&counter.app, counter.outlet, &counter.siti);
    app.takes_qris(outlet, "simulated").await;
    let hadi = counter.supervisor().await;
    let mut phone = Phone::join(app, &siti.token).await;
    let id = counter.bill(50_000).await;
    // Held: no balance has changed.
    let held = counter.bill(10_000).await;
    app.at_provider(&held, &json!({"aksi": "bayar", "jumlah": 9_000})).await.ok();
    app.at_provider(&id, &json!({"aksi": "bayar", "kali": 5})).await.ok();
    let idcustomer = app.insert("SELECT idcustomer FROM customer", &[]).await;
    let payout = |paid: i64| json!({"qr": app.code_of(siti.id), "dibayar": paid, "hangus": 0});
    app.ask(&hadi, "tarik", &payout(49_999)).await.expect(409, "jumlah berubah, hitung lagi");
    app.ask_with(&hadi, "sekali", None, "tarik", &payout(50_000)).await.ok();
    for (balance, why) in [(50_000, "topup"), (0, "penarikan")] {
        assert_eq!(phone.event().await, json!(["saldo", {"idcustomer": idcustomer, "saldo": balance, "sebab": why}]));
    }
    // Any further event would arrive before the answer.
    assert_eq!(phone.subscribe(4_711).await["status"], 404);
}
