//! A server with its private database, started by this program to be measured, or to be killed and started again.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use embedded_postgres::die_with_parent;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nyala_store::secrets::Secrets;
use serde_json::Value;

use crate::http::{KeptConnection, ask};
use crate::process::children;

/// Time in which the server must be ready, with the creation or recovery of its database.
const UP_WITHIN: Duration = Duration::from_secs(120);
/// Time limit of a stop: draining and the database's shutdown.
const STOPPED_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub struct Server {
    program: PathBuf,
    config_dir: PathBuf,
    data_dir: PathBuf,
    /// Additional settings.
    settings: Vec<(&'static str, String)>,
    process: Option<Child>,
    address: SocketAddr,
    /// Log file; by default in `data_dir`.
    log: PathBuf,
    /// Position of the last start in the log.
    log_from: usize,
    ready_after: Duration,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut server) = self.process.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Server {
    /// # Errors
    /// When the program does not exist, or the folder cannot be created.
    pub fn new(
        program: PathBuf,
        config_dir: &Path,
        data_dir: PathBuf,
        settings: &[(&'static str, &str)],
    ) -> Result<Self, String> {
        if !program.is_file() {
            return Err(format!("{} is not there: `make server` makes it, or NYALA_BIN names it", program.display()));
        }
        std::fs::create_dir_all(&data_dir).map_err(|e| format!("{}: {e}", data_dir.display()))?;
        Ok(Self {
            program,
            config_dir: config_dir.to_owned(),
            log: data_dir.join("server.log"),
            data_dir,
            settings: settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
            process: None,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            log_from: 0,
            ready_after: Duration::ZERO,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The keys with which it signs.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn secrets(&self) -> Result<Secrets, String> {
        let file = Secrets::file(&self.data_dir);
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        Secrets::parse(&text)
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Uses this program and this folder of settings from the next start on. Returns the previous ones.
    pub fn exchange_program(&mut self, (program, config_dir): (PathBuf, PathBuf)) -> (PathBuf, PathBuf) {
        (std::mem::replace(&mut self.program, program), std::mem::replace(&mut self.config_dir, config_dir))
    }

    /// Process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Time from the last start of the program until it was ready.
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Logs into this file from the next start on: the data folder will be deleted.
    pub fn log_to(&mut self, log: PathBuf) {
        self.log = log;
    }

    /// Log since the last start.
    pub fn log(&self) -> String {
        let log = std::fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(log.get(self.log_from..).unwrap_or_default()).into_owned()
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
            .env("NYALA__MQTT__PORT", "0")
            .env("NYALA__LOG__FILTER", "warn")
            .env("NYALA__PURCHASE__PER_CUSTOMER_MINUTE", "1000000")
            // All sessions come from one address at once.
            .env("NYALA__REALTIME__UNJOINED_PER_ADDRESS", "1000000")
            .envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts the server and waits until it is ready.
    pub async fn start(&mut self) -> Result<(), String> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(&self.log).map_err(|e| e.to_string())?;
        self.log_from = log.metadata().map_or(0, |log| log.len() as usize);
        let mut command = self.command(&["serve"]);
        command.stdout(Stdio::piped()).stderr(log);
        // Ctrl-C must reach this program only: the server has to answer until the balances are checked. It ends with this program.
        die_with_parent(&mut command, Signal::SIGKILL);
        let began = Instant::now();
        let mut child = command.spawn().map_err(|e| format!("cannot start: {e}"))?;
        let stdout = child.stdout.take().ok_or("no standard output")?;
        self.process = Some(child);
        let first_line = tokio::task::spawn_blocking(move || BufReader::new(stdout).lines().next());
        let line = tokio::time::timeout(UP_WITHIN, first_line).await.map_err(|_| "the server does not come up")?;
        let line =
            line.map_err(|e| e.to_string())?.ok_or_else(|| format!("the server ended at once: {}", last_line(&self.log)))?;
        let line = line.map_err(|e| e.to_string())?;
        let url = line.split_whitespace().last().unwrap_or_default();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        self.address = address.parse().map_err(|_| format!("no address in `{line}`"))?;
        self.ready().await?;
        self.ready_after = began.elapsed();
        Ok(())
    }

    async fn ready(&mut self) -> Result<(), String> {
        let since = Instant::now();
        while since.elapsed() < UP_WITHIN {
            if ask(self.address, "GET", "/readyz", &[], &Value::Null).await.is_ok_and(|a| a.status == 200) {
                return Ok(());
            }
            if let Some(status) = self.process.as_mut().and_then(|s| s.try_wait().ok().flatten()) {
                return Err(format!("the server ended ({status}), see {}", self.log.display()));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Err("the server does not become ready".to_owned())
    }

    /// Value of a metric.
    ///
    /// # Errors
    /// When `/metrics` has no such metric.
    pub async fn metric(&self, name: &str) -> Result<f64, String> {
        let page = async { KeptConnection::open(self.address).await?.ask_raw("GET", "/metrics", "", "").await };
        let page = page.await.map_err(|e| format!("/metrics: {e}"))?.body;
        let number = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        number.and_then(|number| number.parse().ok()).ok_or_else(|| format!("/metrics has no {name}"))
    }

    /// Kills the server's program.
    ///
    /// # Errors
    /// When it cannot be killed.
    pub async fn kill_program(&mut self) -> Result<(), String> {
        let Some(mut server) = self.process.take() else { return Ok(()) };
        server.kill().map_err(|e| e.to_string())?;
        tokio::task::spawn_blocking(move || server.wait()).await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        Ok(())
    }

    /// Kills the private database.
    ///
    /// # Errors
    /// When its process is not found.
    pub fn kill_database(&self) -> Result<(), String> {
        let pidfile = self.data_dir.join("postgres/cluster/postmaster.pid");
        let text = std::fs::read_to_string(&pidfile).map_err(|e| format!("{}: {e}", pidfile.display()))?;
        let pid = text.lines().next().and_then(|pid| pid.parse().ok()).ok_or("no process id of the database")?;
        kill(Pid::from_raw(pid), Signal::SIGKILL).map_err(|e| format!("cannot kill the database: {e}"))
    }

    /// Kills the server's program and all that it has started, which is its database and the receiver of a backup, at once.
    ///
    /// # Errors
    /// When one of them cannot be killed.
    pub async fn kill_everything(&mut self) -> Result<(), String> {
        let Some(server) = self.process.as_ref().map(Child::id) else { return Ok(()) };
        for pid in [server].into_iter().chain(children(server)) {
            let pid = Pid::from_raw(pid.cast_signed());
            match kill(pid, Signal::SIGKILL) {
                // The database ends with the server.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(e) => return Err(format!("cannot kill process {pid}: {e}")),
            }
        }
        self.kill_program().await
    }

    /// Waits until the server is ready after a kill. A dead server is started again; a living one restarts its database itself.
    pub async fn come_back(&mut self) -> Result<(), String> {
        if self.process.is_some() { self.ready().await } else { self.start().await }
    }

    pub async fn stop(&mut self) -> Result<(), String> {
        let Some(mut server) = self.process.take() else { return Ok(()) };
        let pid = i32::try_from(server.id()).map_err(|e| e.to_string())?;
        kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(|e| e.to_string())?;
        let asked = Instant::now();
        let status = loop {
            if let Some(status) = server.try_wait().map_err(|e| e.to_string())? {
                break status;
            }
            if asked.elapsed() > STOPPED_WITHIN {
                self.process = Some(server);
                return Err("the server did not stop".to_owned());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        };
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status} after SIGTERM")) }
    }

    pub fn remove(&self) -> Result<(), String> {
        std::fs::remove_dir_all(&self.data_dir).map_err(|e| e.to_string())
    }

    /// Runs a command of the program and returns its output.
    pub async fn run(&self, args: &[&str]) -> Result<String, String> {
        let mut command = self.command(args);
        let out =
            tokio::task::spawn_blocking(move || command.output()).await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if out.status.success() { Ok(text(&out.stdout)) } else { Err(format!("{}{}", text(&out.stdout), text(&out.stderr))) }
    }

    /// Makes an API key of the role root.
    ///
    /// # Errors
    /// The refusal of `nyala key add`.
    pub async fn root_key(&self) -> Result<String, String> {
        Ok(self.run(&["key", "add", "--role", "root", "--nama", "loadtest"]).await?.trim().to_owned())
    }
}

/// Last lines of a log, with its path.
fn last_line(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    format!("{} ({})", text.lines().last().unwrap_or("it said nothing"), log.display())
}

/// Path of the nyala program: `NYALA_BIN`, else the one beside this program.
///
/// # Errors
/// When this program's own path is unknown.
pub fn program() -> Result<PathBuf, String> {
    let named = std::env::var_os("NYALA_BIN").map(PathBuf::from);
    let beside = || std::env::current_exe().ok().map(|exe| exe.with_file_name("nyala"));
    named.or_else(beside).ok_or_else(|| "NYALA_BIN must name the nyala program".to_owned())
}
