//! What is bought, by whom: one outlet, its machines, customers with money. Made through the operators' calls.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::Error;
use crate::http::Http;

/// Runs end long after every measurement.
pub const DURATION_S: u32 = 3600;
pub const PRICE: u32 = 10_000;
/// Of every customer that is made in bulk.
pub const PASSWORD: &str = nyala::demo::PASSWORD;
/// Enough for every purchase of a measurement by one customer.
const BALANCE: u32 = 20_000_000;
/// What one bulk call makes at most.
const BULK: usize = 20_000;

pub struct Shop {
    pub idowner: i64,
    pub idoutlet: i64,
    pub idlayanan: i64,
    pub machine: Vec<i64>,
    pub customer: Vec<Customer>,
}

pub struct Customer {
    pub id_customer_global: i64,
    pub idcustomer: i64,
    pub telp: String,
    pub token: String,
}

impl Shop {
    /// # Errors
    /// The refusal of a call.
    pub async fn open(address: SocketAddr, key: &str, machine: usize, customer: usize) -> Result<Self, Error> {
        let mut http = Http::connect(address).await?;
        let owner = http.data("/ops/v1/owner", key, &json!({ "nama": "Bench" })).await?;
        let idowner = number(&owner, "idowner")?;
        let outlet = json!({ "idowner": idowner, "nama": "Bench", "kota": "Bandung", "latitude": -6.9, "longitude": 107.6 });
        let idoutlet = number(&http.data("/ops/v1/outlet", key, &outlet).await?, "idoutlet")?;
        let service = json!({ "idoutlet": idoutlet, "nama": "Cuci", "durasi": DURATION_S, "harga": PRICE });
        let idlayanan = number(&http.data("/ops/v1/layanan", key, &service).await?, "id")?;
        let mut shop = Self { idowner, idoutlet, idlayanan, machine: Vec::new(), customer: Vec::new() };
        while shop.machine.len() < machine {
            let count = (machine - shop.machine.len()).min(BULK);
            let body = json!({ "idoutlet": idoutlet, "jumlah": count, "awalan": "M", "driver": "sim" });
            let made = http.data("/ops/v1/mesin/bulk", key, &body).await?;
            for m in rows(&made, "mesin")? {
                shop.machine.push(number(m, "id")?);
            }
        }
        while shop.customer.len() < customer {
            let count = (customer - shop.customer.len()).min(BULK);
            let body = json!({ "jumlah": count, "awalan_telp": "8990", "idoutlet": idoutlet, "saldo": BALANCE });
            let made = http.data("/ops/v1/pelanggan/bulk", key, &body).await?;
            for p in rows(&made, "pelanggan")? {
                let text = |name: &str| Ok::<_, Error>(p[name].as_str().ok_or(format!("a customer without {name}"))?.to_owned());
                let (telp, token) = (text("telp")?, text("token")?);
                let (id_customer_global, idcustomer) = (number(p, "id_customer_global")?, number(p, "idcustomer")?);
                shop.customer.push(Customer { id_customer_global, idcustomer, telp, token });
            }
        }
        Ok(shop)
    }

    /// The request that buys machine number `n` for customer number `n`.
    pub fn order(&self, n: usize) -> (&str, String) {
        let customer = &self.customer[n % self.customer.len()];
        let body = json!({
            "id": format!("SLF{n:015}"), "idcustomer": customer.idcustomer, "idmesin": self.machine[n], "idoutlet": self.idoutlet,
            "idsnap_layanan": self.idlayanan, "total": PRICE, "grandtotal": PRICE,
        });
        (&customer.token, body.to_string())
    }
}

fn number(of: &Value, name: &str) -> Result<i64, Error> {
    of[name].as_i64().ok_or_else(|| format!("an answer without {name}: {of}").into())
}

fn rows<'a>(of: &'a Value, name: &str) -> Result<&'a Vec<Value>, Error> {
    of[name].as_array().ok_or_else(|| format!("an answer without {name}").into())
}
