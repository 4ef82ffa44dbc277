//! Programs that put a whole server under load, from outside.

mod crash;
mod http;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Load and faults for a whole Nyala server.
#[derive(Parser)]
#[command(name = "nyala-loadtest", version)]
struct Cli {
    #[command(subcommand)]
    perintah: Perintah,
}

#[derive(Subcommand)]
enum Perintah {
    /// Kill the server and its database again and again while customers pay, and audit what is left
    Crash(crash::Crash),
}

fn main() -> ExitCode {
    let Cli { perintah } = Cli::parse();
    let done = match perintah {
        Perintah::Crash(crash) => crash.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("nyala-loadtest: {why}");
            ExitCode::FAILURE
        }
    }
}
