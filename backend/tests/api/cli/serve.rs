//! `nyala serve` on a private database, and commands beside it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Said, nyala};

/// `nyala serve` on a private database, stopped when the test ends.
struct Serve {
    child: Child,
    dir: PathBuf,
    port: u16,
}

impl Serve {
    fn command(dir: &Path) -> Command {
        let mut command = nyala();
        command.env("NYALA__DATA__DIR", dir).env("NYALA__LOG__FILTER", "warn");
        command
    }

    /// Starts it and waits until it answers.
    fn start() -> Self {
        let dir = std::env::temp_dir().join(format!("nyala-uji-{}", uuid::Uuid::new_v4().simple()));
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Self::command(&dir).args(["serve", "--port", &port.to_string()]).stdout(Stdio::null()).spawn().unwrap();
        let mut serve = Self { child, dir, port };
        let started = Instant::now();
        while !serve.answers() {
            assert!(
                serve.child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(60),
                "the server did not come up"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        serve
    }

    fn answers(&self) -> bool {
        use std::io::{Read, Write};
        let mut answer = [0; 12];
        let asked = std::net::TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut s| {
            s.set_read_timeout(Some(Duration::from_millis(500)))?;
            s.write_all(b"GET /ops/v1/mesin/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
            s.read_exact(&mut answer)
        });
        asked.is_ok() && answer.starts_with(b"HTTP/1.1 401")
    }

    fn run(&self, args: &[&str]) -> Said {
        Self::command(&self.dir).args(args).output().unwrap().into()
    }

    /// SIGTERM, and the exit code.
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

#[actix_web::test]
async fn commands_share_the_servers_private_database_and_start_it_without_one() {
    let mut serve = Serve::start();
    let key = serve.run(&["key", "add", "--role", "root", "--nama", "uji"]).ok();
    let url = format!("http://127.0.0.1:{}/ops/v1/mesin/1", serve.port);
    let mesin = awc::Client::default().get(url).bearer_auth(key.trim_end()).send().await.unwrap();
    assert_eq!(mesin.status(), 200, "the first start seeded the demo, and the key works at once");
    let topup = ["topup", "--telp", "81234567890", "--outlet", "1", "--nominal", "1000"];
    let made: Value = serde_json::from_str(&serve.run(&topup).ok()).unwrap();
    assert_eq!(made["saldo_akhir"], 101_000);
    serve.run(&["audit", "verify"]).ok();
    assert_eq!(serve.stop(), Some(0));
    let made: Value = serde_json::from_str(&serve.run(&topup).ok()).unwrap();
    assert_eq!(made["saldo_akhir"], 102_000, "without the server a command runs the database itself");
    assert!(serve.run(&["audit", "verify"]).ok().starts_with("OK: 2 rekening, 4 gerak"));
    assert!(serve.run(&["seed", "--demo"]).ok().contains("nothing changed"));
    assert!(serve.run(&["migrate"]).ok().contains("schema 20261121"));
}
