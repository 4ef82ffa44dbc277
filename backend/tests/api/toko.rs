//! A shop to buy in: an outlet, a machine, a service, and the orders of its customers.

use nyala::mesin::device::sim::Mode;
use nyala::mesin::messages::Said;
use nyala::mesin::registry::Alamat;
use serde_json::{Value, json};

use crate::arrange::Outlet;
use crate::helpers::{Answer, Customer, TestApp};

pub const HARGA: i64 = 10_000;

/// An outlet with a service and a machine.
#[derive(Debug, Clone, Copy)]
pub struct Toko {
    pub outlet: Outlet,
    pub idlayanan: i64,
    pub idmesin: i64,
}

/// A purchase's body, to be changed by tests of refusals.
#[derive(Debug, Clone)]
pub struct Pesanan {
    pub nota: String,
    pub body: Value,
}

impl TestApp {
    /// A new owner's outlet with one service of `durasi_s` for `HARGA` and one machine.
    pub async fn toko(&self, durasi_s: i32) -> Toko {
        let outlet = self.outlet("Laundry Melati").await;
        let mesin = self.mesin(outlet, "Mesin 01").await;
        self.db
            .execute("UPDATE layanan SET durasi_s = $2, harga = $3 WHERE idlayanan = $1", &[&mesin.idlayanan, &durasi_s, &HARGA])
            .await
            .unwrap();
        Toko { outlet, idlayanan: mesin.idlayanan, idmesin: mesin.idmesin }
    }

    /// `idcustomer` of an account of `customer` there, topped up with `saldo`.
    pub async fn dompet(&self, customer: &Customer, toko: Toko, saldo: i64) -> i64 {
        self.funded(customer, toko.outlet, saldo).await.idcustomer
    }

    pub async fn saldo(&self, idcustomer: i64) -> i64 {
        self.insert("SELECT saldo FROM quota_emoney WHERE idcustomer = $1", &[&idcustomer]).await
    }

    /// The state of every purchase of a receipt number.
    pub async fn states(&self, nota: &str) -> Vec<String> {
        let rows = self.db.query("SELECT state FROM snap_transaksi WHERE no_nota = $1", &[&nota]).await.unwrap();
        rows.iter().map(|r| r.get(0)).collect()
    }

    /// Waits until a receipt's purchase has reached `state`; the server looks for lost work every second.
    pub async fn until(&self, nota: &str, state: &str) {
        for _ in 0..3_000 {
            if self.states(nota).await == [state] {
                return;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("{nota} is {:?}, not {state}", self.states(nota).await);
    }

    pub async fn buy(&self, customer: &Customer, pesanan: &Pesanan) -> Answer {
        self.post("/scan/v1/transaksi/create_snap_transaksi", Some(&customer.token), &pesanan.body).await
    }

    /// Puts a fault on a simulated machine, and lets the server hear what the device says of itself.
    pub async fn fault(&self, toko: Toko, mode: Mode) {
        let said = self.state.sim.set_mode(toko.idmesin, mode, self.now());
        let alamat = Alamat { idmesin: toko.idmesin, idoutlet: toko.outlet.idoutlet, driver: "sim".to_owned() };
        self.state.mesin.tell(&self.state, &alamat, Said(said)).unwrap();
    }
}

/// The `n`th receipt of a test.
pub fn beli(n: u32, toko: Toko, idcustomer: i64) -> Pesanan {
    let nota = format!("SLF{n:015}");
    let body = json!({
        "id": nota, "idcustomer": idcustomer, "idmesin": toko.idmesin, "idoutlet": toko.outlet.idoutlet,
        "idsnap_layanan": toko.idlayanan, "total": HARGA, "grandtotal": HARGA,
    });
    Pesanan { nota, body }
}
