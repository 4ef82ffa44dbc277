//! Which keys belong to a database: their fingerprint is stored in it at the first start, and who has others is refused. Two
//! servers with two kinds of keys would print two kinds of stickers (docs/decisions/0020-keys-lie-beside-the-data.md).

use std::path::Path;

use tokio_postgres::{Client, Error, GenericClient};

use super::clock::database_now;
use crate::secrets::{Secrets, SecretsError};

/// Time for the other one of two first starts to write its file.
const WAIT: &str = "SET LOCAL lock_timeout = '10s'";
const CLAIM: &str = "INSERT INTO secrets_fingerprint (fingerprint, first_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
const STORED: &str = "SELECT fingerprint FROM secrets_fingerprint";
/// Whether stickers or tokens may have been made before there were fingerprints.
const HAS_ROWS: &str = "SELECT EXISTS (SELECT FROM owner_usaha) OR EXISTS (SELECT FROM customer_global)";

#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error(transparent)]
    File(#[from] SecretsError),
    #[error(
        "{path} is gone but the database has been served, and every printed sticker and every token was made with its keys. \
         Copy the file from a server that serves this database, or from a backup, or name the folder that has it \
         (NYALA__DATA__DIR); none was made"
    )]
    Gone { path: String },
    #[error(
        "{path} has other keys than this database is served with: stickers and tokens of the one would be worth nothing to the \
         other. Copy secrets.toml from a server that serves this database, or from its backup, to {path}; or name the folder \
         that has it (NYALA__DATA__DIR), or the database that belongs to these keys (DATABASE_URL)"
    )]
    Other { path: String },
    #[error("the keys cannot be compared with the database's: {0}")]
    Database(#[from] Error),
}

/// The keys in `dir`; made, and theirs from now on the only ones of this database, when this is the first start.
///
/// # Errors
/// When the database is served with others, or was and the file is gone. Then nothing is made.
pub async fn load_or_create(client: &mut Client, dir: &Path) -> Result<Secrets, KeysError> {
    let now = database_now(client).await?;
    let tx = client.transaction().await?;
    tx.batch_execute(WAIT).await?;
    let secrets = match Secrets::load(dir)? {
        Some(secrets) => {
            tx.execute(CLAIM, &[&secrets.fingerprint().as_slice(), &now]).await?;
            belongs(&tx, &secrets, dir).await?;
            secrets
        }
        None => {
            let gone = || KeysError::Gone { path: Secrets::file(dir).display().to_string() };
            let secrets = Secrets::random();
            if tx.query_one(HAS_ROWS, &[]).await?.get(0) {
                return Err(gone());
            }
            // Waits for another first start, and finds its keys then.
            if tx.execute(CLAIM, &[&secrets.fingerprint().as_slice(), &now]).await? == 0 {
                return Err(gone());
            }
            // The file is written before the claim. A process that dies in between has keys and claims with them at the next start.
            secrets.write(dir)?;
            secrets
        }
    };
    tx.commit().await?;
    Ok(secrets)
}

/// Whether these keys are the database's, as far as it knows.
///
/// # Errors
/// When it is served with others.
pub async fn belongs(client: &impl GenericClient, secrets: &Secrets, dir: &Path) -> Result<(), KeysError> {
    match client.query_opt(STORED, &[]).await? {
        Some(row) if row.get::<_, &[u8]>(0) != secrets.fingerprint() => {
            Err(KeysError::Other { path: Secrets::file(dir).display().to_string() })
        }
        _ => Ok(()),
    }
}
