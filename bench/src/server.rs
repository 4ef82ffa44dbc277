//! The measured server: the release binary on a private database in a folder of its own.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::Error;
use crate::http::Http;

/// initdb and a first start together.
const READY_LIMIT: Duration = Duration::from_secs(120);
/// Draining and the database's shutdown together.
const STOP_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(1);

/// The folder of one measurement, removed with it.
pub struct Place {
    dir: PathBuf,
    settings: Vec<(&'static str, String)>,
}

impl Place {
    /// # Errors
    /// When the system's folder for temporary files cannot be written.
    pub fn make() -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("nyala-bench-{}-{n}", std::process::id()));
        fs::create_dir_all(&dir)?;
        Ok(Self { dir, settings: Vec::new() })
    }

    /// Changes a setting of the servers that start here from now on: `NYALA__SECTION__KEY` and its value.
    pub fn set(&mut self, name: &'static str, value: impl ToString) {
        self.settings.push((name, value.to_string()));
    }

    pub fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    fn log(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    /// The server's program with the settings of every measurement: devices that answer at once, no demo.
    fn nyala(&self, port: u16) -> Result<Command, Error> {
        let mut command = Command::new(binary()?);
        command
            .env_remove("DATABASE_URL")
            .env("NYALA__HTTP__PORT", port.to_string())
            .env("NYALA__DATA__DIR", self.data())
            .env("NYALA__MESIN__SIM_MIN_MS", "0")
            .env("NYALA__MESIN__SIM_MAX_MS", "0")
            .env("NYALA__DEV__SEED_DEMO", "false")
            .env("NYALA__LOG__FORMAT", "json")
            .env("NYALA__PURCHASE__PER_CUSTOMER_MINUTE", "1000000")
            // All sessions come from one address, and at once.
            .env("NYALA__REALTIME__UNJOINED_PER_ADDRESS", "1000000")
            .envs(self.settings.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        Ok(command)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(e) = fs::remove_dir_all(&self.dir) {
            eprintln!("nyala-bench: {} is left behind: {e}", self.dir.display());
        }
    }
}

/// `NYALA_BIN`, else the program beside this one.
fn binary() -> Result<PathBuf, Error> {
    let path = match std::env::var_os("NYALA_BIN") {
        Some(path) => path.into(),
        None => std::env::current_exe()?.with_file_name("nyala"),
    };
    if path.is_file() { Ok(path) } else { Err(format!("{} is missing: make server, or set NYALA_BIN", path.display()).into()) }
}

/// A running server; killed when dropped, and its database with it.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// From the start of the program to the first `/readyz` that says 200.
    pub ready_after: Duration,
}

impl Server {
    /// Starts it in `place` and waits until it is ready.
    ///
    /// # Errors
    /// Its last words when it ends instead.
    pub async fn start(place: &Place) -> Result<Self, Error> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let log = File::create(place.log())?;
        let mut command = place.nyala(address.port())?;
        command.arg("serve").stdout(log.try_clone()?).stderr(log);
        let started = Instant::now();
        let mut server = Self { child: command.spawn()?, address, ready_after: Duration::ZERO };
        while !server.is_ready().await {
            if server.child.try_wait()?.is_some() || started.elapsed() > READY_LIMIT {
                return Err(format!("the server did not become ready: {}", fs::read_to_string(place.log())?).into());
            }
            tokio::time::sleep(POLL).await;
        }
        server.ready_after = started.elapsed();
        Ok(server)
    }

    async fn is_ready(&self) -> bool {
        let Ok(mut http) = Http::connect(self.address).await else { return false };
        http.get("/readyz").await.is_ok_and(|answer| answer.status == 200)
    }

    /// A number that `/metrics` tells.
    ///
    /// # Errors
    /// When there is none of that name.
    pub async fn metric(&self, name: &str) -> Result<f64, Error> {
        let page = Http::connect(self.address).await?.get("/metrics").await?.body;
        let number = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(number.ok_or_else(|| format!("/metrics has no {name}"))?.parse()?)
    }

    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// A root key.
    ///
    /// # Errors
    /// What `nyala key add` says against it.
    pub fn root_key(&self, place: &Place) -> Result<String, Error> {
        let output = place.nyala(self.address.port())?.args(["key", "add", "--role", "root", "--nama", "bench"]).output()?;
        if !output.status.success() {
            return Err(format!("nyala key add: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// SIGTERM, then its orderly end.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(mut self) -> Result<(), Error> {
        kill(Pid::from_raw(self.pid()), Signal::SIGTERM)?;
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            if asked.elapsed() > STOP_LIMIT {
                return Err("the server did not stop".into());
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// SIGKILL: its database ends by itself.
    ///
    /// # Errors
    /// When it is gone already.
    pub fn kill(mut self) -> Result<(), Error> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // it may have ended, which is what is wanted
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines of the server's log, as JSON.
///
/// # Errors
/// When the log cannot be read.
pub fn log(place: &Place) -> Result<Vec<serde_json::Value>, Error> {
    let text = fs::read_to_string(Path::new(&place.log()))?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
