//! Rows that another transaction has locked. A request that waits for one gets an error in time and can be retried; no other request
//! notices; each change is made once.

use nyala_core::domain::id::WalletId;
use std::time::Duration;

use actix_web::rt::time::{sleep, timeout};
use futures_util::future::{join, join_all};
use nyala_machines::device::sim::Mode;
use serde_json::json;

use crate::ops::operator::Scope;
use crate::purchase::races::{PATIENCE, quick};
use crate::support::helpers::{Customer, Setup, TestApp};
use crate::support::shop::{Order, PRICE, Shop, buy};

const BUSY: &str = "layanan sedang sibuk, coba lagi";
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// One worker thread with the minimum of connections and a short lock timeout.
fn narrow() -> Setup {
    quick().with(|c| {
        c.database.connections = 4;
        c.database.lock_ms = 300;
    })
}

impl TestApp {
    /// Waits until `n` sessions wait for locks at once.
    async fn lock_waiters(&self, n: i64) {
        const WAIT: &str = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let all = async {
            while self.insert(WAIT, &[]).await < n {
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, all).await.unwrap_or_else(|_| panic!("{n} wait for a lock"));
    }

    /// Waits until a session that waited for a lock has given up.
    async fn given_up(&self) {
        const STILL: &str = "SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'";
        let pid = self.lock_waiter().await;
        let gone = async {
            while self.db.query_opt(STILL, &[&pid]).await.unwrap().is_some() {
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, gone).await.expect("whoever waited gives up");
    }

    async fn id_of(&self, order: &Order) -> i64 {
        self.insert("SELECT id FROM snap_transaksi WHERE no_nota = $1", &[&order.receipt]).await
    }
}

/// A shop with one machine, and a customer whose balance is the price.
struct OneMachineShop {
    app: TestApp,
    shop: Shop,
    siti: Customer,
    epay: WalletId,
    order: Order,
}

impl OneMachineShop {
    async fn open(duration_s: i32) -> Self {
        let app = narrow().start().await;
        let shop = app.shop(duration_s).await;
        let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
        let epay = app.balance_of(&siti, shop, PRICE).await;
        Self { app, shop, siti, epay, order: buy(1, shop, epay) }
    }

    /// Locks the row while the server tries to change it, gives up, and tries again.
    async fn stall(&self, table: &str, id: i64, provoke: impl AsyncFnOnce()) {
        let blocker = self.app.locked(table, id).await;
        provoke().await;
        self.app.given_up().await;
        self.app.lock_waiter().await;
        blocker.batch_execute("COMMIT").await.unwrap();
    }

    /// Buys with a device that is silent until the customer's wallet is locked, and then behaves as `mode`.
    async fn decided_behind_a_lock(&self, mode: Mode, state: &str) {
        let Self { app, shop, siti, epay, order } = self;
        app.fault(*shop, Mode::Silent).await;
        let device = async {
            app.until(&order.receipt, "SENT").await;
            self.stall("quota_emoney", (*epay).get(), async || app.fault(*shop, mode).await).await;
            app.until(&order.receipt, state).await;
        };
        let (answer, ()) = join(app.buy(siti, order), device).await;
        assert!([200, 409, 504].contains(&answer.status), "{answer:?}");
    }

    async fn ends_with(&self, balance: i64) {
        assert_eq!(self.app.balance(self.epay).await, balance);
        self.app.assert_no_violation().await;
    }
}

#[actix_web::test]
async fn a_locked_row_keeps_no_other_customer_from_buying() {
    let app = narrow().start().await;
    let shop = app.shop(600).await;
    let mut shops = Vec::new();
    for _ in 0..3 {
        shops.push(Shop { idmesin: app.machine(shop.outlet, "Mesin").await.idmesin, ..shop });
    }
    let customers = app.payers(shop, 3).await;
    let orders: Vec<_> = shops.iter().zip(&customers).map(|(shop, (_, epay))| buy(1, *shop, *epay)).collect();
    let blockers = [app.locked("mesin", shops[0].idmesin).await, app.locked("mesin", shops[1].idmesin).await];
    let stuck = join_all((0..2).map(|n| app.buy(&customers[n].0, &orders[n])));
    let third = async {
        // Both of the thread's connections wait. The locks are held until all three requests are answered.
        app.lock_waiters(2).await;
        app.buy(&customers[2].0, &orders[2]).await
    };
    let (stuck, third) = join(stuck, third).await;
    third.expect(200, "Mesin Berhasil dinyalakan");
    for (answer, (_, epay)) in stuck.iter().zip(&customers) {
        answer.expect(503, BUSY);
        assert!(answer.headers.get("retry-after").unwrap().to_str().unwrap().parse::<u32>().unwrap() > 0);
        assert_eq!(app.balance(*epay).await, 10 * PRICE);
    }
    for (n, blocker) in blockers.iter().enumerate() {
        blocker.batch_execute("COMMIT").await.unwrap();
        app.buy(&customers[n].0, &orders[n]).await.ok();
        assert_eq!(app.balance(customers[n].1).await, 9 * PRICE);
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_hold_that_timed_out_on_the_wallets_lock_leaves_nothing() {
    let till = OneMachineShop::open(600).await;
    let blocker = till.app.locked("quota_emoney", till.epay).await;
    till.app.buy(&till.siti, &till.order).await.expect(503, BUSY);
    let claimed = "SELECT count(*) FROM nota";
    assert_eq!((till.app.states(&till.order.receipt).await.len(), till.app.insert(claimed, &[]).await), (0, 0));
    blocker.batch_execute("COMMIT").await.unwrap();
    till.app.buy(&till.siti, &till.order).await.ok();
    till.ends_with(0).await;
}

#[actix_web::test]
async fn a_post_behind_a_lock_is_made_once() {
    let till = OneMachineShop::open(600).await;
    till.decided_behind_a_lock(Mode::Ok, "RUNNING").await;
    till.app.buy(&till.siti, &till.order).await.ok();
    till.ends_with(0).await;
}

#[actix_web::test]
async fn a_reversal_behind_a_lock_is_made_once() {
    let till = OneMachineShop::open(600).await;
    till.decided_behind_a_lock(Mode::Refuse, "REFUSED").await;
    till.app.buy(&till.siti, &till.order).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    till.ends_with(PRICE).await;
}

#[actix_web::test]
async fn the_end_of_a_run_behind_a_lock_comes_later() {
    // Long enough to lock the row before the cycle ends.
    let till = OneMachineShop::open(3).await;
    till.app.buy(&till.siti, &till.order).await.ok();
    let id = till.app.id_of(&till.order).await;
    till.stall("snap_transaksi", id, async || ()).await;
    till.app.until(&till.order.receipt, "FINISHED").await;
    till.ends_with(0).await;
}

/// The device receives the stop when another transaction has already locked the purchase.
#[actix_web::test]
async fn a_stop_behind_a_lock_is_obeyed_later() {
    let till = OneMachineShop::open(600).await;
    let key = till.app.key(Scope::Supervisor(till.shop.outlet.idoutlet)).await;
    till.app.buy(&till.siti, &till.order).await.ok();
    let id = till.app.id_of(&till.order).await;
    till.app.fault(till.shop, Mode::Silent).await;
    let (path, why) = (format!("mesin/{}/stop", till.shop.idmesin), json!({"alasan": "pintu terbuka"}));
    let stop = till.app.ops(&key, &path, &why);
    let device = async {
        while till.app.insert("SELECT count(stop_requested_at) FROM snap_transaksi", &[]).await == 0 {
            sleep(LOOK_EVERY).await;
        }
        till.stall("snap_transaksi", id, async || till.app.fault(till.shop, Mode::Ok).await).await;
        till.app.until(&till.order.receipt, "STOPPED").await;
    };
    let (answer, ()) = join(stop, device).await;
    assert!([200, 504].contains(&answer.status), "{answer:?}");
    till.ends_with(0).await;
}

#[actix_web::test]
async fn a_stop_that_timed_out_leaves_nothing() {
    let till = OneMachineShop::open(600).await;
    let key = till.app.key(Scope::Supervisor(till.shop.outlet.idoutlet)).await;
    till.app.buy(&till.siti, &till.order).await.ok();
    let blocker = till.app.locked("snap_transaksi", till.app.id_of(&till.order).await).await;
    let (path, why) = (format!("mesin/{}/stop", till.shop.idmesin), json!({"alasan": "pintu terbuka"}));
    till.app.ops(&key, &path, &why).await.expect(503, BUSY);
    blocker.batch_execute("COMMIT").await.unwrap();
    let asked =
        "SELECT count(stop_requested_at) + (SELECT count(*) FROM audit_log WHERE aksi = 'mesin.stop') FROM snap_transaksi";
    assert_eq!(till.app.insert(asked, &[]).await, 0);
    till.app.ops(&key, &path, &why).await.ok();
    assert_eq!(till.app.states(&till.order.receipt).await, ["STOPPED"]);
    till.ends_with(0).await;
}

#[actix_web::test]
async fn a_top_up_that_timed_out_moves_nothing_and_its_retry_moves_it_once() {
    let till = OneMachineShop::open(600).await;
    let key = till.app.key(Scope::Supervisor(till.shop.outlet.idoutlet)).await;
    let body = json!({"telp": till.siti.telp, "idoutlet": till.shop.outlet.idoutlet, "nominal": 5_000});
    let topup = async || till.app.ops_once(&key, "once", "topup", &body).await;
    let blocker = till.app.locked("quota_emoney", till.epay).await;
    topup().await.expect(503, BUSY);
    blocker.batch_execute("COMMIT").await.unwrap();
    till.ends_with(PRICE).await;
    for _ in 0..2 {
        topup().await.ok();
    }
    till.ends_with(PRICE + 5_000).await;
}

/// Recovery runs on the test's own thread here, whose only other connection is taken.
#[actix_web::test]
async fn recovery_has_its_own_connection() {
    let till = OneMachineShop::open(600).await;
    till.app.buy(&till.siti, &till.order).await.ok();
    let taken = till.app.state.store.db.get().await.unwrap();
    till.app.stop_without_notification(&till.order.receipt).await;
    till.app.until(&till.order.receipt, "STOPPED").await;
    drop(taken);
}

#[actix_web::test]
async fn never_more_connections_than_the_setting_says() {
    let app = quick().with(|c| (c.http.workers, c.database.connections) = (2, 6)).start().await;
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let page = async |_| app.get("/scan/v1/dashboard/get_dashboard", Some(&siti.token)).await.ok();
    for _ in 0..5 {
        join_all((0..60).map(page)).await;
        drop(app.state.store.db.get().await.unwrap());
        let open = app.state.store.db.usage().open;
        assert!((3..=6).contains(&open), "{open} connections");
    }
}
