//! Payments by QRIS: bills at tills and on phones, and the provider that says whether they are paid (docs/money.md).

mod checked;
mod held;
mod jump;
mod many;
pub mod midtrans;
mod moved;
pub mod notifications;
mod phone;
mod provider;
mod reversed;
mod start;
mod till;

use serde_json::{Value, json};

use crate::support::arrange::Outlet;
use crate::support::counter::{Counter, counter, counter_without_cap};
use crate::support::helpers::{Answer, TestApp};

/// Seconds.
const MINUTE_S: i64 = 60;

impl TestApp {
    /// How an outlet takes QRIS.
    pub async fn takes_qris(&self, outlet: Outlet, mode: &str) {
        self.db.execute("UPDATE outlet SET qris = $2 WHERE idoutlet = $1", &[&outlet.idoutlet, &mode]).await.unwrap();
    }

    /// Does something with an order of the simulated provider.
    pub async fn at_provider(&self, id: &str, act: &Value) -> Answer {
        self.post(&format!("/dev/qris/{id}"), None, act).await
    }

    /// The customer pays.
    pub async fn pay(&self, id: &str) {
        self.at_provider(id, &json!({"aksi": "bayar"})).await.ok();
    }

    /// A stored column of a bill, as text.
    pub async fn bill(&self, id: &str, column: &str) -> Option<String> {
        let sql = format!("SELECT {column}::TEXT FROM tagihan WHERE id = $1");
        self.db.query_one(&sql, &[&id]).await.unwrap().get(0)
    }

    /// Waits until a bill has this status; the server looks for due bills every second.
    pub async fn until_bill(&self, id: &str, status: &str) {
        for _ in 0..3_000 {
            if self.bill(id, "status").await.as_deref() == Some(status) {
                return;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{id} is {:?}, not {status}", self.bill(id, "status").await);
    }

    /// Waits until the server no longer asks about a bill.
    pub async fn until_left_alone(&self, id: &str) {
        for _ in 0..3_000 {
            if self.bill(id, "tanya_at").await.is_none() {
                return;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{id} is still asked about");
    }

    /// How many top-ups there are.
    pub async fn topups(&self) -> i64 {
        self.insert("SELECT count(*) FROM pembelian_emoney", &[]).await
    }
}

impl Counter {
    /// A counter of an outlet that takes QRIS by bills.
    pub async fn with_bills() -> Self {
        counter().await.taking_qris().await
    }

    pub async fn with_bills_and_no_cap() -> Self {
        counter_without_cap().await.taking_qris().await
    }

    async fn taking_qris(self) -> Self {
        self.app.takes_qris(self.outlet, "simulated").await;
        self
    }

    /// A new bill of Siti.
    pub async fn bill(&self, nominal: i64) -> String {
        let body = json!({"id_customer_global": self.siti.id, "nominal": nominal});
        id_of(&self.app.ask(&self.rina, "tagihan", &body).await.ok())
    }

    /// The bill as the till sees it.
    pub async fn see(&self, id: &str) -> Value {
        self.app.see(&self.rina, &format!("tagihan/{id}")).await.ok()
    }
}

pub fn id_of(bill: &Value) -> String {
    bill["idtagihan"].as_str().expect("a bill").to_owned()
}
