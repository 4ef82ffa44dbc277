//! The shop in which the customers buy while everything dies.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::http::{Answer, Pool, ask};
use crate::server::Server;
use crate::shop::{id, list, ops};

/// Rupiah of every service.
pub const PRICE: i64 = crate::shop::PRICE.cast_signed();
/// What each customer begins with.
pub const BALANCE: i64 = crate::shop::BALANCE.cast_signed();
const SERVICES_S: [i64; 2] = [1, 2];

/// What is sold where, and to whom.
#[derive(Debug)]
pub struct Shop {
    pub key: String,
    pub idoutlet: i64,
    pub machines: Vec<i64>,
    pub services: Vec<i64>,
    /// Token and `idcustomer`.
    pub customers: Vec<(String, i64)>,
}

impl Shop {
    /// # Errors
    /// The refusal of a call.
    pub async fn open(server: &Server, machines: usize, customers: usize) -> Result<Self, String> {
        let key = server.root_key().await?;
        let pool = Pool::new(server.address(), 1);
        let ops = async |call: &str, body: Value| ops(&pool, &key, call, &body).await;
        let idowner = ops("owner", json!({"nama": "Bu Ani"})).await?["idowner"].clone();
        let place = json!({"idowner": idowner, "nama": "Melati", "kota": "Bandung", "latitude": 0, "longitude": 0});
        let idoutlet = id(&ops("outlet", place).await?["idoutlet"])?;
        let mut services = Vec::new();
        for duration_s in SERVICES_S {
            let body = json!({"idoutlet": idoutlet, "nama": "Cuci", "durasi": duration_s, "harga": PRICE});
            services.push(id(&ops("layanan", body).await?["id"])?);
        }
        let many = json!({"idoutlet": idoutlet, "jumlah": machines, "awalan": "Mesin", "driver": "sim"});
        let made = ops("mesin/bulk", many).await?;
        let machines = list(&made["mesin"])?.iter().map(|m| id(&m["id"])).collect::<Result<_, _>>()?;
        let many = json!({"jumlah": customers, "awalan_telp": "8120", "idoutlet": idoutlet, "saldo": BALANCE});
        let made = ops("pelanggan/bulk", many).await?;
        let customer = |c: &Value| Ok((c["token"].as_str().ok_or("a token")?.to_owned(), id(&c["idcustomer"])?));
        let customers = list(&made["pelanggan"])?.iter().map(customer).collect::<Result<_, String>>()?;
        Ok(Self { key, idoutlet, machines, services, customers })
    }
}

/// # Errors
/// When no answer came.
pub async fn get(to: SocketAddr, path: &str, token: &str) -> Result<Answer, String> {
    let auth = format!("Bearer {token}");
    ask(to, "GET", path, &[("authorization", &auth)], &Value::Null).await.map_err(|e| format!("{path}: {e}"))
}
