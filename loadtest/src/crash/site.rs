//! One server with its private database, to be killed and started again; and the operator who set the shop up.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::Victim;
use crate::http::{Answer, ask};

/// How long the server may take to come up, its database's recovery included.
const UP_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Rupiah of every service.
pub const PRICE: i64 = 1_000;
/// What each customer begins with.
pub const SALDO: i64 = 20_000_000;
const SERVICES_S: [i64; 2] = [1, 2];

pub struct Site {
    program: PathBuf,
    config_dir: PathBuf,
    data_dir: PathBuf,
    server: Option<Child>,
    address: SocketAddr,
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// What is sold where, and to whom.
#[derive(Debug)]
pub struct Shop {
    pub key: String,
    pub idoutlet: i64,
    pub machines: Vec<i64>,
    pub services: Vec<i64>,
    /// Token and `idcustomer`.
    pub customers: Vec<(String, i64)>,
}

impl Site {
    pub fn new(config_dir: &Path, data_dir: PathBuf) -> Result<Self, String> {
        let program = std::env::var_os("NYALA_BIN").map(PathBuf::from).ok_or("NYALA_BIN must name the nyala program")?;
        std::fs::create_dir_all(&data_dir).map_err(|e| format!("{}: {e}", data_dir.display()))?;
        Ok(Self {
            program,
            config_dir: config_dir.to_owned(),
            data_dir,
            server: None,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .arg("--config-dir")
            .arg(&self.config_dir)
            .env_remove("DATABASE_URL")
            .env("NYALA__DATA__DIR", &self.data_dir)
            .env("NYALA__DEV__SEED_DEMO", "false")
            .env("NYALA__HTTP__PORT", "0")
            .env("NYALA__MESIN__SIM_MIN_MS", "5")
            .env("NYALA__MESIN__SIM_MAX_MS", "60")
            .env("NYALA__LOG__FILTER", "warn");
        command
    }

    /// Starts the server and waits until it is ready.
    pub async fn start(&mut self) -> Result<(), String> {
        let log_path = self.data_dir.join("server.log");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(&log_path).map_err(|e| e.to_string())?;
        let mut child =
            self.command(&["serve"]).stdout(Stdio::piped()).stderr(log).spawn().map_err(|e| format!("cannot start: {e}"))?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        self.server = Some(child);
        let first_line = tokio::task::spawn_blocking(move || BufReader::new(stdout).lines().next());
        let line = tokio::time::timeout(UP_WITHIN, first_line).await.map_err(|_| "the server does not come up")?;
        let line =
            line.map_err(|e| e.to_string())?.ok_or_else(|| format!("the server ended at once, see {}", log_path.display()))?;
        let line = line.map_err(|e| e.to_string())?;
        let url = line.split_whitespace().last().unwrap_or_default();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        self.address = address.parse().map_err(|_| format!("no address in `{line}`"))?;
        self.ready().await
    }

    async fn ready(&mut self) -> Result<(), String> {
        let since = Instant::now();
        while since.elapsed() < UP_WITHIN {
            if ask(self.address, "GET", "/readyz", &[], &Value::Null).await.is_ok_and(|a| a.status == 200) {
                return Ok(());
            }
            if let Some(status) = self.server.as_mut().and_then(|s| s.try_wait().ok().flatten()) {
                return Err(format!("the server ended ({status}), see {}", self.data_dir.join("server.log").display()));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Err("the server does not become ready".to_owned())
    }

    pub async fn kill(&mut self, victim: Victim) -> Result<(), String> {
        if matches!(victim, Victim::Database | Victim::Both) {
            let pidfile = self.data_dir.join("postgres/cluster/postmaster.pid");
            let text = std::fs::read_to_string(&pidfile).map_err(|e| format!("{}: {e}", pidfile.display()))?;
            let pid = text.lines().next().and_then(|pid| pid.parse().ok()).ok_or("no process id of the database")?;
            kill(Pid::from_raw(pid), Signal::SIGKILL).map_err(|e| format!("cannot kill the database: {e}"))?;
        }
        if let Some(mut server) = self.server.take_if(|_| matches!(victim, Victim::Server | Victim::Both)) {
            server.kill().map_err(|e| e.to_string())?;
            tokio::task::spawn_blocking(move || server.wait()).await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// After a kill: a server that died is started again, one whose database died brings it back itself.
    pub async fn come_back(&mut self) -> Result<(), String> {
        if self.server.is_some() { self.ready().await } else { self.start().await }
    }

    pub async fn stop(&mut self) -> Result<(), String> {
        let Some(mut server) = self.server.take() else { return Ok(()) };
        let pid = i32::try_from(server.id()).map_err(|e| e.to_string())?;
        kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(|e| e.to_string())?;
        let status =
            tokio::task::spawn_blocking(move || server.wait()).await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status} after SIGTERM")) }
    }

    pub fn remove(&self) -> Result<(), String> {
        std::fs::remove_dir_all(&self.data_dir).map_err(|e| e.to_string())
    }

    /// Runs a command of the program to its end; what it printed.
    pub async fn run(&self, args: &[&str]) -> Result<String, String> {
        let mut command = self.command(args);
        let out =
            tokio::task::spawn_blocking(move || command.output()).await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if out.status.success() { Ok(text(&out.stdout)) } else { Err(format!("{}{}", text(&out.stdout), text(&out.stderr))) }
    }

    pub async fn get(&self, path: &str, token: &str) -> Result<Answer, String> {
        let auth = format!("Bearer {token}");
        ask(self.address, "GET", path, &[("authorization", &auth)], &Value::Null).await.map_err(|e| format!("{path}: {e}"))
    }

    /// An operator's call that must succeed.
    async fn ops(&self, key: &str, call: &str, body: &Value) -> Result<Value, String> {
        let (auth, once) = (format!("Bearer {key}"), format!("{:016x}", rand::random::<u64>()));
        let headers = [("authorization", auth.as_str()), ("idempotency-key", once.as_str())];
        let answer =
            ask(self.address, "POST", &format!("/ops/v1/{call}"), &headers, body).await.map_err(|e| format!("{call}: {e}"))?;
        if answer.status == 200 { Ok(answer.data) } else { Err(format!("{call}: {} {}", answer.status, answer.message)) }
    }

    pub async fn shop(&self, machines: usize, customers: usize) -> Result<Shop, String> {
        let key = self.run(&["key", "add", "--role", "root", "--nama", "crash"]).await?.trim().to_owned();
        let idowner = self.ops(&key, "owner", &json!({"nama": "Bu Ani"})).await?["idowner"].clone();
        let place = json!({"idowner": idowner, "nama": "Melati", "kota": "Bandung", "latitude": 0, "longitude": 0});
        let idoutlet = id(&self.ops(&key, "outlet", &place).await?["idoutlet"])?;
        let mut services = Vec::new();
        for durasi in SERVICES_S {
            let body = json!({"idoutlet": idoutlet, "nama": "Cuci", "durasi": durasi, "harga": PRICE});
            services.push(id(&self.ops(&key, "layanan", &body).await?["id"])?);
        }
        let many = json!({"idoutlet": idoutlet, "jumlah": machines, "awalan": "Mesin", "driver": "sim"});
        let made = self.ops(&key, "mesin/bulk", &many).await?;
        let machines = list(&made["mesin"])?.iter().map(|m| id(&m["id"])).collect::<Result<_, _>>()?;
        let many = json!({"jumlah": customers, "awalan_telp": "8120", "idoutlet": idoutlet, "saldo": SALDO});
        let made = self.ops(&key, "pelanggan/bulk", &many).await?;
        let customer = |c: &Value| Ok((c["token"].as_str().ok_or("a token")?.to_owned(), id(&c["idcustomer"])?));
        let customers = list(&made["pelanggan"])?.iter().map(customer).collect::<Result<_, String>>()?;
        Ok(Shop { key, idoutlet, machines, services, customers })
    }
}

pub fn id(value: &Value) -> Result<i64, String> {
    value.as_i64().ok_or_else(|| format!("an id, not {value}"))
}

pub fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("a list, not {value}"))
}
