//! The ledger under random traffic. Many customers with several concurrent hands each top up, reverse top-ups, hold, post, void, stop,
//! refund and delete on few machines. A balance always equals the sum of the responses, and of the history.

use std::cell::RefCell;

use futures_util::future::join_all;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::Tariff;
use nyala_core::purchase::facts::{MachineFacts, Order, SaleVersions, ServiceFacts, TestFacts};
use nyala_core::purchase::rules::Refusal;
use nyala_core::purchase::step::{Change, Held};
use nyala_ledger::purchase::{apply, hold};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use crate::ops::operator::Scope;
use crate::support::arrange::{Epay, Machine, Outlet};
use crate::support::helpers::{Answer, Customer, TestApp};

const CUSTOMERS: usize = 8;
const HANDS: usize = 3;
const MACHINES: usize = 5;
const STEPS: usize = 30;
const PRICES: [i64; 3] = [1, 7_500, 12_000];

/// A purchase as the test remembers it.
#[derive(Debug, Clone, Copy)]
struct Use {
    id: PurchaseId,
    price: i64,
    receipt: u32,
}

struct LedgerShop {
    app: TestApp,
    outlet: Outlet,
    key: String,
    machines: Vec<Machine>,
}

/// One of a customer's concurrent clients, and the expected balance.
struct Hand<'a> {
    shop: &'a LedgerShop,
    telp: String,
    epay: Epay,
    expected: RefCell<i64>,
    uses: RefCell<Vec<Use>>,
    /// Top-ups made by this hand, each with the amount that it added.
    topups: RefCell<Vec<(String, i64)>>,
}

impl Hand<'_> {
    async fn step(&self, rng: &mut StdRng) {
        match rng.random_range(0..12) {
            0 | 1 => self.topup(rng).await,
            2..=4 => self.hold(rng).await,
            5 | 6 => self.decide(rng).await,
            7 | 8 => self.refund(rng).await,
            9 | 10 => self.take_back(rng).await,
            _ => self.delete(rng).await,
        }
    }

    fn gained(&self, rupiah: i64) {
        *self.expected.borrow_mut() += rupiah;
    }

    fn pick(&self, rng: &mut StdRng) -> Option<Use> {
        let uses = self.uses.borrow();
        (!uses.is_empty()).then(|| uses[rng.random_range(0..uses.len())])
    }

    async fn ops(&self, call: &str, body: serde_json::Value) -> Answer {
        self.shop.app.ops(&self.shop.key, call, &body).await
    }

    async fn topup(&self, rng: &mut StdRng) {
        let quota = rng.random_range(1..40_000);
        let body = json!({"telp": self.telp, "idoutlet": self.shop.outlet.idoutlet, "nominal": 10_000, "quota": quota});
        let made = self.ops("topup", body).await.ok();
        self.gained(quota);
        self.topups.borrow_mut().push((made["idpembelian_emoney"].as_str().unwrap().to_owned(), quota));
    }

    /// Reverses a top-up, which another hand may reverse or spend at the same time.
    async fn take_back(&self, rng: &mut StdRng) {
        let top_ups = self.topups.borrow().clone();
        if top_ups.is_empty() {
            return;
        }
        let (id, quota) = &top_ups[rng.random_range(0..top_ups.len())];
        let answer = self.ops(&format!("topup/{id}/batal"), json!({"alasan": "uji"})).await;
        match (answer.status, answer.message.as_str()) {
            (200, _) => self.gained(-quota),
            (409, "top-up sudah dibatalkan") | (422, "saldo sudah terpakai") => {}
            _ => panic!("{}: {}", answer.status, answer.message),
        }
    }

    async fn hold(&self, rng: &mut StdRng) {
        let app = &self.shop.app;
        let machine = &self.shop.machines[rng.random_range(0..MACHINES)];
        let (price, receipt) = (PRICES[rng.random_range(0..PRICES.len())], rng.random_range(0..100_000_u32));
        let order = Order {
            id_customer_global: self.epay.id_customer_global,
            receipt_number: ReceiptNumber::parse(&crate::support::arrange::receipt(receipt)).unwrap(),
            idcustomer: self.epay.idcustomer,
            idmesin: machine.idmesin,
            idoutlet: self.shop.outlet.idoutlet,
            idlayanan: machine.idlayanan,
            total: price,
            grandtotal: price,
            test: None,
        };
        let Outlet { idoutlet, idowner, .. } = self.shop.outlet;
        let facts = MachineFacts {
            idoutlet,
            idowner,
            name: "Mesin".to_owned(),
            driver: DriverKind::Sim,
            online: true,
            needs_staff: false,
            busy: false,
            coin: None,
            tests: TestFacts::default(),
        };
        let service = ServiceFacts {
            idoutlet,
            name: "Cuci".to_owned(),
            duration_s: 60,
            pulses: 1,
            tariff: Tariff::flat(price),
            versions: SaleVersions { service: 1, outlet: 1 },
        };
        let client = app.state.store.db.get().await.unwrap();
        match hold(&client, &order, &facts, &service, app.now()).await.unwrap() {
            Held::Won { purchase_id, .. } => {
                self.gained(-price);
                self.uses.borrow_mut().push(Use { id: purchase_id, price, receipt });
            }
            Held::Lost(Refusal::MachineBusy | Refusal::BalanceTooLow) | Held::Changed => {}
            Held::Lost(why) => panic!("{why:?}"),
        }
    }

    /// A device's message, an operator's stop or the cycle's end: the first one decides, and later ones change nothing.
    async fn decide(&self, rng: &mut StdRng) {
        let Some(usage) = self.pick(rng) else { return };
        let now: Timestamp = self.shop.app.now();
        let client = self.shop.app.state.store.db.get().await.unwrap();
        let change = match rng.random_range(0..6) {
            0 | 1 => Change::Run { started_at: now, ends_at: now, added_s: 0 },
            2 => Change::RunAndFinish { started_at: now, ends_at: now },
            3 => Change::Refuse,
            4 => Change::Finish,
            _ => Change::Stop { ends_at: now },
        };
        if apply(&client, usage.id, change, now, None).await.unwrap().is_some() && change == Change::Refuse {
            self.gained(usage.price);
        }
    }

    async fn refund(&self, rng: &mut StdRng) {
        let Some(usage) = self.pick(rng) else { return };
        let nominal = rng.random_range(1..=usage.price + 1);
        let body = json!({
            "idtransaksi": crate::support::arrange::receipt(usage.receipt), "nominal": nominal, "alasan": "uji", "idcustomer": self.epay.idcustomer,
        });
        let answer = self.ops("refund", body).await;
        assert!([200, 422].contains(&answer.status), "{}", answer.message);
        if answer.status == 200 {
            self.gained(nominal);
        }
    }

    async fn delete(&self, rng: &mut StdRng) {
        let Some(usage) = self.pick(rng) else { return };
        let body = json!({"idtransaksi": crate::support::arrange::receipt(usage.receipt), "alasan": "uji", "idcustomer": self.epay.idcustomer});
        let answer = self.ops("hapus", body).await;
        assert!([200, 409, 422].contains(&answer.status), "{}", answer.message);
        if answer.status == 200 {
            self.gained(answer.data["jumlah"].as_i64().unwrap());
        }
    }
}

/// The sum of every `value` in the customer's history.
async fn history_sum(app: &TestApp, customer: &Customer) -> i64 {
    let (mut sum, mut skip) = (0, 0);
    loop {
        let body = json!({"skip": skip, "limit": 100, "jenis": "", "outlet": ""});
        let page = app.post("/scan/v1/transaksi/list_history", Some(&customer.token), &body).await.ok();
        let Some(rows) = page["history_data"].as_array() else { return sum };
        sum += rows.iter().map(|row| row["value"].as_i64().unwrap()).sum::<i64>();
        skip += 100;
    }
}

async fn random_traffic(seed: u64) {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let mut machines = Vec::new();
    for i in 0..MACHINES {
        machines.push(app.machine(outlet, &format!("Mesin {i}")).await);
    }
    let mut customers = Vec::new();
    for i in 0..CUSTOMERS {
        let customer = app.register_customer(&format!("8120000000{i}"), "Siti", "Rahma").await;
        let epay = app.funded(&customer, outlet, 20_000).await;
        customers.push((customer, epay));
    }
    let shop = LedgerShop { app, outlet, key, machines };
    let hands: Vec<Hand<'_>> = customers
        .iter()
        .map(|(c, epay)| Hand {
            shop: &shop,
            telp: c.telp.clone(),
            epay: *epay,
            expected: RefCell::new(20_000),
            uses: RefCell::default(),
            topups: RefCell::default(),
        })
        .collect();
    join_all((0..CUSTOMERS * HANDS).map(|i| {
        let hand = &hands[i % CUSTOMERS];
        let mut rng = StdRng::seed_from_u64(seed * 1000 + i as u64);
        async move {
            for _ in 0..STEPS {
                hand.step(&mut rng).await;
            }
        }
    }))
    .await;
    for (hand, (customer, epay)) in hands.iter().zip(&customers) {
        let balance = shop.app.balance(epay.idcustomer).await;
        assert_eq!(balance, *hand.expected.borrow(), "seed {seed}: what was answered is what is there");
        assert_eq!(balance, history_sum(&shop.app, customer).await, "seed {seed}: the history adds up");
    }
    assert!(hands.iter().any(|h| !h.uses.borrow().is_empty()), "seed {seed} bought nothing");
    shop.app.assert_no_violation().await;
}

#[actix_web::test]
async fn balances_are_the_sum_of_what_happened() {
    for seed in 1..=3 {
        random_traffic(seed).await;
    }
}

/// The first to commit gets the money, which is there only once.
#[actix_web::test]
async fn a_reversal_a_second_one_and_a_hold_at_once() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 1).await;
    let machine = app.machine(outlet, "Mesin").await;
    let shop = LedgerShop { app, outlet, key, machines: vec![machine; MACHINES] };
    let hand = Hand {
        shop: &shop,
        telp: siti.telp.clone(),
        epay,
        expected: RefCell::new(1),
        uses: RefCell::default(),
        topups: RefCell::default(),
    };
    for round in 0..20 {
        let mut rng = StdRng::seed_from_u64(round);
        hand.topup(&mut rng).await;
        let spend = async |seed: u64| {
            let mut rng = StdRng::seed_from_u64(1_000 * round + seed);
            for _ in 0..3 {
                hand.hold(&mut rng).await;
                hand.decide(&mut rng).await;
            }
        };
        let take = async |seed: u64| hand.take_back(&mut StdRng::seed_from_u64(seed)).await;
        tokio::join!(take(round), take(round), spend(1), spend(2), take(round + 1));
        let balance = shop.app.balance(epay.idcustomer).await;
        assert_eq!(balance, *hand.expected.borrow(), "round {round}");
    }
    assert_eq!(shop.app.balance(epay.idcustomer).await, history_sum(&shop.app, &siti).await);
    shop.app.assert_no_violation().await;
}

#[actix_web::test]
async fn what_is_written_stays_written() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    app.funded(&siti, outlet, 20_000).await;
    app.ops(&app.key(Scope::Root).await, "owner", &json!({"nama": "Bu Ani"})).await.ok();
    for table in ["ledger_transfer", "audit_log", "kas_gerak"] {
        for sql in
            [format!("UPDATE {table} SET aktor = 'x'"), format!("DELETE FROM {table}"), format!("TRUNCATE {table} CASCADE")]
        {
            let e = app.db.batch_execute(&sql).await.unwrap_err();
            assert!(e.as_db_error().unwrap().message().contains("append only"), "{sql}: {e}");
        }
    }
}
