//! How long reports take over a year with a million purchases: of an owner with many outlets, or all of them at one, which is the most that one can be.

use std::time::Instant;

use clap::Args;
use nyala_loadtest::fleet::Driver;
use nyala_loadtest::http::{KeptConnection, Pool, TIME_LIMIT};
use nyala_loadtest::shop::{PRICE, Shop, Wish};
use serde_json::json;
use time::format_description::well_known::Iso8601;
use time::{Duration as Days, OffsetDateTime};
use tokio_postgres::Client;

use crate::durations::Durations;
use crate::results::Figures;
use crate::server::Scratch;
use crate::shop::DURATION_S;
use crate::{BenchError, db};

const CUSTOMERS: usize = 5_000;

/// Purchase `i` of the year that ends now, by customer `i * 7919 % customers` at machine `i % machines`. Every fifth has a top-up, of each means of
/// payment in turn; every fiftieth is refunded by half, every hundredth was a hold that was given back. Each machine was offline for a quarter of an
/// hour each day, each at another time; each second one was serviced, each on another day. Without foreign keys for speed: the rows satisfy them.
const FILL: &str = "
SET session_replication_role = replica;
CREATE TEMP TABLE buyer AS
    SELECT row_number() OVER (ORDER BY c.idcustomer) - 1 AS n, c.*, q.idakun FROM customer c JOIN quota_emoney q USING (idcustomer);
CREATE TEMP TABLE machine AS SELECT row_number() OVER (ORDER BY idmesin) - 1 AS n, * FROM mesin;
CREATE TEMP TABLE purchase AS
    SELECT i, p.id_customer_global, p.idcustomer, p.owner_idowner, p.idakun, m.idmesin, m.idoutlet, 'SLF' || lpad(i::TEXT, 15, '0') AS no_nota,
        TIMESTAMPTZ '{now}' - (i * INTERVAL '1 s') * (31536000.0 / {purchases}) AS at, i % 100 = 99 AS voided
    FROM generate_series(1, {purchases}) i JOIN buyer p ON p.n = i::BIGINT * 7919 % {customers} JOIN machine m ON m.n = i % {machines};
INSERT INTO nota (id_customer_global, no_nota, body_hash, created_at) SELECT id_customer_global, no_nota, '\\x00', at FROM purchase ORDER BY at;
INSERT INTO snap_transaksi (id, id_customer_global, no_nota, idcustomer, idowner, idmesin, idoutlet, idlayanan, nama_mesin, nama_layanan,
    durasi_s, grandtotal, dikembalikan, state, cmd_id, cmd_epoch, cmd_exp, created_at, started_at, ends_at, finished_at)
OVERRIDING SYSTEM VALUE
SELECT i, id_customer_global, no_nota, idcustomer, owner_idowner, idmesin, idoutlet, {service}, 'M 1', 'Cuci', 600, {harga},
    CASE WHEN i % 50 = 0 THEN {harga} / 2 ELSE 0 END, CASE WHEN voided THEN 'REFUSED' ELSE 'FINISHED' END,
    gen_random_uuid(), {purchases} - i, at, at, CASE WHEN NOT voided THEN at END, CASE WHEN NOT voided THEN at + INTERVAL '10 min' END,
    at + INTERVAL '10 min' FROM purchase ORDER BY at;
ALTER TABLE ledger_transfer DISABLE TRIGGER ledger_mesin;
INSERT INTO ledger_transfer (id, kind, debit_akun, credit_akun, jumlah, pending_id, idtransaksi, id_customer_global, idcustomer, idoutlet,
    aktor, alasan, created_at, idmesin)
OVERRIDING SYSTEM VALUE
SELECT 10000000 + 3 * ({purchases} - b.i) + k.n, CASE WHEN b.voided AND k.n = 1 THEN 'void' ELSE k.kind END,
    CASE WHEN k.n = 2 OR k.n = 1 AND b.voided THEN r.idakun ELSE b.idakun END,
    CASE WHEN k.n = 2 OR k.n = 1 AND b.voided THEN b.idakun ELSE r.idakun END, CASE k.n WHEN 2 THEN {harga} / 2 ELSE {harga} END,
    CASE k.n WHEN 1 THEN 10000000 + 3 * ({purchases} - b.i) END, b.i, b.id_customer_global, b.idcustomer, b.idoutlet, 'sistem',
    CASE k.n WHEN 2 THEN 'kotor' END, b.at, CASE WHEN k.kind = 'post' AND NOT b.voided THEN b.idmesin END
FROM purchase b JOIN akun r ON r.idoutlet = b.idoutlet AND r.jenis = 'R' CROSS JOIN (VALUES (0, 'pending'), (1, 'post'), (2, 'refund')) k (n, kind)
WHERE k.n < 2 OR b.i % 50 = 0 ORDER BY b.at, k.n;
ALTER TABLE ledger_transfer ENABLE ALWAYS TRIGGER ledger_mesin;
SELECT hitung_siklus(idoutlet, NULL, NULL) FROM outlet;
INSERT INTO pembelian_emoney (idcustomer, id_customer_global, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at, cara_bayar)
SELECT idcustomer, id_customer_global, owner_idowner, idoutlet, 'Top-Up', 50000, 50000, 50000, at,
    (ARRAY['tunai', 'qris', 'transfer', NULL])[1 + i / 5 % 4] FROM purchase WHERE i % 5 = 0 ORDER BY at;
INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, created_at)
SELECT 'topup', k.idakun, b.idakun, p.quota, p.id, p.id_customer_global, p.idcustomer, p.idoutlet, 'operator:1', p.created_at
FROM pembelian_emoney p JOIN buyer b USING (idcustomer) JOIN akun k ON k.idoutlet = p.idoutlet AND k.jenis = 'K'
WHERE NOT EXISTS (SELECT FROM ledger_transfer t WHERE t.idpembelian_emoney = p.id AND t.kind = 'topup') ORDER BY p.created_at;
INSERT INTO keadaan_mesin (idmesin, keadaan, dari, sampai)
SELECT m.idmesin, 'offline', day + n * INTERVAL '14 min', day + (n + 1) * INTERVAL '14 min'
FROM machine m, generate_series(TIMESTAMPTZ '{now}' - INTERVAL '1 year', TIMESTAMPTZ '{now}' - INTERVAL '1 day', INTERVAL '1 day') day;
UPDATE outlet SET created_at = '2020-01-01Z', dibuka_at = '2020-01-01Z';
UPDATE mesin SET created_at = '2020-01-01Z',
    servis_at = CASE WHEN idmesin % 2 = 0 THEN TIMESTAMPTZ '{now}' - idmesin * INTERVAL '25 h 7 min' END;
SET session_replication_role = origin;";

#[derive(Debug, PartialEq, Eq, Args)]
pub struct ReportTimes {
    /// Purchases in the year
    #[arg(long, default_value_t = Self::default().purchases, value_parser = clap::value_parser!(u32).range(1000..=10_000_000))]
    pub purchases: u32,
    /// Outlets that share them
    #[arg(long, default_value_t = Self::default().outlets, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub outlets: u32,
    /// Machines of each outlet
    #[arg(long, default_value_t = Self::default().machines, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub machines: u32,
    /// Calls of each report
    #[arg(long, default_value_t = Self::default().calls, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub calls: u32,
}

impl Default for ReportTimes {
    fn default() -> Self {
        Self { purchases: 1_000_000, outlets: 10, machines: 28, calls: 20 }
    }
}

impl ReportTimes {
    /// # Errors
    /// When the rows cannot be made, or a report is refused.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let scratch = Scratch::make()?;
        let mut server = scratch.start().await?;
        let Self { purchases, outlets, machines, .. } = self;
        let wish = Wish {
            driver: Driver::Sim,
            machines: (machines * outlets) as usize,
            machines_per_outlet: *machines as usize,
            customers: CUSTOMERS,
            duration_s: DURATION_S,
        };
        let shop = Shop::open(&Pool::new(server.address(), 1), &server.root_key().await?, wish).await?;
        let postgres = db::open(&scratch.data())?;
        let client = db::connect(&postgres).await?;
        let now = OffsetDateTime::now_utc();
        self.fill(&client, &shop, now).await?;
        db::settle(&client).await?;
        let mut lines =
            vec![format!("{purchases} purchases in a year, {outlets} outlets of {machines} machines, {CUSTOMERS} customers")];
        let day = |ago: i64| (now - Days::days(ago)).date();
        let quarter = format!("dari={}&sampai={}", day(91), day(0));
        let middle = format!("dari={}&sampai={}", day(250), day(159));
        let first = format!("dari={}&sampai={}", day(360), day(269));
        let mut reports = vec![
            ("ringkasan, yesterday".to_owned(), format!("ringkasan?dari={0}&sampai={0}", day(1))),
            ("ringkasan, the last 92 days".to_owned(), format!("ringkasan?{quarter}")),
        ];
        for name in ["harian", "mesin", "shift", "saldo"] {
            reports.push((format!("laporan/{name}, the last 92 days"), format!("laporan/{name}?{quarter}")));
        }
        reports.push(("laporan/saldo, 92 days in the middle".to_owned(), format!("laporan/saldo?{middle}")));
        reports.push(("laporan/saldo, the first 92 days".to_owned(), format!("laporan/saldo?{first}")));
        reports.push((
            "laporan/pemakaian, the first page of the last 92 days".to_owned(),
            format!("laporan/pemakaian?limit=100&{quarter}"),
        ));
        let key = server.root_key().await?;
        let http = KeptConnection::open(server.address()).await?;
        let mut reader = Reader { http, auth: format!("Bearer {key}"), idoutlet: shop.machines[0].idoutlet };
        for (name, call) in reports {
            let mut times = Durations::default();
            for _ in 0..self.calls {
                let asked = Instant::now();
                reader.read(&call).await?;
                times.add(asked.elapsed());
            }
            lines.push(format!("{name}: **{:.0} ms** median, {:.0} ms at most, of {}", times.ms(0.5), times.ms(1.0), self.calls));
        }
        lines.push("Aim: at most 200 ms each".to_owned());
        server.stop().await?;
        Ok(Figures::list(format!("Reports of an outlet, {purchases} purchases in a year, {outlets} outlets"), &lines))
    }

    async fn fill(&self, client: &Client, shop: &Shop, now: OffsetDateTime) -> Result<(), BenchError> {
        let numbers = [
            ("{purchases}", i64::from(self.purchases).to_string()),
            ("{customers}", CUSTOMERS.to_string()),
            ("{machines}", (self.machines * self.outlets).to_string()),
            ("{service}", shop.machines[0].idlayanan.to_string()),
            ("{durasi}", DURATION_S.to_string()),
            ("{harga}", PRICE.to_string()),
            ("{now}", now.format(&Iso8601::DEFAULT)?),
        ];
        let sql = numbers.iter().fold(FILL.to_owned(), |sql, (name, value)| sql.replace(name, value));
        Ok(client.batch_execute(&sql).await?)
    }
}

/// Asks for reports of one outlet.
struct Reader {
    http: KeptConnection,
    auth: String,
    idoutlet: i64,
}

impl Reader {
    async fn read(&mut self, call: &str) -> Result<(), BenchError> {
        let path = format!("/ops/v1/{call}&idoutlet={}", self.idoutlet);
        let answer = self.http.ask("GET", &path, &[("authorization", &self.auth)], &json!(null), TIME_LIMIT).await?;
        if answer.status == 200 { Ok(()) } else { Err(format!("{path}: {answer:?}").into()) }
    }
}
