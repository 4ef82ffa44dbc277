//! Test rows, inserted straight into the database: outlets, machines, accounts and every movement of money.

use nyala_core::domain::id::{CustomerId, MachineId, OutletId, OwnerId, ServiceId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use serde_json::Value;
use tokio_postgres::types::{FromSqlOwned, ToSql};

use crate::support::helpers::{Customer, TestApp};

/// An outlet with its chart of accounts.
#[derive(Debug, Clone, Copy)]
pub struct Outlet {
    pub idowner: OwnerId,
    pub idoutlet: OutletId,
    revenue: i64,
    cash: i64,
}

/// An E-Pay account with its wallet.
#[derive(Debug, Clone, Copy)]
pub struct Epay {
    pub idcustomer: WalletId,
    pub id_customer_global: CustomerId,
    pub outlet: Outlet,
    pub idakun: i64,
}

/// A machine and a service at its outlet.
#[derive(Debug, Clone)]
pub struct Machine {
    pub idmesin: MachineId,
    pub idlayanan: ServiceId,
    pub code: String,
    pub qr: String,
}

/// A purchase: its row and its receipt number.
#[derive(Debug, Clone)]
pub struct Bought {
    pub id: i64,
    pub receipt: String,
    pub price: i64,
    epay: Epay,
}

impl TestApp {
    /// The number that an INSERT returns.
    pub async fn insert(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> i64 {
        self.insert_id(sql, params).await
    }

    /// The id that an INSERT returns.
    pub async fn insert_id<T: FromSqlOwned>(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> T {
        self.db.query_one(sql, params).await.unwrap_or_else(|e| panic!("{sql}: {e:?}")).get(0)
    }

    pub async fn owner(&self) -> OwnerId {
        self.insert_id("INSERT INTO owner_usaha (nama, created_at) VALUES ('Bu Ani', $1) RETURNING idowner", &[&self.now()]).await
    }

    /// An outlet of `idowner`, in Bandung.
    pub async fn outlet_of(&self, idowner: OwnerId, name: &str) -> Outlet {
        let idoutlet = self
            .insert_id(
                "INSERT INTO outlet (idowner, nama, kota, latitude, longitude, created_at) VALUES ($1, $2, 'Bandung', -6.9, 107.6, $3) RETURNING idoutlet",
                &[&idowner, &name, &self.now()],
            )
            .await;
        let akun = "INSERT INTO akun (jenis, idoutlet) VALUES ($1, $2) RETURNING idakun";
        let revenue = self.insert(akun, &[&"R", &idoutlet]).await;
        let cash = self.insert(akun, &[&"K", &idoutlet]).await;
        Outlet { idowner, idoutlet, revenue, cash }
    }

    /// An outlet of a new owner.
    pub async fn outlet(&self, name: &str) -> Outlet {
        self.outlet_of(self.owner().await, name).await
    }

    /// An idle machine named `nama` and the service 'Cuci Kilat', 30 minutes for 10,000 rupiah.
    pub async fn machine(&self, outlet: Outlet, name: &str) -> Machine {
        let code = nyala_core::domain::machine_code::MachineCode::random(&mut rand::rng()).as_str().to_owned();
        let idmesin = self
            .insert_id(
                "INSERT INTO mesin (idoutlet, idowner, nama, driver, kode, created_at) VALUES ($1, $2, $3, 'sim', $4, $5) RETURNING idmesin",
                &[&outlet.idoutlet, &outlet.idowner, &name, &code, &self.now()],
            )
            .await;
        let idlayanan = self.service(outlet, "Cuci Kilat", 10_000).await;
        Machine { idmesin, idlayanan, code, qr: nyala_identity::qr::machine::make(&self.state.keyring.get(), idmesin, 1) }
    }

    /// A service of 30 minutes.
    pub async fn service(&self, outlet: Outlet, name: &str, price: i64) -> ServiceId {
        self.insert_id(
            "INSERT INTO layanan (idoutlet, nama, durasi_s, harga, created_at) VALUES ($1, $2, 1800, $3, $4) RETURNING idlayanan",
            &[&outlet.idoutlet, &name, &price, &self.now()],
        )
        .await
    }

    /// An account without balance; `masa_aktif` makes it kind 1.
    pub async fn epay(&self, customer: &Customer, outlet: Outlet, masa_aktif: Option<Timestamp>) -> Epay {
        let idcustomer = self
            .insert_id(
                "INSERT INTO customer (id_customer_global, idoutlet, owner_idowner, created_at) VALUES ($1, $2, $3, $4) RETURNING idcustomer",
                &[&customer.id, &outlet.idoutlet, &outlet.idowner, &self.now()],
            )
            .await;
        let idakun = self
            .insert(
                "INSERT INTO akun (jenis, idoutlet, idcustomer) VALUES ('W', $1, $2) RETURNING idakun",
                &[&outlet.idoutlet, &idcustomer],
            )
            .await;
        self.db
            .execute(
                "INSERT INTO quota_emoney (idcustomer, idakun, jenis_emoney, masa_aktif, updated_at)
                 VALUES ($1, $2, CASE WHEN $3::TIMESTAMPTZ IS NULL THEN 2 ELSE 1 END, $3, $4)",
                &[&idcustomer, &idakun, &masa_aktif, &self.now()],
            )
            .await
            .unwrap();
        Epay { idcustomer, id_customer_global: customer.id, outlet, idakun }
    }

    /// An account that never expires with `saldo`, topped up once.
    pub async fn funded(&self, customer: &Customer, outlet: Outlet, balance: i64) -> Epay {
        let epay = self.epay(customer, outlet, None).await;
        self.topup(epay, balance).await;
        epay
    }

    /// Adds `quota`; returns `idpembelian_emoney`.
    pub async fn topup(&self, epay: Epay, quota: i64) -> i64 {
        let balance = "UPDATE quota_emoney SET credits_posted = credits_posted + $2 WHERE idcustomer = $1 RETURNING saldo";
        let balance = self.insert(balance, &[&epay.idcustomer, &quota]).await;
        let id = self
            .insert(
                "INSERT INTO pembelian_emoney (idcustomer, id_customer_global, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at)
                 VALUES ($1, $2, $3, $4, 'Top-Up', $5, $5, $6, $7) RETURNING id",
                &[&epay.idcustomer, &epay.id_customer_global, &epay.outlet.idowner, &epay.outlet.idoutlet, &quota, &balance, &self.now()],
            )
            .await;
        self.insert(
            "INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, created_at)
             VALUES ('topup', $1, $2, $3, $4, $5, $6, $7, 'uji', $8) RETURNING id",
            &[&epay.outlet.cash, &epay.idakun, &quota, &id, &epay.id_customer_global, &epay.idcustomer, &epay.outlet.idoutlet, &self.now()],
        )
        .await;
        id
    }

    /// Reserves `machine` and holds the price of its service: state HELD.
    pub async fn hold(&self, epay: Epay, machine: &Machine, receipt: &str) -> Bought {
        let now = self.now();
        self.db
            .execute(
                "INSERT INTO nota (id_customer_global, no_nota, body_hash, created_at) VALUES ($1, $2, '', $3)",
                &[&epay.id_customer_global, &receipt, &now],
            )
            .await
            .unwrap();
        let row = self
            .db
            .query_one(
                "INSERT INTO snap_transaksi (id_customer_global, no_nota, idcustomer, idowner, idmesin, idoutlet, idlayanan, nama_mesin, nama_layanan,
                   durasi_s, grandtotal, state, cmd_id, cmd_epoch, cmd_exp, created_at)
                 SELECT $1, $2, $3, m.idowner, m.idmesin, m.idoutlet, l.idlayanan, m.nama, l.nama, l.durasi_s, l.harga, 'HELD', gen_random_uuid(), 1, $6::TIMESTAMPTZ + interval '10 s', $6
                 FROM mesin m, layanan l WHERE m.idmesin = $4 AND l.idlayanan = $5 RETURNING id, grandtotal",
                &[&epay.id_customer_global, &receipt, &epay.idcustomer, &machine.idmesin, &machine.idlayanan, &now],
            )
            .await
            .unwrap();
        let buy = Bought { id: row.get(0), receipt: receipt.to_owned(), price: row.get(1), epay };
        self.wallet(&buy, "debits_pending = debits_pending + $2", buy.price).await;
        self.ledger(&buy, "pending", buy.price).await;
        buy
    }

    /// The device acked `started`: state RUNNING, until the service's duration is over.
    pub async fn started(&self, buy: &Bought) {
        self.db
            .execute(
                "UPDATE snap_transaksi SET state = 'RUNNING', started_at = $2, ends_at = $2::TIMESTAMPTZ + make_interval(secs => durasi_s) WHERE id = $1",
                &[&buy.id, &self.now()],
            )
            .await
            .unwrap();
        self.wallet(buy, "debits_pending = debits_pending - $2, debits_posted = debits_posted + $2", buy.price).await;
        self.ledger(buy, "post", buy.price).await;
    }

    /// The cycle ended.
    pub async fn finished(&self, buy: &Bought) {
        let sql = "UPDATE snap_transaksi SET state = 'FINISHED', finished_at = $2 WHERE id = $1";
        self.db.execute(sql, &[&buy.id, &self.now()]).await.unwrap();
    }

    /// Held, started and finished.
    pub async fn used(&self, epay: Epay, machine: &Machine, receipt: &str) -> Bought {
        let buy = self.hold(epay, machine, receipt).await;
        self.started(&buy).await;
        self.finished(&buy).await;
        buy
    }

    /// The device refused: the money is back.
    pub async fn refused(&self, buy: &Bought) {
        let sql = "UPDATE snap_transaksi SET state = 'REFUSED', finished_at = $2 WHERE id = $1";
        self.db.execute(sql, &[&buy.id, &self.now()]).await.unwrap();
        self.wallet(buy, "debits_pending = debits_pending - $2", buy.price).await;
        self.ledger(buy, "void", buy.price).await;
    }

    /// Refunds part of the price.
    pub async fn refund(&self, buy: &Bought, amount: i64) {
        self.db
            .execute("UPDATE snap_transaksi SET dikembalikan = dikembalikan + $2 WHERE id = $1", &[&buy.id, &amount])
            .await
            .unwrap();
        self.wallet(buy, "credits_posted = credits_posted + $2", amount).await;
        self.ledger(buy, "refund", amount).await;
    }

    /// Deletes the purchase. `left` is the part of its price that is not refunded yet.
    pub async fn delete(&self, buy: &Bought, left: i64) {
        let sql = "UPDATE snap_transaksi SET dikembalikan = dikembalikan + $2, dihapus_at = $3 WHERE id = $1";
        self.db.execute(sql, &[&buy.id, &left, &self.now()]).await.unwrap();
        self.wallet(buy, "credits_posted = credits_posted + $2", left).await;
        self.ledger(buy, "hapus", left).await;
    }

    async fn wallet(&self, buy: &Bought, set: &str, amount: i64) {
        let sql = format!("UPDATE quota_emoney SET {set} WHERE idcustomer = $1 RETURNING saldo");
        self.insert(&sql, &[&buy.epay.idcustomer, &amount]).await;
    }

    async fn ledger(&self, buy: &Bought, kind: &str, amount: i64) {
        let (balance_of, revenue) = (buy.epay.idakun, buy.epay.outlet.revenue);
        let (debit, credit) = if matches!(kind, "pending" | "post") { (balance_of, revenue) } else { (revenue, balance_of) };
        self.insert(
            "INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, pending_id, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, alasan, created_at)
             SELECT $2, $3, $4, $5, CASE WHEN $2 IN ('post', 'void') THEN (SELECT id FROM ledger_transfer WHERE idtransaksi = t.id AND kind = 'pending') END,
               t.id, t.id_customer_global, t.idcustomer, t.idoutlet, 'uji', 'uji', $6 FROM snap_transaksi t WHERE t.id = $1 RETURNING id",
            &[&buy.id, &kind, &debit, &credit, &amount, &self.now()],
        )
        .await;
    }

    /// A server of the release before 0.3 is alive, which cannot read the newer kinds of the ledger; or no longer.
    pub async fn older_server_is_alive(&self, is_alive: bool) {
        const ALIVE: &str = "
            INSERT INTO node (name, version, knows, started_at, alive_until, late_since)
            VALUES ('n7', '0.1.0', 20270102, $1, $1::TIMESTAMPTZ + INTERVAL '1000 years', $1)";
        if is_alive {
            self.db.execute(ALIVE, &[&self.now()]).await.unwrap();
        } else {
            self.db.execute("DELETE FROM node WHERE name = 'n7'", &[]).await.unwrap();
        }
    }

    /// Checks that the rows obey the ledger's rules: a test on impossible rows proves nothing.
    pub async fn assert_no_violation(&self) {
        let rows = self.db.query("SELECT aturan, kunci FROM pelanggaran", &[]).await.unwrap();
        assert!(rows.is_empty(), "{:?}", rows.iter().map(|r| (r.get::<_, String>(0), r.get::<_, String>(1))).collect::<Vec<_>>());
    }
}

/// A receipt number ending in `n`.
pub fn receipt(n: u32) -> String {
    format!("SLF2611201805{n:05}")
}

/// `value[key]` of every element, for comparing a column at a glance.
pub fn column<'a>(list: &'a Value, key: &str) -> Vec<&'a Value> {
    list.as_array().expect("a list").iter().map(|row| &row[key]).collect()
}
