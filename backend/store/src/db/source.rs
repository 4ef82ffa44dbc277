//! Which PostgreSQL: the one that `DATABASE_URL` names, else the private one under `data.dir` (docs/contract.md §5).

use std::path::{Path, PathBuf};

use embedded_postgres::{Postgres, Settings};
use tokio_postgres::Client;

use super::migrate;
use crate::config::ServerSettings;
use crate::secrets::Secrets;

/// Connections of the private database outside of all shares: the server's lock, commands, an operator's `psql`.
const SPARE_CONNECTIONS: usize = 30;
/// The database of a private PostgreSQL that is used: the one that `initdb` makes.
pub(crate) const EMBEDDED_DATABASE: &str = "postgres";

/// Who wants the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The server: it must be the one that runs the private database.
    Serve,
    /// A command that may make the database: it uses the running server's, or starts one until the command ends.
    Prepare,
    /// A command that works on a database which is there: it never makes one, because in the wrong folder a new and empty one
    /// would answer as if all were well.
    Command,
}

/// Why no database is found or made.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error(transparent)]
    Embedded(#[from] embedded_postgres::Error),
    #[error(
        "{} is there, and {database} holds no database: a disk that is not mounted would look like a new shop. Mount it, or restore \
         the database (`nyala restore`), or begin anew with these keys: --new-database", secrets.display()
    )]
    Lost { secrets: PathBuf, database: String },
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
}

/// A database that can be connected to until this is dropped; a private one stops with it.
pub struct Source {
    url: String,
    embedded: Option<Postgres>,
}

impl Source {
    /// Finds or starts the database. For a private database, `config.data.dir` becomes the folder that is really used, because the keys are
    /// stored beside it. Blocks for as long as a start or a crash recovery takes.
    ///
    /// # Errors
    /// The reason why the private database cannot run, with its folder and the remedy. [`embedded_postgres::Error::NoDatabase`] when it is
    /// missing and `purpose` does not create it. [`SourceError::Lost`] when only its keys exist, unless `new` permits a new database with them.
    pub fn open(config: &mut ServerSettings, purpose: Purpose, new: bool) -> Result<Self, SourceError> {
        if !config.database.url.is_empty() {
            return Ok(Self { url: config.database.url.to_string(), embedded: None });
        }
        let settings = settings(config, purpose != Purpose::Command);
        if settings.create && !new {
            refuse_lost(&settings)?;
        }
        let postgres = match purpose {
            Purpose::Serve => Postgres::start(&settings)?,
            Purpose::Prepare | Purpose::Command => Postgres::attach_or_start(&settings)?,
        };
        postgres.data_dir().clone_into(&mut config.data.dir);
        Ok(Self { url: postgres.connection_string(EMBEDDED_DATABASE), embedded: Some(postgres) })
    }

    /// A connection string for tokio-postgres.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The folder of the running private PostgreSQL's programs, where it can be seen.
    pub fn programs_dir(&self) -> Option<PathBuf> {
        let postgres = std::fs::read_link(format!("/proc/{}/exe", self.embedded.as_ref()?.pid())).ok()?;
        postgres.parent().map(Path::to_owned)
    }

    /// The private database, for its supervisor.
    pub fn embedded(&self) -> Option<&Postgres> {
        self.embedded.as_ref()
    }
}

/// Refuses to make a database beside keys that belong to another one.
fn refuse_lost(settings: &Settings) -> Result<(), SourceError> {
    let dirs = settings.data_dirs()?;
    if dirs.iter().any(|dir| embedded_postgres::has_database(dir)) {
        return Ok(());
    }
    match dirs.iter().find(|dir| Secrets::file(dir).exists()) {
        Some(dir) => Err(SourceError::Lost { secrets: Secrets::file(dir), database: dir.join("postgres").display().to_string() }),
        None => Ok(()),
    }
}

/// Refuses an external database without a shop when the keys of one are in `config.data.dir`, unless a `new` one may be made with them.
///
/// # Errors
/// [`SourceError::Lost`], and the database's.
pub async fn refuse_lost_external(client: &Client, config: &ServerSettings, new: bool) -> Result<(), SourceError> {
    let secrets = Secrets::file(&config.data.dir);
    let lost = !config.database.url.is_empty() && !new && secrets.exists() && !migrate::has_schema(client).await?;
    if lost { Err(SourceError::Lost { secrets, database: "the database of DATABASE_URL".to_owned() }) } else { Ok(()) }
}

/// How the private database of `config` is started.
pub(crate) fn settings(config: &ServerSettings, create: bool) -> Settings {
    Settings {
        data_dir: config.data.dir.clone(),
        folder: embedded_postgres::FOLDER,
        ready_within: embedded_postgres::READY_LIMIT,
        data_dir_is_default: config.data.dir_is_default,
        create,
        npm_dir: Some(config.database.npm_postgres_dir.clone()),
        max_connections: u16::try_from(config.connections() + SPARE_CONNECTIONS).unwrap_or(u16::MAX),
        extra_args: backup_args(config),
    }
}

/// What PostgreSQL needs for a backup: a receiver that is away must not fill the disk, and no commit waits for it.
fn backup_args(config: &ServerSettings) -> Vec<String> {
    if !config.backup.is_on() {
        return Vec::new();
    }
    let args = [
        "wal_level=replica".to_owned(),
        "synchronous_standby_names=".to_owned(),
        format!("max_slot_wal_keep_size={}MB", config.backup.max_slot_wal_keep_mb),
    ];
    args.into_iter().flat_map(|arg| ["-c".to_owned(), arg]).collect()
}
