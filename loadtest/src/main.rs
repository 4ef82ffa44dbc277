//! `nyala-loadtest`: puts load on a whole Nyala server from outside, and reports the results.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use nyala_loadtest::cluster::{self, Cluster};
use nyala_loadtest::crash::Crash;
use nyala_loadtest::crash::drill::{self, RestoreDrill};
use nyala_loadtest::scenario::Verdict;
use nyala_loadtest::scenario::devices::DevicesCommand;
use nyala_loadtest::scenario::finish::Finish;
use nyala_loadtest::scenario::hot::Hot;
use nyala_loadtest::scenario::journey::Journey;
use nyala_loadtest::scenario::overload::Overload;
use nyala_loadtest::scenario::purchase::Purchases;
use nyala_loadtest::scenario::soak::Soak;
use nyala_loadtest::scenario::storm::Storm;
use nyala_loadtest::scenario::till::Tills;
use nyala_loadtest::scenario::trial::Try;
use nyala_loadtest::scenario::watch::Watch;

/// A threshold of `--fail-if` was crossed.
const EXIT_CROSSED: u8 = 2;
/// A package that `cluster` or `restore-drill` needs is not installed.
const EXIT_MISSING: u8 = 3;

/// Load and faults for a whole Nyala server
#[derive(Parser)]
#[command(
    name = "nyala-loadtest",
    version,
    after_help = "Exit codes: 0 measured and no threshold crossed, 1 could not be measured, 2 a threshold of --fail-if was crossed, or \
                  money was not right, 3 packages that `cluster` or `restore-drill` needs are not installed. docs/loadtest.md explains every figure."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a server on an empty database, watch 1,000 machines with 10,000 sessions, and print how to continue
    Try(Try),
    /// Many sessions watch running machines; every tick is looked at
    Watch(Watch),
    /// All sessions hang up and come back at the same moment
    Storm(Storm),
    /// Machines end in the same second: one final tick for each who watches
    Finish(Finish),
    /// Hundreds press pay on one machine: exactly one may win it
    Hot(Hot),
    /// Customers scan, pay, watch and see the end, at an arrival rate
    Purchase(Purchases),
    /// From half to three times what the server can serve: who is refused, and how fast is what it answers?
    Overload(Overload),
    /// New customers register, are topped up, buy and read their history
    Journey(Journey),
    /// Cashiers top customers up at a steady pace while sessions watch
    Till(Tills),
    /// Thousands of devices over MQTT: starts at a rate, and all lines cut at once
    Devices(DevicesCommand),
    /// Purchases and watchers for hours: does memory grow?
    Soak(Soak),
    /// Kill the server and its database again and again while customers pay, and audit what is left
    Crash(Crash),
    /// Delete the server's data while customers pay, restore it from the backup, and compare it with every answer
    RestoreDrill(RestoreDrill),
    /// Three servers, two standbys, NATS and a load balancer on this machine: one fault after the other while customers buy and watch, then an
    /// audit
    Cluster(Cluster),
}

fn main() -> ExitCode {
    let Cli { command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // A closed pipe is no failure of the help.
            let _ = e.print();
            return ExitCode::SUCCESS;
        }
        Err(e) if e.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = e.print();
            return ExitCode::FAILURE;
        }
        Err(e) => {
            let text = e.render().to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            nyala_loadtest::ui::note(&format!("nyala-loadtest: {first} (--help tells more)"));
            return ExitCode::FAILURE;
        }
    };
    let done = match command {
        Command::Try(trial) => trial.run(),
        Command::Watch(watch) => watch.run(),
        Command::Storm(storm) => storm.run(),
        Command::Finish(finish) => finish.run(),
        Command::Journey(journey) => journey.run(),
        Command::Hot(hot) => hot.run(),
        Command::Purchase(purchase) => purchase.run(),
        Command::Overload(overload) => overload.run(),
        Command::Till(tills) => tills.run(),
        Command::Devices(devices) => devices.run(),
        Command::Soak(soak) => soak.run(),
        Command::Crash(crash) => crash.run().map(|()| Verdict::Fine),
        Command::RestoreDrill(drill) => {
            if let Some(missing) = drill::missing() {
                nyala_loadtest::ui::note(&format!("nyala-loadtest: {missing}"));
                return ExitCode::from(EXIT_MISSING);
            }
            drill.run().map(|()| Verdict::Fine)
        }
        Command::Cluster(cluster) => {
            if let Some(missing) = cluster::missing() {
                nyala_loadtest::ui::note(&format!("nyala-loadtest: {missing}"));
                return ExitCode::from(EXIT_MISSING);
            }
            cluster.run()
        }
    };
    match done {
        Ok(Verdict::Fine) => ExitCode::SUCCESS,
        Ok(Verdict::Crossed) => ExitCode::from(EXIT_CROSSED),
        Err(why) => {
            nyala_loadtest::ui::note(&format!("nyala-loadtest: {why}"));
            ExitCode::FAILURE
        }
    }
}
