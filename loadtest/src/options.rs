//! Flags of all scenarios.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{RangedU64ValueParser, TypedValueParser};

use crate::report::Report;
use crate::report::threshold::Threshold;
use crate::target::Target;

/// Parser of a duration in seconds, at most a day.
pub fn length_s() -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(1..=86_400)
}

/// Parser of a number that is at least 1.
pub fn at_least_1() -> impl TypedValueParser<Value = usize> {
    RangedU64ValueParser::<usize>::new().range(1..)
}

#[derive(Debug, Clone, Args)]
pub struct Common {
    /// The server, as http://HOST:PORT
    #[arg(long, default_value = "http://127.0.0.1:8080", value_name = "URL")]
    pub url: String,
    /// API key of the role root, else NYALA_KEY: `nyala key add --role root --nama loadtest` prints one
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Process of the server, to measure its processor time and memory
    #[arg(long, value_name = "PID")]
    pub server_pid: Option<u32>,
    /// Folder for report.json and report.html
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// An older report.json, or its folder, to show the differences to
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
    /// End with exit code 2 when a figure crosses this, for example 'tick_p99_ms > 50'; may be repeated
    #[arg(long, value_name = "METRIC > VALUE")]
    pub fail_if: Vec<Threshold>,
    /// The nyala program, to run `audit verify` at the end; else NYALA_BIN
    #[arg(long, value_name = "FILE")]
    pub nyala: Option<PathBuf>,
    /// The server's data folder, for `audit verify`; without it DATABASE_URL has to be set
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Folder of the server's settings, for `audit verify`
    #[arg(long, default_value = "config", value_name = "DIR")]
    pub config_dir: PathBuf,
    /// Allow a server that is not this machine
    #[arg(long)]
    pub i_own_this_server: bool,
    /// Seconds that all sessions together may take to join
    #[arg(long, default_value_t = 120, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub join_within: u64,
    /// Only the summary
    #[arg(long, short)]
    pub quiet: bool,
}

impl Common {
    /// # Errors
    /// One line about the URL.
    pub fn target(&self) -> Result<Target, String> {
        Target::parse(&self.url, self.i_own_this_server)
    }

    /// # Errors
    /// One line on how to get one.
    pub fn root_key(&self) -> Result<String, String> {
        let key = self.key.clone().or_else(|| std::env::var("NYALA_KEY").ok()).filter(|k| !k.trim().is_empty());
        key.map(|k| k.trim().to_owned()).ok_or_else(|| {
            "machines and customers are made with an API key: --key or NYALA_KEY; `nyala key add --role root --nama loadtest` \
             prints one"
                .to_owned()
        })
    }

    pub fn program(&self) -> Option<PathBuf> {
        self.nyala.clone().or_else(|| std::env::var_os("NYALA_BIN").map(PathBuf::from))
    }

    /// Reads the report to compare with.
    ///
    /// # Errors
    /// One line when it cannot be read.
    pub fn old_report(&self) -> Result<Option<Report>, String> {
        self.compare.as_deref().map(|path| Report::read(path).map_err(|e| format!("--compare {e}"))).transpose()
    }
}

/// Command line for reports: without the key.
pub fn shown_command() -> Vec<String> {
    let mut hide = false;
    std::env::args()
        .map(|arg| {
            let hidden = std::mem::replace(&mut hide, arg == "--key");
            match arg.starts_with("--key=") {
                true => "--key=***".to_owned(),
                false if hidden => "***".to_owned(),
                false => arg,
            }
        })
        .collect()
}
