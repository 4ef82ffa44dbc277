//! Cash and ledger together: random histories over several tills and outlets, and a model of what each drawer and each wallet should
//! hold. Every answer must match the model, and after each history the audit finds nothing.

mod chain;
mod step;

use chain::Chain;
use proptest::collection::vec;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use step::{Step, step};

use crate::support::helpers::Answer;
use crate::till::rules::{AtTill, Till};

const HISTORIES: u32 = 20;
const STEPS: usize = 40;
const CUSTOMERS: usize = 3;
/// The outlet of each till; there are two outlets.
const TILLS: [usize; 3] = [0, 0, 1];
const PIN: &str = "246810";
const PRICE: i64 = 10_000;
const MINUTE_S: i64 = 60;
/// The most that kasirs may sell to one customer at an outlet within an hour without approval.
const MAX_WITHOUT_APPROVAL: i64 = 1_000_000;

/// A top-up as the model keeps it.
struct Sale {
    id: String,
    outlet: usize,
    customer: usize,
    nominal: i64,
    quota: i64,
    /// Its cash is in a drawer.
    in_cash: bool,
    /// Sold by a kasir without a supervisor's approval.
    alone: bool,
    age_s: i64,
    reversed: bool,
}

/// A till with its kasir and supervisor, and what its drawer should hold; `None` without a shift.
struct Place {
    outlet: usize,
    kasir: AtTill,
    supervisor: AtTill,
    drawer: Option<i64>,
}

struct History<'a> {
    chain: &'a Chain,
    places: Vec<Place>,
    wallets: Vec<Vec<i64>>,
    sales: Vec<Sale>,
}

impl<'a> History<'a> {
    async fn begin(chain: &'a Chain) -> Self {
        let app = &chain.app;
        // Sales of the last history no longer count for the limit.
        app.advance_s(60 * MINUTE_S);
        let mut places = Vec::new();
        for outlet in TILLS {
            let till: Till = app.till(chain.outlets[outlet].idoutlet).await;
            let kasir = app.at(&till, chain.kasir[outlet][0]).await;
            let supervisor = app.at(&till, chain.supervisors[outlet]).await;
            places.push(Place { outlet, kasir, supervisor, drawer: None });
        }
        let mut wallets = Vec::new();
        for here in &chain.accounts {
            let mut balances = Vec::new();
            for account in here {
                balances.push(app.balance(account.idcustomer).await);
            }
            wallets.push(balances);
        }
        Self { chain, places, wallets, sales: Vec::new() }
    }

    async fn take(&mut self, step: &Step) {
        match *step {
            Step::Open { till, float } => self.open(till, float).await,
            Step::TopUp { till, customer, nominal, means } => {
                let body = json!({ "nominal": nominal, "cara_bayar": means, "ulang": true });
                self.sell(till, customer, body, (nominal, nominal)).await;
            }
            Step::Package { till, customer, means } => {
                let idpaket = self.chain.packages[self.places[till].outlet];
                let body = json!({ "nominal": 50_000, "idpaket": idpaket, "cara_bayar": means, "ulang": true });
                self.sell(till, customer, body, (50_000, 55_000)).await;
            }
            Step::ByKey { outlet, customer, nominal } => self.sell_by_key(outlet, customer, nominal).await,
            Step::Reverse { till, sale } if !self.sales.is_empty() => self.reverse(till, sale.index(self.sales.len())).await,
            Step::Reverse { .. } => {}
            Step::Spend { outlet, customer } => self.spend(outlet, customer).await,
            Step::PayOut { till, customer } => self.pay_out(till, customer).await,
            Step::Cash { till, direction, nominal } => self.cash(till, direction, nominal).await,
            Step::Empty { till } => self.cash(till, "setor", self.places[till].drawer.unwrap_or(0).max(1)).await,
            Step::Close { till, off } => self.close(till, off, false).await,
            Step::HandOver { till, off } => self.close(till, off, true).await,
            Step::TenMinutes => self.ten_minutes().await,
        }
    }

    async fn open(&mut self, till: usize, float: i64) {
        let place = &mut self.places[till];
        let answer = self.chain.app.ask(&place.kasir, "shift", &json!({ "modal": float })).await;
        match place.drawer {
            None => {
                answer.ok();
                place.drawer = Some(float);
            }
            Some(_) => drop(answer.expect(409, "shift sudah dibuka")),
        }
    }

    async fn sell(&mut self, till: usize, customer: usize, mut body: Value, (nominal, quota): (i64, i64)) {
        let place = &mut self.places[till];
        let account = self.chain.accounts[place.outlet][customer];
        (body["idoutlet"], body["id_customer_global"]) = (json!(account.outlet.idoutlet), json!(account.id_customer_global));
        let in_cash = body["cara_bayar"] == "tunai";
        let answer = self.chain.app.ask(&place.kasir, "topup", &body).await;
        let Some(drawer) = &mut place.drawer else {
            answer.expect(409, "shift belum dibuka");
            return;
        };
        let outlet = place.outlet;
        let counts = |sale: &&Sale| {
            (sale.outlet, sale.customer) == (outlet, customer) && sale.alone && !sale.reversed && sale.age_s < 60 * MINUTE_S
        };
        if self.sales.iter().filter(counts).map(|sale| sale.nominal).sum::<i64>() + nominal > MAX_WITHOUT_APPROVAL {
            answer.expect(403, "di atas Rp 1.000.000 perlu persetujuan supervisor");
            return;
        }
        if in_cash {
            *drawer += nominal;
        }
        self.sold(answer, outlet, customer, (nominal, quota), in_cash, true);
    }

    async fn sell_by_key(&mut self, outlet: usize, customer: usize, nominal: i64) {
        let account = self.chain.accounts[outlet][customer];
        let body = json!({
            "id_customer_global": account.id_customer_global, "idoutlet": account.outlet.idoutlet, "nominal": nominal, "cara_bayar": "tunai",
        });
        let key = &self.chain.keys[outlet];
        let id = key.split('_').nth(1).unwrap();
        self.chain.app.has_found(&format!("kunci:{id}"), &body).await;
        let answer = self.chain.app.ops(key, "topup", &body).await;
        self.sold(answer, outlet, customer, (nominal, nominal), false, false);
    }

    fn sold(&mut self, answer: Answer, outlet: usize, customer: usize, (nominal, quota): (i64, i64), in_cash: bool, alone: bool) {
        let made = answer.ok();
        let wallet = &mut self.wallets[outlet][customer];
        *wallet += quota;
        assert_eq!(made["saldo_akhir"], *wallet);
        let id = made["idpembelian_emoney"].as_str().unwrap().to_owned();
        self.sales.push(Sale { id, outlet, customer, nominal, quota, in_cash, alone, age_s: 0, reversed: false });
    }

    async fn reverse(&mut self, till: usize, sale: usize) {
        let (place, sale) = (&mut self.places[till], &mut self.sales[sale]);
        let wallet = &mut self.wallets[sale.outlet][sale.customer];
        let pays = !sale.in_cash || place.drawer.is_some_and(|drawer| drawer >= sale.nominal);
        let may = place.outlet == sale.outlet && !sale.reversed && pays && *wallet >= sale.quota && sale.age_s <= 30 * MINUTE_S;
        let call = format!("topup/{}/batal", sale.id);
        let answer = self.chain.app.ask(&place.supervisor, &call, &json!({ "alasan": "salah nominal" })).await;
        self.chain.reversals.borrow_mut()[usize::from(!may)] += 1;
        if !may {
            assert!([404, 409, 422].contains(&answer.status), "{}: {}", answer.status, answer.message);
            return;
        }
        *wallet -= sale.quota;
        assert_eq!(answer.ok()["saldo_akhir"], *wallet);
        sale.reversed = true;
        if let Some(drawer) = place.drawer.as_mut().filter(|_| sale.in_cash) {
            *drawer -= sale.nominal;
        }
    }

    /// The customer pays for a cycle.
    async fn spend(&mut self, outlet: usize, customer: usize) {
        let wallet = &mut self.wallets[outlet][customer];
        if *wallet >= PRICE {
            *wallet -= PRICE;
            let n = self.chain.receipts.get();
            self.chain.receipts.set(n + 1);
            let account = self.chain.accounts[outlet][customer];
            self.chain.app.used(account, &self.chain.machines[outlet], &crate::support::arrange::receipt(n)).await;
        }
    }

    /// The customer takes what was paid of the whole balance, and the rest ends.
    async fn pay_out(&mut self, till: usize, customer: usize) {
        let (app, place) = (&self.chain.app, &mut self.places[till]);
        let wallet = &mut self.wallets[place.outlet][customer];
        let qr = app.code_of(self.chain.accounts[place.outlet][customer].id_customer_global);
        let counted = app.ask(&place.kasir, "tarik/hitung", &json!({ "qr": qr })).await;
        let Some(drawer) = &mut place.drawer else {
            counted.expect(409, "shift belum dibuka");
            return;
        };
        if counted.status == 422 {
            counted.expect(422, "tidak ada saldo yang bisa ditarik");
            return;
        }
        let counted = counted.ok();
        let (paid, bonus) = (counted["dibayar"].as_i64().unwrap(), counted["hangus"].as_i64().unwrap());
        assert!(paid > 0 && bonus >= 0 && paid + bonus == *wallet, "{counted} of {wallet}");
        let answer = app.ask(&place.supervisor, "tarik", &json!({ "qr": qr, "dibayar": paid, "hangus": bonus })).await;
        if *drawer < paid {
            answer.expect(422, "uang di laci tidak cukup");
            return;
        }
        answer.ok();
        *drawer -= paid;
        *wallet = 0;
    }

    async fn cash(&mut self, till: usize, direction: &str, nominal: i64) {
        let place = &mut self.places[till];
        let body = json!({ "jenis": direction, "nominal": nominal, "alasan": "uji" });
        let answer = self.chain.app.ask(&place.supervisor, "shift/kas", &body).await;
        match &mut place.drawer {
            None => drop(answer.expect(409, "shift belum dibuka")),
            Some(drawer) if direction == "masuk" => {
                answer.ok();
                *drawer += nominal;
            }
            Some(drawer) if *drawer >= nominal => {
                answer.ok();
                *drawer -= nominal;
            }
            Some(_) => drop(answer.expect(422, "uang di laci tidak cukup")),
        }
    }

    async fn close(&mut self, till: usize, off: i64, hands_over: bool) {
        let place = &mut self.places[till];
        let counted = place.drawer.map_or(0, |drawer| (drawer + off).max(0));
        let mut body = json!({ "dihitung": counted });
        let next = self.chain.kasir[place.outlet].into_iter().find(|person| *person != place.kasir.person).unwrap();
        if hands_over {
            body["lanjut"] = json!({ "idpetugas": next, "pin": PIN });
        }
        let answer = self.chain.app.ask(&place.kasir, "shift/tutup", &body).await;
        let Some(drawer) = place.drawer.take() else {
            answer.expect(409, "shift belum dibuka");
            return;
        };
        let done = answer.ok();
        assert_eq!((&done["diharapkan"], &done["selisih"]), (&json!(drawer), &json!(counted - drawer)));
        if hands_over {
            place.drawer = Some(counted);
            place.kasir.person = next;
            done["token"].as_str().unwrap().clone_into(&mut place.kasir.token);
            // The transfer has ended all sessions at that till.
            place.supervisor = self.chain.app.at(&place.supervisor.till, place.supervisor.person).await;
        }
    }

    async fn ten_minutes(&mut self) {
        self.chain.app.advance_s(10 * MINUTE_S);
        self.sales.iter_mut().for_each(|sale| sale.age_s += 10 * MINUTE_S);
        // Keeps the sessions from being idle for too long.
        for place in &self.places {
            self.chain.app.see(&place.kasir, "shift").await.ok();
            self.chain.app.see(&place.supervisor, "shift").await.ok();
        }
    }

    /// The stored data matches the model, and the audit finds nothing.
    async fn check(&self) {
        let app = &self.chain.app;
        app.assert_sound().await;
        for place in &self.places {
            let seen = app.see(&place.supervisor, "shift").await.ok();
            assert_eq!(seen["diharapkan"].as_i64(), place.drawer);
            assert_eq!(app.see(&place.kasir, "shift").await.ok()["diharapkan"], Value::Null);
        }
        for (here, expected) in self.chain.accounts.iter().zip(&self.wallets) {
            for (account, expected) in here.iter().zip(expected) {
                assert_eq!(app.balance(account.idcustomer).await, *expected);
            }
        }
    }
}

#[test]
fn drawers_and_wallets_hold_what_was_answered() {
    let system = actix_web::rt::System::new();
    let chain = system.block_on(Chain::open());
    let config = Config { cases: HISTORIES, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let result = TestRunner::new(config).run(&vec(step(), STEPS), |steps| {
        system.block_on(async {
            let mut history = History::begin(&chain).await;
            for step in &steps {
                history.take(step).await;
            }
            history.check().await;
        });
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    let [made, refused] = *chain.reversals.borrow();
    assert!(made > 0 && refused > 0, "{made} reversals made, {refused} refused");
}
