//! Payments that are not credited: their owner decides.

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use super::notifications::signed;
use crate::ops::operator::Scope;
use crate::support::counter::Counter;

#[actix_web::test]
async fn another_amount_is_held_until_the_owner_ends_it() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, outlet, .. } = &counter;
    for amount in [49_999, 50_001] {
        let id = counter.bill(50_000).await;
        app.at_provider(&id, &json!({"aksi": "bayar", "jumlah": amount, "kali": 3})).await.ok();
        assert_eq!(counter.see(&id).await["status"], "tertahan");
        let columns = [app.bill(&id, "sebab").await, app.bill(&id, "jumlah_dibayar").await, app.bill(&id, "tanya_at").await];
        assert_eq!(columns, [Some("jumlah lain".to_owned()), Some(amount.to_string()), None]);
    }
    assert_eq!(app.topups().await, 0);
    let audited = app.audited().await.into_iter().filter(|(action, ..)| action == "tagihan.tertahan");
    assert_eq!(audited.map(|(_, by, _)| by).collect::<Vec<_>>(), ["qris:simulated"; 2]);
    let entries = app.see(rina, "perhatian").await.ok();
    let [entry] = entries.as_array().unwrap().as_slice() else { panic!("one entry for the outlet: {entries}") };
    assert_eq!(
        (&entry["jenis"], &entry["tingkat"], &entry["sejak"]),
        (&json!("qris"), &json!("kuning"), &json!(app.now().rfc3339()))
    );

    let hadi = counter.supervisor().await;
    let ids = app.see(&hadi, "tagihan?status=tertahan").await.ok();
    let ids: Vec<_> = ids["baris"].as_array().unwrap().iter().map(super::id_of).collect();
    let note = json!({"catatan": "uang dikembalikan tunai"});
    app.ask(&hadi, &format!("tagihan/{}/selesai", ids[0]), &note)
        .await
        .expect(403, "kunci operator ini tidak berhak melakukan itu");
    let sari = app.clerk(&rina.till, "Sari", Role::Owner, WorksFor::Owner(outlet.idowner)).await;
    for id in &ids {
        assert_eq!(app.see(rina, "perhatian").await.ok().as_array().unwrap().len(), 1);
        assert_eq!(app.ask(&sari, &format!("tagihan/{id}/selesai"), &note).await.ok()["status"], "tertahan");
        app.ask(&sari, &format!("tagihan/{id}/selesai"), &note).await.ok();
        let other = json!({"catatan": "lain"});
        app.ask(&sari, &format!("tagihan/{id}/selesai"), &other).await.expect(409, "catatan sudah ada");
    }
    assert_eq!(app.see(rina, "perhatian").await.ok(), json!([]));
    assert_eq!(app.see(&hadi, "tagihan?status=tertahan").await.ok()["baris"], json!([]), "nothing is left to do");
    assert_eq!(counter.see(&ids[0]).await["status"], "tertahan", "it stays what it is");
    let open = counter.bill(10_000).await;
    app.ask(&sari, &format!("tagihan/{open}/selesai"), &note).await.expect(409, "tagihan tidak tertahan");
    app.ask(&sari, "tagihan/NYL0123456789ABCDEFGHIJ/selesai", &note).await.expect(404, "tagihan tidak ditemukan");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_payment_without_a_bill_is_ended_by_its_owner_alone() {
    let counter = Counter::with_bills().await;
    let Counter { app, rina, outlet, .. } = &counter;
    let lost = "NYL0123456789ABCDEFGHIJ";
    app.notify("simulated", &signed(lost, "settlement", "200", "50000.00", "simulated")).await.ok();
    let stranger = app.outlet("Mawar").await;
    let stranger = app.key(Scope::Owner(stranger.idowner)).await;
    let (path, note) = (format!("tagihan/{lost}/selesai"), json!({"catatan": "uang dikembalikan"}));
    app.ops(&stranger, &path, &note).await.expect(404, "tagihan tidak ditemukan");
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    assert_eq!(app.ops(&owner, &path, &note).await.ok(), Value::Null, "there is no bill");
    assert_eq!(app.see(rina, "perhatian").await.ok(), json!([]));
    let settled = app.audited().await.into_iter().filter(|(action, ..)| action == "tagihan.selesai").count();
    assert_eq!(settled, 1);
}

#[actix_web::test]
async fn a_deleted_customers_payment_is_held_and_a_moved_ones_goes_to_the_one_that_stays() {
    let counter = Counter::with_bills().await;
    let Counter { app, siti, .. } = &counter;
    let (to_gone, to_moved) = (counter.bill(10_000).await, counter.bill(20_000).await);
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    app.db.execute("UPDATE customer_global SET dihapus_at = $2 WHERE id = $1", &[&siti.id, &app.now()]).await.unwrap();
    app.pay(&to_gone).await;
    assert_eq!(app.bill(&to_gone, "sebab").await.as_deref(), Some("pelanggan dihapus"));
    let moved = "UPDATE customer_global SET dihapus_at = NULL, pindah_ke = $2 WHERE id = $1";
    app.db.execute(moved, &[&siti.id, &budi.id]).await.unwrap();
    app.pay(&to_moved).await;
    assert_eq!(app.bill(&to_moved, "status").await.as_deref(), Some("dibayar"));
    let of_budi = app.insert("SELECT count(*) FROM pembelian_emoney WHERE id_customer_global = $1", &[&budi.id]).await;
    assert_eq!(of_budi, 1);
    let seen = app.get(&format!("/scan/v1/epayment/tagihan/{to_moved}"), Some(&budi.token)).await.ok();
    assert_eq!(seen["status"], "dibayar", "the bill is the account's that stays");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_payment_goes_into_an_account_of_any_kind() {
    let counter = Counter::with_bills().await;
    let Counter { app, siti, outlet, .. } = &counter;
    let account = async || {
        let row = app.db.query_one("SELECT jenis_emoney, masa_aktif, saldo FROM quota_emoney", &[]).await.unwrap();
        (row.get::<_, i16>(0), row.get::<_, Option<nyala_core::domain::timestamp::Timestamp>>(1), row.get::<_, i64>(2))
    };
    let (now, day) = (app.now(), 86_400_000);
    app.funded(siti, *outlet, 1_000).await;
    let set = async |kind: i16, days: Option<i64>| {
        let until = days.map(|days| now.plus_ms(days * day));
        app.db.execute("UPDATE quota_emoney SET jenis_emoney = $1, masa_aktif = $2", &[&kind, &until]).await.unwrap();
    };
    // Expired: usable for a week.
    set(1, Some(-3)).await;
    let id = counter.bill(10_000).await;
    app.pay(&id).await;
    assert_eq!(account().await, (1, Some(now.plus_ms(7 * day)), 11_000));
    // An account without an expiry keeps having none, although the sale has one.
    set(2, None).await;
    app.db.execute("UPDATE outlet SET berlaku_hari = 30", &[]).await.unwrap();
    let id = counter.bill(20_000).await;
    app.pay(&id).await;
    assert_eq!(account().await, (2, None, 31_000));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_bill_credited_and_given_back_by_the_provider_is_for_the_owner() {
    let counter = Counter::with_bills().await;
    let (app, id) = (&counter.app, counter.bill(50_000).await);
    app.pay(&id).await;
    // The simulated provider gives nothing back: Midtrans' side of this is in `midtrans.rs`.
    app.notify("simulated", &signed(&id, "refund", "200", "50000.00", "simulated")).await.ok();
    let seen = counter.see(&id).await;
    assert_eq!((&seen["status"], app.see(&counter.rina, "perhatian").await.ok()), (&json!("dibayar"), json!([])));
    let sebab: Value = json!(app.bill(&id, "sebab").await);
    assert_eq!(sebab, Value::Null, "the provider was asked back, and says that it is paid");
}
