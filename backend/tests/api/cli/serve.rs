//! `nyala serve` on a private database, and commands that run at the same time.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{CommandOutput, nyala};

/// `nyala serve` on a private database, stopped when the test ends.
struct Serve {
    child: Child,
    dir: PathBuf,
    base_url: String,
}

impl Serve {
    fn command(dir: &Path) -> Command {
        let mut command = nyala();
        command.env("NYALA__DATA__DIR", dir).env("NYALA__LOG__FILTER", "warn");
        command
    }

    /// Starts the server on a port that the kernel chooses, and waits until it prints its address.
    fn start() -> Self {
        let dir = std::env::temp_dir().join(format!("nyala-uji-{}", uuid::Uuid::new_v4().simple()));
        let mut child = Self::command(&dir).args(["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let mut serve = Self { child, dir, base_url: String::new() };
        let line = BufReader::new(stdout).lines().next().expect("the server did not open").unwrap();
        line.split_whitespace().last().unwrap().trim_end_matches('/').clone_into(&mut serve.base_url);
        serve
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        Self::command(&self.dir).args(args).output().unwrap().into()
    }

    /// Sends SIGTERM and returns the exit code.
    fn stop(&mut self) -> Option<i32> {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The newest version in `migrations/`.
fn newest_schema() -> u64 {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations")).unwrap();
    let version = |name: String| name.strip_prefix('V')?.split_once("__")?.0.parse().ok();
    files.filter_map(|file| version(file.unwrap().file_name().into_string().unwrap())).max().unwrap()
}

#[actix_web::test]
async fn commands_share_the_servers_private_database_and_start_it_without_one() {
    let mut serve = Serve::start();
    let key = serve.run(&["key", "add", "--role", "root", "--nama", "uji"]).ok();
    let url = format!("{}/ops/v1/mesin/1", serve.base_url);
    let machine = awc::Client::default().get(url).bearer_auth(key.trim_end()).send().await.unwrap();
    assert_eq!(machine.status(), 200, "the first start seeded the demo, and the key works at once");
    let topup = ["topup", "--telp", "81234567890", "--outlet", "1", "--nominal", "1000"];
    let made: Value = serde_json::from_str(&serve.run(&topup).ok()).unwrap();
    assert_eq!(made["saldo_akhir"], 101_000);
    serve.run(&["audit", "verify"]).ok();
    assert_eq!(serve.stop(), Some(0));
    let made: Value = serde_json::from_str(&serve.run(&topup).ok()).unwrap();
    assert_eq!(made["saldo_akhir"], 102_000, "without the server a command runs the database itself");
    assert!(serve.run(&["audit", "verify"]).ok().starts_with("OK: 2 rekening, 4 gerak"));
    assert!(serve.run(&["seed", "--demo"]).ok().contains("nothing changed"));
    assert_eq!(serve.run(&["migrate"]).ok(), format!("the database is at schema {}\n", newest_schema()));
}
