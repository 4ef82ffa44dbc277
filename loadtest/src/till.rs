//! Tills, used as the cashiers' pages do: a paired browser with its cookie, and staff who log in there.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::http::{Pool, ServerAnswer, ask};
use crate::shop::{id, ops};

const PIN: &str = "246813";

/// Paired browser of an outlet.
#[derive(Debug, Clone)]
pub struct Till {
    pub idoutlet: i64,
    /// Value of the `Cookie` header.
    cookie: String,
}

impl Till {
    /// Pairs a till, with the key of an operator who may do so.
    ///
    /// # Errors
    /// One line with the refusal.
    pub async fn pair(pool: &Pool, key: &str, idoutlet: i64, name: &str) -> Result<Self, String> {
        let invited = ops(pool, key, "perangkat", &json!({ "nama": name, "idoutlet": idoutlet })).await?;
        let code = json!({ "kode": invited["kode"] });
        let paired = ask(pool.address(), "POST", "/ops/v1/pasang", &[], &code).await.map_err(|e| e.to_string())?;
        let cookie = paired.cookie.clone().ok_or_else(|| format!("no cookie in {paired:?}"))?;
        Ok(Self { idoutlet, cookie })
    }

    /// Creates a supervisor of the till's outlet with a PIN. Returns the id and the session's token.
    ///
    /// # Errors
    /// One line with the refusal.
    pub async fn hire(&self, pool: &Pool, key: &str, name: &str) -> Result<(i64, String), String> {
        let hired = json!({ "nama": name, "role": "supervisor", "idoutlet": self.idoutlet });
        let hired = ops(pool, key, "petugas", &hired).await?;
        let first = json!({ "idpetugas": hired["id"], "pin": hired["pin_awal"], "pin_baru": PIN });
        let answer = self.ask(pool.address(), "POST", "masuk", &[], &first).await.map_err(|e| e.to_string())?;
        Ok((id(&hired["id"])?, token_of(&answer)?))
    }

    /// Logs in with the PIN.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn log_in(&self, to: SocketAddr, person: i64) -> std::io::Result<ServerAnswer> {
        self.ask(to, "POST", "masuk", &[], &who(person)).await
    }

    /// Sends a call of the page; `once` is its idempotency key.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn call(&self, to: SocketAddr, token: &str, call: &str, once: &str, body: &Value) -> std::io::Result<ServerAnswer> {
        let auth = format!("Bearer {token}");
        self.ask(to, "POST", call, &[("authorization", &auth), ("idempotency-key", once)], body).await
    }

    /// Looks up a customer by phone number. The till may then sell to the customer's id for an hour, and may look up sixty numbers an
    /// hour.
    ///
    /// # Errors
    /// When no answer comes.
    pub async fn find(&self, to: SocketAddr, token: &str, telp: &str) -> std::io::Result<ServerAnswer> {
        self.call(to, token, "pelanggan/cari", &once(), &json!({ "telp": telp })).await
    }

    /// # Errors
    /// When no answer comes.
    pub async fn see(&self, to: SocketAddr, token: &str, call: &str) -> std::io::Result<ServerAnswer> {
        let auth = format!("Bearer {token}");
        self.ask(to, "GET", call, &[("authorization", &auth)], &Value::Null).await
    }

    async fn ask(
        &self,
        to: SocketAddr,
        method: &str,
        call: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> std::io::Result<ServerAnswer> {
        let headers = [headers, &[("cookie", self.cookie.as_str())]].concat();
        ask(to, method, &format!("/ops/v1/{call}"), &headers, body).await
    }
}

/// Login of a member of staff; all have the same PIN.
pub fn who(person: i64) -> Value {
    json!({ "idpetugas": person, "pin": PIN })
}

/// # Errors
/// One line when there is none.
pub fn token_of(answer: &ServerAnswer) -> Result<String, String> {
    answer.data["token"].as_str().map(str::to_owned).ok_or_else(|| format!("no token in {answer:?}"))
}

/// New idempotency key.
pub fn once() -> String {
    format!("{:032x}", rand::random::<u128>())
}
