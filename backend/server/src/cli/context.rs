//! What a command works with: the settings and the database, migrated.

use std::path::PathBuf;
use std::time::Duration;

use nyala_cluster::node::keys_of_servers;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::config::ServerSettings;
use nyala_store::db::clock::database_now;
use nyala_store::db::lock::LockError;
use nyala_store::db::pool::{Db, DbClient, PoolLimits};
use nyala_store::db::source::{self, Purpose, Source, SourceError};
use nyala_store::db::{instance, keys, lock, migrate};
use nyala_store::secrets::Secrets;
use nyala_store::telemetry;

use super::{CommonArgs, Failure, NewDatabase, env_file};

/// How the ledger and the audit log name who works at this machine.
pub const PRINCIPAL: &str = "cli";

/// Connections of a command: it does one thing at a time.
const CONNECTIONS: usize = 2;

pub struct CommandContext {
    pub config: ServerSettings,
    pub db: Db,
    /// The database's connection string, and the folder of its programs where it is the private one.
    pub url: String,
    pub programs_dir: Option<PathBuf>,
    /// The database's time when the command began.
    pub now: Timestamp,
}

/// Message for a command that finds no database or no keys at the configured place.
const CURE: &str = "run this in the server's working directory with the server's environment (NYALA__DATA__DIR, DATABASE_URL); \
                    only `nyala serve`, `migrate` and `seed` make what is missing";

impl CommandContext {
    /// The keys of `secrets.toml`, which the server has made. Those are in use that every server has.
    pub async fn secrets(&self) -> Result<Secrets, Failure> {
        let dir = &self.config.data.dir;
        let secrets = Secrets::load(dir)?.ok_or_else(|| {
            let file = Secrets::file(dir);
            Failure::new(format!("{} is not there, and this command makes no keys: {CURE}", file.display()))
        })?;
        let client = self.client().await?;
        let secrets = keys::belonging(&***client, secrets, dir).await?;
        Ok(secrets.used_by(&keys_of_servers(&client).await?))
    }

    /// The same; made when this is the first start (see `Secrets`).
    pub async fn secrets_or_new(&self) -> Result<Secrets, Failure> {
        let mut client = self.client().await?;
        Ok(keys::load_or_create(&mut client, &self.config.data.dir).await?)
    }

    pub async fn client(&self) -> Result<DbClient, Failure> {
        Ok(self.db.get().await?)
    }
}

/// The settings in effect.
pub fn settings(common: &CommonArgs) -> Result<ServerSettings, Failure> {
    let in_checkout = PathBuf::from("config");
    let dir = match &common.config_dir {
        Some(dir) if !dir.join("default.toml").is_file() => {
            return Err(Failure::new(format!(
                "{}/default.toml is not there; leave --config-dir out, or name the folder that has it",
                dir.display()
            )));
        }
        Some(dir) => Some(dir.as_path()),
        None => Some(in_checkout.as_path()).filter(|dir| !env_file::is_installed() && dir.join("default.toml").is_file()),
    };
    Ok(ServerSettings::load(dir, &common.set)?)
}

/// Finds or starts a database that is there, migrates it, and runs `work`. It stops afterwards when this command started it.
pub fn run<T>(common: &CommonArgs, work: impl AsyncFnOnce(&CommandContext) -> Result<T, Failure>) -> Result<T, Failure> {
    run_for(Purpose::Command, false, common, work)
}

/// The same; creates a missing database.
pub fn run_or_create<T>(
    common: &CommonArgs,
    new: &NewDatabase,
    work: impl AsyncFnOnce(&CommandContext) -> Result<T, Failure>,
) -> Result<T, Failure> {
    run_for(Purpose::Prepare, new.new_database, common, work)
}

fn run_for<T>(
    purpose: Purpose,
    new_database: bool,
    common: &CommonArgs,
    work: impl AsyncFnOnce(&CommandContext) -> Result<T, Failure>,
) -> Result<T, Failure> {
    telemetry::init_for_command();
    let mut config = settings(common)?;
    let source = Source::open(&mut config, purpose, new_database).map_err(|e| match e {
        SourceError::Embedded(embedded_postgres::Error::NoDatabase { .. }) => no_database(&e.to_string()),
        other => other.into(),
    })?;
    // Connections end with the runtime, before the database does.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let context = open(config, &source, purpose, new_database).await?;
        work(&context).await
    })
}

fn no_database(which: &str) -> Failure {
    Failure::new(format!("{which}, and this command makes none: {CURE}"))
}

async fn open(config: ServerSettings, from: &Source, purpose: Purpose, new_database: bool) -> Result<CommandContext, Failure> {
    let ms = Duration::from_millis;
    let limits = PoolLimits {
        wait: ms(config.database.wait_ms),
        connect: ms(config.database.connect_ms),
        statement: None,
        admission: None,
    };
    let db = Db::new(from.url(), CONNECTIONS, limits)?;
    let (mut client, _) = lock::connect(db.config()).await.map_err(|e| unreachable(&config, &e))?;
    if purpose == Purpose::Command && !migrate::has_schema(&client).await? {
        let which =
            if config.database.url.is_empty() { config.data.dir.display().to_string() } else { "DATABASE_URL".to_owned() };
        return Err(no_database(&format!("the database of {which} is empty: there is no Nyala in it")));
    }
    source::refuse_lost_external(&client, &config, new_database).await?;
    migrate::run(&mut client).await?;
    if from.embedded().is_some() {
        instance::notice_copy(&mut *db.get().await?, &config.data.dir).await?;
    }
    let now = database_now(&client).await?;
    Ok(CommandContext { config, db, url: from.url().to_owned(), programs_dir: from.programs_dir(), now })
}

/// Why the server's lock is not had.
pub fn locked_out(config: &ServerSettings, e: LockError) -> Failure {
    match e {
        LockError::Database(e) => unreachable(config, &e),
        LockError::Taken(taken) => Failure::new(taken.to_string()),
    }
}

fn unreachable(config: &ServerSettings, e: &tokio_postgres::Error) -> Failure {
    let which = if config.database.url.is_empty() { "the private database" } else { "the database of DATABASE_URL" };
    let why = std::error::Error::source(e).map_or_else(|| e.to_string(), ToString::to_string);
    Failure::new(format!("{which} cannot be reached: {why}"))
}
