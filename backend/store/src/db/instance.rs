//! A copy of the private database's folder is noticed by what a copy cannot take along: the folder's inode and the machine's id.
//! Two servers that continue from one moment would give the same numbers twice.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use deadpool_postgres::ClientWrapper;
use rand::RngCore;

use super::error::DbError;
use super::history::{self, Cause, Plan};

#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    #[error("{} cannot be read or written: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("whether the data folder is a copy cannot be known: {0}")]
    Database(#[from] DbError),
}

impl From<tokio_postgres::Error> for InstanceError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Database(e.into())
    }
}

/// Jumps when the private database below `data_dir` is a copy, and stores which instance it is from now on. A folder that moved to
/// another disk counts as a copy, which does no harm.
///
/// # Errors
/// When the file or the database cannot be read or written.
pub async fn notice_copy(client: &mut ClientWrapper, data_dir: &Path) -> Result<(), InstanceError> {
    let path = data_dir.join("postgres/nyala.instance");
    let failed = |source| InstanceError::File { path: path.clone(), source };
    let place = place_of(&data_dir.join("postgres")).map_err(failed)?;
    let stored = history::instance(client).await?;
    let known = stored.as_ref().map(|id| format!("{id}\n{place}"));
    if known.is_some() && known == fs::read_to_string(&path).ok() {
        return Ok(());
    }
    let instance = random_id();
    // The file is written first: when the process dies in between, the next start finds a difference again.
    write(&path, &format!("{instance}\n{place}")).map_err(failed)?;
    if stored.is_some() {
        history::jump(client, Plan { cause: Cause::Copy { instance }, steps: 1, log_out: false }).await?;
    } else {
        history::keep_instance(client, &instance).await?;
    }
    Ok(())
}

/// What no copy of the folder has.
fn place_of(folder: &Path) -> std::io::Result<String> {
    Ok(format!("{}\n{}\n", fs::metadata(folder)?.ino(), machine_id()))
}

/// The machine's id (machine-id(5)); empty in some containers, where the inode alone shows a copy.
fn machine_id() -> String {
    fs::read_to_string("/etc/machine-id").unwrap_or_default().trim().to_owned()
}

fn random_id() -> String {
    let mut id = [0; 16];
    rand::rng().fill_bytes(&mut id);
    id.iter().map(|b| format!("{b:02x}")).collect()
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
