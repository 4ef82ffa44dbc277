//! PostgreSQL's own programs for backups. The npm package has none of them; `postgresql-client-NN` has.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;

use super::error::BackupError;

const RECEIVE_WAL: &str = "pg_receivewal";
const BASE_BACKUP: &str = "pg_basebackup";
const VERIFY_BACKUP: &str = "pg_verifybackup";
/// Replication slot: PostgreSQL keeps the log until the receiver has it.
pub const SLOT: &str = "nyala_backup";
/// A base backup of a large shop on a slow disk.
pub(super) const LIMIT: Duration = Duration::from_secs(4 * 3600);
/// Lines of a program's output that an error shows.
const ERROR_LINES: usize = 3;

/// Where they are.
#[derive(Debug, Clone)]
pub struct Programs {
    dir: PathBuf,
    connection: String,
}

impl Programs {
    /// Looks in `bin_dir` if it is set, else beside `postgres`, in Debian's folder and on PATH; `connection` is libpq's string for the
    /// database.
    ///
    /// # Errors
    /// [`BackupError::NoProgram`] names the missing one and its package.
    pub fn find(bin_dir: &Path, beside: Option<&Path>, major: u32, connection: &str) -> Result<Self, BackupError> {
        let debian = PathBuf::from(format!("/usr/lib/postgresql/{major}/bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs: Vec<PathBuf> = if bin_dir.as_os_str().is_empty() {
            beside.map(Path::to_owned).into_iter().chain([debian]).chain(std::env::split_paths(&path)).collect()
        } else {
            vec![bin_dir.to_owned()]
        };
        let missing = |dir: &PathBuf| {
            [RECEIVE_WAL, BASE_BACKUP, VERIFY_BACKUP].into_iter().find(|program| !is_of_major(&dir.join(program), major))
        };
        match dirs.iter().find(|dir| missing(dir).is_none()) {
            Some(dir) => Ok(Self { dir: dir.clone(), connection: connection.to_owned() }),
            None => {
                let program = dirs.first().and_then(missing).unwrap_or(RECEIVE_WAL);
                Err(BackupError::NoProgram { program, major })
            }
        }
    }

    /// Receives the log into `wal` from the slot until PostgreSQL ends. `--synchronous`: what was received is on disk at once; without it a
    /// killed receiver loses what gzip has not written. `--status-interval`: it reports a finished segment only then.
    pub fn receiver(&self, wal: &Path) -> Command {
        let mut command = self.command(RECEIVE_WAL);
        command.arg("-D").arg(wal).arg(format!("--slot={SLOT}"));
        command.args([
            "--synchronous",
            "--status-interval=1",
            "--compress=gzip:1",
            "--no-loop",
            "--no-password",
            "-d",
            &self.connection,
        ]);
        command
    }

    /// Takes a base backup into the folder `to` (`base.tar.gz`, `backup_manifest`).
    ///
    /// # Errors
    /// With the last lines of its output.
    pub async fn base(&self, to: &Path) -> Result<(), BackupError> {
        let mut command = self.command(BASE_BACKUP);
        command.arg("-D").arg(to).args([
            "-Ft",
            "-z",
            "-X",
            "fetch",
            "--checkpoint=fast",
            "--no-password",
            "-d",
            &self.connection,
        ]);
        run(BASE_BACKUP, command).await
    }

    /// Checks the unpacked base backup in `dir` against `manifest`, and its log where the program for that is there.
    ///
    /// # Errors
    /// What does not agree.
    pub async fn verify(&self, dir: &Path, manifest: &Path) -> Result<(), BackupError> {
        let mut command = self.command(VERIFY_BACKUP);
        if !self.dir.join("pg_waldump").is_file() {
            command.arg("--no-parse-wal");
        }
        command.arg("--exit-on-error").arg("-m").arg(manifest).arg(dir);
        run(VERIFY_BACKUP, command).await
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.dir.join(program));
        // `PG*` of the operator's shell are about other databases.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        command
    }
}

fn is_of_major(program: &Path, major: u32) -> bool {
    let Ok(output) = std::process::Command::new(program).arg("--version").stdin(Stdio::null()).output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().any(|word| word.split(['.', 'b', 'r', 'd']).next() == Some(&major.to_string()))
}

async fn run(program: &'static str, mut command: Command) -> Result<(), BackupError> {
    let failed = |why: String| BackupError::Failed { program, why };
    let output: Output = match tokio::time::timeout(LIMIT, command.kill_on_drop(true).output()).await {
        Ok(output) => output.map_err(|e| failed(e.to_string()))?,
        Err(_) => return Err(failed(format!("it did not end within {} s", LIMIT.as_secs()))),
    };
    if output.status.success() { Ok(()) } else { Err(failed(last_lines(&output.stderr))) }
}

/// The end of a program's output, on one line.
pub(super) fn last_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(ERROR_LINES)..].join("; ")
}
