//! The measured server: the release binary on a private database in a separate folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nyala_loadtest::server::{self, Server};

use crate::BenchError;

/// Devices that answer at once, no refusals at the capacity that is measured, and a log that can be read.
const SETTINGS: [(&str, &str); 5] = [
    ("NYALA__DATABASE__ADMISSION_MS", "0"),
    ("NYALA__MESIN__SIM_MIN_MS", "0"),
    ("NYALA__MESIN__SIM_MAX_MS", "0"),
    ("NYALA__LOG__FORMAT", "json"),
    ("NYALA__LOG__FILTER", "info"),
];

/// The folder of one measurement, removed with it.
pub struct Scratch {
    dir: PathBuf,
    settings: Vec<(&'static str, String)>,
}

impl Scratch {
    /// # Errors
    /// When the system's folder for temporary files cannot be written.
    pub fn make() -> Result<Self, BenchError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("nyala-bench-{}-{n}", std::process::id()));
        fs::create_dir_all(&dir)?;
        Ok(Self { dir, settings: Vec::new() })
    }

    /// Changes a setting of the servers that start here from now on: `NYALA__SECTION__KEY` and its value.
    pub fn set(&mut self, name: &'static str, value: impl ToString) {
        self.settings.push((name, value.to_string()));
    }

    pub fn data(&self) -> PathBuf {
        self.beside("data")
    }

    /// A folder beside the server's.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Starts a server here and waits until it is ready.
    ///
    /// # Errors
    /// Its last log lines when it ends instead; the folder is removed.
    pub async fn start(&self) -> Result<Server, BenchError> {
        let own = self.settings.iter().map(|(name, value)| (*name, value.as_str()));
        let settings: Vec<_> = SETTINGS.into_iter().chain(own).collect();
        let mut server = Server::new(server::program()?, Path::new("config"), self.data(), &settings)?;
        server.start().await.map_err(|e| format!("{e}: {}", server.log()))?;
        Ok(server)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(e) = fs::remove_dir_all(&self.dir) {
            eprintln!("nyala-bench: {} is left behind: {e}", self.dir.display());
        }
    }
}

/// # Errors
/// When it does not run.
pub fn pid(server: &Server) -> Result<u32, BenchError> {
    Ok(server.pid().ok_or("the server does not run")?)
}
