//! `try`: starts a server on an empty private database, runs `watch` against it, and prints the command line of that run.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Verdict;
use super::watch::Watch;
use super::watching::Watching;
use crate::options::{Common, at_least_1, length_s};
use crate::report::Report;
use crate::server::{self, Server};
use crate::target::sessions_that_fit;
use crate::ui;

const PER_SESSION: usize = 1;
const MACHINES_PER_OUTLET: usize = 8;
const WARMUP_S: u64 = 4;
const JOIN_WITHIN_S: u64 = 120;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  nyala-loadtest try
  nyala-loadtest try --sessions 2000 --machines 2000 --report out")]
pub struct Try {
    /// Sessions, each a customer of its own
    #[arg(long, short = 'n', default_value_t = 10_000, value_parser = at_least_1())]
    sessions: usize,
    /// Machines that run
    #[arg(long, short, default_value_t = 1_000, value_parser = at_least_1())]
    machines: usize,
    /// Length of the measurement
    #[arg(long, short, default_value_t = 30, value_name = "S", value_parser = length_s())]
    seconds: u64,
    /// Folder for report.json and report.html
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Folder of the server's settings
    #[arg(long, default_value = "config", value_name = "DIR")]
    config_dir: PathBuf,
}

/// Path of a program, relative to the working directory.
fn shown(program: &Path) -> String {
    let here = std::env::current_dir().ok().and_then(|dir| program.strip_prefix(dir).ok().map(|rest| Path::new(".").join(rest)));
    here.as_deref().unwrap_or(program).display().to_string()
}

impl Try {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        // Checked before the server is started.
        self.report.as_deref().map_or(Ok(()), Report::make_room)?;
        let fit = sessions_that_fit()?;
        if fit == 0 {
            return Err("no session fits into the files that may be open here: raise the limit (`ulimit -Hn`)".to_owned());
        }
        let sessions = self.sessions.min(fit);
        if sessions < self.sessions {
            ui::note(&format!("{sessions} sessions instead of {}: no more files may be open here (`ulimit -Hn`)", self.sessions));
        }
        let data_dir = std::env::temp_dir().join(format!("nyala-loadtest-{}", std::process::id()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
        ui::note(&format!("starting a server on an empty database in {}", data_dir.display()));
        let mut server = Server::new(server::program()?, &self.config_dir, data_dir.clone(), &[])?;
        let key = runtime.block_on(async {
            server.start().await?;
            server.root_key().await
        });
        // The log of a server that did not start is in its folder, which is kept.
        let key = key?;
        let done = self.watch(&server, sessions, key).run();
        let stopped = runtime.block_on(server.stop());
        let removed = server.remove();
        let outcome = done?;
        stopped?;
        removed?;
        let (nyala, tool) = (shown(server.program()), std::env::current_exe().map_or("nyala-loadtest".to_owned(), |p| shown(&p)));
        ui::out(&format!(
            "\nThat was a server on an empty database. Against one of yours, in another terminal:\n\n  \
             NYALA__REALTIME__UNJOINED_PER_ADDRESS=1000000 {nyala} serve\n\n\
             and when it is ready:\n\n  export NYALA_KEY=$({nyala} key add --role root --nama loadtest)\n  \
             {tool} watch --sessions {sessions} --machines {} --seconds 60 --server-pid $(pgrep -xo nyala) \\\n    \
             --nyala {nyala} --data-dir data --report report\n\n\
             `{tool} --help` lists the other scenarios; docs/loadtest.md tells how to size a server.",
            self.machines
        ));
        Ok(outcome)
    }

    fn watch(&self, server: &Server, sessions: usize, key: String) -> Watch {
        Watch {
            common: Common {
                url: format!("http://{}", server.address()),
                key: Some(key),
                server_pid: server.pid(),
                report: self.report.clone(),
                compare: None,
                fail_if: Vec::new(),
                nyala: Some(server.program().to_owned()),
                data_dir: Some(server.data_dir().to_owned()),
                config_dir: self.config_dir.clone(),
                i_own_this_server: false,
                join_within: JOIN_WITHIN_S,
                quiet: false,
            },
            watching: Watching {
                sessions,
                machines: self.machines,
                per_session: PER_SESSION,
                machines_per_outlet: MACHINES_PER_OUTLET,
                seconds: self.seconds,
                warmup: WARMUP_S,
                ticks_per_second: 1,
                in_flight: None,
                bare: false,
            },
        }
    }
}
