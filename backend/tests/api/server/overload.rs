//! Overload: what is refused, what goes through, and that nothing decided waits (docs/decisions/0038-admission-by-measured-waiting.md).

use std::time::{Duration, Instant};

use actix_web::rt::time::{sleep, timeout};
use futures_util::future::{join, join_all};
use serde_json::json;
use tokio_postgres::Client;

use crate::purchase::races::{PATIENCE, quick};
use crate::support::helpers::{Answer, Customer, Setup, TestApp};
use crate::support::shop::{PRICE, buy};

const OVERLOADED: &str = "sedang ramai, mencoba lagi";

/// One worker thread with four connections, of which requests get three.
fn narrow() -> Setup {
    quick().with(|c| {
        c.database.connections = 6;
        c.database.admission_ms = 50;
        c.database.wait_ms = 1_000;
    })
}

impl TestApp {
    /// Customers whose rows are locked, and the connection that holds the locks.
    async fn locked_customers(&self, n: usize) -> (Vec<Customer>, Client) {
        let mut customers = Vec::new();
        for k in 0..n {
            customers.push(self.register_customer(&format!("8130000{k:04}"), "Budi", "Santoso").await);
        }
        // The server knows their logins from here on, so that the first connection of the next request is the one that waits.
        for customer in &customers {
            self.get("/scan/v1/dashboard/get_dashboard", Some(&customer.token)).await.ok();
        }
        let (other, _) = nyala_store::db::lock::connect(self.state.store.db.config()).await.unwrap();
        other.batch_execute("BEGIN; SELECT FROM customer_global WHERE telp LIKE '8130000%' FOR UPDATE").await.unwrap();
        (customers, other)
    }

    async fn rename(&self, customer: &Customer) -> Answer {
        self.post("/scan/v1/akun/update_nama", Some(&customer.token), &json!({ "nama": "Budi Santosa" })).await
    }

    /// Waits until `n` sessions of the database wait for locks.
    async fn wait_for_locks(&self, n: i64) {
        const WAIT: &str =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let all = async {
            while self.insert(WAIT, &[]).await < n {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, all).await.unwrap_or_else(|_| panic!("{n} wait for a lock"));
    }

    /// The gate's counter.
    async fn gate(&self, class: &str, outcome: &str) -> f64 {
        let mut res = self.http.get(format!("{}/metrics", self.base_url)).send().await.unwrap();
        let page = String::from_utf8(res.body().limit(1 << 20).await.unwrap().to_vec()).unwrap();
        let name = format!("nyala_admission_requests_total{{class=\"{class}\",outcome=\"{outcome}\"}} ");
        let value = page.lines().find_map(|line| line.strip_prefix(&name)?.parse().ok());
        value.unwrap_or_else(|| panic!("no {name} in\n{page}"))
    }
}

/// Asserts a refusal for overload, and returns its `Retry-After` in seconds.
#[track_caller]
fn refused(answer: &Answer) -> u64 {
    let after =
        answer.expect(503, OVERLOADED).headers.get("retry-after").expect("Retry-After").to_str().unwrap().parse().unwrap();
    assert!((1..=3).contains(&after), "{after} s");
    after
}

#[actix_web::test]
async fn a_refused_payment_is_not_remembered_and_its_repeat_is_one_charge() {
    let app = narrow().start().await;
    let (shop, siti, epay) = app.shop_and_payer(2 * PRICE).await;
    app.get("/scan/v1/dashboard/get_dashboard", Some(&siti.token)).await.ok();
    let (customers, lock) = app.locked_customers(3).await;
    let order = buy(1, shop, epay);
    let stuck = join_all(customers.iter().map(|customer| app.rename(customer)));
    let others = async {
        app.wait_for_locks(3).await;
        refused(&app.buy(&siti, &order).await);
        assert_eq!(app.insert("SELECT count(*) FROM snap_transaksi", &[]).await, 0);
        assert_eq!(app.insert("SELECT count(*) FROM nota", &[]).await, 0);
        assert_eq!(app.gate("payment", "gave_up").await + app.gate("payment", "refused").await, 1.0);
        lock.batch_execute("COMMIT").await.unwrap();
    };
    let (renamed, ()) = join(stuck, others).await;
    renamed.into_iter().for_each(|answer| _ = answer.ok());
    let paid = async {
        loop {
            match app.buy(&siti, &order).await {
                answer if answer.status == 503 => sleep(Duration::from_secs(refused(&answer))).await,
                answer => return answer.ok(),
            }
        }
    };
    timeout(PATIENCE, paid).await.expect("it is admitted again");
    app.buy(&siti, &order).await.ok();
    assert_eq!(app.balance(epay).await, PRICE);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_is_decided_waits_for_no_request() {
    let app = narrow().start().await;
    let shop = app.shop(2).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    // More than connections: without a reserve they would hold them all.
    let (customers, lock) = app.locked_customers(8).await;
    let order = buy(1, shop, epay);
    app.buy(&siti, &order).await.ok();
    let stuck = join_all(customers.iter().map(|customer| app.rename(customer)));
    let finish = async {
        app.wait_for_locks(3).await;
        app.until(&order.receipt, "FINISHED").await;
        const LATE: &str = "SELECT greatest(0, extract(epoch FROM finished_at - ends_at) * 1000)::bigint FROM snap_transaksi";
        let late_ms = app.insert(LATE, &[]).await;
        assert!(late_ms < 1_000, "finished {late_ms} ms late");
        app.wait_for_locks(3).await;
        lock.batch_execute("COMMIT").await.unwrap();
    };
    let (renamed, ()) = join(stuck, finish).await;
    let (served, others): (Vec<_>, Vec<_>) = renamed.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(served.len(), 3, "those that held the connections for requests");
    others.iter().for_each(|answer| _ = refused(answer));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn histories_are_refused_first_and_whoever_has_scanned_pays() {
    const ASKING: usize = 80;
    let app = narrow().with(|c| c.database.admission_ms = 10).start().await;
    let (shop, siti, epay) = app.shop_and_payer(PRICE).await;
    let qr = nyala_identity::qr::machine::make(&app.state.keyring.get(), shop.idmesin, 1);
    let scan = json!({ "qr": qr, "limit": 10, "skip": 0, "search": "" });
    let scanned = app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &scan).await;
    assert_eq!(scanned.status, 200, "{scanned:?}");
    let history = json!({ "skip": 0, "limit": 20, "jenis": "", "outlet": "" });
    let until = Instant::now() + Duration::from_secs(3);
    let ask = async |_| {
        let mut answers = Vec::new();
        while Instant::now() < until {
            let answer = app.post("/scan/v1/transaksi/list_history", Some(&siti.token), &history).await;
            if answer.status == 503 {
                sleep(Duration::from_millis(200)).await;
            }
            answers.push(answer);
        }
        answers
    };
    let order = buy(1, shop, epay);
    let pay = async {
        sleep(Duration::from_secs(1)).await;
        let asked = Instant::now();
        (app.buy(&siti, &order).await, asked.elapsed())
    };
    let (asked, (paid, took)) = join(join_all((0..ASKING).map(ask)), pay).await;
    paid.ok();
    assert!(took < Duration::from_secs(2), "{took:?}");
    let (_, refusals): (Vec<_>, Vec<_>) = asked.into_iter().flatten().partition(|answer| answer.status == 200);
    assert!(refusals.len() > ASKING / 2, "{} histories were refused", refusals.len());
    refusals.iter().for_each(|answer| _ = refused(answer));
    assert_eq!(app.gate("known_payment", "admitted").await, 1.0, "the scan made the customer known");
    assert_eq!(app.gate("known_payment", "refused").await, 0.0);
    assert!(app.gate("list", "refused").await > 0.0);
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn without_a_target_nobody_is_refused() {
    let app = narrow().with(|c| (c.database.admission_ms, c.database.wait_ms) = (0, 20_000)).start().await;
    let (customers, lock) = app.locked_customers(4).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahmawati").await;
    let stuck = join_all(customers.iter().map(|customer| app.rename(customer)));
    let look = async {
        app.wait_for_locks(4).await;
        let (seen, ()) = join(app.get("/scan/v1/dashboard/get_dashboard", Some(&siti.token)), async {
            sleep(Duration::from_secs(1)).await;
            lock.batch_execute("COMMIT").await.unwrap();
        })
        .await;
        seen.ok();
    };
    let (renamed, ()) = join(stuck, look).await;
    renamed.into_iter().for_each(|answer| _ = answer.ok());
}
