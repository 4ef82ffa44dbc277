//! A server in this process with its own port and its own database, which is dropped when the test ends.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use actix_server::ServerHandle;
use actix_web::http::header::HeaderMap;
use argon2::password_hash::{PasswordHasher, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use nyala::app::AppState;
use nyala::app::{devices, server};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::{Driver, Drivers};
use nyala_store::clock::{Clock, wall_clock};
use nyala_store::config::ServerSettings;
use nyala_store::db::lock;
use serde_json::Value;
use tokio_postgres::Client;

use crate::support::database::Database;

/// The password of every customer that `register_customer` makes.
pub const PASSWORD: &str = "Rahasia123";

/// Argon2 with its smallest parameters, which the hash contains: a test's customer does not cost 19 MiB.
static CHEAP_HASH: LazyLock<String> = LazyLock::new(|| cheap_hash(PASSWORD));

/// A hash of `password` that verifies in microseconds.
pub fn cheap_hash(password: &str) -> String {
    let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
    argon.hash_password(password.as_bytes(), &SaltString::from_b64("dWppdWppdWppdWpp").unwrap()).unwrap().to_string()
}

/// A customer with a token, made without the routes.
#[derive(Debug, Clone)]
pub struct Customer {
    /// `id_customer_global`.
    pub id: CustomerId,
    pub telp: String,
    pub token: String,
}

/// A response in the envelope of docs/contract.md §1. The envelope is checked for every response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub message: String,
    pub data: Value,
    pub headers: HeaderMap,
}

impl Answer {
    #[track_caller]
    pub fn expect(&self, status: u16, message: &str) -> &Self {
        assert_eq!((self.status, self.message.as_str()), (status, message), "data: {}", self.data);
        self
    }

    /// Asserts status 200 and returns the data.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}: {}", self.message, self.data);
        self.data
    }

    /// `Retry-After` of a 429, in seconds. The message must name the same number.
    #[track_caller]
    pub fn retry_after_s(&self) -> i64 {
        assert_eq!(self.status, 429, "{}", self.message);
        let text = self.headers.get("retry-after").expect("a 429 has Retry-After").to_str().unwrap();
        assert!(self.message.split(' ').any(|word| word == text), "`{}` must name {text} seconds", self.message);
        text.parse().unwrap()
    }
}

/// Sends one request and checks the envelope. Returns an error when no response arrives.
pub async fn call(
    http: &awc::Client,
    base_url: &str,
    method: &str,
    path: &str,
    token: Option<&str>,
    headers: &[(&str, &str)],
    body: Option<Vec<u8>>,
) -> Result<Answer, String> {
    let method = actix_web::http::Method::from_str(method).expect("a method");
    let mut req = http.request(method, format!("{base_url}{path}"));
    if let Some(token) = token {
        req = req.bearer_auth(token);
    }
    for (name, value) in headers {
        req = req.insert_header((*name, *value));
    }
    let sent = match body {
        Some(bytes) => req.content_type("application/json").send_body(bytes),
        None => req.send(),
    };
    let mut res = sent.await.map_err(|e| e.to_string())?;
    let bytes = res.body().limit(16 << 20).await.map_err(|e| e.to_string())?;
    let status = res.status().as_u16();
    let value: Value = serde_json::from_slice(&bytes)
        .unwrap_or_else(|e| panic!("{path} answered {status} without an envelope ({e}): {}", String::from_utf8_lossy(&bytes)));
    assert_eq!(value["status"], status, "{path}: the envelope's status is the HTTP status");
    assert!(res.headers().contains_key("x-request-id"), "{path}: x-request-id");
    Ok(Answer {
        status,
        message: value["message"].as_str().expect("a message").to_owned(),
        data: value.get("data").expect("data").clone(),
        headers: res.headers().clone(),
    })
}

/// How to start a `TestApp`.
pub struct Setup {
    config: ServerSettings,
    clock: Clock,
    drivers: Drivers,
    url: Option<String>,
    send_buffer_bytes: Option<usize>,
    device_send_buffer_bytes: Option<usize>,
}

impl Setup {
    /// Development settings, and a clock that is stopped at the present second.
    pub fn new() -> Self {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config");
        let mut config = ServerSettings::load(Some(&dir), &[]).expect("settings");
        config.http.host = "127.0.0.1".to_owned();
        config.http.port = 0;
        config.mqtt.port = 0;
        config.http.workers = 1;
        config.database.connections = 16;
        // How long requests wait depends on how busy the machine is.
        config.database.admission_ms = 0;
        config.dev.seed_demo = false;
        config.dev.routes = true;
        let now_s = wall_clock().ms() / 1000;
        Self {
            config,
            clock: Clock::standing_at(Timestamp::from_ms(now_s * 1000)),
            drivers: Drivers::default(),
            url: None,
            send_buffer_bytes: None,
            device_send_buffer_bytes: None,
        }
    }

    /// A clock that runs from the present on.
    pub fn running_clock(mut self) -> Self {
        self.clock = Clock::running_from(wall_clock());
        self
    }

    /// Uses `driver` for devices of `kind`.
    pub fn driver(mut self, kind: DriverKind, driver: Arc<dyn Driver>) -> Self {
        self.drivers = self.drivers.with(kind, driver);
        self
    }

    /// Uses the database at `url`.
    pub fn at(mut self, url: String) -> Self {
        self.url = Some(url);
        self
    }

    /// Changes a setting.
    pub fn with(mut self, change: impl FnOnce(&mut ServerSettings)) -> Self {
        change(&mut self.config);
        self
    }

    /// The settings that the server would start with.
    pub fn config(self) -> ServerSettings {
        self.config
    }

    /// Limits the kernel's send buffer for a client, so that the server soon has to buffer for one that does not read.
    pub fn send_buffer(mut self, bytes: usize) -> Self {
        self.send_buffer_bytes = Some(bytes);
        self
    }

    /// The same for a device's connection.
    pub fn device_send_buffer(mut self, bytes: usize) -> Self {
        self.device_send_buffer_bytes = Some(bytes);
        self
    }

    /// Starts the server on a fresh database.
    pub async fn start(self) -> TestApp {
        let database = match &self.url {
            Some(url) => Database::external(url.clone()),
            None => Database::create().await,
        };
        let data_dir = database.scratch_dir();
        TestApp::start(self, Arc::new(database), data_dir).await
    }

    /// Starts the server on the database of `other` and with its keys.
    pub async fn start_beside(self, other: &TestApp) -> TestApp {
        let data_dir = other.data_dir.with_extension(&self.config.cluster.name);
        std::fs::create_dir_all(&data_dir).expect("a folder for its data");
        std::fs::copy(other.data_dir.join("secrets.toml"), data_dir.join("secrets.toml")).expect("its keys");
        TestApp::start(self, other.database.clone(), data_dir).await
    }
}

pub struct TestApp {
    pub state: Arc<AppState>,
    /// The server's clock: stopped unless `Setup::running_clock` was called.
    pub clock: Clock,
    /// The test's own connection, to insert rows and to read them.
    pub db: Client,
    /// `http://127.0.0.1:<port>`.
    pub base_url: String,
    /// Where devices connect.
    pub device_port: Option<u16>,
    pub http: awc::Client,
    server: ServerHandle,
    data_dir: PathBuf,
    /// Dropped last.
    database: Arc<Database>,
}

impl TestApp {
    /// `Setup::new().start()`.
    pub async fn spawn() -> Self {
        Setup::new().start().await
    }

    async fn start(setup: Setup, database: Arc<Database>, data_dir: PathBuf) -> Self {
        let Setup { mut config, clock, drivers, url, send_buffer_bytes, device_send_buffer_bytes } = setup;
        let url = url.unwrap_or_else(|| database.url());
        config.data.dir.clone_from(&data_dir);
        let state = AppState::build_with(config, &url, Some(clock.clone()), drivers).await.expect("state");
        let listener: TcpListener = server::bind(&state.config).expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let devices = devices::bind(&state.config).expect("a free port");
        // Accepted connections inherit the buffer size.
        let shrink = |listener: &TcpListener, bytes| {
            socket2::SockRef::from(listener).set_send_buffer_size(bytes).expect("a smaller buffer");
        };
        send_buffer_bytes.into_iter().for_each(|bytes| shrink(&listener, bytes));
        devices.iter().zip(device_send_buffer_bytes).for_each(|(listener, bytes)| shrink(listener, bytes));
        let device_port = devices.as_ref().map(|listener| listener.local_addr().unwrap().port());
        let (server, running) = server::start(&state, listener, devices).expect("server");
        actix_web::rt::spawn(server);
        server::open(&state, &running).await.expect("open");
        let (db, _) = lock::connect(state.store.db.config()).await.expect("database");
        let http = awc::Client::builder().disable_redirects().timeout(std::time::Duration::from_secs(90)).finish();
        Self { state, clock, db, base_url, device_port, http, server: running.handle, data_dir, database }
    }

    /// Cuts the server off from its database, or ends that. The test's own connection is closed, too.
    pub async fn cut_off_from_database(&self, cut: bool) {
        self.database.cut_off(cut).await;
    }

    /// The server's database, for another server.
    pub fn database_url(&self) -> String {
        self.database.url()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Moves a stopped clock forward by `s` seconds.
    pub fn advance_s(&self, s: i64) {
        self.clock.advance_ms(s * 1000);
    }

    pub async fn get(&self, path: &str, token: Option<&str>) -> Answer {
        self.call("GET", path, token, &[], None).await
    }

    pub async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Answer {
        self.call("POST", path, token, &[], Some(body.to_string().into_bytes())).await
    }

    /// A request with any method, extra headers and any bytes as its body. The envelope is checked.
    pub async fn call(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Answer {
        call(&self.http, &self.base_url, method, path, token, headers, body).await.unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// The newest code that was sent to `telp` over WhatsApp.
    pub async fn last_code(&self, telp: &str) -> String {
        let sent = self.get(&format!("/dev/whatsapp?telp={telp}"), None).await.ok();
        sent[0]["code"].as_str().unwrap_or_else(|| panic!("no code was sent to {telp}")).to_owned()
    }

    /// A customer with the password `PASSWORD` and a token, made in the database; `telp` as it is stored.
    pub async fn register_customer(&self, telp: &str, nama_awal: &str, nama_akhir: &str) -> Customer {
        let row = self
            .db
            .query_one(
                "INSERT INTO customer_global (telp, nama_awal, nama_akhir, password_hash, created_at, updated_at)
                 VALUES ($1, $2, $3, $4, $5, $5) RETURNING id, token_version",
                &[&telp, &nama_awal, &nama_akhir, &*CHEAP_HASH, &self.now()],
            )
            .await
            .expect("a new customer");
        let (id, version) = (row.get(0), row.get(1));
        let token = self.state.auth.tokens.mint(id, version, self.now()).expect("a token");
        Customer { id, telp: telp.to_owned(), token }
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        drop(self.server.stop(false));
        let _ = std::fs::remove_dir_all(&self.data_dir);
    }
}

/// Characters before and after a pasted, scanned or typed code that are not part of it.
pub const AROUND_A_CODE: [(&str, &str); 8] = [
    ("", "\n"),
    ("", "\r\n"),
    ("\t", "\t"),
    ("\u{a0}", "\u{a0}"),
    ("\u{200b}", "\u{200b}"),
    ("\u{feff}", ""),
    ("\u{2068}", "\u{2069}"),
    (" ", "\u{2028}"),
];

/// `code` in the digits of Arabic, of Persian and of East Asian keyboards.
pub fn other_digits(code: &str) -> [String; 3] {
    let from = |zero: u32| {
        let one = |c: char| c.to_digit(10).map_or(c, |d| char::from_u32(zero + d).unwrap());
        code.chars().map(one).collect()
    };
    [from(0x660), from(0x6f0), from(0xff10)]
}
