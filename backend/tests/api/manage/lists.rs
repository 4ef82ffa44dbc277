//! Lists of management: API keys, the audit log, a customer with accounts and movements.

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::{column, receipt};
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn keys_below_ones_own_role_are_made_listed_and_revoked() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let sibling = app.outlet_of(outlet.idowner, "Mawar").await;
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    let made =
        app.ops(&owner, "kunci", &json!({"nama": "Kasir luar", "role": "supervisor", "idoutlet": outlet.idoutlet})).await.ok();
    let secret = made["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with(&format!("nyk_{}_", made["id"])), "{secret}");
    assert_eq!(app.ops_see(&secret, "saya").await.ok()["role"], "supervisor");
    let lower = app.ops(&secret, "kunci", &json!({"nama": "Alat", "role": "kasir", "idoutlet": outlet.idoutlet})).await.ok();
    let elsewhere = json!({"nama": "Alat", "role": "kasir", "idoutlet": sibling.idoutlet});
    app.ops(&secret, "kunci", &elsewhere).await.expect(404, "outlet tidak ditemukan");
    let other = app.ops(&owner, "kunci", &elsewhere).await.ok();
    for role in ["supervisor", "owner"] {
        let body = json!({"nama": "Naik", "role": role, "idoutlet": outlet.idoutlet});
        app.ops(&secret, "kunci", &body).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
    }
    for bad in [
        json!({"nama": "", "role": "kasir", "idoutlet": outlet.idoutlet}),
        json!({"nama": "Akar", "role": "root"}),
        json!({"nama": "Tanpa", "role": "kasir"}),
        json!({"nama": "Dua", "role": "kasir", "idoutlet": outlet.idoutlet, "idowner": outlet.idowner}),
    ] {
        let answer = app.ops(&owner, "kunci", &bad).await;
        assert_eq!(answer.status, 400, "{bad}: {}", answer.message);
    }

    // People have no secret, so they are no keys. A list has the roles below, newest first, and no secret.
    app.person("Tono", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), "864203").await;
    let list = app.ops_see(&owner, "kunci?limit=2").await.ok();
    assert_eq!(column(&list["baris"], "id"), [&other["id"], &lower["id"]]);
    let rest = app.ops_see(&owner, &format!("kunci?sebelum={}", list["lanjut"])).await.ok();
    let expected = json!({
        "id": made["id"], "nama": "Kasir luar", "role": "supervisor", "idoutlet": outlet.idoutlet, "idowner": null, "dicabut_at": null,
    });
    assert_eq!(rest, json!({"baris": [expected], "lanjut": null}));
    assert_eq!(column(&app.ops_see(&secret, "kunci").await.ok()["baris"], "id"), [&lower["id"]]);

    let end = |id: &Value| format!("kunci/{id}/cabut");
    app.ops(&secret, &end(&other["id"]), &json!({})).await.expect(404, "kunci tidak ditemukan");
    app.ops(&secret, &end(&made["id"]), &json!({})).await.expect(404, "kunci tidak ditemukan");
    app.ops(&owner, &end(&made["id"]), &json!({})).await.ok();
    app.ops(&owner, &end(&made["id"]), &json!({})).await.expect(404, "kunci tidak ditemukan");
    app.ops_see(&secret, "saya").await.expect(401, "kunci operator tidak berlaku");
    let ended = &app.ops_see(&owner, "kunci").await.ok()["baris"][2]["dicabut_at"];
    assert_eq!(ended, &json!(app.now().rfc3339()));
    assert_eq!((app.audit_of("kunci.buat").await.len(), app.audit_of("kunci.cabut").await.len()), (3, 1));
}

#[actix_web::test]
async fn the_audit_log_is_read_by_outlet_action_and_object() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = app.machine(outlet, "Cuci 1").await.idmesin;
    let elsewhere = app.outlet("Mawar").await;
    let foreign = app.machine(elsewhere, "Cuci 2").await.idmesin;
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let stranger = app.key(Scope::Supervisor(elsewhere.idoutlet)).await;
    app.ops(&supervisor, &format!("mesin/{machine}/tutup"), &json!({"alasan": "bocor"})).await.ok();
    app.ops(&supervisor, &format!("mesin/{machine}/buka"), &json!({})).await.ok();
    app.ops(&stranger, &format!("mesin/{foreign}/tutup"), &json!({"alasan": "lain"})).await.ok();
    app.ops(&supervisor, "paket", &json!({"idoutlet": outlet.idoutlet, "nama": "Hemat", "harga": 1000, "quota": 1100}))
        .await
        .ok();

    let all = app.ops_see(&supervisor, "audit").await.ok();
    assert_eq!(column(&all["baris"], "aksi"), ["paket.buat", "mesin.buka", "mesin.tutup"]);
    let id = supervisor.split('_').nth(1).unwrap();
    let oldest = &all["baris"][2];
    let expected = json!({
        "id": oldest["id"], "created_at": app.now().rfc3339(), "aktor": format!("operator:{id}"), "nama": "uji", "aksi": "mesin.tutup",
        "objek": format!("mesin:{machine}"), "isi": {"alasan": "bocor"},
    });
    assert_eq!((oldest, &all["lanjut"]), (&expected, &Value::Null));
    let first = app.ops_see(&supervisor, "audit?limit=1").await.ok();
    let second = app.ops_see(&supervisor, &format!("audit?limit=2&sebelum={}", first["lanjut"])).await.ok();
    assert_eq!(column(&second["baris"], "aksi"), ["mesin.buka", "mesin.tutup"]);
    for (filter, found) in [
        ("aksi=mesin.tutup".to_owned(), 1),
        (format!("objek=mesin:{machine}"), 2),
        (format!("objek=mesin:{machine}&aksi=mesin.buka"), 1),
        (format!("objek=mesin:{foreign}"), 0),
    ] {
        let rows = app.ops_see(&supervisor, &format!("audit?{filter}")).await.ok();
        assert_eq!(rows["baris"].as_array().unwrap().len(), found, "{filter}");
    }
    for bad in ["limit=0", "aksi=", "aksi=%00", "objek=a%20b", "sebelum=x"] {
        assert_eq!(app.ops_see(&supervisor, &format!("audit?{bad}")).await.status, 400, "{bad}");
    }
    app.ops_see(&supervisor, &format!("audit?idoutlet={}", elsewhere.idoutlet)).await.expect(404, "outlet tidak ditemukan");
    let root = app.key(Scope::Root).await;
    app.ops_see(&root, "audit").await.expect(422, "idoutlet wajib diisi");
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    assert_eq!(app.ops_see(&owner, "audit").await.ok(), all, "an owner of one outlet may leave it out");
}

#[actix_web::test]
async fn a_customer_is_seen_with_the_accounts_and_movements_in_sight() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let sibling = app.outlet_of(outlet.idowner, "Mawar").await;
    let (foreign, unused) = (app.outlet("Kenanga").await, app.outlet_of(outlet.idowner, "Dahlia").await);
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 50_000).await;
    let expires = app.now().plus_ms(86_400_000);
    let second = app.epay(&siti, sibling, Some(expires)).await;
    app.funded(&siti, foreign, 70_000).await;
    let here = app.machine(outlet, "Cuci 1").await;
    let there = app.machine(sibling, "Cuci 2").await;
    let used = app.used(epay, &here, &receipt(1)).await;
    app.refund(&used, 4_000).await;
    let refused = app.hold(epay, &there, &receipt(2)).await;
    app.refused(&refused).await;

    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    let path = format!("pelanggan/{}", siti.id);
    let first = json!({
        "idcustomer": epay.idcustomer, "idoutlet": outlet.idoutlet, "outlet": "Melati", "saldo": 44_000, "jenis_emoney": 2, "masa_aktif": null,
    });
    let expected = json!({
        "id_customer_global": siti.id, "nama": "Siti Rahma", "telp": "0812••••7890", "sejak": app.now().rfc3339(), "akun": [first],
    });
    assert_eq!(app.ops_see(&supervisor, &path).await.ok(), expected);
    let both = app.ops_see(&owner, &path).await.ok();
    let expected = json!({
        "idcustomer": second.idcustomer, "idoutlet": sibling.idoutlet, "outlet": "Mawar", "saldo": 0, "jenis_emoney": 1,
        "masa_aktif": expires.ms(),
    });
    assert_eq!((both["akun"].as_array().unwrap().len(), &both["akun"][1]), (2, &expected));

    // What the account paid elsewhere is seen, too; what happened at another owner's is not.
    let list = format!("{path}/riwayat");
    let rows = app.ops_see(&supervisor, &list).await.ok();
    let seen: Vec<_> =
        rows["baris"].as_array().unwrap().iter().map(|row| (row["ref_type"].clone(), row["nominal"].clone())).collect();
    let expected = [
        ("snap_transaksi_refund", 10_000),
        ("snap_transaksi", -10_000),
        ("snap_transaksi_refund", 4_000),
        ("snap_transaksi", -10_000),
        ("pembelian_emoney", 50_000),
    ];
    assert_eq!(seen, expected.map(|(kind, amount)| (json!(kind), json!(amount))));
    let newest = &rows["baris"][0];
    let expected = json!({
        "id": newest["id"], "ref_id": receipt(2), "ref_type": "snap_transaksi_refund", "created_at": app.now().rfc3339(), "outlet": "Mawar",
        "nominal": 10_000,
    });
    assert_eq!((newest, &rows["lanjut"]), (&expected, &Value::Null));
    let page = app.ops_see(&supervisor, &format!("{list}?limit=4")).await.ok();
    let rest = app.ops_see(&supervisor, &format!("{list}?sebelum={}", page["lanjut"])).await.ok();
    assert_eq!(rest["baris"].as_array().unwrap().as_slice(), &rows["baris"].as_array().unwrap()[4..]);
    let beyond = app.ops_see(&supervisor, &format!("{list}?sebelum={}", rest["baris"][0]["id"])).await.ok();
    assert_eq!(beyond, json!({"baris": [], "lanjut": null}));

    // At the sibling it was a movement, and an account of its own.
    let at_sibling = app.key(Scope::Supervisor(sibling.idoutlet)).await;
    assert_eq!(app.ops_see(&at_sibling, &list).await.ok()["baris"].as_array().unwrap().len(), 2);
    let nobody = app.key(Scope::Supervisor(unused.idoutlet)).await;
    for call in [&path, &list, &"pelanggan/4711".to_owned(), &"pelanggan/x/riwayat".to_owned()] {
        app.ops_see(&nobody, call).await.expect(404, "pelanggan tidak ditemukan");
    }
    let kasir = app.key(Scope::Kasir(outlet.idoutlet)).await;
    app.ops_see(&kasir, &path).await.expect(403, "kunci operator ini tidak berhak melakukan itu");
}

#[actix_web::test]
async fn a_supervisor_at_a_till_opens_the_customer_that_a_search_has_found() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    app.funded(&siti, outlet, 50_000).await;
    let hadi = app.clerk(&app.till(outlet.idoutlet).await, "Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet)).await;
    let found = app.ask(&hadi, "pelanggan/cari", &json!({"telp": "081234567890"})).await.ok();
    let seen = app.see(&hadi, &format!("pelanggan/{}", found["id_customer_global"])).await.ok();
    assert_eq!((&seen["akun"][0]["saldo"], &seen["telp"]), (&json!(50_000), &found["telp"]));
}
