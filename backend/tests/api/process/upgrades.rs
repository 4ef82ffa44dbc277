//! Databases of earlier releases, as their own programs filled them (backend/tests/upgrades/make): this program migrates each and serves it.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use flate2::read::GzDecoder;
use futures_util::future::{join, join_all};
use jsonwebtoken::{EncodingKey, Header, encode};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_loadtest::local::free_port;
use nyala_store::clock::{Clock, wall_clock};
use nyala_store::db::{lock, pool};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{PATIENCE, Site};
use crate::devices::{Device, Given};
use crate::support::database::Database;
use crate::support::helpers::{Answer, call};

/// Moves every moment that the release stored, so that the database looks as if it had been left just now: codes, sessions and washes that were
/// good then are good in the test.
const MOVE: &str = "
DO $$ DECLARE t RECORD; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR t IN SELECT c.table_name AS name, string_agg(format('%1$I = %1$I + interval ''MOVED''', c.column_name), ', ') AS columns
        FROM information_schema.columns c JOIN information_schema.tables USING (table_schema, table_name)
        WHERE c.table_schema = 'public' AND table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'
          AND c.data_type = 'timestamp with time zone' AND c.table_name <> 'refinery_schema_history'
        GROUP BY 1
    LOOP EXECUTE format('UPDATE public.%I SET %s', t.name, t.columns); END LOOP;
END $$";

/// What customers, tills and devices of a release know, and how much later it is now.
struct Release {
    folder: PathBuf,
    facts: Value,
    later_ms: i64,
    key: EncodingKey,
}

impl Release {
    fn read(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/upgrades").join(name);
        let text = |file: &str| std::fs::read_to_string(folder.join(file)).expect(file);
        let facts: Value = serde_json::from_str(&text("facts.json")).expect("facts");
        let dumped_at: time::OffsetDateTime =
            time::OffsetDateTime::parse(string(&facts["dumped_at"]), &time::format_description::well_known::Rfc3339).unwrap();
        let later_ms = wall_clock().ms() - i64::try_from(dumped_at.unix_timestamp_nanos() / 1_000_000).unwrap();
        let secrets: toml::Table = text("secrets.toml").parse().expect("keys");
        let key = STANDARD_NO_PAD.decode(secrets["token"].as_str().expect("the tokens' key")).expect("base64");
        Self { key: EncodingKey::from_secret(&key), folder, facts, later_ms }
    }

    /// A site on the database that the release left, before any server of this program.
    async fn restore(&self) -> Site {
        let database = Database::empty().await;
        let (url, dir) = (database.url(), database.scratch_dir());
        let (client, _) = lock::connect(&pool::connection(&url, PATIENCE).unwrap()).await.unwrap();
        let mut dump = String::new();
        let file = std::fs::File::open(self.folder.join("database.sql.gz")).unwrap();
        GzDecoder::new(file).read_to_string(&mut dump).unwrap();
        client.batch_execute(&dump).await.unwrap();
        client.batch_execute(&MOVE.replace("MOVED", &format!("{} ms", self.later_ms))).await.unwrap();
        let mut site = Site::on(url, dir).await;
        site._database = Some(database);
        std::fs::copy(self.folder.join("secrets.toml"), site.data.join("secrets.toml")).unwrap();
        std::fs::write(site.data.join("perangkat-sim.jsonl"), self.simulated_devices()).unwrap();
        site
    }

    /// The memory of the simulated devices, moved as the database is.
    fn simulated_devices(&self) -> String {
        let text = std::fs::read_to_string(self.folder.join("perangkat-sim.jsonl")).unwrap();
        text.lines().map(|line| moved(serde_json::from_str(line).unwrap(), self.later_ms).to_string() + "\n").collect()
    }

    /// A customer's token, issued as much later.
    fn token(&self, token: &Value) -> String {
        let claims = string(token).split('.').nth(1).expect("claims");
        let mut claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        for name in ["iat", "exp"] {
            claims[name] = json!(claims[name].as_i64().unwrap() + self.later_ms / 1_000);
        }
        encode(&Header { kid: Some("1".to_owned()), ..Header::default() }, &claims, &self.key).unwrap()
    }

    /// The token of a call: a customer's, or an operator's key.
    fn caller(&self, token: &Value) -> String {
        if string(token).contains('.') { self.token(token) } else { string(token).to_owned() }
    }

    fn list(&self, name: &str) -> &[Value] {
        self.facts[name].as_array().expect(name)
    }
}

/// `value` with each field `…_ms` that much later.
fn moved(value: Value, later_ms: i64) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(|it| moved(it, later_ms)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| match value.as_i64() {
                Some(ms) if name.ends_with("_ms") => (name, json!(ms + later_ms)),
                _ => (name, moved(value, later_ms)),
            };
            Value::Object(fields.into_iter().map(field).collect())
        }
        plain => plain,
    }
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text, not {value}"))
}

impl Site {
    /// The bytes of an answer.
    async fn bytes_of(&self, path: &str, token: &str, headers: &Value, body: &Value) -> (u16, String) {
        let base_url = &self.server.as_ref().expect("a server").base_url;
        let mut req = self.http.post(format!("{base_url}{path}")).bearer_auth(token).content_type("application/json");
        for (name, value) in headers.as_object().expect("headers") {
            req = req.insert_header((name.as_str(), string(value)));
        }
        let mut answer = req.send_body(body.to_string()).await.unwrap();
        let body = answer.body().await.unwrap();
        (answer.status().as_u16(), String::from_utf8_lossy(&body).into_owned())
    }

    async fn balances(&self, token: &str) -> Value {
        let path = "/scan/v1/dashboard/get_user_epayment_by_id_customer_global";
        let accounts = self.ask("GET", path, token, &json!({})).await.unwrap().ok();
        let accounts = accounts.as_array().expect("accounts");
        accounts.iter().map(|it| (it["idcustomer"].to_string(), it["quota_emoney"]["saldo"].clone())).collect()
    }

    async fn at_the_till(&self, till: &Value, call_name: &str, body: &Value) -> Answer {
        let base_url = &self.server.as_ref().expect("a server").base_url;
        let (path, once) = (format!("/ops/v1/{call_name}"), Uuid::new_v4().to_string());
        let headers = [("Cookie", string(&till["cookie"])), ("Idempotency-Key", &*once)];
        let body = Some(body.to_string().into_bytes());
        call(&self.http, base_url, "POST", &path, Some(string(&till["session"])), &headers, body).await.unwrap()
    }

    /// Ends of the running cycles by receipt.
    async fn ends(&self) -> Vec<(String, std::time::SystemTime)> {
        const ENDS: &str = "SELECT no_nota::TEXT, ends_at FROM snap_transaksi WHERE state = 'RUNNING' ORDER BY id LIMIT 4";
        self.db.query(ENDS, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
    }
}

/// Where a server is, also before it listens.
struct Address {
    http: awc::Client,
    base_url: String,
}

/// The last call of a purchase: its answer, and how long it took.
type Bought = (Result<Answer, String>, Duration);

/// A purchase every 50 ms from now on. While the server starts, each is sent again until it is answered, as the app does. It does not panic, because
/// a server that is starting then would outlive the test.
async fn purchases(site: &Address, release: &Release, orders: &[Value], is_starting: bool) -> Vec<Bought> {
    const EVERY: Duration = Duration::from_millis(50);
    let payer = &release.token(&release.facts["payer"]);
    let bought = orders.iter().enumerate().map(async |(n, order)| {
        sleep(EVERY * u32::try_from(n).unwrap()).await;
        let since = Instant::now();
        loop {
            let (path, sent) = ("/scan/v1/transaksi/create_snap_transaksi", Instant::now());
            let body = order.to_string().into_bytes();
            match call(&site.http, &site.base_url, "POST", path, Some(payer), &[], Some(body)).await {
                // The port is not open yet, or the server does not answer calls yet.
                Err(_) | Ok(Answer { status: 503, .. }) if is_starting && since.elapsed() < PATIENCE => sleep(EVERY).await,
                answer => return (answer, sent.elapsed()),
            }
        }
    });
    join_all(bought).await
}

/// The longest time that a call took; each purchase was made.
fn slowest(bought: Vec<Bought>) -> Duration {
    let took = bought.into_iter().map(|(answer, took)| {
        answer.unwrap().ok();
        took
    });
    took.max().unwrap_or_default()
}

/// What was known before the upgrade still holds.
async fn what_was_known(site: &Site, release: &Release) {
    for customer in release.list("customers") {
        assert_eq!(site.balances(&release.token(&customer["token"])).await, customer["balances"]);
    }
    for made in release.list("calls") {
        let (path, token) = (string(&made["path"]), release.caller(&made["token"]));
        let again = site.bytes_of(path, &token, &made["headers"], &made["body"]).await;
        let before = (u16::try_from(made["status"].as_u64().unwrap()).unwrap(), string(&made["answer"]).to_owned());
        assert_eq!(again, before, "{path} {}", made["body"]);
    }
    for customer in release.list("customers") {
        assert_eq!(site.balances(&release.token(&customer["token"])).await, customer["balances"], "a repeat charges nothing");
    }
    let payer = release.token(&release.facts["payer"]);
    for sticker in release.list("stickers") {
        assert_eq!(site.scan(&payer, &sticker["qr"]).await.ok()["data_mesin"]["id"], sticker["idmesin"]);
    }
    if !release.facts["logged_out"].is_null() {
        let token = release.token(&release.facts["logged_out"]);
        let path = "/scan/v1/dashboard/get_dashboard";
        assert_eq!(site.ask("GET", path, &token, &json!({})).await.unwrap().status, 401, "who logged out stays logged out");
    }
}

/// The shift that was open sells on, and its drawer is right.
async fn the_till_goes_on(site: &Site, till: &Value) {
    let found = site.at_the_till(till, "pelanggan/cari", &json!({"telp": "81234567801"})).await.ok();
    let sale = json!({"id_customer_global": found["id_customer_global"], "idoutlet": till["outlet"], "nominal": 10_000, "cara_bayar": "tunai"});
    site.at_the_till(till, "topup", &sale).await.ok();
    let drawer = till["drawer"].as_i64().unwrap() + 10_000;
    let closed = site.at_the_till(till, "shift/tutup", &json!({"dihitung": drawer})).await.ok();
    assert_eq!((&closed["diharapkan"], &closed["selisih"]), (&json!(drawer), &json!(0)));
}

/// A board logs in with the key that the release gave it.
async fn the_board_returns(site: &Site, device: &Value, port: u16) {
    let idmesin = device["idmesin"].as_i64().unwrap();
    let idoutlet = OutletId::new(device["idoutlet"].as_i64().unwrap());
    let given = Given { idmesin: MachineId::new(idmesin), idoutlet, secret: string(&device["secret"]).to_owned(), port };
    let mut board = Device::subscribe(&Clock::running_from(wall_clock()), &given, "esp").await;
    board.learn_the_time().await;
    site.until_online(idmesin).await;
}

async fn goes_up(name: &str) {
    let release = Release::read(name);
    let mut site = release.restore().await;
    let (ends, port) = (site.ends().await, free_port().unwrap());
    assert_eq!(ends.len(), 4, "cycles that run");
    let (http_port, mqtt_port) = (free_port().unwrap().to_string(), port.to_string());
    let at = Address { http: site.http.clone(), base_url: format!("http://127.0.0.1:{http_port}") };
    // Half of the customers press pay while the server migrates, and half when it is ready.
    let orders = release.list("orders");
    let (early, late) = orders.split_at(orders.len() / 2);
    let start = async {
        let since = Instant::now();
        let env = [("NYALA__HTTP__PORT", &*http_port), ("NYALA__MQTT__PORT", &*mqtt_port), ("NYALA__PUSH__HOSTS", "127.0.0.1")];
        site.start_with(&env).await;
        let ready = since.elapsed();
        let (bought, ()) = join(purchases(&at, &release, late, false), what_was_known(&site, &release)).await;
        (ready, bought)
    };
    let (bought_early, (ready, bought)) = join(purchases(&at, &release, early, true), start).await;
    assert_eq!(site.ends().await, ends, "who runs keeps its end");
    if !release.facts["till"].is_null() {
        the_till_goes_on(&site, &release.facts["till"]).await;
    }
    if !release.facts["device"].is_null() {
        the_board_returns(&site, &release.facts["device"], port).await;
    }
    site.assert_sound().await;
    let ms = [ready, slowest(bought_early), slowest(bought)].map(|time| time.as_millis());
    println!(
        "{name}: ready after {} ms; slowest call of a purchase {} ms during the upgrade, {} ms after it",
        ms[0], ms[1], ms[2]
    );
}

macro_rules! releases {
    ($($test:ident $name:literal)*) => {
        $(#[actix_web::test] async fn $test() { goes_up($name).await; })*

        /// No folder is left out.
        #[test]
        fn every_release_goes_up() {
            let kept = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/upgrades")).unwrap();
            let kept = kept.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
            let mut kept: Vec<_> = kept.map(|entry| entry.file_name().into_string().unwrap()).collect();
            let mut tried = vec![$($name.to_owned()),*];
            kept.sort();
            tried.sort();
            assert_eq!(kept, tried);
        }
    };
}

releases! {
    release_864b210_goes_up "864b210"
    release_3a121be_goes_up "3a121be"
    release_488a11d_goes_up "488a11d"
    release_a99eed6_goes_up "a99eed6"
}
