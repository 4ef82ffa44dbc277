//! `nyala-bench`: the figures that Nyala promises, each beside the floor that the database sets.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod boot;
mod cpu;
mod db;
mod history;
mod http;
mod pgbench;
mod purchase;
mod results;
mod server;
mod shop;

/// Whatever stopped a measurement, told on standard error.
type Error = Box<dyn std::error::Error + Send + Sync>;

/// Measures a server of its own, on a private database in a folder that is removed afterwards.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    what: What,
    /// Where the results are added
    #[arg(long, global = true, default_value = "bench/RESULTS.md")]
    results: PathBuf,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Purchases per second over HTTP, beside pgbench with the same two statements
    Purchase(purchase::Purchase),
    /// How long running purchases take to come back when the server was killed
    Resume(boot::Resume),
    /// How long a page of the history takes
    History(history::History),
}

fn main() -> ExitCode {
    let Cli { what, results } = Cli::parse();
    let ran = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::from).and_then(|runtime| {
        let figures = runtime.block_on(async {
            match &what {
                What::Purchase(purchase) => purchase.run().await,
                What::Resume(resume) => resume.run().await,
                What::History(history) => history.run().await,
            }
        })?;
        results::add(&results, &figures)
    });
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("nyala-bench: {e}");
            ExitCode::FAILURE
        }
    }
}
