//! The firmware's core in its host for Linux, as a device of the server.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use actix_web::rt::time::{sleep, timeout};
use serde_json::Value;

use super::{LOOK_EVERY, PATIENCE};
use crate::server::rules::checkout;

/// A device whose journal outlives its process.
pub(super) struct Board {
    process: Child,
    log: PathBuf,
}

impl Drop for Board {
    fn drop(&mut self) {
        self.power_off();
    }
}

impl Board {
    /// Builds it and starts it in `folder` with the login that the server has given. `None`: it needs TLS, and mbedTLS is not installed.
    pub(super) fn start(login: &Value, folder: &Path, tls: bool) -> Option<Self> {
        if tls && !Path::new("/usr/include/mbedtls/ssl.h").exists() {
            // Written past the test runner, which hides the output of a test that passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED: mbedTLS is not installed (apt-get install libmbedtls-dev)");
            return None;
        }
        let build = Path::new(env!("CARGO_TARGET_TMPDIR")).join("firmware-api");
        let program = build.join(if tls { "nyala-device-tls" } else { "nyala-device" });
        let make = Command::new("make")
            .args(["--silent", "-C", &checkout("backend/firmware").display().to_string()])
            .args(tls.then_some("TLS=1"))
            .arg(format!("BUILD={}", build.display()))
            .arg(&program)
            // Without the options of the make that runs the tests.
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .output()
            .unwrap();
        assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("login.json"), format!("{login}\n")).unwrap();
        std::fs::write(folder.join("relay"), "").unwrap();
        let log = folder.join("board.log");
        let process = Command::new(program)
            .current_dir(folder)
            .args(["--login", "login.json", "--journal", "journal", "--relay", "relay"])
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Some(Self { process, log })
    }

    /// Waits until it has logged in.
    pub(super) async fn connects(&self) {
        self.says("nyala-device: connected").await;
    }

    /// Waits for a line of its log.
    pub(super) async fn says(&self, part: &str) -> String {
        let log = || std::fs::read_to_string(&self.log).unwrap_or_default();
        let printed = async {
            loop {
                if let Some(line) = log().lines().find(|line| line.contains(part)) {
                    return line.to_owned();
                }
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, printed).await.unwrap_or_else(|_| panic!("the board did not say {part:?}: {}", log()))
    }

    pub(super) fn power_off(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
