//! Migrations: refinery under an advisory lock, because it has none of its own
//! (docs/decisions/0024-migrations-under-an-advisory-lock.md).

use tokio_postgres::Client;

mod embedded {
    refinery::embed_migrations!("../migrations");
}

/// Serialises migrations of several processes on one database.
const MIGRATION_LOCK: i64 = 0x4e59_414c_4101;

#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    #[error("the database is at schema {found}, newer than this program's {known}; run the newer program")]
    Newer { found: i32, known: i32 },
    #[error("migration failed: {0}")]
    Failed(#[from] refinery::Error),
    #[error("the database could not be asked: {0}")]
    Database(#[from] tokio_postgres::Error),
}

/// Brings the schema up to this program's, or refuses one that is newer.
pub async fn run(client: &mut Client) -> Result<(), MigrateError> {
    client.query_one("SELECT pg_advisory_lock($1)", &[&MIGRATION_LOCK]).await?;
    let done = migrate(client).await;
    client.query_one("SELECT pg_advisory_unlock($1)", &[&MIGRATION_LOCK]).await?;
    done
}

/// Whether any migration ever ran here.
pub async fn has_schema(client: &Client) -> Result<bool, tokio_postgres::Error> {
    Ok(client.query_one("SELECT to_regclass('refinery_schema_history') IS NOT NULL", &[]).await?.get(0))
}

async fn migrate(client: &mut Client) -> Result<(), MigrateError> {
    let runner = embedded::migrations::runner();
    let known = runner.get_migrations().iter().map(refinery::Migration::version).max().unwrap_or(0);
    if has_schema(client).await? {
        let found: Option<i32> = client.query_one("SELECT max(version) FROM refinery_schema_history", &[]).await?.get(0);
        if let Some(found) = found
            && found > known
        {
            return Err(MigrateError::Newer { found, known });
        }
    }
    let report = runner.run_async(client).await?;
    for migration in report.applied_migrations() {
        tracing::info!(version = migration.version(), name = migration.name(), "migrated");
    }
    Ok(())
}
