//! Notifications to browsers while the app is closed (docs/contract.md §8).

mod again;
mod once;
mod reminder;
mod sent;
pub mod service;
mod subscribe;

use nyala_core::domain::id::{PurchaseId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::step::Change;
use nyala_ledger::purchase::apply;

use self::service::{Browser, PushService};
use crate::server::listener::raw;
use crate::support::arrange::{Bought, Epay};
use crate::support::helpers::{Customer, TestApp};
use crate::support::shop::{Order, PRICE, Shop, buy};

const TELP: &str = "81200000001";
const RUN_S: i32 = 600;

/// A shop, a customer with a balance there, and her phone, which is subscribed to pushes.
struct Wash {
    service: PushService,
    app: TestApp,
    shop: Shop,
    siti: Customer,
    epay: WalletId,
    phone: Browser,
}

impl Wash {
    async fn open() -> Self {
        let service = PushService::start();
        let app = service.setup().start().await;
        let shop = app.shop(RUN_S).await;
        let siti = app.register_customer(TELP, "Siti", "Rahmawati").await;
        let epay = app.balance_of(&siti, shop, 10 * PRICE).await;
        let phone = service.browser("phone");
        app.subscribe(&siti, &phone).await.ok();
        Self { service, app, shop, siti, epay, phone }
    }

    /// Her `n`th purchase, running.
    async fn begun(&self, n: u32) -> Order {
        let order = buy(n, self.shop, self.epay);
        self.app.buy(&self.siti, &order).await.ok();
        order
    }

    /// The same, to the end of its cycle.
    async fn run(&self, n: u32) -> Order {
        let order = self.begun(n).await;
        self.app.advance_s(i64::from(RUN_S) + 1);
        self.app.until(&order.receipt, "FINISHED").await;
        order
    }

    /// The number of queued pushes with a cause.
    async fn queued(&self, cause: &str) -> i64 {
        self.app.insert("SELECT count(*) FROM push WHERE sebab = $1", &[&cause]).await
    }

    /// The titles of the phone's pushes, in order.
    fn titles(&self) -> Vec<String> {
        self.service.given().iter().map(|given| self.phone.open(given)["judul"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until no push is due, and returns the titles of the phone's pushes.
    async fn sent_titles(&self) -> Vec<String> {
        self.app.all_pushed().await;
        self.titles()
    }

    /// A running purchase of hers without an actor. The test decides what ends it.
    async fn orphan(&self, n: u32) -> Bought {
        let machine = self.app.machine(self.shop.outlet, &format!("Mesin {n}")).await;
        self.app.running(self.account().await, &machine, n).await
    }

    async fn account(&self) -> Epay {
        let idakun = self.app.insert("SELECT idakun FROM quota_emoney WHERE idcustomer = $1", &[&self.epay]).await;
        Epay { idcustomer: self.epay, id_customer_global: self.siti.id, outlet: self.shop.outlet, idakun }
    }

    /// The metrics page.
    async fn counted(&self) -> String {
        raw(&self.app, "GET", "/metrics", &[]).await.body
    }
}

/// Commits `change` as an actor would, and returns whether it applied.
async fn commit(app: &TestApp, purchase: i64, change: Change, at: Timestamp) -> bool {
    let client = app.state.store.get().await.unwrap();
    apply(&client, PurchaseId::new(purchase), change, at, None).await.unwrap().is_some()
}
