//! The commands of the `nyala` binary (docs/contract.md §4). Each prints its result on standard output and its refusal as one
//! line on standard error; all of them work while the server runs. Only `serve`, `migrate` and `seed` make a database or keys.

mod audit;
mod backup;
mod cluster;
mod config;
pub mod context;
pub mod descriptors;
mod device;
mod env_file;
mod error;
mod import;
mod key;
mod migrate;
pub mod output;
mod owner;
mod perangkat;
mod petugas;
mod profile;
mod qr;
mod qris;
mod restore;
mod restored;
mod secrets;
mod seed;
mod serve;
mod service_manager;
mod topup;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

pub use error::Failure;

/// Program that plays devices (`backend/device-sim`). It imports this crate, so no build of the server contains it.
pub const DEVICE_SIM: &str = "nyala-device-sim";

/// Self-service laundry machines paid from prepaid balances.
#[derive(Parser)]
#[command(name = "nyala", version)]
struct Cli {
    #[command(flatten)]
    common: CommonArgs,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Folder of default.toml, development.toml and production.toml [default: config where it is there, else what is in the program]
    #[arg(long, global = true, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// File of NAME=value lines, quoted as for systemd's EnvironmentFile=; the environment wins over it. May be repeated [default:
    /// /etc/nyala/nyala.env for an installed program]
    #[arg(long = "env-file", global = true, value_name = "FILE")]
    env_file: Vec<PathBuf>,
    /// A setting that wins over files and environment; may be repeated
    #[arg(long = "set", global = true, value_name = "SECTION.KEY=VALUE")]
    set: Vec<String>,
}

impl CommonArgs {
    /// These options as arguments of another program.
    fn to_arguments(&self) -> Vec<OsString> {
        let values = self.config_dir.iter().map(|dir| ("--config-dir", dir.as_os_str()));
        let values = values.chain(self.env_file.iter().map(|file| ("--env-file", file.as_os_str())));
        let values = values.chain(self.set.iter().map(|set| ("--set", set.as_ref())));
        values.flat_map(|(flag, value)| [flag.into(), value.to_owned()]).collect()
    }
}

/// What the commands take that may make a database.
#[derive(Debug, Args)]
pub struct NewDatabase {
    /// Create a new, empty database for the keys in secrets.toml, although their own database is missing
    #[arg(long)]
    new_database: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Migrate, then serve the API and the app
    Serve(serve::Serve),
    /// Bring the database's schema up to this program's
    Migrate(NewDatabase),
    /// Fill an empty database
    Seed(seed::Seed),
    /// Operators' API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Owners of outlets
    #[command(subcommand)]
    Owner(owner::OwnerCommand),
    /// The people at the tills
    #[command(subcommand)]
    Petugas(petugas::PetugasCommand),
    /// The tills' browsers
    #[command(subcommand)]
    Perangkat(perangkat::PerangkatCommand),
    /// Keys of the machines' devices (driver mqtt)
    #[command(subcommand)]
    Device(device::DeviceCommand),
    /// Write a machine's sticker as a PNG
    Qr(qr::Qr),
    /// Payments by QRIS
    #[command(subcommand)]
    Qris(qris::QrisCommand),
    /// Top up a customer's E-Pay account
    Topup(topup::Topup),
    /// Bring along what another system has
    #[command(subcommand)]
    Import(import::ImportCommand),
    /// The ledger's rules
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// The backup of the private database
    #[command(subcommand)]
    Backup(backup::BackupCommand),
    /// Restore the private database from a backup into data.dir, which holds none
    Restore(restore::Restore),
    /// Say that the database was restored in a way that it does not show by itself: ids and epochs jump ahead. No server may run
    Restored(restored::Restored),
    /// The keys of secrets.toml
    #[command(subcommand)]
    Secrets(secrets::SecretsCommand),
    /// The servers that share a database
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    /// The settings in effect
    #[command(subcommand)]
    Config(config::ConfigCommand),
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let Cli { common, command } = Cli::parse();
    run("nyala", common, |common| match command {
        Command::Serve(serve) => serve.run(common),
        Command::Migrate(new) => migrate::run(&common, &new),
        Command::Backup(backup) => backup.run(&common),
        Command::Restore(restore) => restore.run(&common),
        Command::Restored(restored) => restored.run(&common),
        Command::Seed(seed) => seed.run(&common),
        Command::Key(key) => key.run(&common),
        Command::Owner(owner) => owner.run(&common),
        Command::Petugas(petugas) => petugas.run(&common),
        Command::Perangkat(perangkat) => perangkat.run(&common),
        Command::Device(device) => device.run(&common),
        Command::Qr(qr) => qr.run(&common),
        Command::Qris(qris) => qris.run(&common),
        Command::Topup(topup) => topup.run(&common),
        Command::Import(import) => import.run(&common),
        Command::Audit(audit) => audit.run(&common),
        Command::Secrets(secrets) => secrets.run(&common),
        Command::Cluster(cluster) => cluster.run(&common),
        Command::Config(config) => config.run(&common),
    })
}

/// Runs a command of `program` in the environment that `common` names. Exit codes: 0 success, 1 failure, 2 wrong usage, 3 success whose result
/// could not be printed.
pub fn run(program: &str, common: CommonArgs, command: impl FnOnce(CommonArgs) -> Result<(), Failure>) -> ExitCode {
    if let Some(why) = env_file::enter(&common.env_file) {
        output::warn(&format!("{program}: {why}"));
        return ExitCode::FAILURE;
    }
    match command(common) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            output::warn(&format!("{program}: {e}"));
            e.exit_code()
        }
    }
}
