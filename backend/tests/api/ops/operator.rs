//! Operators in tests: keys of each role, and calls with them.

use nyala_core::domain::id::{OutletId, OwnerId};
use nyala_identity::staff::key::{self, KeyKind};
use serde_json::Value;

use crate::support::arrange::{Bought, Epay, Machine, receipt};
use crate::support::helpers::{Answer, TestApp};

/// What a key is limited to.
#[derive(Debug, Clone, Copy)]
pub enum Scope {
    Root,
    Owner(OwnerId),
    Supervisor(OutletId),
    Kasir(OutletId),
    Technician(OutletId),
}

impl TestApp {
    /// A new key, as its holder sends it.
    pub async fn key(&self, scope: Scope) -> String {
        let (role, idowner, idoutlet) = match scope {
            Scope::Root => ("root", None, None),
            Scope::Owner(id) => ("owner", Some(id), None),
            Scope::Supervisor(id) => ("supervisor", None, Some(id)),
            Scope::Kasir(id) => ("kasir", None, Some(id)),
            Scope::Technician(id) => ("teknisi", None, Some(id)),
        };
        let (secret, hash) = key::generate();
        let id = self
            .insert(
                "INSERT INTO kunci_operator (role, idowner, idoutlet, nama, hash, created_at) VALUES ($1, $2, $3, 'uji', $4, $5) RETURNING id",
                &[&role, &idowner, &idoutlet, &hash, &self.now()],
            )
            .await;
        KeyKind::Api.text(id, &secret)
    }

    /// `POST /ops/v1/<call>` with a new `Idempotency-Key`.
    pub async fn ops(&self, key: &str, call: &str, body: &Value) -> Answer {
        self.ops_once(key, &uuid::Uuid::new_v4().to_string(), call, body).await
    }

    /// `POST /ops/v1/<call>` with this `Idempotency-Key`.
    pub async fn ops_once(&self, key: &str, once: &str, call: &str, body: &Value) -> Answer {
        let path = format!("/ops/v1/{call}");
        self.call("POST", &path, Some(key), &[("Idempotency-Key", once)], Some(body.to_string().into_bytes())).await
    }

    /// A purchase of `machine` that starts to run now.
    pub async fn running(&self, epay: Epay, machine: &Machine, n: u32) -> Bought {
        let buy = self.hold(epay, machine, &receipt(n)).await;
        self.started(&buy).await;
        buy
    }

    /// Actions in the audit log with their actors and objects, oldest first.
    pub async fn audited(&self) -> Vec<(String, String, String)> {
        let rows = self.db.query("SELECT aksi, aktor, objek FROM audit_log ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|r| (r.get(0), r.get(1), r.get(2))).collect()
    }

    /// The number of rows in each table that a call could have changed.
    pub async fn footprint(&self) -> Vec<i64> {
        let tables = [
            "owner_usaha",
            "outlet",
            "layanan",
            "mesin",
            "customer_global",
            "customer",
            "pembelian_emoney",
            "ledger_transfer",
            "audit_log",
        ];
        let mut counts = Vec::new();
        for table in tables {
            counts.push(self.insert(&format!("SELECT count(*) FROM {table}"), &[]).await);
        }
        counts
    }
}
