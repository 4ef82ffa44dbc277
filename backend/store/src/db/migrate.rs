//! Migrations: refinery under an advisory lock, because it has no lock of its own. Servers keep running beside it and must not wait long
//! (docs/decisions/0024-migrations-under-an-advisory-lock.md).

use std::collections::BTreeSet;
use std::error::Error as _;
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, GenericClient};

use super::clock::database_now;

mod embedded {
    refinery::embed_migrations!("../../migrations");
}

/// Serialises migrations of several processes on one database.
const MIGRATION_LOCK: i64 = 0x4e59_414c_4101;
/// For another process that migrates.
const TURN: &str = "SET lock_timeout = '10min'";
/// For a table, behind which all who come later wait too: less than `database.lock_ms`, so that they are not refused.
const LOCK: &str = "SET lock_timeout = '1s'";
const USUAL: &str = "RESET lock_timeout";
/// How often a migration that did not have its lock is tried again, and how long others have their turn in between: a minute and
/// a half.
const MAX_ATTEMPTS: usize = 60;
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    #[error(
        "the database is at schema {found}, and this program knows those up to {known}, which is more than one release older; \
         run the newer program"
    )]
    Newer { found: i32, known: i32 },
    #[error("another program has been migrating this database for ten minutes; let it finish, or end it, and start again")]
    Turn,
    #[error(
        "a migration did not have its lock in {tries} tries: {holders}; let these finish (a dump, an open psql), or end them, \
         and start again. Nothing of it was changed"
    )]
    Blocked { tries: usize, holders: String },
    #[error(
        "the empty database is encoded in {0}, which cannot store every name: make one with CREATE DATABASE … ENCODING 'UTF8' \
         TEMPLATE template0, and name it in DATABASE_URL; nothing was made in this one"
    )]
    Encoding(String),
    #[error("migration failed: {0}")]
    Failed(#[from] refinery::Error),
    #[error("the database could not be asked: {0}")]
    Database(#[from] tokio_postgres::Error),
}

/// Brings the schema up to this program's, or refuses one that is too new for it.
///
/// # Errors
/// Why it cannot, and what to do; every migration was done whole or not at all.
pub async fn run(client: &mut Client) -> Result<(), MigrateError> {
    run_in(client, MAX_ATTEMPTS).await
}

/// The same in another number of tries.
///
/// # Errors
/// As `run`.
pub async fn run_in(client: &mut Client, tries: usize) -> Result<(), MigrateError> {
    client.batch_execute(TURN).await?;
    if let Err(e) = client.query_one("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK]).await {
        return Err(if e.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) { MigrateError::Turn } else { e.into() });
    }
    client.batch_execute(LOCK).await?;
    let done = migrate(client, tries).await;
    client.batch_execute(USUAL).await?;
    client.query_one("SELECT pg_advisory_unlock($1)", &[&MIGRATION_LOCK]).await?;
    done
}

/// The newest migration of this program: its place among other releases.
pub fn newest_known() -> i32 {
    embedded::migrations::runner().get_migrations().iter().map(refinery::Migration::version).max().unwrap_or_default()
}

/// Refuses programs, when they start, that do not know the migration `introduced`: what it allows is being written. Of those that are alive
/// `nyala_cluster::membership::oldest_live_release` knows.
///
/// # Errors
/// The database's.
pub async fn refuse_older(client: &impl GenericClient, introduced: i32) -> Result<(), tokio_postgres::Error> {
    client.execute("UPDATE oldest_program SET knows = $1 WHERE knows < $1", &[&introduced]).await?;
    Ok(())
}

/// Whether any migration ever ran here.
pub async fn has_schema(client: &Client) -> Result<bool, tokio_postgres::Error> {
    Ok(client.query_one("SELECT to_regclass('refinery_schema_history') IS NOT NULL", &[]).await?.get(0))
}

/// Refuses to make a shop in a database that cannot store every text. One that has a shop already is served.
async fn check_encoding(client: &Client) -> Result<(), MigrateError> {
    let encoding: String = client.query_one("SELECT current_setting('server_encoding')", &[]).await?.get(0);
    if encoding == "UTF8" {
        return Ok(());
    }
    if !has_schema(client).await? {
        return Err(MigrateError::Encoding(encoding));
    }
    tracing::warn!(
        encoding,
        "the database is not encoded in UTF-8: texts that it cannot store are refused with 400. To cure it, stop the server, dump \
         the database, make a new one (CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0), restore the dump into that, and \
         name it in DATABASE_URL"
    );
    Ok(())
}

async fn migrate(client: &mut Client, tries: usize) -> Result<(), MigrateError> {
    check_encoding(client).await?;
    if is_newer(client).await? {
        return Ok(());
    }
    for _ in 1..tries {
        match apply(client).await {
            Err(e) if is_blocked(&e) => tokio::time::sleep(PAUSE).await,
            done => return Ok(done?),
        }
    }
    let began = database_now(client).await?;
    match apply(client).await {
        Err(e) if is_blocked(&e) => {
            // A `Timestamp` has whole milliseconds, and a transaction of the same millisecond may be the one that has the lock.
            const OPEN: &str = "SELECT pid, application_name FROM pg_stat_activity
                WHERE datname = current_database() AND date_trunc('milliseconds', xact_start) <= $1 ORDER BY xact_start LIMIT 5";
            let open = client.query(OPEN, &[&began]).await?;
            let open: Vec<_> =
                open.iter().map(|row| format!("session {} of {}", row.get::<_, i32>(0), row.get::<_, &str>(1))).collect();
            let holders = if open.is_empty() { "short transactions".to_owned() } else { open.join(", ") };
            Err(MigrateError::Blocked { tries, holders })
        }
        done => Ok(done?),
    }
}

async fn apply(client: &mut Client) -> Result<(), refinery::Error> {
    let report = embedded::migrations::runner().run_async(client).await?;
    for migration in report.applied_migrations() {
        tracing::info!(version = migration.version(), name = migration.name(), "migrated");
    }
    Ok(())
}

/// Another session held a lock for too long, or waited for one of this migration.
fn is_blocked(e: &refinery::Error) -> bool {
    let code = e.source().and_then(|e| e.downcast_ref::<tokio_postgres::Error>()).and_then(tokio_postgres::Error::code);
    code.is_some_and(|code| [SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
}

/// Whether the schema is one that a newer program has made and this one can work on: nothing is left to do then.
async fn is_newer(client: &Client) -> Result<bool, MigrateError> {
    if !has_schema(client).await? {
        return Ok(false);
    }
    let known: BTreeSet<_> = embedded::migrations::runner().get_migrations().iter().map(refinery::Migration::version).collect();
    let there = client.query("SELECT version FROM refinery_schema_history", &[]).await?;
    let there: BTreeSet<i32> = there.iter().map(|row| row.get(0)).collect();
    let (Some(&newest), Some(&found)) = (known.last(), there.last()) else { return Ok(false) };
    if found <= newest {
        return Ok(false);
    }
    // A database that knows what this program knows has the table.
    if !known.is_subset(&there) || client.query_one("SELECT knows > $1 FROM oldest_program", &[&newest]).await?.get(0) {
        return Err(MigrateError::Newer { found, known: newest });
    }
    tracing::info!(found, known = newest, "the schema is a newer program's, and this one still works on it");
    Ok(true)
}
