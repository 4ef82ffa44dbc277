//! What is forgotten, and when (docs/contract.md §7).

use nyala::db::{lock, prune};
use serde_json::json;

use crate::helpers::{Setup, TestApp};
use crate::operator::Scope;
use crate::shop::{PRICE, buy};

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
async fn a_mountain_goes_in_batches_around_the_rows_that_somebody_holds() {
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
async fn what_keeps_one_kind_of_rows_keeps_no_other() {
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
