//! `nyala-bench`: the figures that Nyala promises, each beside what it is measured against.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use nyala_bench::backup::BackupCost;
use nyala_bench::boot::Resume;
use nyala_bench::cluster::ClusterCost;
use nyala_bench::devices::DeviceCost;
use nyala_bench::figures::ReportTimes;
use nyala_bench::history::HistoryPages;
use nyala_bench::idle::Idle;
use nyala_bench::logins::Logins;
use nyala_bench::memory::SessionMemory;
use nyala_bench::peers::Peers;
use nyala_bench::plans::Plans;
use nyala_bench::purchase::PurchaseSpeed;
use nyala_bench::results::Figures;
use nyala_bench::sessions::Sessions;
use nyala_bench::table::Table;
use nyala_bench::{BenchError, results};

/// Measures servers that it starts itself, on a private database in a folder that is removed afterwards.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    what: What,
    /// Where the results are kept; what is measured with less than the usual flags is only printed
    #[arg(long, global = true, default_value = "bench/RESULTS.md")]
    results: PathBuf,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Everything below up to the logins, one after the other
    All(All),
    /// Purchases per second over HTTP, beside pgbench with the same two statements
    Purchase(PurchaseSpeed),
    /// How long running purchases take to come back when the server was killed
    Resume(Resume),
    /// How long a page of the history takes
    History(HistoryPages),
    /// How long recovery's own questions to the database take
    Plans(Plans),
    /// What running machines cost without watchers
    Idle(Idle),
    /// How long many sockets take to subscribe while ticks go out, and to come back when all of them were cut
    Sessions(Sessions),
    /// What a session keeps in the server's memory
    Memory(SessionMemory),
    /// Whether customers log in while a client at one address guesses passwords
    Logins(Logins),
    /// What devices over MQTT cost
    Devices(DeviceCost),
    /// What the backup costs purchases
    Backup(BackupCost),
    /// What several servers cost that share a database, with NATS between them and without
    Cluster(ClusterCost),
    /// How long reports take over a year of purchases
    Figures(ReportTimes),
    /// Ticks, beside other Socket.IO servers and the floor
    Peers(Peers),
    /// What the criterion benches measured, beside the last figures that were kept
    Table(Table),
}

#[derive(Debug, Args)]
struct All {
    /// A rough figure of each in a few seconds, only printed
    #[arg(long)]
    quick: bool,
}

impl What {
    /// What has to be measured, one after the other. Nothing for the table, which measures nothing.
    fn parts(self) -> Vec<Self> {
        match self {
            Self::All(All { quick: true }) => vec![
                Self::Purchase(PurchaseSpeed::quick()),
                Self::Resume(Resume::quick()),
                Self::History(HistoryPages::quick()),
                Self::Plans(Plans::quick()),
                Self::Idle(Idle::quick()),
                Self::Sessions(Sessions::quick()),
                Self::Memory(SessionMemory::quick()),
                Self::Logins(Logins::quick()),
            ],
            Self::All(All { quick: false }) => vec![
                Self::Purchase(PurchaseSpeed::default()),
                Self::Resume(Resume::default()),
                Self::History(HistoryPages::default()),
                Self::Plans(Plans::default()),
                Self::Idle(Idle::default()),
                Self::Sessions(Sessions::default()),
                Self::Memory(SessionMemory::default()),
                Self::Logins(Logins::default()),
            ],
            one => vec![one],
        }
    }

    /// Whether it is measured as it is promised. Anything less is only printed, so that it takes no place of what was.
    fn is_whole(&self) -> bool {
        match self {
            Self::Purchase(purchase) => *purchase == PurchaseSpeed::default(),
            Self::Resume(resume) => *resume == Resume::default(),
            Self::History(history) => *history == HistoryPages::default(),
            Self::Plans(plans) => *plans == Plans::default(),
            Self::Idle(idle) => *idle == Idle::default(),
            Self::Sessions(sessions) => *sessions == Sessions::default(),
            Self::Memory(memory) => *memory == SessionMemory::default(),
            Self::Logins(logins) => *logins == Logins::default(),
            Self::Devices(devices) => *devices == DeviceCost::default(),
            Self::Backup(backup) => *backup == BackupCost::default(),
            Self::Cluster(cluster) => *cluster == ClusterCost::default(),
            Self::Figures(figures) => *figures == ReportTimes::default(),
            Self::Peers(peers) => peers.is_whole(),
            Self::Table(_) | Self::All(_) => false,
        }
    }

    async fn run(&self) -> Result<Option<Figures>, BenchError> {
        Ok(Some(match self {
            Self::Purchase(purchase) => purchase.run().await?,
            Self::Resume(resume) => resume.run().await?,
            Self::History(history) => history.run().await?,
            Self::Plans(plans) => plans.run().await?,
            Self::Idle(idle) => idle.run().await?,
            Self::Sessions(sessions) => sessions.run().await?,
            Self::Memory(memory) => memory.run().await?,
            Self::Logins(logins) => logins.run().await?,
            Self::Devices(devices) => devices.run().await?,
            Self::Backup(backup) => backup.run().await?,
            Self::Cluster(cluster) => cluster.run().await?,
            Self::Figures(figures) => figures.run().await?,
            Self::Peers(peers) => peers.run().await?,
            Self::Table(table) => {
                table.run()?;
                return Ok(None);
            }
            Self::All(_) => return Ok(None),
        }))
    }
}

fn run(Cli { what, results }: Cli) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for part in what.parts() {
        if let Some(figures) = runtime.block_on(part.run())? {
            results::put(part.is_whole().then_some(results.as_path()), &figures)?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("nyala-bench: {e}");
            ExitCode::FAILURE
        }
    }
}
