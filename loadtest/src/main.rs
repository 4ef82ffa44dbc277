//! `nyala-loadtest`: puts a whole Nyala server under load from outside, and tells what it bore.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use nyala_loadtest::crash::Crash;
use nyala_loadtest::scenario::Outcome;
use nyala_loadtest::scenario::hot::Hot;
use nyala_loadtest::scenario::storm::Storm;
use nyala_loadtest::scenario::watch::Watch;

/// A threshold of `--fail-if` was crossed.
const EXIT_CROSSED: u8 = 2;

/// Load and faults for a whole Nyala server
#[derive(Parser)]
#[command(
    name = "nyala-loadtest",
    version,
    after_help = "Exit codes: 0 measured and no threshold crossed, 1 could not be measured, 2 a threshold of --fail-if was crossed, or \
                  money was not right. docs/loadtest.md explains every figure."
)]
struct Cli {
    #[command(subcommand)]
    perintah: Perintah,
}

#[derive(Subcommand)]
enum Perintah {
    /// Many sessions watch running machines; every tick is looked at
    Watch(Watch),
    /// All sessions hang up and come back at the same moment
    Storm(Storm),
    /// Hundreds press pay on one machine: exactly one may win it
    Hot(Hot),
    /// Kill the server and its database again and again while customers pay, and audit what is left
    Crash(Crash),
}

fn main() -> ExitCode {
    let Cli { perintah } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // Help for a closed pipe is no failure.
            let _ = e.print();
            return ExitCode::SUCCESS;
        }
        Err(e) => {
            let text = e.render().to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            eprintln!("nyala-loadtest: {first} (--help tells more)");
            return ExitCode::FAILURE;
        }
    };
    let done = match perintah {
        Perintah::Watch(watch) => watch.run(),
        Perintah::Storm(storm) => storm.run(),
        Perintah::Hot(hot) => hot.run(),
        Perintah::Crash(crash) => crash.run().map(|()| Outcome::Fine),
    };
    match done {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Crossed) => ExitCode::from(EXIT_CROSSED),
        Err(why) => {
            eprintln!("nyala-loadtest: {why}");
            ExitCode::FAILURE
        }
    }
}
