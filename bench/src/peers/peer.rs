//! The servers that are measured beside each other, each on one core.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use clap::ValueEnum;
use nyala_loadtest::server::Server;
use serde_json::Value;

use super::load::Load;
use crate::BenchError;
use crate::server::Scratch;

/// The core of every server; the load has the next one.
const SERVER_CORE: &str = "0";
/// For a peer to say that it listens.
const LISTENING_WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum Peer {
    /// A bare epoll loop, one `write` a delivery
    Floor,
    /// `nyala serve`, one worker thread, its machines bought through the operators' calls
    Nyala,
    /// actix-socketio, its rooms, websockets handed over as they are
    Handover,
    /// The same in an ordinary `HttpServer`, websockets through actix-web-actors
    HttpServer,
    /// A `WebsocketContext` actor a session
    ActixWebActors,
    /// socketioxide on axum
    Socketioxide,
    /// socket.io for Node with bufferutil
    Node,
}

impl Peer {
    pub fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor (bare epoll)",
            Self::Nyala => "Nyala",
            Self::Handover => "actix-socketio, handed over",
            Self::HttpServer => "actix-socketio in HttpServer",
            Self::ActixWebActors => "actix-web-actors, naive",
            Self::Socketioxide => "socketioxide",
            Self::Node => "socket.io for Node",
        }
    }

    /// Whether it is what all of this is about; the others are there to be compared with.
    pub fn is_measured(self) -> bool {
        matches!(self, Self::Nyala | Self::Floor)
    }

    /// What it is built on, from its lock file; None for what is written here.
    pub fn version(self) -> Option<String> {
        match self {
            Self::Floor | Self::Nyala | Self::Handover | Self::HttpServer => None,
            Self::ActixWebActors => locked_crate("actix-web-actors"),
            Self::Socketioxide => locked_crate("socketioxide"),
            Self::Node => {
                let lock: Value = serde_json::from_slice(&fs::read("bench/peers/node/package-lock.json").ok()?).ok()?;
                let version =
                    |package: &str| lock["packages"][format!("node_modules/{package}")]["version"].as_str().map(str::to_owned);
                let node = Command::new("node").arg("--version").output().ok()?;
                let node = String::from_utf8_lossy(&node.stdout);
                Some(format!(
                    "socket.io {} with bufferutil {} on Node {}",
                    version("socket.io")?,
                    version("bufferutil")?,
                    node.trim()
                ))
            }
        }
    }

    /// Starts it for `load` and waits until it listens.
    ///
    /// # Errors
    /// Why it cannot run.
    pub async fn start(self, load: &Load) -> Result<RunningPeer, BenchError> {
        match self {
            Self::Nyala => nyala(load).await,
            Self::Floor => program("peer-floor", None, load),
            Self::Handover => program("peer-actix-socketio", Some("handover"), load),
            Self::HttpServer => program("peer-actix-socketio", Some("http-server"), load),
            Self::ActixWebActors => program("peer-actix-web-actors", None, load),
            Self::Socketioxide => program("peer-socketioxide", None, load),
            Self::Node => {
                let mut node = Command::new("taskset");
                node.args(["-c", SERVER_CORE, "node", "bench/peers/node/server.js"]);
                child(node, load)
            }
        }
    }
}

/// The name and version of a crate that the peers are locked to.
fn locked_crate(name: &str) -> Option<String> {
    let lock = fs::read_to_string("bench/peers/rust/Cargo.lock").ok()?;
    let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    Some(format!("{name} {}", rest.split('"').next()?))
}

/// A server that runs; killed when dropped.
pub struct RunningPeer {
    pub port: u16,
    pub pid: u32,
    /// Nyala's key of an operator, to prepare machines and customers with; the others have theirs from the start.
    pub key: Option<String>,
    held: Held,
}

impl RunningPeer {
    /// Gives Nyala its core as soon as all `machines` of the load have an actor; the others have theirs from the start. It prepares on
    /// every core there is, for to buy thousands of machines is not what is measured here; its database keeps them all, and has nothing
    /// to do while machines tick.
    ///
    /// # Errors
    /// When its threads cannot be moved.
    pub async fn settle(&mut self, machines: u32) -> Result<(), BenchError> {
        let Held::Nyala { server, pinned: pinned @ false, .. } = &mut self.held else { return Ok(()) };
        if server.metric("nyala_machine_actors").await? < f64::from(machines) {
            return Ok(());
        }
        let moved = Command::new("taskset").args(["-a", "-c", "-p", SERVER_CORE, &self.pid.to_string()]).output()?;
        *pinned = moved.status.success();
        if *pinned { Ok(()) } else { Err(format!("taskset: {}", String::from_utf8_lossy(&moved.stderr)).into()) }
    }
}

/// Whatever has to live as long as the server; fields drop in this order.
enum Held {
    Nyala { server: Box<Server>, _scratch: Scratch, pinned: bool },
    Child { _child: Killed },
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // it may have ended by itself
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn nyala(load: &Load) -> Result<RunningPeer, BenchError> {
    let mut scratch = Scratch::make()?;
    scratch.set("NYALA__HTTP__WORKERS", 1);
    scratch.set("NYALA__DEV__TICKS_PER_SECOND", load.ticks_per_second);
    let server = scratch.start().await?;
    let key = server.root_key().await?;
    let (port, pid) = (server.address().port(), crate::server::pid(&server)?);
    Ok(RunningPeer {
        port,
        pid,
        key: Some(key),
        held: Held::Nyala { server: Box::new(server), _scratch: scratch, pinned: false },
    })
}

fn program(name: &str, transport: Option<&str>, load: &Load) -> Result<RunningPeer, BenchError> {
    let path = beside(name)?;
    let mut command = Command::new("taskset");
    command.args(["-c", SERVER_CORE]).arg(path).envs(transport.map(|transport| ("TRANSPORT", transport)));
    child(command, load)
}

/// A program that was built into the same folder as this one.
///
/// # Errors
/// When it was not built.
pub fn beside(name: &str) -> Result<PathBuf, BenchError> {
    let path = std::env::current_exe()?.with_file_name(name);
    if path.is_file() { Ok(path) } else { Err(format!("{} is missing: make bench PEERS=1 builds it", path.display()).into()) }
}

/// taskset replaces itself by the server, so that its process is the server's.
fn child(mut command: Command, load: &Load) -> Result<RunningPeer, BenchError> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    command
        .env("PORT", port.to_string())
        .env("MACHINES", load.machines.to_string())
        .env("TICKS_PER_SECOND", load.ticks_per_second.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = Killed(command.spawn().map_err(|e| format!("{command:?}: {e}"))?);
    let (first_line, listening) = mpsc::channel();
    if let Some(stdout) = child.0.stdout.take() {
        std::thread::spawn(move || {
            let mut line = String::new();
            // nobody waits any more: the peer was too late
            let _ = BufReader::new(stdout).read_line(&mut line).map(|_| first_line.send(line));
        });
    }
    match listening.recv_timeout(LISTENING_WITHIN) {
        Ok(line) if line.starts_with("listening") => {
            Ok(RunningPeer { port, pid: child.0.id(), key: None, held: Held::Child { _child: child } })
        }
        Ok(line) => Err(format!("{command:?} should say that it listens: {line:?}").into()),
        Err(e) => Err(format!("{command:?} does not say that it listens: {e}").into()),
    }
}
