//! A machine's actor under races: many customers at once, a database that stalls or closes connections, stops at the moment of the end,
//! and messages to actors that leave memory.

use std::fmt::Display;

use std::time::Duration;

use actix_web::rt::time::{sleep, timeout};
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{PurchaseId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Input;
use nyala_core::purchase::times::MAX_WAITING_STARTS;
use nyala_machines::device::sim::Mode;
use nyala_machines::machines::{Location, MAILBOX};
use serde_json::json;
use tokio_postgres::Client;

use crate::ops::operator::Scope;
use crate::support::helpers::{Customer, Setup, TestApp};
use crate::support::shop::{Order, PRICE, Shop, buy};

/// Devices that answer at once, and a database that waits for locks longer than any test holds one.
pub fn quick() -> Setup {
    Setup::new().running_clock().with(|c| {
        c.database.lock_ms = 20_000;
        c.mesin.sim_min_ms = 0;
        c.mesin.sim_max_ms = 5;
    })
}

/// A timeout longer than anything that does arrive takes, so that a test fails instead of hanging.
pub const PATIENCE: Duration = Duration::from_secs(60);

const SILENT: &str = "mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala";

/// Waits until a session of the database waits for a lock, and returns the process id of its backend.
pub async fn lock_waiter(db: &Client) -> i32 {
    const WAITS: &str = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waits = async {
        loop {
            if let Some(row) = db.query_opt(WAITS, &[]).await.unwrap() {
                return row.get(0);
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, waits).await.expect("somebody waits for a lock")
}

impl TestApp {
    /// A separate connection with an open transaction that locks a table's row, like a change to that row.
    pub async fn locked(&self, table: &str, id: impl Display) -> Client {
        let (other, _) = nyala_store::db::lock::connect(self.state.store.db.config()).await.unwrap();
        let key = match table {
            "mesin" => "idmesin",
            "quota_emoney" => "idcustomer",
            _ => "id",
        };
        other.batch_execute(&format!("BEGIN; SELECT FROM {table} WHERE {key} = {id} FOR NO KEY UPDATE")).await.unwrap();
        other
    }

    /// Waits until a session waits for a lock, and returns the process id of its backend.
    pub async fn lock_waiter(&self) -> i32 {
        lock_waiter(&self.db).await
    }

    /// Makes the database close the connection that waits for a lock.
    async fn hang_up(&self) {
        let pid = self.lock_waiter().await;
        self.db.query_one("SELECT pg_terminate_backend($1)", &[&pid]).await.unwrap();
        // The backend ends a moment later, and waits for the lock until then.
        while self.db.query_opt("SELECT FROM pg_stat_activity WHERE pid = $1", &[&pid]).await.unwrap().is_some() {
            sleep(Duration::from_millis(5)).await;
        }
    }

    pub async fn payers(&self, shop: Shop, n: usize) -> Vec<(Customer, WalletId)> {
        let mut customers = Vec::new();
        for i in 0..n {
            let customer = self.register_customer(&format!("8120000{i:04}"), "Budi", "Santoso").await;
            let idcustomer = self.balance_of(&customer, shop, 10 * PRICE).await;
            customers.push((customer, idcustomer));
        }
        customers
    }

    fn location(&self, shop: Shop) -> Location {
        Location { idmesin: shop.idmesin, idoutlet: shop.outlet.idoutlet, driver: DriverKind::Sim }
    }
}

#[actix_web::test]
async fn sixty_four_starts_wait_and_no_more() {
    let app = quick().start().await;
    let shop = app.shop(600).await;
    let over = 15;
    let customers = app.payers(shop, 1 + MAX_WAITING_STARTS + over).await;
    let blocker = app.locked("mesin", shop.idmesin).await;
    let first = buy(1, shop, customers[0].1);
    let mut answers = FuturesUnordered::new();
    let press = async |customer: &Customer, order: Order| app.buy(customer, &order).await;
    answers.push(press(&customers[0].0, first));
    // The first customer's hold waits for the lock before the others come.
    let waiting = app.lock_waiter();
    futures_util::pin_mut!(waiting);
    if let futures_util::future::Either::Right(_) = futures_util::future::select(&mut waiting, answers.next()).await {
        panic!("nothing is answered behind a locked door");
    }
    for (customer, idcustomer) in &customers[1..] {
        answers.push(press(customer, buy(1, shop, *idcustomer)));
    }
    for _ in 0..over {
        answers.next().await.unwrap().expect(409, "mesin sedang digunakan");
    }
    blocker.batch_execute("COMMIT").await.unwrap();
    let rest: Vec<_> = answers.collect().await;
    assert_eq!(rest.iter().filter(|a| a.status == 200).count(), 1);
    assert_eq!(rest.iter().filter(|a| a.message == "mesin sedang digunakan").count(), MAX_WAITING_STARTS);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_start_whose_customer_has_left_is_not_begun() {
    let app = quick().start().await;
    let shop = app.shop(600).await;
    let customers = app.payers(shop, 3).await;
    let [(a, a_epay), (b, b_epay), (c, c_epay)] = customers.as_slice() else { unreachable!() };
    let (first, left) = (buy(1, shop, *a_epay), buy(2, shop, *b_epay));
    let blocker = app.locked("mesin", shop.idmesin).await;
    // Both are answered after 8 s, while the first one's hold still waits and the second one waits behind it.
    let second = async {
        app.lock_waiter().await;
        app.buy(b, &left).await
    };
    let (one, two) = futures_util::future::join(app.buy(a, &first), second).await;
    one.expect(504, SILENT);
    two.expect(504, SILENT);
    let drained = "UPDATE quota_emoney SET debits_posted = credits_posted WHERE idcustomer = $1";
    app.db.execute(drained, &[a_epay]).await.unwrap();
    blocker.batch_execute("COMMIT").await.unwrap();
    app.buy(c, &buy(3, shop, *c_epay)).await.ok();
    assert!(app.states(&left.receipt).await.is_empty(), "nobody waited for it any more");
    assert_eq!(app.balance(*b_epay).await, 10 * PRICE);
}

#[actix_web::test]
async fn a_hold_that_the_database_hangs_up_on_is_safe_to_repeat() {
    let app = quick().start().await;
    let (shop, siti, epay) = app.shop_and_payer(PRICE).await;
    let order = buy(1, shop, epay);
    let blocker = app.locked("mesin", shop.idmesin).await;
    let (answer, ()) = futures_util::future::join(app.buy(&siti, &order), app.hang_up()).await;
    answer.expect(503, "layanan sedang sibuk, coba lagi");
    blocker.batch_execute("COMMIT").await.unwrap();
    app.buy(&siti, &order).await.ok();
    assert_eq!(app.balance(epay).await, 0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_post_that_the_database_hangs_up_on_is_made_again() {
    let app = quick().start().await;
    let (shop, siti, epay) = app.shop_and_payer(PRICE).await;
    app.fault(shop, Mode::Late).await;
    let order = buy(1, shop, epay);
    let pressed = app.now();
    let trouble = async {
        app.until(&order.receipt, "SENT").await;
        let blocker = app.locked("quota_emoney", epay).await;
        app.hang_up().await;
        // The post is retried, and waits for the lock again.
        app.lock_waiter().await;
        blocker.batch_execute("COMMIT").await.unwrap();
    };
    let (answer, ()) = futures_util::future::join(app.buy(&siti, &order), trouble).await;
    answer.expect(504, SILENT);
    app.buy(&siti, &order).await.ok();
    assert_eq!(app.balance(epay).await, 0);
    let row = app.db.query_one("SELECT ends_at FROM snap_transaksi WHERE no_nota = $1", &[&order.receipt]).await.unwrap();
    let error_ms = pressed.plus_ms(600_000).ms_until(row.get::<_, Timestamp>(0));
    assert!((-1_000..1_000).contains(&error_ms), "the countdown is {error_ms} ms off the device's own");
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_statement_has_a_time_limit() {
    let app = quick().with(|c| c.database.statement_ms = 300).start().await;
    let (shop, siti, epay) = app.shop_and_payer(PRICE).await;
    let blocker = app.locked("mesin", shop.idmesin).await;
    app.buy(&siti, &buy(1, shop, epay)).await.expect(503, "layanan sedang sibuk, coba lagi");
    blocker.batch_execute("COMMIT").await.unwrap();
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_stop_that_meets_the_end_leaves_nothing_behind() {
    let app = quick().start().await;
    let shop = app.shop(1).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    let customers = app.payers(shop, 24).await;
    let runs = customers.iter().enumerate().map(|(i, (customer, idcustomer))| {
        let (app, key) = (&app, &key);
        async move {
            let idmesin = app.machine(shop.outlet, "Mesin").await.idmesin;
            let mine = Shop { idmesin, ..shop };
            app.buy(customer, &buy(1, mine, *idcustomer)).await.ok();
            // From well before the end to just after it.
            sleep(Duration::from_millis(700 + 20 * u64::try_from(i).unwrap())).await;
            let answer = app.ops(key, &format!("mesin/{idmesin}/stop"), &json!({"alasan": "uji"})).await;
            assert!(matches!(answer.status, 200 | 409 | 503), "{answer:?}");
            mine
        }
    });
    let machines = join_all(runs).await;
    let open = "SELECT count(*) FROM snap_transaksi WHERE finished_at IS NULL";
    while app.insert(open, &[]).await > 0 {
        sleep(Duration::from_millis(20)).await;
    }
    for (mine, (customer, idcustomer)) in machines.iter().zip(&customers) {
        assert_eq!(app.balance(*idcustomer).await, 9 * PRICE, "a stop moves no money");
        app.buy(customer, &buy(2, *mine, *idcustomer)).await.ok();
    }
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn looking_again_at_every_moment_changes_nothing() {
    let app = quick().start().await;
    let shop = app.shop(1).await;
    let customers = app.payers(shop, 20).await;
    let runs = customers.iter().zip(1..).map(|((customer, idcustomer), n)| {
        let app = &app;
        async move {
            let mine = Shop { idmesin: app.machine(shop.outlet, "Mesin").await.idmesin, ..shop };
            let order = buy(n, mine, *idcustomer);
            let location = app.location(mine);
            let nag = async {
                while app.states(&order.receipt).await != ["FINISHED"] {
                    // A full mailbox may refuse the message. The pause lets the actor work.
                    let _ = app.state.machines.send(&location, Input::Reload);
                    let _ = app.state.machines.send(&location, Input::QueryDevice);
                    sleep(Duration::from_millis(1)).await;
                }
            };
            let (answer, ()) = futures_util::future::join(app.buy(customer, &order), nag).await;
            answer.ok();
            assert_eq!(app.balance(*idcustomer).await, 9 * PRICE);
        }
    });
    join_all(runs).await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn a_machine_whose_actor_is_not_made_yet_takes_a_whole_mailbox() {
    let app = quick().with(|c| c.http.workers = 1).start().await;
    let shop = app.shop(600).await;
    let location = app.location(shop);
    // Sent without an await in between, so that the thread makes the actor only after the last message.
    let answers: Vec<_> = (0..MAILBOX)
        .map(|_| app.state.machines.ask(&location, |buyer| Input::Await { purchase_id: PurchaseId::new(-1), buyer }).unwrap())
        .collect();
    for answer in answers {
        answer.await.expect("an answer to everything that was taken");
    }
}

#[actix_web::test]
async fn no_message_is_lost_when_an_actor_leaves_memory() {
    let app = quick().with(|c| c.mesin.idle_s = 1).start().await;
    let shop = app.shop(600).await;
    let mut machines = Vec::new();
    for _ in 0..32 {
        machines.push(Location { idmesin: app.machine(shop.outlet, "Mesin").await.idmesin, ..app.location(shop) });
    }
    let until = app.now().plus_ms(4_000);
    let talks = machines.iter().map(|location| {
        let app = &app;
        async move {
            let mut reported = 0;
            while app.now() < until {
                let answer =
                    app.state.machines.ask(location, |buyer| Input::Await { purchase_id: PurchaseId::new(-1), buyer }).unwrap();
                answer.await.expect("an answer to everything that was taken");
                reported += 1;
            }
            reported
        }
    });
    let reported: i32 = join_all(talks).await.into_iter().sum();
    assert!(reported > 1_000, "only {reported} words");
    while app.state.machines.actors() > 0 {
        sleep(Duration::from_millis(20)).await;
    }
}
