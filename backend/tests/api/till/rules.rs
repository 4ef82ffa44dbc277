//! Tills in tests: people, paired browsers, and sessions in them.

use nyala_core::domain::id::{OutletId, StaffId, TillId};
use nyala_core::domain::pin::Pin;
use nyala_core::domain::role::Role;
use nyala_identity::staff::key::{self, KeyKind};
use nyala_identity::staff::people::{self, WorksFor};
use nyala_identity::staff::pin_hash::{PinHash, mixed};
use serde_json::{Value, json};

use crate::support::helpers::{Answer, TestApp, cheap_hash};

/// A paired browser.
#[derive(Debug, Clone)]
pub struct Till {
    pub id: TillId,
    /// The value of the `Cookie` header.
    pub cookie: String,
}

/// A person who is logged in at a till.
#[derive(Debug, Clone)]
pub struct AtTill {
    pub person: StaffId,
    pub till: Till,
    pub token: String,
}

impl TestApp {
    /// A tablet of an outlet, paired.
    pub async fn till(&self, idoutlet: OutletId) -> Till {
        self.paired(Some(idoutlet), None).await
    }

    /// A person's own browser, paired.
    pub async fn own_browser(&self, person: StaffId) -> Till {
        self.paired(None, Some(person)).await
    }

    async fn paired(&self, idoutlet: Option<OutletId>, person: Option<StaffId>) -> Till {
        let (secret, hash) = key::generate();
        let (now, until) = (self.now(), self.now().plus_ms(400 * 86_400_000));
        let id = self
            .insert_id(
                "INSERT INTO perangkat (nama, idoutlet, id_kunci, token_hash, token_sampai, created_at, dipasang_at)
                 VALUES ('Tablet uji', $1, $2, $3, $4, $5, $5) RETURNING id",
                &[&idoutlet, &person, &hash, &until, &now],
            )
            .await;
        Till { id, cookie: format!("nyala_till={secret}") }
    }

    /// A new member of staff with a PIN, whose hash verifies in microseconds.
    pub async fn person(&self, name: &str, role: Role, works_for: WorksFor, pin: &str) -> StaffId {
        let mut client = self.state.store.get().await.unwrap();
        let tx = client.transaction().await.unwrap();
        let (person, pin) = (people::next_id(&tx).await.unwrap(), Pin::parse(pin).unwrap());
        let hash = PinHash { person, hash: cheap_hash(&mixed(&self.state.keyring.get().pins.in_use().key, person, &pin)) };
        people::hire(&tx, (name, role, works_for), (&hash, true), self.now()).await.unwrap();
        tx.commit().await.unwrap();
        person
    }

    /// Logs a person in at a till without the PIN.
    pub async fn at(&self, till: &Till, person: StaffId) -> AtTill {
        let (secret, hash) = key::generate();
        let (now, until) = (self.now(), self.now().plus_ms(12 * 3_600_000));
        let id = self
            .insert(
                "INSERT INTO sesi_petugas (id_kunci, id_perangkat, hash, created_at, dipakai_at, sampai)
                 VALUES ($1, $2, $3, $4, $4, $5) RETURNING id",
                &[&person, &till.id, &hash, &now, &until],
            )
            .await;
        AtTill { person, till: till.clone(), token: KeyKind::Session.text(id, &secret) }
    }

    /// A kasir of an outlet, logged in at her own till, without a shift.
    pub async fn kasir(&self, idoutlet: OutletId) -> AtTill {
        let till = self.till(idoutlet).await;
        let person = self.person("Rina", Role::Kasir, WorksFor::Outlet(idoutlet), "246810").await;
        self.at(&till, person).await
    }

    /// The same with an open shift, and `modal` rupiah in the drawer.
    pub async fn selling(&self, idoutlet: OutletId, modal: i64) -> AtTill {
        let kasir = self.kasir(idoutlet).await;
        self.ask(&kasir, "shift", &json!({ "modal": modal })).await.ok();
        kasir
    }

    /// `POST /ops/v1/masuk` in a browser.
    pub async fn log_in(&self, till: &Till, body: &Value) -> Answer {
        self.call("POST", "/ops/v1/masuk", None, &[("Cookie", &till.cookie)], Some(body.to_string().into_bytes())).await
    }

    /// `GET /ops/v1/<call>` by a person at a till.
    pub async fn see(&self, who: &AtTill, call: &str) -> Answer {
        self.call("GET", &format!("/ops/v1/{call}"), Some(&who.token), &[("Cookie", &who.till.cookie)], None).await
    }

    /// `POST /ops/v1/<call>` by a person at a till, with a new `Idempotency-Key`.
    pub async fn ask(&self, who: &AtTill, call: &str, body: &Value) -> Answer {
        self.ask_with(who, &uuid::Uuid::new_v4().to_string(), None, call, body).await
    }

    /// Records that a search at the till has just found the customer whose id is in `body`.
    pub async fn has_found(&self, oleh: &str, body: &Value) {
        const FOUND: &str = "
            INSERT INTO pelanggan_ditemukan SELECT $1, id, $3 FROM customer_global WHERE id = $2
            ON CONFLICT (oleh, id_customer_global) DO UPDATE SET created_at = excluded.created_at";
        let id = &body["id_customer_global"];
        if let Some(id) = id.as_i64().or_else(|| id.as_str()?.parse().ok()) {
            self.db.execute(FOUND, &[&oleh, &id, &self.now()]).await.unwrap();
        }
    }

    /// The same with this key and this approval. Before a sale, the till has found its customer, and seen a payment by QRIS.
    pub async fn ask_with(&self, who: &AtTill, once: &str, izin: Option<&str>, call: &str, body: &Value) -> Answer {
        let mut body = body.clone();
        if call == "topup" || call == "tagihan" {
            self.has_found(&format!("perangkat:{}", who.till.id), &body).await;
        }
        if call == "topup" && body["cara_bayar"] == "qris" && body.get("ref_bayar").is_none() {
            body["ref_bayar"] = json!("7K2M");
        }
        self.ask_as_is(who, once, izin, call, &body).await
    }

    /// The same, with nothing found before.
    pub async fn ask_as_is(&self, who: &AtTill, once: &str, izin: Option<&str>, call: &str, body: &Value) -> Answer {
        let mut headers = vec![("Cookie", who.till.cookie.as_str()), ("Idempotency-Key", once)];
        headers.extend(izin.map(|izin| ("X-Izin", izin)));
        let path = format!("/ops/v1/{call}");
        self.call("POST", &path, Some(&who.token), &headers, Some(body.to_string().into_bytes())).await
    }

    /// A supervisor's approval, by PIN at that till.
    pub async fn approval(&self, who: &AtTill, supervisor: StaffId, pin: &str, aksi: &str, objek: &str) -> String {
        let body = json!({ "idpetugas": supervisor, "pin": pin, "aksi": aksi, "objek": objek });
        self.ask(who, "izin", &body).await.ok()["izin"].as_str().unwrap().to_owned()
    }
}

/// The cookie that a response sets, as the value of a `Cookie` header, and with its attributes.
pub fn cookie_of(answer: &Answer) -> (String, String) {
    let set = answer.headers.get("set-cookie").expect("a cookie").to_str().unwrap().to_owned();
    (set.split(';').next().unwrap().to_owned(), set)
}
