//! A small chain of outlets, arranged in the database.

use nyala::mesin::device::sim::Mode;
use nyala::mesin::messages::Said;
use nyala::mesin::registry::Alamat;
use serde_json::{Value, json};

use crate::helpers::{Answer, Customer, TestApp};

pub const HARGA: i64 = 10_000;

/// One owner's outlet with a service and a machine.
#[derive(Debug, Clone, Copy)]
pub struct Outlet {
    pub idowner: i64,
    pub idoutlet: i64,
    pub idlayanan: i64,
    pub idmesin: i64,
}

/// A purchase's body, to be changed by tests of refusals.
#[derive(Debug, Clone)]
pub struct Beli {
    pub nota: String,
    pub body: Value,
}

impl TestApp {
    async fn id(&self, sql: &str, params: &[&(dyn tokio_postgres::types::ToSql + Sync)]) -> i64 {
        self.db.query_one(sql, params).await.unwrap().get(0)
    }

    /// A new owner with one outlet, one service (`durasi_s`, `HARGA`) and one machine.
    pub async fn outlet(&self, durasi_s: i32) -> Outlet {
        let idowner = self.id("INSERT INTO owner_usaha (nama, created_at) VALUES ('Ibu Melati', $1) RETURNING idowner", &[&self.now()]).await;
        self.outlet_of(idowner, durasi_s).await
    }

    pub async fn outlet_of(&self, idowner: i64, durasi_s: i32) -> Outlet {
        let now = self.now();
        let idoutlet = self
            .id(
                "INSERT INTO outlet (idowner, nama, kota, latitude, longitude, created_at) VALUES ($1, 'Laundry Melati', 'Bandung', -6.9, 107.6, $2) RETURNING idoutlet",
                &[&idowner, &now],
            )
            .await;
        self.db.execute("INSERT INTO akun (jenis, idoutlet) VALUES ('R', $1), ('K', $1)", &[&idoutlet]).await.unwrap();
        let idlayanan = self
            .id(
                "INSERT INTO layanan (idoutlet, nama, durasi_s, harga, created_at) VALUES ($1, 'Cuci Reguler', $2, $3, $4) RETURNING idlayanan",
                &[&idoutlet, &durasi_s, &HARGA, &now],
            )
            .await;
        let idmesin = self.mesin(idowner, idoutlet).await;
        Outlet { idowner, idoutlet, idlayanan, idmesin }
    }

    pub async fn mesin(&self, idowner: i64, idoutlet: i64) -> i64 {
        let kode = nyala::domain::kode_mesin::KodeMesin::random();
        self.id(
            "INSERT INTO mesin (idoutlet, idowner, nama, driver, kode, created_at) VALUES ($1, $2, 'Mesin 01', 'sim', $3, $4) RETURNING idmesin",
            &[&idoutlet, &idowner, &kode.as_str(), &self.now()],
        )
        .await
    }

    /// An E-Pay account of `customer` at `outlet` with `saldo`, topped up through the ledger. Returns `idcustomer`.
    pub async fn epay(&self, customer: &Customer, outlet: Outlet, saldo: i64) -> i64 {
        self.id(
            "WITH c AS (
                INSERT INTO customer (id_customer_global, idoutlet, owner_idowner, created_at) VALUES ($1, $2, $3, $5) RETURNING idcustomer
            ), a AS (
                INSERT INTO akun (jenis, idoutlet, idcustomer) SELECT 'W', $2, idcustomer FROM c RETURNING idakun
            ), q AS (
                INSERT INTO quota_emoney (idcustomer, idakun, jenis_emoney, credits_posted, updated_at) SELECT c.idcustomer, a.idakun, 2, $4, $5 FROM c, a
            ), p AS (
                INSERT INTO pembelian_emoney (idcustomer, id_customer_global, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at)
                SELECT idcustomer, $1, $3, $2, 'Top-Up', $4, $4, $4, $5 FROM c RETURNING id
            ), l AS (
                INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, created_at)
                SELECT 'topup', k.idakun, a.idakun, $4, p.id, $1, c.idcustomer, $2, 'uji', $5 FROM c, a, p, akun k WHERE k.idoutlet = $2 AND k.jenis = 'K'
            ) SELECT idcustomer FROM c",
            &[&customer.id, &outlet.idoutlet, &outlet.idowner, &saldo, &self.now()],
        )
        .await
    }

    pub async fn saldo(&self, idcustomer: i64) -> i64 {
        self.id("SELECT saldo FROM quota_emoney WHERE idcustomer = $1", &[&idcustomer]).await
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

    /// The view of broken rules is empty.
    pub async fn assert_sound(&self) {
        let rows = self.db.query("SELECT aturan || ' ' || kunci FROM pelanggaran", &[]).await.unwrap();
        assert!(rows.is_empty(), "{:?}", rows.iter().map(|r| r.get::<_, String>(0)).collect::<Vec<_>>());
    }

    pub async fn buy(&self, customer: &Customer, beli: &Beli) -> Answer {
        self.post("/scan/v1/transaksi/create_snap_transaksi", Some(&customer.token), &beli.body).await
    }

    /// Puts a fault on a simulated machine, and lets the server hear what the device says of itself.
    pub async fn fault(&self, outlet: Outlet, mode: Mode) {
        let said = self.state.sim.set_mode(outlet.idmesin, mode, self.now());
        let alamat = Alamat { idmesin: outlet.idmesin, idoutlet: outlet.idoutlet, driver: "sim".to_owned() };
        self.state.mesin.tell(&self.state, &alamat, Said(said)).unwrap();
    }
}

/// The `n`th receipt of a test.
pub fn beli(n: u32, outlet: Outlet, idcustomer: i64) -> Beli {
    let nota = format!("SLF{n:015}");
    let body = json!({
        "id": nota, "idcustomer": idcustomer, "idmesin": outlet.idmesin, "idoutlet": outlet.idoutlet,
        "idsnap_layanan": outlet.idlayanan, "total": HARGA, "grandtotal": HARGA,
    });
    Beli { nota, body }
}
