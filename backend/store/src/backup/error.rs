//! Why a backup or a restore cannot be made.

use std::io;
use std::path::{Path, PathBuf};

use crate::db::error::DbError;

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "backup.dir needs {program} of PostgreSQL {major}, and it is not here: install postgresql-client-{major} (Debian, Ubuntu: \
         `apt-get install postgresql-client-{major}`), or name its folder with backup.bin_dir"
    )]
    NoProgram { program: &'static str, major: u32 },
    #[error("{} holds the backup of another database (system identifier {theirs}, and this one is {ours}): choose an empty folder", dir.display())]
    OtherDatabase { dir: PathBuf, theirs: i64, ours: i64 },
    #[error(
        "{} has no backup, and this database has begun one in another folder or on another disk: is that disk mounted? To begin a \
         new backup here: `nyala backup base --new-folder`",
        dir.display()
    )]
    Away { dir: PathBuf },
    #[error("{} is no backup: {why}", dir.display())]
    NotABackup { dir: PathBuf, why: String },
    #[error("{program} failed: {why}")]
    Failed { program: &'static str, why: String },
    #[error(transparent)]
    Database(#[from] DbError),
    #[error("{0}")]
    Refused(String),
}

impl BackupError {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

impl From<tokio_postgres::Error> for BackupError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Database(e.into())
    }
}
