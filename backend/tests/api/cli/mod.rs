//! The `nyala` binary (docs/contract.md §4), with and without a running server: one file per group of commands.

mod device;
mod env_file;
mod import;
mod key;
mod ledger;
mod missing;
mod owner;
mod package;
mod seed;
mod serve;
mod settings;
mod sim;
mod sticker;
mod unread;

use std::path::Path;
use std::process::{Command, Output};

use tokio_postgres::config::Host;

use crate::support::helpers::TestApp;

/// The program with the settings of the checkout and without the caller's environment.
fn nyala() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nyala"));
    command.arg("--config-dir").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config"));
    for (name, _) in std::env::vars_os() {
        if name == "DATABASE_URL" || name.to_string_lossy().starts_with("NYALA__") {
            command.env_remove(name);
        }
    }
    command
}

/// A command's exit code and output.
#[derive(Debug)]
pub struct CommandOutput {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for CommandOutput {
    fn from(o: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: o.status.code().expect("no signal"), out: text(o.stdout), err: text(o.stderr) }
    }
}

impl CommandOutput {
    /// Asserts success and an empty standard error, and returns the standard output.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Asserts exit code 1 and one line on standard error that contains `part`.
    #[track_caller]
    pub fn refused(self, part: &str) {
        assert_eq!(self.code, 1, "{self:?}");
        assert!(
            self.err.starts_with("nyala: ") && self.err.trim_end().lines().count() == 1 && self.err.contains(part),
            "{self:?}"
        );
    }
}

/// Runs the program on the database and the keys of a running server.
pub fn beside(app: &TestApp, args: &[&str]) -> CommandOutput {
    program_beside(app, args).output().unwrap().into()
}

/// The same command, not yet run.
pub fn program_beside(app: &TestApp, args: &[&str]) -> Command {
    let config = app.state.store.db.config();
    let host = match &config.get_hosts()[0] {
        Host::Unix(path) => path.display().to_string(),
        Host::Tcp(name) => name.clone(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let url = format!("host={host} port={port} user={} dbname={}", config.get_user().unwrap(), config.get_dbname().unwrap());
    let mut program = nyala();
    program.env("DATABASE_URL", url).env("NYALA__DATA__DIR", &app.state.config.data.dir).args(args);
    program
}
