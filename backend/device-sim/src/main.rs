use std::process::ExitCode;

use clap::Parser as _;
use nyala_device_sim::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
