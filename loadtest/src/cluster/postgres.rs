//! PostgreSQL from Debian's packages: a primary and two standbys. A commit is acknowledged when one standby has it.

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use embedded_postgres::{OLDEST_MAJOR, SUPERUSER, die_with_parent};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Client, Config, NoTls};

use super::cut_proxy::{Cut, CutProxy};
use crate::local::free_port;

/// Debian's folder, with one folder for each major version.
const PLACE: &str = "/usr/lib/postgresql";
/// The account of Debian's package, because PostgreSQL refuses root.
const ACCOUNT: &str = "postgres";
const DATABASE: &str = "nyala";
/// The first is the primary.
const NAMES: [&str; 3] = ["db1", "db2", "db3"];
/// The same setting for all servers, so that it is right for each that is promoted. A server does not count as its own standby.
const SYNCHRONOUS: &str = "synchronous_standby_names=ANY 1 (db1, db2, db3)";
const UP_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);

/// Settings of all servers. The test kills processes, never the host, so written data is safe without fsync.
const SETTINGS: [&str; 11] = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=off",
    "wal_level=replica",
    "max_wal_senders=8",
    "max_connections=200",
    "synchronous_commit=on",
    SYNCHRONOUS,
    "wal_retrieve_retry_interval=100ms",
    "hot_standby=on",
    "logging_collector=off",
];

/// Programs of the newest installed version; `None`: none is installed.
pub fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir(PLACE).ok()?.flatten();
    let majors = versions.filter_map(|v| v.file_name().to_str()?.parse::<u32>().ok()).filter(|major| *major >= OLDEST_MAJOR);
    let all = majors.map(|major| (major, Path::new(PLACE).join(major.to_string()).join("bin")));
    all.filter(|(_, bin)| ["initdb", "postgres", "pg_basebackup"].iter().all(|p| bin.join(p).is_file())).max().map(|(_, bin)| bin)
}

/// One PostgreSQL server.
struct Instance {
    name: &'static str,
    data: PathBuf,
    port: u16,
    /// The connection of its standbys to it.
    proxy: CutProxy,
    process: Option<Child>,
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

impl Instance {
    /// The postmaster and its child processes.
    fn processes(&self) -> Vec<Pid> {
        let Some(postmaster) = self.process.as_ref().map(Child::id) else { return Vec::new() };
        let children = fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children")).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        std::iter::once(postmaster.cast_signed()).chain(children).map(Pid::from_raw).collect()
    }

    /// Signals the postmaster first: a stopped postmaster starts no further children.
    fn signal(&self, signal: Signal) -> Result<(), String> {
        let postmaster = self.process.as_ref().map(Child::id).ok_or("PostgreSQL does not run")?;
        kill(Pid::from_raw(postmaster.cast_signed()), signal).map_err(|e| format!("PostgreSQL: {e}"))?;
        for child in self.processes().into_iter().skip(1) {
            // A process that has just ended needs no signal.
            let _ = kill(child, signal);
        }
        Ok(())
    }

    fn kill(&mut self) -> Result<(), String> {
        let all = self.processes();
        let Some(mut postmaster) = self.process.take() else { return Ok(()) };
        postmaster.kill().map_err(|e| e.to_string())?;
        for child in all.into_iter().skip(1) {
            let _ = kill(child, Signal::SIGKILL);
        }
        postmaster.wait().map(drop).map_err(|e| e.to_string())
    }
}

/// A primary with its standbys.
pub struct Database {
    bin: PathBuf,
    account: Option<User>,
    folder: PathBuf,
    primary: Instance,
    standbys: Vec<Instance>,
    /// The previous primary, which does not run.
    old: Option<Instance>,
    ports: Vec<u16>,
}

impl Database {
    /// Creates all of them below `folder`, which must not exist, and the database for the servers.
    ///
    /// # Errors
    /// One line: why it was not possible.
    pub async fn start(bin: PathBuf, folder: PathBuf) -> Result<Self, String> {
        let account = match geteuid().is_root() {
            true => {
                Some(User::from_name(ACCOUNT).ok().flatten().ok_or("PostgreSQL refuses root, and there is no account postgres")?)
            }
            false => None,
        };
        let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        if let Some(account) = &account {
            std::os::unix::fs::chown(&folder, Some(account.uid.as_raw()), Some(account.gid.as_raw())).map_err(failed)?;
        }
        let mut standbys = Vec::new();
        for name in NAMES {
            let port = free_port().map_err(|e| e.to_string())?;
            standbys.push(Instance {
                name,
                data: folder.join(name),
                port,
                proxy: CutProxy::start(&[port]).await?,
                process: None,
            });
        }
        let ports = standbys.iter().map(|i| i.port).collect();
        let primary = standbys.remove(0);
        let mut all = Self { bin, account, folder, primary, standbys, old: None, ports };
        let mut initdb = all.command("initdb");
        initdb.args(["--no-sync", "-A", "trust", "-E", "UTF8", "--locale=C", "-U", SUPERUSER, "-D"]).arg(&all.primary.data);
        done(initdb)?;
        all.primary.process = Some(all.serve(&all.primary)?);
        let first = all.wait(&all.primary).await?;
        for place in 0..all.standbys.len() {
            done(all.copy(&all.standbys[place]))?;
            all.standbys[place].process = Some(all.serve(&all.standbys[place])?);
        }
        all.followed(&first).await?;
        first.batch_execute(&format!("CREATE DATABASE {DATABASE}")).await.map_err(|e| e.to_string())?;
        Ok(all)
    }

    /// Waits until every standby follows the primary.
    async fn followed(&self, primary: &Client) -> Result<(), String> {
        let follow = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'";
        let since = Instant::now();
        loop {
            let count: i64 = primary.query_one(follow, &[]).await.map_err(|e| e.to_string())?.get(0);
            if usize::try_from(count) == Ok(self.standbys.len()) {
                return Ok(());
            }
            if since.elapsed() > UP_WITHIN {
                return Err(format!("{count} of {} standbys follow, see {}", self.standbys.len(), self.folder.display()));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The command that copies the primary's data, with the settings of a standby.
    fn copy(&self, standby: &Instance) -> Command {
        let mut copy = self.command("pg_basebackup");
        let from = self.primary.proxy.ports()[0].to_string();
        copy.args(["-h", "127.0.0.1", "-p", &from, "-U", SUPERUSER, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-D"]);
        copy.arg(&standby.data);
        copy
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        if let Some(account) = &self.account {
            command.uid(account.uid.as_raw()).gid(account.gid.as_raw());
        }
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn serve(&self, instance: &Instance) -> Result<Child, String> {
        let name = instance.name;
        let log = File::options().create(true).append(true).open(self.folder.join(format!("{name}.log")));
        let log = log.map_err(|e| e.to_string())?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(&instance.data).args(["-p", &instance.port.to_string()]);
        // The name under which the standby connects to its primary.
        let called = format!("cluster_name={name}");
        for setting in SETTINGS.into_iter().chain([called.as_str()]) {
            command.args(["-c", setting]);
        }
        command.stdout(Stdio::null()).stderr(log);
        die_with_parent(&mut command, Signal::SIGQUIT);
        command.spawn().map_err(|e| format!("postgres: {e}"))
    }

    /// Port of each.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    /// Value of `DATABASE_URL`, through these ports.
    pub fn url(ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("postgres://{SUPERUSER}@{}/{DATABASE}", hosts.join(","))
    }

    /// A connection to the server that accepts writes.
    pub fn config(&self) -> Config {
        let mut config = Config::new();
        for port in &self.ports {
            config.host(Ipv4Addr::LOCALHOST.to_string()).port(*port);
        }
        config
            .user(SUPERUSER)
            .dbname(DATABASE)
            .target_session_attrs(TargetSessionAttrs::ReadWrite)
            .connect_timeout(CONNECTS_WITHIN);
        config
    }

    async fn wait(&self, instance: &Instance) -> Result<Client, String> {
        let mut config = Config::new();
        config.host(Ipv4Addr::LOCALHOST.to_string()).port(instance.port).user(SUPERUSER).dbname("postgres");
        let since = Instant::now();
        loop {
            match connect(&config).await {
                Ok(client) => return Ok(client),
                Err(why) if since.elapsed() > UP_WITHIN => return Err(why),
                Err(_) => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }

    /// # Errors
    /// When there is nothing to freeze.
    pub fn freeze(&self) -> Result<(), String> {
        self.primary.signal(Signal::SIGSTOP)
    }

    /// # Errors
    /// When there is nothing to wake.
    pub fn wake(&self) -> Result<(), String> {
        self.primary.signal(Signal::SIGCONT)
    }

    /// Kills the primary. After the time `after`, the most advanced standby is promoted, and the others follow it.
    ///
    /// # Errors
    /// When there is no standby, or none is promoted.
    pub async fn fail_over(&mut self, after: Duration) -> Result<(), String> {
        self.primary.kill()?;
        tokio::time::sleep(after).await;
        self.promote().await?;
        self.follow().await
    }

    /// Cuts the primary off its standbys. After `alone` the most advanced one is promoted, and the others follow it. For the time `beside`
    /// two servers accept writes, of which the old one acknowledges none; then it is killed, as a cluster manager would do.
    ///
    /// # Errors
    /// When there is no standby, or none is promoted.
    pub async fn cut_off(&mut self, how: Cut, alone: Duration, beside: Duration) -> Result<(), String> {
        self.primary.proxy.cut(how);
        tokio::time::sleep(alone).await;
        self.promote().await?;
        self.follow().await?;
        tokio::time::sleep(beside).await;
        let old = self.old.as_mut().ok_or("there is no old primary")?;
        old.kill()?;
        old.proxy.restore();
        Ok(())
    }

    /// Promotes the most advanced standby.
    async fn promote(&mut self) -> Result<(), String> {
        let mut furthest = None;
        for (place, standby) in self.standbys.iter().enumerate() {
            let has = "SELECT (pg_last_wal_receive_lsn() - '0/0')::BIGINT";
            let row = self.wait(standby).await?.query_one(has, &[]).await.map_err(|e| e.to_string())?;
            furthest = furthest.max(Some((row.get::<_, Option<i64>>(0), place)));
        }
        let (_, place) = furthest.ok_or("there is no standby any more")?;
        let next = self.standbys.remove(place);
        self.old = Some(std::mem::replace(&mut self.primary, next));
        let row = self.wait(&self.primary).await?.query_one("SELECT pg_promote()", &[]).await.map_err(|e| e.to_string())?;
        if row.get::<_, bool>(0) { Ok(()) } else { Err(format!("{} was not promoted", self.primary.name)) }
    }

    /// Lets the standbys follow the primary.
    async fn follow(&self) -> Result<(), String> {
        for standby in &self.standbys {
            let follower = self.wait(standby).await?;
            let to = format!("host=127.0.0.1 port={} user={SUPERUSER}", self.primary.proxy.ports()[0]);
            // Two separate statements: neither may run in a transaction.
            for statement in [format!("ALTER SYSTEM SET primary_conninfo = '{to}'"), "SELECT pg_reload_conf()".to_owned()] {
                follower.batch_execute(&statement).await.map_err(|e| format!("{statement}: {e}"))?;
            }
        }
        self.followed(&self.wait(&self.primary).await?).await
    }

    /// Makes the old primary a standby with a copy of the new primary's data. Commits that only the old primary had were never acknowledged.
    ///
    /// # Errors
    /// When it does not follow.
    pub async fn take_back(&mut self) -> Result<(), String> {
        let Some(mut old) = self.old.take() else { return Ok(()) };
        fs::remove_dir_all(&old.data).map_err(|e| format!("{}: {e}", old.data.display()))?;
        let copy = self.copy(&old);
        tokio::task::spawn_blocking(|| done(copy)).await.map_err(|e| e.to_string())??;
        old.process = Some(self.serve(&old)?);
        self.standbys.push(old);
        self.followed(&self.wait(&self.primary).await?).await
    }
}

/// Opens a connection that ends with its client.
///
/// # Errors
/// One line.
pub async fn connect(config: &Config) -> Result<Client, String> {
    let (client, connection) = config.connect(NoTls).await.map_err(|e| e.to_string())?;
    tokio::spawn(connection);
    Ok(client)
}

fn done(mut command: Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let out = command.output().map_err(|e| format!("{name}: {e}"))?;
    if out.status.success() { Ok(()) } else { Err(format!("{name}: {}", String::from_utf8_lossy(&out.stderr).trim())) }
}
