//! The `nyala` binary (contract §4), beside a running server and without one.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nyala::qr;
use serde_json::{Value, json};
use tokio_postgres::config::Host;

use crate::helpers::TestApp;

/// The program with the settings of the checkout and nothing of the caller's environment.
fn nyala() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nyala"));
    command.arg("--config-dir").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../config"));
    for (name, _) in std::env::vars_os() {
        if name == "DATABASE_URL" || name.to_string_lossy().starts_with("NYALA__") {
            command.env_remove(name);
        }
    }
    command
}

/// What a command said.
#[derive(Debug)]
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(o: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: o.status.code().expect("no signal"), out: text(o.stdout), err: text(o.stderr) }
    }
}

impl Said {
    /// Success, nothing on standard error, and what was printed.
    #[track_caller]
    fn ok(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Exit code 1 and one line that holds `part`.
    #[track_caller]
    fn refused(self, part: &str) {
        assert_eq!(self.code, 1, "{self:?}");
        assert!(
            self.err.starts_with("nyala: ") && self.err.trim_end().lines().count() == 1 && self.err.contains(part),
            "{self:?}"
        );
    }
}

/// Runs the program on the database and the keys of a server that runs.
fn beside(app: &TestApp, args: &[&str]) -> Said {
    let config = app.state.db.config();
    let host = match &config.get_hosts()[0] {
        Host::Unix(path) => path.display().to_string(),
        Host::Tcp(name) => name.clone(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let url = format!("host={host} port={port} user={} dbname={}", config.get_user().unwrap(), config.get_dbname().unwrap());
    nyala().env("DATABASE_URL", url).env("NYALA__DATA__DIR", &app.state.config.data.dir).args(args).output().unwrap().into()
}

#[actix_web::test]
async fn a_key_is_printed_once_and_works_until_it_is_revoked() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let id = outlet.idoutlet.to_string();
    let printed = beside(&app, &["key", "add", "--role", "supervisor", "--outlet", &id, "--nama", "Bu Ani"]).ok();
    let key = printed.trim_end();
    assert!(key.starts_with("nyk_1_") && printed.lines().count() == 1, "{printed}");
    let body = json!({"idoutlet": outlet.idoutlet, "nama": "Cuci", "durasi": 60, "harga": 1000});
    app.ops(key, "layanan", &body).await.ok();
    let list = beside(&app, &["key", "list"]).ok();
    assert!(list.contains("1\tsupervisor\t-\t1\tBu Ani\t") && !list.contains(key), "{list}");
    beside(&app, &["key", "revoke", "1"]).ok();
    beside(&app, &["key", "revoke", "1"]).ok();
    assert_eq!(app.ops(key, "layanan", &body).await.status, 401);
    beside(&app, &["key", "revoke", "99"]).refused("there is no key 99");
    let audited: Vec<String> = app.audited().await.into_iter().map(|(aksi, ..)| aksi).collect();
    assert_eq!(audited, ["kunci.buat", "layanan.buat", "kunci.cabut"]);
}

#[actix_web::test]
async fn a_key_needs_what_its_role_is_limited_to() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let add = |args: &[&str]| beside(&app, &[&["key", "add", "--nama", "x", "--role"], args].concat());
    let (mine, theirs) = (outlet.idoutlet.to_string(), other.idowner.to_string());
    add(&["root"]).ok();
    add(&["owner", "--owner", &theirs]).ok();
    add(&["kasir", "--owner", &outlet.idowner.to_string(), "--outlet", &mine]).ok();
    add(&["root", "--outlet", &mine]).refused("leave --owner and --outlet out");
    add(&["owner"]).refused("needs --owner");
    add(&["owner", "--owner", "99"]).refused("there is no owner 99");
    add(&["kasir"]).refused("needs --outlet");
    add(&["supervisor", "--outlet", "99"]).refused("there is no outlet 99");
    add(&["kasir", "--owner", &theirs, "--outlet", &mine]).refused("belongs to owner");
    beside(&app, &["key", "add", "--role", "root", "--nama", " "]).refused("--nama");
    let unknown = beside(&app, &["key", "add", "--role", "admin", "--nama", "x"]);
    assert!(unknown.code == 2 && unknown.err.contains("root, owner, supervisor or kasir"), "{unknown:?}");
}

#[actix_web::test]
async fn a_top_up_at_this_machine_is_one_at_the_cashier() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    app.register_customer("81200000001", "Siti", "Rahma").await;
    let id = outlet.idoutlet.to_string();
    let topup = |args: &[&str]| beside(&app, &[&["topup", "--outlet", &id], args].concat());
    let made: Value = serde_json::from_str(&topup(&["--telp", "+6281200000001", "--nominal", "50000"]).ok()).unwrap();
    assert_eq!((&made["idpembelian_emoney"], &made["saldo_akhir"]), (&json!("1"), &json!(50_000)));
    topup(&["--telp", "081200000001", "--nominal", "1000", "--quota", "1500", "--nama-paket", "Hemat"]).ok();
    assert_eq!(app.saldo(made["idcustomer"].as_i64().unwrap()).await, 51_500);
    topup(&["--telp", "81299999999", "--nominal", "1"]).refused("nomor belum terdaftar");
    topup(&["--telp", "x", "--nominal", "1"]).refused("telp");
    topup(&["--telp", "81200000001", "--nominal", "0"]).refused("nominal");
    topup(&["--telp", "81200000001", "--nominal", "1", "--jenis-emoney", "1", "--masa-aktif", "1"]).refused("masa depan");
    beside(&app, &["topup", "--outlet", "99", "--telp", "81200000001", "--nominal", "1"]).refused("there is no outlet 99");
    assert_eq!(app.audited().await[1].1, "cli");
    assert!(beside(&app, &["audit", "verify"]).ok().starts_with("OK: 1 rekening, 2 gerak, 0 pemakaian, 2 top-up"));
}

#[actix_web::test]
async fn audit_verify_prints_what_is_broken() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 20_000).await;
    app.db.execute("UPDATE quota_emoney SET credits_posted = credits_posted + 1", &[]).await.unwrap();
    let said = beside(&app, &["audit", "verify"]);
    assert_eq!(said.out, format!("saldo tidak sama dengan buku besar: {}\n", epay.idcustomer));
    said.refused("1 rules of the ledger are broken");
}

#[actix_web::test]
async fn audit_verify_knows_both_accounts_and_the_owner_of_a_movement() {
    let app = TestApp::spawn().await;
    let (outlet, other) = (app.outlet("Melati").await, app.outlet("Kenanga").await);
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let budi = app.register_customer("81200000002", "Budi", "Santoso").await;
    app.funded(&siti, outlet, 20_000).await;
    app.funded(&budi, other, 10_000).await;
    assert!(beside(&app, &["audit", "verify"]).ok().starts_with("OK"));
    // Past the triggers that keep the ledger append-only.
    app.db.batch_execute("SET session_replication_role = replica").await.unwrap();
    let breaks = async |sql: String, told: &str| {
        app.db.batch_execute("BEGIN").await.unwrap();
        app.db.batch_execute(&sql).await.unwrap();
        let broken = app.db.query("SELECT aturan FROM pelanggaran", &[]).await.unwrap();
        assert!(broken.iter().any(|row| row.get::<_, &str>(0) == told), "{told}");
        app.db.batch_execute("ROLLBACK").await.unwrap();
    };
    let wrong = |what: &str| format!("UPDATE ledger_transfer SET {what} WHERE idoutlet = {}", outlet.idoutlet);
    let account = |jenis: &str, idoutlet: i64| {
        format!("debit_akun = (SELECT idakun FROM akun WHERE jenis = '{jenis}' AND idoutlet = {idoutlet} AND idcustomer IS NULL)")
    };
    breaks(wrong(&account("K", other.idoutlet)), "akun lawan salah").await;
    breaks(wrong(&account("R", outlet.idoutlet)), "akun lawan salah").await;
    breaks(wrong(&format!("id_customer_global = {}", budi.id)), "gerak milik pelanggan lain").await;
    breaks(
        format!("UPDATE pembelian_emoney SET idoutlet = {} WHERE idoutlet = {}", other.idoutlet, outlet.idoutlet),
        "gerak bukan milik pembeliannya",
    )
    .await;
}

#[actix_web::test]
async fn a_sticker_is_printed_and_revoked() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let mesin = app.mesin(outlet, "Mesin 1").await;
    let file = app.state.config.data.dir.join("stiker.png");
    let (id, out) = (mesin.idmesin.to_string(), file.display().to_string());
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let scan = async |text: &str| {
        let body = json!({"qr": text, "limit": 10, "skip": 0, "search": ""});
        app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &body).await.status
    };
    let printed = beside(&app, &["qr", &id, "--out", &out]).ok();
    assert_eq!(printed.trim_end(), format!("{} {}", mesin.kode, mesin.qr));
    assert_eq!(std::fs::read(&file).unwrap(), qr::png::render(&mesin.qr).unwrap());
    let renewed = beside(&app, &["qr", &id, "--out", &out, "--renew"]).ok();
    let (kode, text) = renewed.trim_end().split_once(' ').unwrap();
    for (text, status) in [(text, 200), (kode, 200), (&mesin.qr, 404), (&mesin.kode, 404)] {
        assert_eq!(scan(text).await, status, "{text}");
    }
    assert_eq!(app.audited().await[0].0, "mesin.stiker_baru");
    beside(&app, &["qr", "99", "--out", &out]).refused("there is no machine 99");
    beside(&app, &["qr", &id, "--out", "/dev/null/x.png"]).refused("/dev/null/x.png");
}

#[actix_web::test]
async fn the_demo_goes_into_an_empty_database_once() {
    let app = TestApp::spawn().await;
    assert!(beside(&app, &["seed", "--demo"]).ok().contains("81234567890 / Rahasia123"));
    let before = app.footprint().await;
    assert!(beside(&app, &["seed", "--demo"]).ok().contains("nothing changed"));
    assert_eq!(app.footprint().await, before);
    let login = json!({"country_code": "62", "telp": "81234567890", "password": "Rahasia123"});
    let token = app.post("/scan/v1/auth/login", None, &login).await.ok()["token"].as_str().unwrap().to_owned();
    let accounts = app.get("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", Some(&token)).await.ok();
    let funded = accounts.as_array().unwrap().iter().filter(|a| a["quota_emoney"]["saldo"].as_i64().unwrap() > 0);
    assert_eq!(funded.count(), 2);
    let counts = "SELECT (SELECT count(*) FROM owner_usaha), (SELECT count(*) FROM outlet), (SELECT count(*) FROM layanan WHERE durasi_s = 60)";
    let row = app.db.query_one(counts, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1), row.get::<_, i64>(2)), (1, 3, 3));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn the_demo_never_goes_beside_other_data() {
    let app = TestApp::spawn().await;
    app.owner().await;
    let before = app.footprint().await;
    beside(&app, &["seed", "--demo"]).refused("not empty");
    assert_eq!(app.footprint().await, before);
}

#[actix_web::test]
async fn the_settings_are_told_without_secrets() {
    let set = |args: &[&str]| -> Said { nyala().args(["config", "check"]).args(args).output().unwrap().into() };
    let told = set(&["--set", "whatsapp.meta_access_token=sangat-rahasia", "--set", "http.port=8123"]).ok();
    assert!(
        told.contains("meta_access_token = \"***\"") && told.contains("port = 8123") && !told.contains("sangat-rahasia"),
        "{told}"
    );
    let url = nyala().env("DATABASE_URL", "postgres://u:kata-sandi@h/d").args(["config", "check"]).output().unwrap();
    assert!(!Said::from(url).ok().contains("kata-sandi"));
    let meta = [
        "--set",
        "whatsapp.meta_access_token=a",
        "--set",
        "whatsapp.meta_phone_number_id=1",
        "--set",
        "whatsapp.meta_template=kode",
    ];
    let production = [&["--set", "profile=production"], meta.as_slice()].concat();
    set(&production).ok();
    set(&[production.as_slice(), &["--set", "dev.routes=true"]].concat()).refused("dev.routes must be false");
    set(&["--set", "profile=production"]).refused("meta_access_token");
    set(&["--set", "http.prot=1"]).refused("prot");
    set(&["--set", "http"]).refused("section.key=value");
    let nowhere =
        Command::new(env!("CARGO_BIN_EXE_nyala")).args(["config", "check", "--config-dir", "/dev/null"]).output().unwrap();
    Said::from(nowhere).refused("--config-dir");
}

#[actix_web::test]
async fn a_database_that_is_not_there_is_told_in_one_line() {
    let said = nyala().env("DATABASE_URL", "host=/dev/null user=nyala dbname=x").args(["audit", "verify"]).output().unwrap();
    Said::from(said).refused("DATABASE_URL cannot be reached");
    let said = nyala().env("DATABASE_URL", "nonsense nonsense").args(["key", "list"]).output().unwrap();
    Said::from(said).refused("nyala: DATABASE_URL is no connection string");
    let said = nyala()
        .env("DATABASE_URL", "host=/dev/null user=nyala dbname=x")
        .args(["serve", "--port", "0", "--set", "log.filter=warn"])
        .output()
        .unwrap();
    Said::from(said).refused("DATABASE_URL cannot be reached");
}

#[actix_web::test]
async fn settings_that_cannot_be_are_refused_by_name() {
    let check = |set: &str| Said::from(nyala().args(["config", "check", "--set", set]).output().unwrap());
    for (set, told) in [
        ("log.filter=[[", "log.filter"),
        ("auth.token_days=0", "auth.token_days"),
        ("auth.token_days=9223372036854775807", "auth.token_days"),
        ("http.max_connections=0", "http.max_connections"),
        ("http.drain_s=21", "http.drain_s"),
        ("http.host=0.0.0.0", "dev.allow_lan"),
        ("http.host=127.evil.example", "dev.allow_lan"),
        ("http.trusted_proxies=10.0.0.0/8,everybody", "everybody"),
    ] {
        check(set).refused(told);
    }
    let lists = check("http.trusted_proxies=10.0.0.0/8, 127.0.0.1").ok();
    assert!(lists.contains("10.0.0.0/8") && lists.contains("127.0.0.1"), "{lists}");
    let text = nyala().env("NYALA__WHATSAPP__META_PHONE_NUMBER_ID", "0123").args(["config", "check"]).output().unwrap();
    assert!(Said::from(text).ok().contains("\"0123\""), "a text stays what it is");
}

/// `nyala serve` on a private database, stopped when the test ends.
struct Serve {
    child: Child,
    dir: PathBuf,
    port: u16,
}

impl Serve {
    fn command(dir: &Path) -> Command {
        let mut command = nyala();
        command.env("NYALA__DATA__DIR", dir).env("NYALA__LOG__FILTER", "warn");
        command
    }

    /// Starts it and waits until it answers.
    fn start() -> Self {
        let dir = std::env::temp_dir().join(format!("nyala-uji-{}", uuid::Uuid::new_v4().simple()));
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Self::command(&dir).args(["serve", "--port", &port.to_string()]).stdout(Stdio::null()).spawn().unwrap();
        let mut serve = Self { child, dir, port };
        let started = Instant::now();
        while !serve.answers() {
            assert!(
                serve.child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(60),
                "the server did not come up"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        serve
    }

    fn answers(&self) -> bool {
        use std::io::{Read, Write};
        let mut answer = [0; 12];
        let asked = std::net::TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut s| {
            s.set_read_timeout(Some(Duration::from_millis(500)))?;
            s.write_all(b"GET /ops/v1/mesin/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
            s.read_exact(&mut answer)
        });
        asked.is_ok() && answer.starts_with(b"HTTP/1.1 401")
    }

    fn run(&self, args: &[&str]) -> Said {
        Self::command(&self.dir).args(args).output().unwrap().into()
    }

    /// SIGTERM, and the exit code.
    fn stop(&mut self) -> Option<i32> {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[actix_web::test]
async fn commands_share_the_servers_private_database_and_start_it_without_one() {
    let mut serve = Serve::start();
    let key = serve.run(&["key", "add", "--role", "root", "--nama", "uji"]).ok();
    let url = format!("http://127.0.0.1:{}/ops/v1/mesin/1", serve.port);
    let mesin = awc::Client::default().get(url).bearer_auth(key.trim_end()).send().await.unwrap();
    assert_eq!(mesin.status(), 200, "the first start seeded the demo, and the key works at once");
    let topup = ["topup", "--telp", "81234567890", "--outlet", "1", "--nominal", "1000"];
    let made: Value = serde_json::from_str(&serve.run(&topup).ok()).unwrap();
    assert_eq!(made["saldo_akhir"], 101_000);
    serve.run(&["audit", "verify"]).ok();
    assert_eq!(serve.stop(), Some(0));
    let made: Value = serde_json::from_str(&serve.run(&topup).ok()).unwrap();
    assert_eq!(made["saldo_akhir"], 102_000, "without the server a command runs the database itself");
    assert!(serve.run(&["audit", "verify"]).ok().starts_with("OK: 2 rekening, 4 gerak"));
    assert!(serve.run(&["seed", "--demo"]).ok().contains("nothing changed"));
    assert!(serve.run(&["migrate"]).ok().contains("schema 20261121"));
}
