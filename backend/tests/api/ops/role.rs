//! Rights and visibility of roles (docs/contract.md §4): another owner's data is answered like data that does not exist.

use nyala_core::domain::id::{CustomerId, OutletId};
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::{Outlet, receipt};
use crate::support::helpers::TestApp;

struct Outlets {
    app: TestApp,
    mine: Outlet,
    sibling: Outlet,
    theirs: Outlet,
}

/// Two outlets of one owner and one of another, each with a customer's purchase: receipts 1, 2 and 3.
async fn outlets() -> Outlets {
    let app = TestApp::spawn().await;
    let mine = app.outlet("Melati").await;
    let sibling = app.outlet_of(mine.idowner, "Mawar").await;
    let theirs = app.outlet("Kenanga").await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    for (n, outlet) in [(1, mine), (2, sibling), (3, theirs)] {
        let epay = app.funded(&siti, outlet, 50_000).await;
        let machine = app.machine(outlet, "Mesin 1").await;
        app.running(epay, &machine, n).await;
    }
    Outlets { app, mine, sibling, theirs }
}

impl Outlets {
    /// Every call that changes something, aimed at `outlet`, whose purchase has receipt `n`.
    fn calls(&self, outlet: Outlet, n: u32) -> Vec<(&'static str, Value)> {
        let (idoutlet, receipt) = (outlet.idoutlet, receipt(n));
        vec![
            ("owner", json!({"nama": "Bu Ani"})),
            ("outlet", json!({"idowner": outlet.idowner, "nama": "Dago", "kota": "Bandung", "latitude": 0, "longitude": 0})),
            ("layanan", json!({"idoutlet": idoutlet, "nama": "Cuci", "durasi": 60, "harga": 1000})),
            ("mesin", json!({"idoutlet": idoutlet, "nama": "Mesin 9", "driver": "sim"})),
            ("mesin/bulk", json!({"idoutlet": idoutlet, "jumlah": 2, "awalan": "M", "driver": "sim"})),
            ("topup", json!({"telp": "81200000001", "idoutlet": idoutlet, "nominal": 1000})),
            ("refund", json!({"idtransaksi": receipt, "nominal": 100, "alasan": "uji"})),
            ("hapus", json!({"idtransaksi": receipt, "alasan": "uji"})),
            ("pelanggan/bulk", json!({"jumlah": 1, "awalan_telp": "8990", "idoutlet": idoutlet, "saldo": 1000})),
        ]
    }
}

/// The calls that a role may make at all.
fn allowed(scope: Scope) -> &'static [&'static str] {
    match scope {
        Scope::Root => &["owner", "outlet", "layanan", "mesin", "mesin/bulk", "topup", "refund", "hapus", "pelanggan/bulk"],
        Scope::Owner(_) => &["outlet", "layanan", "mesin", "mesin/bulk", "topup", "refund", "hapus"],
        Scope::Supervisor(_) => &["layanan", "mesin", "mesin/bulk", "topup", "refund", "hapus"],
        Scope::Kasir(_) => &["topup"],
        Scope::Technician(_) => &[],
    }
}

#[actix_web::test]
async fn each_role_does_what_it_may_within_its_limits() {
    let outlets = outlets().await;
    let Outlets { ref app, mine, sibling, theirs } = outlets;
    let at_mine = [Scope::Supervisor, Scope::Kasir, Scope::Technician].map(|of| of(mine.idoutlet));
    let roles = [Scope::Root, Scope::Owner(mine.idowner)].into_iter().chain(at_mine);
    for scope in roles {
        let key = app.key(scope).await;
        let sees = |outlet: Outlet| match scope {
            Scope::Root => true,
            Scope::Owner(id) => id == outlet.idowner,
            Scope::Supervisor(id) | Scope::Kasir(id) | Scope::Technician(id) => id == outlet.idoutlet,
        };
        for (n, outlet) in [(1, mine), (2, sibling), (3, theirs)] {
            for (call, body) in outlets.calls(outlet, n) {
                if call == "hapus" && sees(outlet) && allowed(scope).contains(&"hapus") {
                    continue; // a purchase is deleted once: `the_one_deletion` below
                }
                let answer = app.ops(&key, call, &body).await;
                let expected = match (allowed(scope).contains(&call), sees(outlet)) {
                    (false, _) => 403,
                    (true, true) => 200,
                    (true, false) => 404,
                };
                assert_eq!(answer.status, expected, "{scope:?} {call} at {}: {}", outlet.idoutlet, answer.message);
            }
        }
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn the_one_deletion() {
    let outlets = outlets().await;
    let Outlets { ref app, mine, .. } = outlets;
    for (n, scope) in [(1, Scope::Supervisor(mine.idoutlet)), (2, Scope::Owner(mine.idowner)), (3, Scope::Root)] {
        let key = app.key(scope).await;
        app.ops(&key, "hapus", &json!({"idtransaksi": receipt(n), "alasan": "uji"})).await.ok();
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_stranger_hears_the_same_as_of_what_does_not_exist() {
    let outlets = outlets().await;
    let Outlets { ref app, mine, theirs, .. } = outlets;
    let key = app.key(Scope::Supervisor(mine.idoutlet)).await;
    let mut unknown = theirs;
    unknown.idoutlet = OutletId::new(4711);
    for ((call, body), (_, nowhere)) in outlets.calls(theirs, 3).into_iter().zip(outlets.calls(unknown, 99)) {
        let (theirs, nowhere) = (app.ops(&key, call, &body).await, app.ops(&key, call, &nowhere).await);
        assert_eq!((theirs.status, theirs.message), (nowhere.status, nowhere.message), "{call}");
    }
}

#[actix_web::test]
async fn without_a_valid_key_nothing_is_looked_at() {
    let outlets = outlets().await;
    let Outlets { ref app, mine, .. } = outlets;
    let before = app.footprint().await;
    let root = app.key(Scope::Root).await;
    let revoked = app.key(Scope::Root).await;
    app.db.execute("UPDATE kunci_operator SET revoked_at = $1 WHERE id = 2", &[&app.now()]).await.unwrap();
    let siti = app.state.auth.tokens.mint(CustomerId::new(1), 1, app.now()).unwrap();
    let other_id = root.replacen("nyk_1_", "nyk_2_", 1);
    let cut = &root[..root.len() - 1];
    for key in [
        None,
        Some(siti.as_str()),
        Some(&revoked),
        Some(&other_id),
        Some(cut),
        Some("nyk_1_"),
        Some("nyk_99999999999999999999_x"),
        Some(""),
    ] {
        for (call, body) in outlets.calls(mine, 1) {
            for body in [body.to_string().into_bytes(), b"{".to_vec()] {
                let answer = app.call("POST", &format!("/ops/v1/{call}"), key, &[("Idempotency-Key", "k")], Some(body)).await;
                assert_eq!(answer.status, 401, "{call} with {key:?}: {}", answer.message);
            }
        }
    }
    assert_eq!(app.footprint().await, before);
}

#[actix_web::test]
async fn a_role_without_the_right_is_refused_before_its_body_is_read() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Kasir(outlet.idoutlet)).await;
    for call in ["owner", "outlet", "layanan", "mesin", "mesin/bulk", "refund", "hapus", "pelanggan/bulk"] {
        let answer = app.call("POST", &format!("/ops/v1/{call}"), Some(&key), &[], Some(b"{".to_vec())).await;
        answer.expect(403, "kunci operator ini tidak berhak melakukan itu");
    }
}

#[actix_web::test]
async fn operators_keys_are_kept_as_hashes_only() {
    let app = TestApp::spawn().await;
    let key = app.key(Scope::Root).await;
    let secret = key.rsplit('_').next().unwrap();
    let row = app.db.query_one("SELECT kunci_operator::TEXT FROM kunci_operator", &[]).await.unwrap();
    assert!(!row.get::<_, &str>(0).contains(secret));
}
