//! A shop's counter in tests: the people at its tills, their shifts, and the cash in the drawer.

use nyala_core::domain::id::ShiftId;
use nyala_core::domain::role::Role;
use nyala_identity::staff::approval::Act;
use nyala_identity::staff::operator;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use crate::support::arrange::Outlet;
use crate::support::helpers::{Customer, Setup, TestApp};
use crate::till::rules::{AtTill, Till};

impl TestApp {
    /// A new member of staff, logged in at a till.
    pub async fn clerk(&self, till: &Till, name: &str, role: Role, works_for: WorksFor) -> AtTill {
        let person = self.person(name, role, works_for, "246810").await;
        self.at(till, person).await
    }

    /// A kasir at her own till with an open shift.
    pub async fn seller(&self, outlet: Outlet) -> AtTill {
        let rina = self.kasir(outlet.idoutlet).await;
        self.open_shift(&rina, outlet).await;
        rina
    }

    /// Opens a shift with 100,000 rupiah in the drawer.
    pub async fn open_shift(&self, by: &AtTill, outlet: Outlet) -> ShiftId {
        let shift = self
            .insert_id(
                "INSERT INTO shift (id_perangkat, idoutlet, dibuka_oleh, modal, dibuka_at) VALUES ($1, $2, $3, 100000, $4) RETURNING id",
                &[&by.till.id, &outlet.idoutlet, &by.person, &self.now()],
            )
            .await;
        self.insert(
            "INSERT INTO kas_gerak (idshift, jenis, nominal, aktor, created_at) VALUES ($1, 'modal', 100000, 'uji', $2) RETURNING id",
            &[&shift, &self.now()],
        )
        .await;
        shift
    }

    /// Counts the drawer without a difference and closes the shift.
    pub async fn close_shift(&self, shift: ShiftId, by: &AtTill) {
        const CLOSE: &str = "
            UPDATE shift SET ditutup_oleh = $2, ditutup_at = $3, diharapkan = (SELECT SUM(jumlah) FROM kas_gerak WHERE idshift = $1),
                dihitung = (SELECT SUM(jumlah) FROM kas_gerak WHERE idshift = $1) WHERE id = $1";
        self.db.execute(CLOSE, &[&shift, &by.person, &self.now()]).await.unwrap();
    }

    /// What should be in the drawer of a till's open shift.
    pub async fn drawer(&self, till: &Till) -> i64 {
        const SUM: &str = "
            SELECT COALESCE(SUM(g.jumlah), 0)::BIGINT FROM kas_gerak g JOIN shift s ON s.id = g.idshift
            WHERE s.id_perangkat = $1 AND s.ditutup_at IS NULL";
        self.insert(SUM, &[&till.id]).await
    }

    /// An approval by `approver` for `who`, made without the PIN.
    pub async fn yes(&self, who: &AtTill, approver: &AtTill, act: &Act) -> String {
        let session = who.token.split('_').nth(1).unwrap().parse().unwrap();
        let till = operator::AtTill { session, browser: who.till.id, idoutlet: None };
        let mut client = self.state.store.get().await.unwrap();
        let tx = client.transaction().await.unwrap();
        let text = self.state.staff.approve(&tx, till, approver.person, act, self.now()).await.unwrap();
        tx.commit().await.unwrap();
        text
    }
}

pub const TELP: &str = "81234567890";

/// A kasir whose shift is open, and a customer without an account.
pub struct Counter {
    pub app: TestApp,
    pub outlet: Outlet,
    pub rina: AtTill,
    pub siti: Customer,
}

pub async fn counter() -> Counter {
    counter_of(TestApp::spawn().await).await
}

/// At a server where an account may have any balance.
pub async fn counter_without_cap() -> Counter {
    counter_of(Setup::new().with(|config| config.ledger.max_balance = 0).start().await).await
}

pub async fn counter_of(app: TestApp) -> Counter {
    let outlet = app.outlet("Melati").await;
    let rina = app.seller(outlet).await;
    let siti = app.register_customer(TELP, "Siti", "Rahma").await;
    Counter { app, outlet, rina, siti }
}

impl Counter {
    pub fn sale(&self, nominal: i64) -> Value {
        json!({"id_customer_global": self.siti.id, "idoutlet": self.outlet.idoutlet, "nominal": nominal})
    }

    /// The same sale with the customer's number, as a program sends it.
    pub fn by_number(&self, nominal: i64) -> Value {
        json!({"telp": TELP, "idoutlet": self.outlet.idoutlet, "nominal": nominal})
    }

    pub async fn supervisor(&self) -> AtTill {
        self.app.clerk(&self.rina.till, "Hadi", Role::Supervisor, WorksFor::Outlet(self.outlet.idoutlet)).await
    }
}

pub fn and(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}
