//! The fake's machines, customers and money.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Faults, now_ms};

/// Refusals are a status and a message.
pub type Answer = Result<Value, (u16, &'static str)>;

#[derive(Debug, Clone, Copy)]
pub struct Machine {
    pub idoutlet: i64,
    /// Epoch milliseconds; 0 when it does not run.
    pub ends_at: i64,
}

#[derive(Debug, Default)]
pub struct Shop {
    next: i64,
    payments: u64,
    pub machines: HashMap<i64, Machine>,
    /// Service: outlet and seconds.
    services: HashMap<i64, (i64, i64)>,
    /// By `idcustomer`, which is in the token.
    balances: HashMap<i64, i64>,
}

impl Shop {
    fn id(&mut self) -> i64 {
        self.next += 1;
        self.next
    }

    pub fn ops(&mut self, call: &str, body: &Value) -> Answer {
        let jumlah = body["jumlah"].as_i64().unwrap_or(0);
        match call {
            "owner" => Ok(json!({ "idowner": self.id() })),
            "outlet" => Ok(json!({ "idoutlet": self.id() })),
            "layanan" => {
                let id = self.id();
                self.services.insert(id, (number(body, "idoutlet"), number(body, "durasi")));
                Ok(json!({ "id": id }))
            }
            "mesin/bulk" => {
                let idoutlet = number(body, "idoutlet");
                let one = |shop: &mut Self| {
                    let id = shop.id();
                    shop.machines.insert(id, Machine { idoutlet, ends_at: 0 });
                    json!({ "id": id, "qr": format!("qr-{id}"), "kode": "00000000" })
                };
                Ok(json!({ "mesin": (0..jumlah).map(|_| one(self)).collect::<Vec<_>>() }))
            }
            "pelanggan/bulk" => {
                let one = |shop: &mut Self| {
                    let id = shop.id();
                    shop.balances.insert(id, number(body, "saldo"));
                    let (token, telp) = (format!("token-{id}"), format!("8199{id:07}"));
                    json!({ "id_customer_global": id, "telp": telp, "idcustomer": id, "token": token })
                };
                Ok(json!({ "pelanggan": (0..jumlah).map(|_| one(self)).collect::<Vec<_>>() }))
            }
            _ => Err((404, "alamat tidak ditemukan")),
        }
    }

    pub fn layanan(&self, body: &Value) -> Answer {
        let id = body["qr"].as_str().and_then(|qr| qr.strip_prefix("qr-")).and_then(|id| id.parse::<i64>().ok());
        let machine = id.and_then(|id| self.machines.get(&id)).ok_or((404, "Mesin Not found"))?;
        let services = self.services.iter().filter(|(_, (outlet, _))| *outlet == machine.idoutlet);
        let services: Vec<Value> = services.map(|(id, (_, s))| json!({ "id": id, "durasi": s, "harga": 1000 })).collect();
        Ok(json!({ "data_mesin": { "id": id, "status": "idle" }, "data_layanan": services }))
    }

    pub fn accounts(&self, customer: i64, faults: &Faults) -> Answer {
        if faults.hide_balances {
            return Err((503, "server sedang sibuk"));
        }
        let saldo = self.balances.get(&customer).ok_or((401, "token tidak berlaku"))? - i64::from(faults.cheat);
        Ok(json!([{ "idcustomer": customer, "quota_emoney": { "saldo": saldo, "jenis_emoney": 2 } }]))
    }

    pub fn pay(&mut self, customer: i64, body: &Value, faults: &Faults) -> Answer {
        self.payments += 1;
        if faults.pay_fails_one_in.is_some_and(|n| self.payments.is_multiple_of(n)) {
            return Err((500, "terjadi kesalahan"));
        }
        let (_, seconds) = *self.services.get(&number(body, "idsnap_layanan")).ok_or((404, "layanan tidak ditemukan"))?;
        let machine = self.machines.get_mut(&number(body, "idmesin")).ok_or((404, "Mesin Not found"))?;
        if machine.ends_at > now_ms() && !faults.many_winners {
            return Err((409, "mesin sedang digunakan"));
        }
        machine.ends_at = now_ms() + seconds * 1000;
        *self.balances.get_mut(&customer).ok_or((401, "token tidak berlaku"))? -= number(body, "grandtotal");
        Ok(json!({ "id": body["id"], "message": "Mesin Berhasil dinyalakan" }))
    }
}

fn number(body: &Value, name: &str) -> i64 {
    body[name].as_i64().unwrap_or(0)
}
