//! A broker of the system's packages between devices and server, with the keys that `nyala device export` wrote for it.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use embedded_postgres::die_with_parent;
use nix::sys::signal::Signal;

const LISTENS_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Below those that systems give to connections.
const PORTS: Range<u16> = 20_000..32_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BrokerKind {
    Mosquitto,
    Nats,
}

impl BrokerKind {
    pub const fn program(self) -> &'static str {
        match self {
            Self::Mosquitto => "mosquitto",
            Self::Nats => "nats-server",
        }
    }

    /// As `nyala device export --for` calls it.
    const fn export_name(self) -> &'static str {
        match self {
            Self::Mosquitto => "mosquitto",
            Self::Nats => "nats",
        }
    }

    /// Where its program is; `None`: its package is not here.
    pub fn find(self) -> Option<PathBuf> {
        installed(self.program())
    }
}

/// Where a program of the system's packages is.
pub fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // Debian has daemons where only root looks.
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    places.map(|place| place.join(program)).find(|file| file.is_file())
}

#[derive(Debug)]
pub struct Broker {
    kind: BrokerKind,
    dir: PathBuf,
    address: SocketAddr,
    child: Child,
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port on which nobody listened a moment ago, for a program that has to be told one: never the same in this process, and none that
/// the system gives to a connection meanwhile.
///
/// # Errors
/// When there is none.
pub fn free_port() -> io::Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let free = |port: &u16| !given.contains(port) && TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let port = (0..PORTS.len()).map(|_| rand::random_range(PORTS)).find(free);
    let port = port.ok_or_else(|| io::Error::new(ErrorKind::AddrInUse, format!("no free port in {PORTS:?}")))?;
    given.insert(port);
    Ok(port)
}

impl Broker {
    /// Exports `keys` below `dir`, which must not be there, with `nyala` (the server's program beside its data), and starts the broker with
    /// them.
    ///
    /// # Errors
    /// One line on what kept it from that.
    pub fn start(kind: BrokerKind, port: u16, dir: &Path, keys: &Path, mut nyala: Command) -> Result<Self, String> {
        nyala.args(["device", "export", "--for", kind.export_name(), "--keys"]).arg(keys).arg("--out").arg(dir);
        let done = nyala.output().map_err(|e| e.to_string())?;
        if !done.status.success() {
            return Err(format!("nyala device export: {}", String::from_utf8_lossy(&done.stderr)));
        }
        let shown = dir.display();
        let conf = match kind {
            BrokerKind::Nats => format!(
                "host: 127.0.0.1\nport: -1\nserver_name: nyala\njetstream {{ store_dir: \"{shown}/js\" }}\n\
                 mqtt {{ host: 127.0.0.1, port: {port} }}\ninclude \"users.conf\"\n"
            ),
            BrokerKind::Mosquitto => format!(
                "listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {shown}/passwd\nacl_file {shown}/acl\nuser root\n"
            ),
        };
        std::fs::write(dir.join("broker.conf"), conf).map_err(|e| format!("{shown}: {e}"))?;
        let child = run(kind, dir, port)?;
        Ok(Self { kind, dir: dir.to_owned(), address: SocketAddr::from(([127, 0, 0, 1], port)), child })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// As when its machine loses power; it starts again at once.
    ///
    /// # Errors
    /// When it does not come back.
    pub fn kill_and_restart(&mut self) -> Result<(), String> {
        self.child.kill().and_then(|()| self.child.wait()).map_err(|e| e.to_string())?;
        self.child = run(self.kind, &self.dir, self.address.port())?;
        Ok(())
    }
}

fn run(kind: BrokerKind, dir: &Path, port: u16) -> Result<Child, String> {
    let name = kind.program();
    let mut command = Command::new(kind.find().ok_or_else(|| format!("{name} is not here"))?);
    command.arg("-c").arg(dir.join("broker.conf")).stdout(Stdio::null()).stderr(Stdio::null());
    die_with_parent(&mut command, Signal::SIGKILL);
    let mut child = command.spawn().map_err(|e| format!("{name}: {e}"))?;
    let since = Instant::now();
    while since.elapsed() < LISTENS_WITHIN {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(child);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("{name} does not listen"))
}
