//! The program `nyala-device-sim`, which `nyala device sim` starts: its arguments, and the fleet that they describe.

use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser};
use nyala::cli::{CommonArgs, DEVICE_SIM, Failure, context, descriptors, output};
use nyala::demo;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::signal::unix::{SignalKind, signal};

use crate::fleet::{Fault, Fleet, Key, Plan, Selection, Share, Stop};
use crate::keys_file;

/// File descriptors that are needed beside those of the devices' connections.
const SPARE_DESCRIPTORS: usize = 64;
/// Address of a server in development.
const DEFAULT_SERVER: &str = "127.0.0.1:1883";
const HELP: &str = "\
Faults (--fault KIND, KIND:5%, KIND:1-50,77; the control port's `fault WHO KIND`), until they are healed:
  refuse        the machine is faulty: every new start is refused
  silent        ignores every command and sends nothing but `hb`
  late          starts at once and reports it 9 s later
  clock-off     takes no time from the server: every new start is expired
  duplicate     sends every message twice
  reorder       sends two messages in the wrong order, or one of them 2 s late
  flap          loses its connection every 1 to 10 s
  reboot        loses its power every 10 to 60 s, for 1 to 3 s; a cycle continues
  amnesia       the same, and its memory is lost
  half-open     its connection is dead, and neither side notices
  clone         a second device has the same key, another boot and no memory
With --sensor, of the machine from its next pulses on:
  never-runs    takes them and never runs
  slow-start    runs a little more than 2 minutes after them, when its customer was told to press Start
  long-cycle    runs a fifth to a half longer than was paid for
  stuck-sensor  its sensor says that it runs, at once and always

Orders of the control port, a line each, answered with a line of JSON, {\"error\": …} for an invalid one; WHO is 7, 1-50, 1,5,9-12 or all:
  fault WHO KIND    flap, reboot and amnesia happen for the first time at once
  heal WHO [KIND]
  cut WHO           closes their connections; they reconnect (first attempt within 2 s, pauses doubling to 30 s)
  come-back WHO     half-open ones open a new connection while the server still has the old; waiting ones reconnect at once
  stats             all counters, and how long the last outage took until all were back
  run ID            the cycle that a device runs, how often it has started, its machine's sensor and its coins
  quit

Standard output: {\"control\":\"ADDRESS\"}, {\"ready\":N} when all are connected, {\"back\":N,\"over\":true,\"max_ms\":…,\"p99_ms\":…} whenever all
are back after connections were lost, and at the end (Ctrl-C, SIGTERM, quit) a summary.";

/// Plays devices over MQTT, as many as there are keys.
#[derive(Debug, Parser)]
#[command(name = DEVICE_SIM, version, after_help = HELP)]
pub struct Cli {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    sim: Sim,
}

#[derive(Debug, Args)]
struct Sim {
    /// Machines whose devices are played, of those with a key: 7, 1-10000, 1,5,9-12 or all
    #[arg(long, value_name = "IDS", default_value = "all")]
    mesin: Selection,
    /// Output of `nyala device add`: the file of --out, or its lines of JSON
    #[arg(long, value_name = "FILE", required_unless_present_any = ["demo", "secret"], conflicts_with_all = ["demo", "secret"])]
    keys: Option<PathBuf>,
    /// The demo's machines, whose keys are public
    #[arg(long, conflicts_with = "secret")]
    demo: bool,
    /// One machine's key, with --mesin and --outlet
    #[arg(long, requires = "outlet")]
    secret: Option<String>,
    /// The outlet of the machine of --secret
    #[arg(long, value_name = "ID", requires = "secret")]
    outlet: Option<i64>,
    /// The server; else the one that the keys name, else 127.0.0.1:1883
    #[arg(long, value_name = "HOST:PORT")]
    server: Option<String>,
    /// Certificate of the authority that signs the server's: TLS; else as the keys say
    #[arg(long, value_name = "FILE.pem")]
    ca: Option<PathBuf>,
    /// A fault of all devices, of some (:1-50) or of a percentage (:5%); may be repeated
    #[arg(long, value_name = "KIND[:IDS|:PERCENT]", value_parser = Share::parse)]
    fault: Vec<(Fault, Share)>,
    /// Address of the control port, on loopback only; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    control: Option<SocketAddr>,
    /// Seconds between two `hb`
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=3600))]
    hb: i64,
    /// The boards have a sensor: machines that got coin pulses run their own cycle, a few seconds later
    #[arg(long)]
    sensor: bool,
    /// The boards count coins, and about N fall at each of them in an hour
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..=3_600_000))]
    coins: Option<i64>,
    /// File of the devices' memory, which outlives this process as a real device's flash outlives a power cut
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// The same number gives the same pauses and the same devices of a percentage
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fail when not all are connected within this time
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    wait: Option<u64>,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let at: SocketAddr = text.parse().map_err(|_| format!("{text:?} is no address and port, such as 127.0.0.1:9300"))?;
    if at.ip().is_loopback() { Ok(at) } else { Err(format!("{at} is not on loopback: whoever reaches it gives orders")) }
}

/// Keys, with the server that they name and the authority that devices trust.
struct DeviceKeys {
    keys: Vec<Key>,
    server: Option<String>,
    ca: Option<String>,
}

impl Cli {
    /// Plays the devices until a signal or an order ends it. Exit codes are those of `nyala`.
    pub fn run(self) -> ExitCode {
        let Self { common, sim } = self;
        nyala::cli::run(DEVICE_SIM, common, |common| {
            let mut fleet = sim.fleet(&common)?;
            stop_on_signals(fleet.stopper())?;
            let done = fleet.run(&mut std::io::stdout());
            let printed = output::print(&fleet.summary(), "the played devices have stopped");
            done?;
            printed
        })
    }

    /// The fleet that the arguments describe, not yet running.
    ///
    /// # Errors
    /// What is wrong with the arguments, the keys or this system.
    pub fn fleet(self) -> Result<Fleet, Failure> {
        self.sim.fleet(&self.common)
    }
}

impl Sim {
    fn fleet(self, common: &CommonArgs) -> Result<Fleet, Failure> {
        let DeviceKeys { keys, server, ca } = self.keys(common)?;
        let server = self.server.as_deref().or(server.as_deref()).unwrap_or(DEFAULT_SERVER);
        let ca = match &self.ca {
            Some(file) => Some(fs::read_to_string(file).map_err(|e| Failure::new(format!("{}: {e}", file.display())))?),
            None => ca,
        };
        let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let trust = |ca: String| Ok::<_, Failure>((trusting(&ca)?, ServerName::try_from(host.to_owned())?));
        let devices = keys.len();
        let allowed = descriptors::raise()?;
        if u64::try_from(devices + SPARE_DESCRIPTORS).is_ok_and(|needed| needed > allowed) {
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
            heartbeat_ms: self.hb * 1000,
            sensor: self.sensor,
            coins: self.coins,
            journal: self.journal,
            seed: self.seed,
            wait: self.wait.map(Duration::from_secs),
        };
        Ok(Fleet::new(plan)?)
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
                let keys = keys.into_iter().map(|(idoutlet, idmesin, secret)| Key {
                    idmesin: idmesin.get(),
                    idoutlet: idoutlet.get(),
                    secret: secret.into(),
                });
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
    // All keys are of one server, which has one authority.
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

/// TLS of a client that trusts the authorities in `pem`.
fn trusting(pem: &str) -> Result<Arc<ClientConfig>, Failure> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate.map_err(|e| Failure::new(format!("no certificate to trust: {e}")))?)?;
    }
    if roots.is_empty() {
        return Err(Failure::new("no certificate to trust: there is none"));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions()?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}

fn resolve(server: &str) -> Result<SocketAddr, Failure> {
    let found = server.to_socket_addrs().map_err(|e| Failure::new(format!("{server} is no server's HOST:PORT: {e}")))?;
    found.into_iter().next().ok_or_else(|| Failure::new(format!("{server} has no address")))
}

/// Stops the fleet on Ctrl-C and SIGTERM; its summary is still printed.
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
