//! `nyala device sim`: devices that are not there, on real lines (docs/devices.md).

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nyala_machines::device::mqtt::fleet::{Fault, Fleet, Key, Plan, Selection, Share, Stop};
use nyala_machines::device::mqtt::tls;
use rustls::pki_types::ServerName;
use tokio::signal::unix::{SignalKind, signal};

use super::keys_file;
use crate::cli::{CommonArgs, Failure, context, descriptors, output};
use crate::demo;

/// Descriptors beside the devices' lines.
const SPARE: usize = 64;
/// Where a server of development is.
const SERVER: &str = "127.0.0.1:1883";
const HELP: &str = "\
Faults (--fault KIND, KIND:5%, KIND:1-50,77; the control port's `fault WHO KIND`), until they are healed:
  refuse     the machine is faulty: every new start is refused
  silent     hears no command, and says nothing but `hb`
  late       starts at once, and says so 9 s later
  clock-off  takes no time from the server: every new start is expired
  duplicate  says every word twice
  reorder    says two words in the wrong order, or one of them 2 s late
  flap       loses its line every 1 to 10 s
  reboot     loses its power every 10 to 60 s, for 1 to 3 s; a run goes on
  amnesia    the same, and it has forgotten everything then
  half-open  its line is dead, and neither side is told
  clone      a second device has the same key, another boot and no memory

Orders of the control port, a line each, answered with a line of JSON, {\"error\": …} where it is none; WHO is 7, 1-50, 1,5,9-12 or all:
  fault WHO KIND    now; flap, reboot and amnesia happen for the first time at once
  heal WHO [KIND]
  cut WHO           closes their lines; they come back (first try within 2 s, pauses doubling to 30 s)
  come-back WHO     half-open ones make a new line, while the server still has the old; who waits for a new try does not
  stats             all counts, and how long the last outage took until all were back
  run ID            what a device runs, and how often it has started
  quit

Standard output: {\"control\":\"ADDRESS\"}, {\"ready\":N} when all are connected, {\"back\":N,\"over\":true,\"max_ms\":…,\"p99_ms\":…} whenever all
are back after lines were lost, and at the end (Ctrl-C, SIGTERM, quit) a summary.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Sim {
    /// Which machines' devices, of those with a key: 7, 1-10000, 1,5,9-12 or all
    #[arg(long, value_name = "IDS", default_value = "all")]
    mesin: Selection,
    /// What `nyala device add` wrote: the file of --out, or its lines of JSON
    #[arg(long, value_name = "FILE", required_unless_present_any = ["demo", "secret"], conflicts_with_all = ["demo", "secret"])]
    keys: Option<PathBuf>,
    /// The demo's machines, whose keys everybody knows
    #[arg(long, conflicts_with = "secret")]
    demo: bool,
    /// One machine's key, with --mesin and --outlet
    #[arg(long, requires = "outlet")]
    secret: Option<String>,
    /// The outlet of the machine of --secret
    #[arg(long, value_name = "ID", requires = "secret")]
    outlet: Option<i64>,
    /// Where the server is; else where the keys say, else 127.0.0.1:1883
    #[arg(long, value_name = "HOST:PORT")]
    server: Option<String>,
    /// The certificate that the server's is signed by: TLS; else as the keys say
    #[arg(long, value_name = "FILE.pem")]
    ca: Option<PathBuf>,
    /// What is wrong with all, with some (:1-50) or with so many (:5%); may be repeated
    #[arg(long, value_name = "KIND[:IDS|:PERCENT]", value_parser = Share::parse)]
    fault: Vec<(Fault, Share)>,
    /// Take orders there, on loopback only; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    control: Option<SocketAddr>,
    /// Seconds between two `hb`
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=3600))]
    hb: i64,
    /// Keep the devices' memory there, so that it outlives this process as a real one's flash its power
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// The same numbers give the same pauses and the same devices of a percentage
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fail when not all are connected within that
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    wait: Option<u64>,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let at: SocketAddr = text.parse().map_err(|_| format!("{text:?} is no address and port, such as 127.0.0.1:9300"))?;
    if at.ip().is_loopback() { Ok(at) } else { Err(format!("{at} is not on loopback: whoever reaches it gives orders")) }
}

/// Keys, where they say that the server is, and whom devices trust there.
struct DeviceKeys {
    keys: Vec<Key>,
    server: Option<String>,
    ca: Option<String>,
}

impl Sim {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        let DeviceKeys { keys, server, ca } = self.keys(common)?;
        let server = self.server.as_deref().or(server.as_deref()).unwrap_or(SERVER);
        let ca = match &self.ca {
            Some(file) => Some(fs::read_to_string(file).map_err(|e| Failure::new(format!("{}: {e}", file.display())))?),
            None => ca,
        };
        let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let trust = |ca: String| Ok::<_, Failure>((tls::client(&ca)?, ServerName::try_from(host.to_owned())?));
        let devices = keys.len();
        let allowed = descriptors::raise()?;
        if u64::try_from(devices + SPARE).is_ok_and(|needed| needed > allowed) {
            return Err(Failure::new(format!(
                "{devices} devices are more than the {allowed} open files that this system allows"
            )));
        }
        let plan = Plan {
            server: resolve(server)?,
            tls: ca.map(trust).transpose()?,
            keys,
            faults: self.fault,
            control: self.control,
            beat_ms: self.hb * 1000,
            journal: self.journal,
            seed: self.seed,
            wait: self.wait.map(Duration::from_secs),
        };
        let mut fleet = Fleet::new(plan)?;
        stop_on_signals(fleet.stopper())?;
        let mut out = std::io::stdout();
        let done = fleet.run(&mut out);
        let printed = output::print(&fleet.summary(), "the played devices have stopped");
        done?;
        printed
    }

    fn keys(&self, common: &CommonArgs) -> Result<DeviceKeys, Failure> {
        let DeviceKeys { mut keys, server, ca } = match (&self.keys, &self.secret, self.outlet) {
            (Some(path), ..) => from_file(path)?,
            (None, Some(secret), Some(idoutlet)) => {
                let idmesin = self.mesin.one().ok_or_else(|| Failure::new("--secret is one machine's: name it with --mesin"))?;
                DeviceKeys { keys: vec![Key { idmesin, idoutlet, secret: secret.as_str().into() }], server: None, ca: None }
            }
            _ => context::run(common, async |k| {
                let keys = demo::devices::keys(&k.db).await?;
                let keys = keys.into_iter().map(|(idoutlet, idmesin, secret)| Key { idmesin, idoutlet, secret: secret.into() });
                let server = Some(format!("{}:{}", k.config.mqtt.host, k.config.mqtt.port));
                Ok(DeviceKeys { keys: keys.collect(), server, ca: None })
            })?,
        };
        keys.retain(|key| self.mesin.has(key.idmesin));
        keys.sort_unstable_by_key(|key| key.idmesin);
        if keys.is_empty() {
            return Err(Failure::new(format!("there is no key of a machine of --mesin {}", self.mesin)));
        }
        match keys.array_windows().find(|[one, other]| one.idmesin == other.idmesin) {
            Some([one, _]) => Err(Failure::new(format!("machine {} has two keys; a device has one", one.idmesin))),
            None => Ok(DeviceKeys { keys, server, ca }),
        }
    }
}

fn from_file(path: &std::path::Path) -> Result<DeviceKeys, Failure> {
    let keys = keys_file::read(path)?;
    // All of one server's: it has one authority.
    let ca = keys.iter().find_map(|key| key.ca.clone()).filter(|ca| !ca.is_empty());
    let mut servers: Vec<_> = keys.iter().filter_map(|key| Some(format!("{}:{}", key.host.as_ref()?, key.port?))).collect();
    servers.sort_unstable();
    servers.dedup();
    if servers.len() > 1 {
        let at = servers.join(", ");
        return Err(Failure::new(format!(
            "{}: these keys are for more than one server ({at}); name one with --server",
            path.display()
        )));
    }
    let keys = keys.into_iter().map(|key| Key { idmesin: key.idmesin, idoutlet: key.idoutlet, secret: key.secret.into() });
    Ok(DeviceKeys { keys: keys.collect(), server: servers.pop(), ca })
}

fn resolve(server: &str) -> Result<SocketAddr, Failure> {
    let found = server.to_socket_addrs().map_err(|e| Failure::new(format!("{server} is no server's HOST:PORT: {e}")))?;
    found.into_iter().next().ok_or_else(|| Failure::new(format!("{server} has no address")))
}

/// Ctrl-C and SIGTERM end it with its summary.
fn stop_on_signals(stop: Stop) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut interrupt, mut terminate) = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        });
        stop.stop();
    })?;
    Ok(())
}
