//! `deletions.jsonl` in the folder of a backup: who was deleted. A restore to an earlier moment deletes them again (docs/privacy.md).

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;

use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio_postgres::Client;

use super::error::BackupError;
use super::folder::BackupFolder;
use crate::db::error::DbError;
use crate::files::write_whole;

const FILE: &str = "deletions.jsonl";

/// One task writes at a time, so that no line is lost.
static WRITING: Mutex<()> = Mutex::const_new(());

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Deletion {
    id_customer_global: CustomerId,
    /// RFC 3339.
    dihapus_at: String,
}

/// Adds who was deleted and is not in the file yet. Those stay that an earlier state of the database does not know.
///
/// # Errors
/// When the database does not answer, or the file cannot be written.
pub async fn keep(folder: &BackupFolder, client: &Client) -> Result<(), BackupError> {
    const DELETED: &str = "SELECT id, dihapus_at FROM customer_global WHERE dihapus_at IS NOT NULL ORDER BY dihapus_at, id";
    if !folder.has_backup() {
        return Ok(());
    }
    let _alone = WRITING.lock().await;
    let mut text = read_text(folder)?;
    let known = ids(&text);
    let rows = client.query(DELETED, &[]).await.map_err(DbError::from)?;
    let new: Vec<Deletion> = rows
        .iter()
        .map(|row| Deletion { id_customer_global: row.get(0), dihapus_at: row.get::<_, Timestamp>(1).rfc3339() })
        .filter(|deletion| !known.contains(&deletion.id_customer_global))
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    for deletion in new {
        text += &serde_json::to_string(&deletion).map_err(|e| BackupError::Refused(e.to_string()))?;
        text.push('\n');
    }
    let path = folder.path().join(FILE);
    write_whole(&path, text.as_bytes()).map_err(BackupError::io("cannot write", &path))
}

/// All customers in the file.
///
/// # Errors
/// When it cannot be read.
pub fn read(folder: &BackupFolder) -> Result<BTreeSet<CustomerId>, BackupError> {
    Ok(ids(&read_text(folder)?))
}

fn read_text(folder: &BackupFolder) -> Result<String, BackupError> {
    let path = folder.path().join(FILE);
    match fs::read_to_string(&path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(BackupError::io("cannot read", &path)),
    }
}

fn ids(text: &str) -> BTreeSet<CustomerId> {
    text.lines()
        .filter_map(|line| serde_json::from_str::<Deletion>(line).ok())
        .map(|deletion| deletion.id_customer_global)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_none_are_skipped() {
        let line = |id| {
            serde_json::to_string(&Deletion {
                id_customer_global: CustomerId::new(id),
                dihapus_at: "2027-01-03T00:00:00Z".to_owned(),
            })
        };
        let text = format!("{}\n\n{{\"id_customer\n{}\n", line(7).unwrap(), line(9).unwrap());
        assert_eq!(ids(&text).into_iter().map(CustomerId::get).collect::<Vec<_>>(), [7, 9]);
    }
}
