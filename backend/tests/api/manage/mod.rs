//! Management: what an outlet sells at which price, and when it is open (docs/contract.md §4).

mod alerts;
mod board;
mod cycle_days;
mod detail;
pub mod figures;
mod lists;
mod machines;
mod opening;
mod outlets;
mod services;
mod technician;
mod test_start;

use serde_json::Value;

use crate::support::helpers::{Answer, TestApp};

impl TestApp {
    /// `GET /ops/v1/<call>` with an API key.
    pub async fn ops_see(&self, key: &str, call: &str) -> Answer {
        self.get(&format!("/ops/v1/{call}"), Some(key)).await
    }

    /// Changes of this action in the audit log, oldest first.
    pub async fn audit_of(&self, action: &str) -> Vec<Value> {
        let rows = self.db.query("SELECT isi FROM audit_log WHERE aksi = $1 ORDER BY id", &[&action]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}
