//! Rows that are deleted after a time (docs/contract.md §7).

use std::cell::Cell;

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use nyala_store::db::{lock, prune};
use serde_json::json;

use crate::ops::operator::Scope;
use crate::support::helpers::{Setup, TestApp};
use crate::support::shop::{PRICE, buy};

const TELP: &str = "81200000001";
const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 24 * HOUR_S;

async fn app() -> TestApp {
    let quick = Setup::new().running_clock().with(|c| (c.mesin.sim_min_ms, c.mesin.sim_max_ms) = (0, 5));
    quick.start().await
}

#[actix_web::test]
async fn a_refusal_is_forgotten_after_a_day_and_a_purchase_never() {
    let app = app().await;
    let shop = app.shop(1).await;
    let siti = app.register_customer(TELP, "Siti", "Rahmawati").await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    let (bought, refused) = (buy(1, shop, epay), buy(2, shop, epay));
    app.buy(&siti, &bought).await.ok();
    app.until(&bought.receipt, "FINISHED").await;
    app.buy(&siti, &refused).await.expect(422, "saldo epay tidak cukup");
    let wallet = "UPDATE quota_emoney SET credits_posted = credits_posted + $2 WHERE idcustomer = $1 RETURNING saldo";
    app.insert(wallet, &[&epay, &PRICE]).await;
    app.advance_s(DAY_S - 60);
    prune::prune(&app.state.store).await.unwrap();
    app.buy(&siti, &refused).await.expect(422, "saldo epay tidak cukup");
    app.advance_s(60);
    prune::prune(&app.state.store).await.unwrap();
    app.buy(&siti, &refused).await.ok();
    assert_eq!(app.balance(epay).await, 0);
    app.advance_s(28 * DAY_S);
    prune::prune(&app.state.store).await.unwrap();
    app.buy(&siti, &bought).await.ok();
    app.buy(&siti, &refused).await.ok();
    assert_eq!(app.balance(epay).await, 0, "neither is charged again");
}

#[actix_web::test]
async fn a_used_key_is_forgotten_after_thirty_days() {
    let app = app().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let siti = app.register_customer(TELP, "Siti", "Rahmawati").await;
    let epay = app.funded(&siti, outlet, 1_000).await.idcustomer;
    let body = json!({"telp": TELP, "idoutlet": outlet.idoutlet, "nominal": 500});
    for (later_s, balance) in [(0, 1_500), (30 * DAY_S - 60, 1_500), (60, 2_000)] {
        app.advance_s(later_s);
        prune::prune(&app.state.store).await.unwrap();
        app.ops_once(&key, "once", "topup", &body).await.ok();
        assert_eq!(app.balance(epay).await, balance);
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn many_rows_are_deleted_in_batches_around_locked_rows() {
    const REFUSALS: &str = "INSERT INTO nota (id_customer_global, no_nota, body_hash, tolak, created_at)
        SELECT $1, 'SLF' || lpad(n::TEXT, 15, '0'), '', 'MESIN_BUSY', $2 FROM generate_series(1, 2500) n";
    const LEFT: &str = "SELECT count(*) FROM nota";
    let app = app().await;
    let siti = app.register_customer(TELP, "Siti", "Rahmawati").await;
    app.db.execute(REFUSALS, &[&siti.id, &app.now().plus_ms(-DAY_S * 1000 + 60_000)]).await.unwrap();
    prune::prune(&app.state.store).await.unwrap();
    assert_eq!(app.insert(LEFT, &[]).await, 2_500, "not yet");
    app.advance_s(60);
    let (other, _) = lock::connect(app.state.store.db.config()).await.unwrap();
    other.batch_execute("BEGIN; SELECT FROM nota ORDER BY no_nota LIMIT 3 FOR UPDATE").await.unwrap();
    prune::prune(&app.state.store).await.unwrap();
    assert_eq!(app.insert(LEFT, &[]).await, 3);
    other.batch_execute("COMMIT").await.unwrap();
    prune::prune(&app.state.store).await.unwrap();
    assert_eq!(app.insert(LEFT, &[]).await, 0);
}

#[actix_web::test]
async fn codes_are_counted_for_a_day() {
    // One count each for the address, for its /24 and for all strangers.
    const LEFT: &str = "SELECT count(*) FROM kode_terkirim";
    let app = app().await;
    app.send_code(TELP).await;
    for (at_s, left) in [(DAY_S - 1, 3), (1, 0)] {
        app.advance_s(at_s);
        prune::prune(&app.state.store).await.unwrap();
        assert_eq!(app.insert(LEFT, &[]).await, left);
    }
}

#[actix_web::test]
async fn an_error_on_one_kind_of_rows_stops_no_other() {
    const LEFT: &str = "SELECT count(*) FROM kode_otp";
    let app = app().await;
    app.send_code(TELP).await;
    app.advance_s(30 * DAY_S);
    app.db.batch_execute("ALTER TABLE nota RENAME TO elsewhere").await.unwrap();
    prune::prune(&app.state.store).await.unwrap_err();
    assert_eq!(app.insert(LEFT, &[]).await, 0);
    app.db.batch_execute("ALTER TABLE elsewhere RENAME TO nota").await.unwrap();
    prune::prune(&app.state.store).await.unwrap();
}

#[actix_web::test]
async fn expired_rows_of_tills_are_deleted() {
    const LEFT: &str =
        "SELECT (SELECT count(*) FROM pin_gagal), (SELECT count(*) FROM izin), (SELECT count(*) FROM sesi_petugas)";
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let hadi = app.person("Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet), "135791").await;
    app.log_in(&rina.till, &json!({ "idpetugas": rina.person, "pin": "111222" }))
        .await
        .expect(401, "PIN salah, sisa 4 percobaan");
    app.approval(&rina, hadi, "135791", "kas", "setor:1").await;
    let left = async || {
        prune::prune(&app.state.store).await.unwrap();
        let row = app.db.query_one(LEFT, &[]).await.unwrap();
        [0, 1, 2].map(|i| row.get::<_, i64>(i))
    };
    // The approval runs out after two minutes, the session after twelve hours.
    let (approval_s, session_s) = (120, 12 * HOUR_S);
    let passed = Cell::new(0);
    for (at_s, expected) in [
        (DAY_S - 1, [1, 1, 1]),
        (DAY_S, [0, 1, 1]),
        (DAY_S + approval_s - 1, [0, 1, 1]),
        (DAY_S + approval_s, [0, 0, 1]),
        (30 * DAY_S + session_s - 1, [0, 0, 1]),
        (30 * DAY_S + session_s, [0, 0, 0]),
    ] {
        app.advance_s(at_s - passed.replace(at_s));
        assert_eq!(left().await, expected, "after {at_s} s");
    }
}

#[actix_web::test]
async fn a_session_takes_its_approvals_with_it() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let hadi = app.person("Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet), "135791").await;
    app.approval(&rina, hadi, "135791", "kas", "setor:1").await;
    app.db.execute("UPDATE izin SET sampai = $1", &[&app.now().plus_ms(100 * DAY_S * 1000)]).await.unwrap();
    app.advance_s(30 * DAY_S + 12 * HOUR_S);
    prune::prune(&app.state.store).await.unwrap();
    assert_eq!(app.insert("SELECT (SELECT count(*) FROM sesi_petugas) + (SELECT count(*) FROM izin)", &[]).await, 0);
}
