//! Devices over MQTT for the machines of a load test: their keys, and `nyala device sim`, which plays all of them in one process.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use embedded_postgres::die_with_parent;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::http::Pool;
use crate::shop::{Shop, TestMachine, ops};

/// Time in which all devices must log in for the first time.
const READY_WITHIN: Duration = Duration::from_secs(120);
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Greatest number of keys that are requested at once.
const AT_ONCE: usize = 32;

/// What drives machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Driver {
    /// Simulated in the server
    #[default]
    Sim,
    /// Devices over MQTT, played by `nyala device sim`
    Mqtt,
}

impl Driver {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Mqtt => "mqtt",
        }
    }
}

/// Credentials of a machine's device.
#[derive(Debug, Clone)]
struct Login {
    idmesin: i64,
    idoutlet: i64,
    secret: String,
    server: (String, u16),
}

/// Settings of the played devices.
#[derive(Debug, Clone, Default)]
pub struct FleetOptions {
    /// The nyala program.
    pub program: PathBuf,
    /// Server that the devices connect to, instead of the one in their keys.
    pub server: Option<SocketAddr>,
    /// File of the devices' memory; without it, the memory ends with the process.
    pub journal: Option<PathBuf>,
    /// Further flags of `nyala device sim`.
    pub flags: Vec<String>,
}

/// Keys of machines, in a file that only this user can read. It is deleted when this is dropped.
#[derive(Debug)]
pub struct Keys {
    path: PathBuf,
    size: usize,
    /// Server that the keys name.
    server: String,
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Keys {
    /// Requests a key for each machine.
    ///
    /// # Errors
    /// One line with the cause.
    pub async fn make(pool: &Pool, key: &str, machines: &[TestMachine]) -> Result<Self, String> {
        let logins = logins(pool, key, machines).await?;
        let path = std::env::temp_dir().join(format!("nyala-devices-{}-{}.csv", std::process::id(), rand::random::<u32>()));
        let (host, port) = &logins.first().ok_or("no machines")?.server;
        let keys = Self { size: logins.len(), server: format!("{host}:{port}"), path };
        write(&keys.path, &logins).map_err(|e| format!("{}: {e}", keys.path.display()))?;
        Ok(keys)
    }

    pub fn size(&self) -> usize {
        self.size
    }
}

/// Devices, played by a separate process.
#[derive(Debug)]
pub struct Fleet {
    options: FleetOptions,
    keys: Arc<Keys>,
    child: Child,
    control: SocketAddr,
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Fleet {
    /// Starts the devices of these keys, and waits until they have logged in.
    ///
    /// # Errors
    /// One line with the cause.
    pub async fn start(keys: Arc<Keys>, options: FleetOptions) -> Result<Self, String> {
        let (child, control) = play(&options, &keys, Until::Ready).await?;
        Ok(Self { options, keys, child, control })
    }

    /// Starts the devices of a shop's machines, at the server that their keys name.
    ///
    /// # Errors
    /// One line with the cause.
    pub async fn of_shop(pool: &Pool, key: &str, shop: &Shop, program: Option<PathBuf>) -> Result<Self, String> {
        let program = program.ok_or("devices are played by the nyala program: --nyala or NYALA_BIN names it")?;
        let keys = Arc::new(Keys::make(pool, key, &shop.machines).await?);
        Self::start(keys, FleetOptions { program, ..FleetOptions::default() }).await
    }

    pub fn size(&self) -> usize {
        self.keys.size
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends an order to the program's control port, and returns the answer.
    ///
    /// # Errors
    /// When no answer comes, or the order is refused.
    pub async fn ask(&self, line: &str) -> Result<Value, String> {
        let failed = |e: std::io::Error| format!("the devices' control port: {e}");
        let asked = async {
            let mut stream = TcpStream::connect(self.control).await?;
            stream.write_all(format!("{line}\n").as_bytes()).await?;
            let mut answer = String::new();
            tokio::io::BufReader::new(stream).read_line(&mut answer).await?;
            Ok(answer)
        };
        let answer = timeout(ANSWER_WITHIN, asked).await.map_err(|_| format!("{line}: no answer"))?.map_err(failed)?;
        let answer: Value = serde_json::from_str(&answer).map_err(|e| format!("{line}: {answer:?}: {e}"))?;
        match answer.get("error") {
            Some(why) => Err(format!("{line}: {why}")),
            None => Ok(answer),
        }
    }

    /// Number of commands for which a machine was switched on since the process started.
    ///
    /// # Errors
    /// When no answer comes, or the device does not exist.
    pub async fn starts(&self, idmesin: i64) -> Result<usize, String> {
        let answer = self.ask(&format!("run {idmesin}")).await?;
        let starts = answer["starts"].as_u64().and_then(|n| usize::try_from(n).ok());
        starts.ok_or_else(|| format!("no starts of machine {idmesin} in {answer}"))
    }

    /// Kills the process, like a power cut, and starts it again with the same memory. Does not wait until the devices have reconnected.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn kill_and_restart(&mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map_err(|e| format!("nyala device sim: {e}"))?;
        (self.child, self.control) = play(&self.options, &self.keys, Until::Begun).await?;
        Ok(())
    }
}

async fn logins(pool: &Pool, key: &str, machines: &[TestMachine]) -> Result<Vec<Login>, String> {
    let mut asked = JoinSet::new();
    let mut logins = Vec::with_capacity(machines.len());
    for machine in machines {
        if asked.len() >= AT_ONCE
            && let Some(login) = asked.join_next().await
        {
            logins.push(login.map_err(|e| e.to_string())??);
        }
        let (pool, key, idmesin) = (pool.clone(), key.to_owned(), machine.idmesin);
        asked.spawn(async move {
            let answer = ops(&pool, &key, &format!("mesin/{idmesin}/perangkat"), &json!({})).await?;
            login(&answer).ok_or_else(|| format!("no key: {answer}"))
        });
    }
    while let Some(login) = asked.join_next().await {
        logins.push(login.map_err(|e| e.to_string())??);
    }
    Ok(logins)
}

fn login(answer: &Value) -> Option<Login> {
    Some(Login {
        idmesin: answer["idmesin"].as_i64()?,
        idoutlet: answer["idoutlet"].as_i64()?,
        secret: answer["secret"].as_str()?.to_owned(),
        server: (answer["host"].as_str()?.to_owned(), u16::try_from(answer["port"].as_u64()?).ok()?),
    })
}

/// Writes the keys in the format of `nyala device add --out`.
fn write(path: &Path, logins: &[Login]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let mut text = "user,secret,host,port,idoutlet,idmesin,ca\n".to_owned();
    for Login { idmesin, idoutlet, secret, server: (host, port) } in logins {
        text += &format!("{idmesin},{secret},{host},{port},{idoutlet},{idmesin},\n");
    }
    file.write_all(text.as_bytes())
}

/// Condition that ends the wait for a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The control port is open.
    Begun,
    /// All devices have logged in.
    Ready,
}

/// Starts the program.
async fn play(options: &FleetOptions, keys: &Keys, until: Until) -> Result<(Child, SocketAddr), String> {
    let mut command = Command::new(&options.program);
    let server = options.server.map_or_else(|| keys.server.clone(), |at| at.to_string());
    command
        .args(["device", "sim", "--keys"])
        .arg(&keys.path)
        .args(["--server", &server, "--control", "127.0.0.1:0"])
        .args(&options.flags);
    if let Some(journal) = &options.journal {
        command.arg("--journal").arg(journal);
    }
    command.stdout(Stdio::piped()).stdin(Stdio::null());
    die_with_parent(&mut command, Signal::SIGKILL);
    let mut child = command.spawn().map_err(|e| format!("{}: {e}", options.program.display()))?;
    let stdout = child.stdout.take().ok_or("no standard output")?;
    let (ready, is_ready) = tokio::sync::oneshot::channel();
    // Reads to the end: a write to a pipe without a reader would end the program.
    std::thread::spawn(move || {
        let (mut control, mut ready) = (None, Some(ready));
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            control = event["control"].as_str().and_then(|at| at.parse().ok()).or(control);
            if (until == Until::Begun || event.get("ready").is_some())
                && let Some((ready, control)) = ready.take().zip(control)
            {
                let _ = ready.send(control);
            }
        }
    });
    match timeout(READY_WITHIN, is_ready).await {
        Ok(Ok(control)) => Ok((child, control)),
        other => {
            let _ = child.kill();
            let _ = child.wait();
            let why = if other.is_err() { "they are not all there in time" } else { "it ended" };
            Err(format!("nyala device sim: {why}"))
        }
    }
}
