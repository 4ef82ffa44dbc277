//! The customer's socket against the whole server, over the wire (docs/contract.md §3).

mod balance;
mod board;
mod connect;
mod ending;
mod hostile;
mod metrics;
mod outlet;
mod passivation;
pub mod phone;
mod polling;
mod restart;
mod slow;
mod subscribe;
mod ticks;
mod till;
mod time;
mod unjoined;
mod upgrade;
#[path = "../../../libs/actix-socketio/tests/protocol/wire.rs"]
mod wire;

use std::time::Duration;

use actix_web::rt::time::sleep;
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::tick::Cadence;

use crate::support::helpers::{Customer, Setup, TestApp};
use crate::support::shop::{PRICE, Shop, buy};
use phone::{PATIENCE, Phone, soon};

const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Machines that answer at once: on a stopped clock a run begins at the moment of its payment.
fn setup() -> Setup {
    Setup::new().with(|c| (c.mesin.sim_min_ms, c.mesin.sim_max_ms) = (0, 0))
}

impl TestApp {
    /// `host:port`.
    pub fn address(&self) -> &str {
        self.base_url.strip_prefix("http://").expect("an address")
    }

    /// The `n`th customer of a test.
    async fn customer(&self, n: u32) -> Customer {
        self.register_customer(&format!("8120000{n:04}"), "Siti", "Rahmawati").await
    }

    /// The `n`th customer pays for a machine. Returns the end of the run if it lasts `duration_s`.
    async fn run(&self, shop: Shop, duration_s: i64, n: u32) -> i64 {
        let customer = self.customer(1_000 + n).await;
        let epay = self.balance_of(&customer, shop, PRICE).await;
        self.buy(&customer, &buy(n, shop, epay)).await.ok();
        self.now().ms() + duration_s * 1_000
    }

    /// Another machine of `shop`'s outlet, whose service takes `duration_s`.
    async fn neighbour(&self, shop: Shop, duration_s: i32) -> Shop {
        let idlayanan = self.service(shop.outlet, "Cuci", PRICE).await;
        self.db.execute("UPDATE layanan SET durasi_s = $2 WHERE idlayanan = $1", &[&idlayanan, &duration_s]).await.unwrap();
        Shop { idmesin: self.machine(shop.outlet, "Mesin 02").await.idmesin, idlayanan, ..shop }
    }

    /// The moment within each second at which a shop's machines tick, in milliseconds.
    fn phase(&self, shop: Shop) -> i64 {
        Cadence::of(shop.outlet.idoutlet, 1).phase_ms()
    }

    /// Sets a stopped clock to `ms`.
    fn set_ms(&self, ms: i64) {
        self.clock.set(Timestamp::from_ms(ms));
    }

    /// The value of one series of `/metrics`; 0 while it does not exist.
    pub async fn metric(&self, name: &str) -> f64 {
        let mut res = self.http.get(format!("{}/metrics", self.base_url)).send().await.expect("metrics");
        let text = String::from_utf8(res.body().limit(1 << 20).await.unwrap().to_vec()).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0.0, |value| value.parse().unwrap())
    }

    /// Waits until a series has this value.
    async fn until_metric(&self, name: &str, value: f64) {
        self.until_metric_is(name, |now| now == value).await;
    }

    pub async fn until_metric_is(&self, name: &str, holds: impl Fn(f64) -> bool) {
        soon(name, async {
            while !holds(self.metric(name).await) {
                sleep(LOOK_EVERY).await;
            }
        })
        .await;
    }
}
