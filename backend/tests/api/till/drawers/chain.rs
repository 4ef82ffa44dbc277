//! Two outlets with their people, customers, machines and packages.

use std::cell::{Cell, RefCell};

use nyala_core::domain::id::StaffId;
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::json;

use super::{CUSTOMERS, PIN};
use crate::support::arrange::{Epay, Machine, Outlet};
use crate::support::helpers::TestApp;

/// The data that all histories share.
pub struct Chain {
    pub app: TestApp,
    pub outlets: [Outlet; 2],
    pub machines: Vec<Machine>,
    pub keys: Vec<String>,
    pub packages: Vec<i64>,
    pub supervisors: Vec<StaffId>,
    /// Two kasirs for each outlet, who relieve each other.
    pub kasir: Vec<[StaffId; 2]>,
    /// The wallets, by outlet and customer.
    pub accounts: Vec<Vec<Epay>>,
    pub receipts: Cell<u32>,
    /// Number of reversals that succeeded, and that were refused.
    pub reversals: RefCell<[u32; 2]>,
}

impl Chain {
    pub async fn open() -> Self {
        let app = TestApp::spawn().await;
        let owner = app.owner().await;
        let outlets = [app.outlet_of(owner, "Melati").await, app.outlet_of(owner, "Kenanga").await];
        let mut customers = Vec::new();
        for i in 0..CUSTOMERS {
            customers.push(app.register_customer(&format!("8120000000{i}"), "Siti", "Rahma").await);
        }
        let (mut machines, mut keys, mut packages) = (Vec::new(), Vec::new(), Vec::new());
        let (mut supervisors, mut kasir, mut accounts) = (Vec::new(), Vec::new(), Vec::new());
        for outlet in outlets {
            let works_for = WorksFor::Outlet(outlet.idoutlet);
            machines.push(app.machine(outlet, "Mesin").await);
            let key = app.key(crate::ops::operator::Scope::Supervisor(outlet.idoutlet)).await;
            let package = json!({ "idoutlet": outlet.idoutlet, "nama": "Hemat", "harga": 50_000, "quota": 55_000 });
            packages.push(app.ops(&key, "paket", &package).await.ok()["idpaket"].as_i64().unwrap());
            keys.push(key);
            supervisors.push(app.person("Hadi", Role::Supervisor, works_for, PIN).await);
            kasir.push([
                app.person("Rina", Role::Kasir, works_for, PIN).await,
                app.person("Dewi", Role::Kasir, works_for, PIN).await,
            ]);
            let mut here = Vec::new();
            for customer in &customers {
                here.push(app.epay(customer, outlet, None).await);
            }
            accounts.push(here);
        }
        let (receipts, reversals) = (Cell::new(0), RefCell::default());
        Self { app, outlets, machines, keys, packages, supervisors, kasir, accounts, receipts, reversals }
    }
}
