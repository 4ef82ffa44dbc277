//! A shop in tests: an outlet, a machine, a service, and the orders of its customers.

use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, ServiceId, WalletId};
use nyala_machines::device::sim::Mode;
use nyala_machines::device::{self, ReceivedEvent};
use nyala_machines::machines::Location;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_postgres::types::ToSql;

use crate::support::arrange::Outlet;
use crate::support::helpers::{Answer, Customer, TestApp};

pub const PRICE: i64 = 10_000;

/// An outlet with a service and a machine.
#[derive(Debug, Clone, Copy)]
pub struct Shop {
    pub outlet: Outlet,
    pub idlayanan: ServiceId,
    pub idmesin: MachineId,
}

/// A purchase's body, to be changed by tests of refusals.
#[derive(Debug, Clone)]
pub struct Order {
    pub receipt: String,
    pub body: Value,
}

impl TestApp {
    /// A new owner's outlet with one service of `duration_s` for `PRICE` and one machine.
    pub async fn shop(&self, duration_s: i32) -> Shop {
        let outlet = self.outlet("Laundry Melati").await;
        let machine = self.machine(outlet, "Mesin 01").await;
        self.db
            .execute(
                "UPDATE layanan SET durasi_s = $2, harga = $3 WHERE idlayanan = $1",
                &[&machine.idlayanan, &duration_s, &PRICE],
            )
            .await
            .unwrap();
        Shop { outlet, idlayanan: machine.idlayanan, idmesin: machine.idmesin }
    }

    /// A shop whose machine runs for ten minutes, and a customer with this balance there.
    pub async fn shop_and_payer(&self, balance: i64) -> (Shop, Customer, WalletId) {
        let shop = self.shop(600).await;
        let siti = self.register_customer("81200000001", "Siti", "Rahmawati").await;
        let epay = self.balance_of(&siti, shop, balance).await;
        (shop, siti, epay)
    }

    /// `idcustomer` of an account of `customer` there, topped up with `saldo`.
    pub async fn balance_of(&self, customer: &Customer, shop: Shop, balance: i64) -> WalletId {
        self.funded(customer, shop.outlet, balance).await.idcustomer
    }

    pub async fn balance(&self, idcustomer: impl ToSql + Sync) -> i64 {
        self.insert("SELECT saldo FROM quota_emoney WHERE idcustomer = $1", &[&idcustomer]).await
    }

    /// The state of every purchase with a receipt number.
    pub async fn states(&self, receipt: &str) -> Vec<String> {
        let rows = self.db.query("SELECT state FROM snap_transaksi WHERE no_nota = $1", &[&receipt]).await.unwrap();
        rows.iter().map(|r| r.get(0)).collect()
    }

    /// Waits until a receipt's purchase has reached `state`; the server looks for lost work every second.
    pub async fn until(&self, receipt: &str, state: &str) {
        for _ in 0..3_000 {
            if self.states(receipt).await == [state] {
                return;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{receipt} is {:?}, not {state}", self.states(receipt).await);
    }

    pub async fn buy(&self, customer: &Customer, order: &Order) -> Answer {
        self.post("/scan/v1/transaksi/create_snap_transaksi", Some(&customer.token), &order.body).await
    }

    /// Injects a fault into a simulated machine, and delivers the device's state report to the server.
    pub async fn fault(&self, shop: Shop, mode: Mode) {
        let reported = self.state.sim.set_mode(shop.idmesin, mode, self.now());
        let from = Location { idmesin: shop.idmesin, idoutlet: shop.outlet.idoutlet, driver: DriverKind::Sim };
        device::deliver(&self.state.machines, ReceivedEvent { from, event: reported, at: self.now() }).unwrap();
    }
}

/// The `n`th receipt of a test.
pub fn buy(n: u32, shop: Shop, idcustomer: impl Serialize) -> Order {
    let receipt = format!("SLF{n:015}");
    let body = json!({
        "id": receipt, "idcustomer": idcustomer, "idmesin": shop.idmesin, "idoutlet": shop.outlet.idoutlet,
        "idsnap_layanan": shop.idlayanan, "total": PRICE, "grandtotal": PRICE,
    });
    Order { receipt, body }
}
