//! Lists of a till: sales and purchases, of its shift or of the outlet (docs/till.md).

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::column;
use crate::support::counter::{Counter, TELP, and, counter};
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn a_kasir_sees_the_shift_and_a_supervisor_the_outlet() {
    let counter = counter().await;
    let Counter { app, outlet, rina, .. } = &counter;
    let hadi = counter.supervisor().await;
    let program = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.ops(&program, "topup", &counter.by_number(1_000)).await.ok();
    let dewi = app.seller(*outlet).await;
    app.ask(&dewi, "topup", &counter.sale(2_000)).await.ok();
    for nominal in [3_000, 4_000, 5_000] {
        app.ask(rina, "topup", &and(counter.sale(nominal), "cara_bayar", json!("qris"))).await.ok();
    }
    let page = app.see(rina, "topup?limit=2").await.ok();
    assert_eq!(column(&page["baris"], "nominal"), [&json!(5_000), &json!(4_000)]);
    let first = &page["baris"][0];
    let expected = json!({
        "idpembelian_emoney": first["idpembelian_emoney"], "created_at": app.now().rfc3339(), "nama": "Siti R.", "nominal": 5_000,
        "quota": 5_000, "nama_paket": "Top-Up", "cara_bayar": "qris", "petugas": "Rina", "batal_at": null, "batal_oleh": null,
        "batal_sampai": app.now().plus_ms(1_800_000).rfc3339(),
    });
    assert_eq!(first, &expected);
    // New rows at the top do not shift the next page.
    app.ask(rina, "topup", &counter.sale(6_000)).await.ok();
    let rest = app.see(rina, &format!("topup?limit=2&sebelum={}", page["lanjut"])).await.ok();
    assert_eq!((column(&rest["baris"], "nominal"), &rest["lanjut"]), (vec![&json!(3_000)], &Value::Null));

    let call = format!("topup/{}/batal", first["idpembelian_emoney"].as_str().unwrap());
    app.ask(&hadi, &call, &json!({"alasan": "salah"})).await.ok();
    let all = app.see(&hadi, "topup").await.ok();
    assert_eq!(
        column(&all["baris"], "nominal"),
        [6_000, 5_000, 4_000, 3_000, 2_000, 1_000].map(|n| json!(n)).iter().collect::<Vec<_>>()
    );
    assert_eq!((&all["baris"][0]["nama"], &all["baris"][1]["batal_at"]), (&json!("Siti Rahma"), &json!(app.now().rfc3339())));
    assert_eq!(all["baris"][1]["batal_oleh"], "Hadi");
    assert_eq!((&all["baris"][5]["cara_bayar"], &all["baris"][5]["petugas"]), (&Value::Null, &json!("uji")));

    for bad in ["topup?limit=0", "topup?limit=101", "topup?sebelum=x", "pemakaian?limit=0"] {
        assert_eq!(app.see(rina, bad).await.status, 400, "{bad}");
    }
    let path = "/ops/v1/topup";
    app.get(path, Some(&program)).await.expect(403, "hanya dari perangkat kasir, bukan dengan kunci operator");
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    app.get(path, Some(&owner)).await.expect(422, "idoutlet wajib diisi");
    let at = |idoutlet: i64| format!("{path}?idoutlet={idoutlet}");
    assert_eq!(app.get(&at(outlet.idoutlet.get()), Some(&owner)).await.ok(), all);
    let foreign = app.outlet("Mawar").await.idoutlet;
    app.get(&at(foreign.get()), Some(&owner)).await.expect(404, "outlet tidak ditemukan");
    app.see(&hadi, &format!("topup?idoutlet={foreign}")).await.expect(404, "outlet tidak ditemukan");
}

#[actix_web::test]
async fn uses_are_seen_since_the_shift_was_opened() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 100_000).await;
    let machine = app.machine(outlet, "Mesin 1").await;
    let elsewhere = app.outlet("Mawar").await;
    let before = app.used(epay, &machine, &crate::support::arrange::receipt(1)).await;
    app.advance_s(1);
    let till = app.till(outlet.idoutlet).await;
    let rina = app.clerk(&till, "Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet)).await;
    assert_eq!(app.see(&rina, "pemakaian").await.ok(), json!({"baris": [], "lanjut": null}), "no shift is open");
    assert_eq!(app.see(&rina, "topup").await.ok(), json!({"baris": [], "lanjut": null}));
    app.open_shift(&rina, outlet).await;
    let other = app.funded(&siti, elsewhere, 100_000).await;
    app.used(other, &app.machine(elsewhere, "Mesin 1").await, &crate::support::arrange::receipt(2)).await;
    let refused = app.hold(epay, &machine, &crate::support::arrange::receipt(3)).await;
    app.refused(&refused).await;
    let used = app.used(epay, &machine, &crate::support::arrange::receipt(4)).await;
    app.refund(&used, 4_000).await;
    app.delete(&used, 6_000).await;
    app.running(epay, &machine, 5).await;
    let seen = app.see(&rina, "pemakaian").await.ok();
    let values = |key: &str| column(&seen["baris"], key).into_iter().cloned().collect::<Vec<_>>();
    assert_eq!(values("idtransaksi"), [5, 4, 3].map(|n| json!(crate::support::arrange::receipt(n))));
    assert_eq!(values("status"), ["jalan", "selesai", "gagal"]);
    assert_eq!(
        seen["baris"][1],
        json!({
            "idtransaksi": used.receipt, "idcustomer": epay.idcustomer, "created_at": app.now().rfc3339(), "nama": "Siti R.",
            "mesin": "Mesin 1", "layanan": "Cuci Kilat", "grandtotal": 10_000, "dikembalikan": 10_000, "status": "selesai",
            "dihapus_at": app.now().rfc3339(), "sudah": { "pelanggan": 2, "mesin": 2 },
        })
    );
    let hadi = app.clerk(&till, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    let page = app.see(&hadi, "pemakaian?limit=3").await.ok();
    assert_eq!(page["baris"][0]["nama"], "Siti Rahma");
    let rest = app.see(&hadi, &format!("pemakaian?limit=3&sebelum={}", page["lanjut"])).await.ok();
    assert_eq!((&rest["baris"][0]["idtransaksi"], &rest["lanjut"]), (&json!(before.receipt), &Value::Null));
    app.assert_no_violation().await;
}
