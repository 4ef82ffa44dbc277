//! How long a page of the history takes when the ledger has a million rows.

use std::time::Instant;

use clap::Args;
use nyala_loadtest::http::{KeptConnection, TIME_LIMIT};
use nyala_loadtest::server::Server;
use nyala_loadtest::shop::{PRICE, Shop};
use serde_json::json;
use tokio_postgres::Client;

use crate::durations::Durations;
use crate::results::Figures;
use crate::server::Scratch;
use crate::shop::{self, DURATION_S};
use crate::{BenchError, db};

const PATH: &str = "/scan/v1/transaksi/list_history";
/// The app's page (docs/product.md §9).
pub const PAGE: u32 = 20;
/// Finished purchases with hold and posting, number `i` by customer `i % customers`, so that a page is from as many places of the table
/// as it can be. Without triggers and foreign keys for speed: the rows satisfy them.
const FILL: &str = "
SET session_replication_role = replica;
CREATE TEMP TABLE buyer AS
    SELECT row_number() OVER (ORDER BY c.idcustomer) - 1 AS n, c.*, q.idakun FROM customer c JOIN quota_emoney q USING (idcustomer);
CREATE TEMP TABLE purchase AS
    SELECT i, p.id_customer_global, p.idcustomer, p.idoutlet, p.owner_idowner, p.idakun, 'SLF' || lpad(i::TEXT, 15, '0') AS no_nota,
        TIMESTAMPTZ '2026-01-01 00:00:00+00' + i * INTERVAL '10 s' AS at
    FROM generate_series(1, {purchases}) i JOIN buyer p ON p.n = i % {customers};
INSERT INTO nota (id_customer_global, no_nota, body_hash, created_at) SELECT id_customer_global, no_nota, '\\x00', at FROM purchase ORDER BY i;
INSERT INTO snap_transaksi (id, id_customer_global, no_nota, idcustomer, idowner, idmesin, idoutlet, idlayanan, nama_mesin, nama_layanan,
    durasi_s, grandtotal, state, cmd_id, cmd_epoch, cmd_exp, created_at, started_at, ends_at, finished_at)
OVERRIDING SYSTEM VALUE
SELECT i, id_customer_global, no_nota, idcustomer, owner_idowner, {machine}, idoutlet, {service}, 'M 1', 'Cuci', {durasi}, {harga}, 'FINISHED',
    gen_random_uuid(), i, at, at, at, at, at FROM purchase ORDER BY i;
INSERT INTO ledger_transfer (id, kind, debit_akun, credit_akun, jumlah, pending_id, idtransaksi, id_customer_global, idcustomer, idoutlet,
    aktor, created_at)
OVERRIDING SYSTEM VALUE
SELECT 1000000 + 2 * b.i + k.n, k.kind, b.idakun, r.idakun, {harga}, CASE k.n WHEN 1 THEN 1000000 + 2 * b.i END, b.i, b.id_customer_global,
    b.idcustomer, b.idoutlet, 'sistem', b.at
FROM purchase b JOIN akun r ON r.idoutlet = b.idoutlet AND r.jenis = 'R' CROSS JOIN (VALUES (0, 'pending'), (1, 'post')) k (n, kind)
ORDER BY b.i, k.n;
SET session_replication_role = origin;";

#[derive(Debug, PartialEq, Eq, Args)]
pub struct HistoryPages {
    /// Rows of the ledger; every second one is a row of somebody's history
    #[arg(long, default_value_t = Self::default().rows, value_parser = clap::value_parser!(u32).range(1000..=100_000_000))]
    pub rows: u32,
    /// Whose they are, equally; 1: all of one customer
    #[arg(long, default_value_t = Self::default().customers, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    customers: u32,
    /// Calls per page
    #[arg(long, default_value_t = Self::default().calls, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    calls: u32,
}

impl Default for HistoryPages {
    fn default() -> Self {
        Self { rows: 1_000_000, customers: 100, calls: 200 }
    }
}

impl HistoryPages {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { rows: 100_000, customers: 20, calls: 50 }
    }

    /// # Errors
    /// When the rows cannot be made, or a page is not the expected one.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let own = self.rows / 2 / self.customers;
        let skips = skips(own).ok_or_else(|| {
            format!("--rows must be at least {}: {} histories of a page of {PAGE}", 2 * PAGE * self.customers, self.customers)
        })?;
        let mut pages = Pages::open(self).await?;
        let mut lines =
            vec![format!("{} rows in the ledger, {own} purchases in each of {} histories", pages.rows, self.customers)];
        for (name, skip) in skips {
            let mut times = Durations::default();
            for _ in 0..self.calls {
                let asked = Instant::now();
                pages.next(skip).await?;
                times.add(asked.elapsed());
            }
            lines.push(format!(
                "{name} (skip {skip}, limit {PAGE}): **{:.2} ms** median, {:.2} ms p99, of {}",
                times.ms(0.5),
                times.ms(0.99),
                self.calls
            ));
        }
        lines.push("Aim: at most 5 ms".to_owned());
        pages.close().await?;
        Ok(Figures::list(format!("History, {} rows, {} customers", self.rows, self.customers), &lines))
    }

    async fn fill(&self, client: &Client, shop: &Shop) -> Result<(), BenchError> {
        let numbers = [
            ("{purchases}", i64::from(self.rows / 2)),
            ("{customers}", self.customers.into()),
            ("{machine}", shop.machines[0].idmesin),
            ("{service}", shop.machines[0].idlayanan),
            ("{durasi}", DURATION_S.into()),
            ("{harga}", PRICE.cast_signed()),
        ];
        let sql = numbers.iter().fold(FILL.to_owned(), |sql, (name, n)| sql.replace(name, &n.to_string()));
        Ok(client.batch_execute(&sql).await?)
    }
}

/// Pages of a history of `own` rows: the first one, the oldest one, and between them the 51st, or an earlier one of a shorter history. Each is full;
/// a history without a full page has none.
fn skips(own: u32) -> Option<Vec<(String, u32)>> {
    let oldest = own.checked_sub(PAGE)?;
    let middle = (50 * PAGE).min(oldest / 2 / PAGE * PAGE);
    let mut skips = vec![("First page".to_owned(), 0)];
    skips.extend((middle > 0).then(|| (format!("Page {}", middle / PAGE + 1), middle)));
    skips.extend((oldest > 0).then(|| ("The oldest page".to_owned(), oldest)));
    Some(skips)
}

/// A server with that ledger, and a connection to read it by.
pub struct Pages {
    /// Of the ledger, everything counted.
    rows: i64,
    http: KeptConnection,
    shop: Shop,
    /// Whose page comes next.
    at: usize,
    server: Server,
    _scratch: Scratch,
}

impl Pages {
    /// # Errors
    /// When the rows cannot be made.
    pub async fn open(history: &HistoryPages) -> Result<Self, BenchError> {
        let scratch = Scratch::make()?;
        let server = scratch.start().await?;
        let shop = shop::open(&server, 1, history.customers as usize).await?;
        let postgres = db::open(&scratch.data())?;
        let client = db::connect(&postgres).await?;
        history.fill(&client, &shop).await?;
        db::settle(&client).await?;
        let rows = client.query_one("SELECT count(*) FROM ledger_transfer", &[]).await?.get(0);
        let http = KeptConnection::open(server.address()).await?;
        Ok(Self { rows, http, shop, at: 0, server, _scratch: scratch })
    }

    /// The page after `skip` rows of the next customer.
    ///
    /// # Errors
    /// When it is not a full page.
    pub async fn next(&mut self, skip: u32) -> Result<(), BenchError> {
        let body = json!({ "skip": skip, "limit": PAGE, "jenis": "", "outlet": "" });
        let auth = format!("Bearer {}", self.shop.customers[self.at].token);
        self.at = (self.at + 1) % self.shop.customers.len();
        let answer = self.http.ask("POST", PATH, &[("authorization", &auth)], &body, TIME_LIMIT).await?;
        let is_full = answer.status == 200 && answer.data["returned"] == PAGE;
        if is_full { Ok(()) } else { Err(format!("a page of {PAGE} rows was expected: {answer:?}").into()) }
    }

    /// # Errors
    /// When the server does not stop.
    pub async fn close(mut self) -> Result<(), BenchError> {
        Ok(self.server.stop().await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_that_a_history_has_are_asked_for() {
        let pages = |own| skips(own).map(|skips| skips.iter().map(|(name, skip)| format!("{name} {skip}")).collect::<Vec<_>>());
        assert_eq!(pages(5_000).unwrap(), ["First page 0", "Page 51 1000", "The oldest page 4980"]);
        assert_eq!(pages(500).unwrap(), ["First page 0", "Page 13 240", "The oldest page 480"]);
        assert_eq!(pages(30).unwrap(), ["First page 0", "The oldest page 10"]);
        assert_eq!(pages(20).unwrap(), ["First page 0"]);
        assert_eq!(pages(19), None);
    }
}
