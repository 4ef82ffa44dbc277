//! Which keys belong to a database: their fingerprints are stored in it, and who has others is refused. Two servers with two kinds of keys
//! would print two kinds of stickers (docs/decisions/0020-keys-lie-beside-the-data.md).

use std::collections::BTreeMap;
use std::path::Path;

use deadpool_postgres::Transaction as PooledTransaction;
use nyala_core::domain::timestamp::Timestamp;
use serde_json::json;
use tokio_postgres::{Client, Error, GenericClient};

use super::audit::{self, AuditEntry};
use super::clock::database_now;
use super::error::DbError;
use super::migrate;
use crate::secrets::{GoodKids, Kid, RetireError, Secrets, SecretsError, What};

/// Time for the other one of two first starts to write its file.
const WAIT: &str = "SET LOCAL lock_timeout = '10s'";
const CLAIM: &str = "INSERT INTO secrets_fingerprint (fingerprint, first_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
const STORED: &str = "SELECT fingerprint, first_at FROM secrets_fingerprint";
/// Serialises changes of the keys.
const STORED_LOCKED: &str = "SELECT fingerprint, first_at FROM secrets_fingerprint FOR UPDATE";
/// Whether stickers or tokens may have been made before there were fingerprints.
const HAS_ROWS: &str = "SELECT EXISTS (SELECT FROM owner_usaha) OR EXISTS (SELECT FROM customer_global)";
const KIDS: &str = "SELECT what, kid, fingerprint, since, retired_at IS NOT NULL FROM secrets_kid ORDER BY kid";
const ADD_KID: &str = "INSERT INTO secrets_kid (what, kid, fingerprint, since) VALUES ($1, $2, $3, $4)";
const RETIRE_KID: &str = "UPDATE secrets_kid SET retired_at = $3 WHERE what = $1 AND kid = $2";
/// The migration with which programs began to read a file whose keys were rotated.
pub const READ_SINCE: i32 = 20_261_223;
const LOADED: &str = "UPDATE secrets_fingerprint SET loaded = $1 WHERE loaded IS DISTINCT FROM $1";
const IS_LOADED: &str = "SELECT loaded IS NOT DISTINCT FROM $1 FROM secrets_fingerprint";

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
    #[error(
        "{path} lacks key {kid} of {}, which this database is served with: keys were rotated since it was copied. Copy secrets.toml from the \
         server where they were rotated, or from the newest backup, to {path}", what.as_str()
    )]
    Lacks { path: String, what: What, kid: Kid },
    #[error(
        "{path} has another key {kid} of {} than this database is served with: it was rotated at two places. Copy secrets.toml from a server \
         that serves this database, or from its backup, to {path}", what.as_str()
    )]
    Twice { path: String, what: What, kid: Kid },
    #[error(transparent)]
    Retire(#[from] RetireError),
    #[error("the keys cannot be compared with the database's: {0}")]
    Database(#[from] Error),
    #[error("the keys' change cannot be stored: {0}")]
    Change(#[from] DbError),
}

/// A key as the database knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKid {
    fingerprint: Vec<u8>,
    pub since: Timestamp,
    is_retired: bool,
}

type StoredKids = BTreeMap<(What, Kid), StoredKid>;

/// Keys that the file has and the database lacks, and keys that the database calls good and the file no longer has.
#[derive(Debug, Default)]
struct Unstored {
    added: Vec<(What, Kid)>,
    retired: Vec<(What, Kid)>,
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
            tx.execute(CLAIM, &[&secrets.installation().bytes(), &now]).await?;
            secrets
        }
        None => {
            let gone = || KeysError::Gone { path: Secrets::file(dir).display().to_string() };
            let secrets = Secrets::random();
            if tx.query_one(HAS_ROWS, &[]).await?.get(0) {
                return Err(gone());
            }
            // Waits for another first start, and finds its keys then.
            if tx.execute(CLAIM, &[&secrets.installation().bytes(), &now]).await? == 0 {
                return Err(gone());
            }
            // The file is written before the claim. A process that dies in between has keys and claims with them at the next start.
            secrets.write(dir)?;
            secrets
        }
    };
    let secrets = agree(&tx, secrets, dir, now).await?;
    tx.commit().await?;
    Ok(secrets)
}

/// The keys in `dir` once more, for a server that runs.
///
/// # Errors
/// As [`load_or_create`]; a missing file is an error.
pub async fn reload(client: &mut Client, dir: &Path) -> Result<Secrets, KeysError> {
    let now = database_now(client).await?;
    let tx = client.transaction().await?;
    tx.batch_execute(WAIT).await?;
    let secrets = load(dir)?;
    let secrets = agree(&tx, secrets, dir, now).await?;
    tx.commit().await?;
    Ok(secrets)
}

fn load(dir: &Path) -> Result<Secrets, KeysError> {
    Secrets::load(dir)?.ok_or_else(|| KeysError::Gone { path: Secrets::file(dir).display().to_string() })
}

/// The keys of `secrets` that are good for this database, as far as it knows.
///
/// # Errors
/// When it is served with others.
pub async fn belonging(client: &impl GenericClient, mut secrets: Secrets, dir: &Path) -> Result<Secrets, KeysError> {
    if let Some(row) = client.query_opt(STORED, &[]).await? {
        is_same_installation(row.get(0), &secrets, dir)?;
    }
    compare(&stored_kids(client).await?, &mut secrets, dir)?;
    Ok(secrets)
}

/// Compares with the database and stores what it does not know yet.
async fn agree(client: &impl GenericClient, mut secrets: Secrets, dir: &Path, now: Timestamp) -> Result<Secrets, KeysError> {
    let row = client.query_one(STORED_LOCKED, &[]).await?;
    is_same_installation(row.get(0), &secrets, dir)?;
    let unstored = compare(&stored_kids(client).await?, &mut secrets, dir)?;
    for (what, kid) in unstored.added {
        let since = secrets.since(what, kid).unwrap_or(row.get(1));
        store(client, &secrets, (what, kid), since).await?;
    }
    for (what, kid) in unstored.retired {
        client.execute(RETIRE_KID, &[&what.as_str(), &kid.get(), &now]).await?;
    }
    Ok(secrets)
}

fn is_same_installation(stored: &[u8], secrets: &Secrets, dir: &Path) -> Result<(), KeysError> {
    let other = || KeysError::Other { path: Secrets::file(dir).display().to_string() };
    (stored == secrets.installation().bytes()).then_some(()).ok_or_else(other)
}

async fn store(
    client: &impl GenericClient,
    secrets: &Secrets,
    (what, kid): (What, Kid),
    since: Timestamp,
) -> Result<(), KeysError> {
    let Some(fingerprint) = secrets.fingerprint_of(what, kid) else { return Ok(()) };
    client.execute(ADD_KID, &[&what.as_str(), &kid.get(), &fingerprint.bytes(), &since]).await?;
    if kid > Kid::FIRST {
        migrate::refuse_older(client, READ_SINCE).await?;
    }
    Ok(())
}

async fn stored_kids(client: &impl GenericClient) -> Result<StoredKids, Error> {
    let rows = client.query(KIDS, &[]).await?;
    let known = rows.iter().filter_map(|row| {
        let what = What::ALL.into_iter().find(|what| what.as_str() == row.get::<_, &str>(0))?;
        let stored = StoredKid { fingerprint: row.get(2), since: row.get(3), is_retired: row.get(4) };
        Some(((what, Kid::new(row.get(1))?), stored))
    });
    Ok(known.collect())
}

/// Compares a file of this installation with the database. Keys that were retired at another server are dropped from `secrets`. A good key that the
/// file lacks beside a newer one was retired before the database was restored to an earlier moment.
fn compare(stored: &StoredKids, secrets: &mut Secrets, dir: &Path) -> Result<Unstored, KeysError> {
    let path = || Secrets::file(dir).display().to_string();
    let mut unstored = Unstored::default();
    for (&(what, kid), known) in stored {
        let ours = secrets.fingerprint_of(what, kid);
        match ours {
            Some(ours) if ours.bytes() != known.fingerprint => return Err(KeysError::Twice { path: path(), what, kid }),
            Some(_) if known.is_retired => secrets.forget(what, kid),
            None if kid > secrets.newest(what) => return Err(KeysError::Lacks { path: path(), what, kid }),
            None if !known.is_retired => unstored.retired.push((what, kid)),
            _ => {}
        }
    }
    for what in What::ALL {
        let is_new = |kid: &Kid| !stored.contains_key(&(what, *kid));
        unstored.added.extend(secrets.kids(what).into_iter().filter(is_new).map(|kid| (what, kid)));
    }
    Ok(unstored)
}

/// A rotation: the numbers of the key before and of the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    pub from: Kid,
    pub to: Kid,
}

/// Adds a new key for a purpose, to the file and to the database.
///
/// # Errors
/// When the file does not belong to the database, or cannot be written.
pub async fn rotate(
    tx: &PooledTransaction<'_>,
    dir: &Path,
    what: What,
    principal: &str,
    now: Timestamp,
) -> Result<(Rotation, Secrets), KeysError> {
    let (mut secrets, first_at) = begin_change(tx, dir, now).await?;
    let (from, to) = secrets.rotate(what, now, first_at);
    store(&**tx, &secrets, (what, to), now).await?;
    let content = json!({ "dari": from, "ke": to });
    let entry =
        AuditEntry { principal, action: "kunci_server.ganti", object: format!("kunci_server:{}", what.as_str()), content };
    audit::write(tx, &entry, now).await?;
    // Before the commit: a process that dies in between has the key in the file, and the next one that reads it stores it.
    secrets.write(dir)?;
    Ok((Rotation { from, to }, secrets))
}

/// Ends a key that is not the newest, in the file and in the database.
///
/// # Errors
/// [`RetireError`], and as [`rotate`].
pub async fn retire(
    tx: &PooledTransaction<'_>,
    dir: &Path,
    (what, kid): (What, &str),
    principal: &str,
    now: Timestamp,
) -> Result<(Kid, Secrets), KeysError> {
    let (mut secrets, _) = begin_change(tx, dir, now).await?;
    let kid = secrets.retire(what, kid, now)?;
    tx.execute(RETIRE_KID, &[&what.as_str(), &kid.get(), &now]).await?;
    let content = json!({ "kid": kid });
    let entry =
        AuditEntry { principal, action: "kunci_server.akhiri", object: format!("kunci_server:{}", what.as_str()), content };
    audit::write(tx, &entry, now).await?;
    secrets.write(dir)?;
    Ok((kid, secrets))
}

/// Keeps other changes out until the transaction ends, and returns the keys, and when the first ones were made.
async fn begin_change(tx: &PooledTransaction<'_>, dir: &Path, now: Timestamp) -> Result<(Secrets, Timestamp), KeysError> {
    tx.batch_execute(WAIT).await?;
    let first_at = tx.query_opt(STORED_LOCKED, &[]).await?.map_or(now, |row| row.get(1));
    let secrets = load(dir)?;
    tx.execute(CLAIM, &[&secrets.installation().bytes(), &now]).await?;
    Ok((agree(&**tx, secrets, dir, now).await?, first_at))
}

/// When each good key was made.
///
/// # Errors
/// When the database does not answer.
pub async fn dates(client: &impl GenericClient) -> Result<BTreeMap<(What, Kid), Timestamp>, Error> {
    Ok(stored_kids(client).await?.into_iter().map(|(key, stored)| (key, stored.since)).collect())
}

/// What a server with these good keys lacks, and what it still accepts although it was retired.
///
/// # Errors
/// When the database does not answer.
pub async fn differences(client: &impl GenericClient, servers: &[(String, GoodKids)]) -> Result<Vec<String>, Error> {
    let stored = stored_kids(client).await?;
    let mut differences = Vec::new();
    for (server, good) in servers {
        for what in What::ALL {
            let has = |kid: Kid| good.get(&what).is_some_and(|kids| kids.contains(&kid));
            let of_this = || stored.iter().filter(|((of, _), _)| *of == what).map(|((_, kid), stored)| (*kid, stored.is_retired));
            let newest = of_this().map(|(kid, _)| kid).max().filter(|newest| !has(*newest));
            differences.extend(newest.map(|kid| format!("{server} belum punya {} {kid}", what.as_str())));
            let retired = of_this().filter(|(kid, is_retired)| *is_retired && has(*kid));
            differences.extend(retired.map(|(kid, _)| format!("{server} masih menerima {} {kid}", what.as_str())));
        }
    }
    Ok(differences)
}

/// Stores that the server that is alone works with these keys.
///
/// # Errors
/// When the database does not answer.
pub async fn set_loaded(client: &impl GenericClient, secrets: &Secrets) -> Result<(), Error> {
    client.execute(LOADED, &[&secrets.fingerprint().bytes()]).await?;
    Ok(())
}

/// Whether it does.
///
/// # Errors
/// When the database does not answer.
pub async fn is_loaded(client: &impl GenericClient, secrets: &Secrets) -> Result<bool, Error> {
    let row = client.query_opt(IS_LOADED, &[&secrets.fingerprint().bytes()]).await?;
    Ok(row.is_some_and(|row| row.get(0)))
}
