//! docs/operations.md as an operator uses it. Its command blocks are pasted one after the other into a shell, with the test's folder in
//! place of `/`.

use std::io::Write as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Group, Pid, User, getegid, geteuid};
use socket2::{Domain, Socket, Type};

const MANUAL: &str = include_str!("../../../../docs/operations.md");
/// The time limit of one paste, in seconds: one of them starts a database for the first time.
const PATIENCE_S: &str = "120";

/// The machine on which the manual is followed.
struct Host {
    root: PathBuf,
    /// The port for the manual's 8080. It is bound but not listening: the kernel assigns it to no other process, and the server can still
    /// bind it.
    port: Socket,
    server: Option<Child>,
}

impl Host {
    fn new() -> Self {
        let root = std::env::temp_dir().join(format!("nyala-uji-{}", uuid::Uuid::new_v4().simple()));
        let checkout = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let programs = Path::new(env!("CARGO_BIN_EXE_nyala")).parent().unwrap();
        assert!(programs.join("with-postgres").is_file(), "`cargo build --workspace` makes with-postgres");
        for dir in ["etc/cron.d", "etc/systemd/system", "bin", "var/lib", "opt/nyala/target"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        for (from, to) in
            [(checkout.join("config"), "config"), (checkout.join("backend"), "backend"), (programs.into(), "target/release")]
        {
            std::os::unix::fs::symlink(from, root.join("opt/nyala").join(to)).unwrap();
        }
        let port = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        port.set_reuse_address(true).unwrap();
        port.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        Self { root, port, server: None }
    }

    fn port(&self) -> u16 {
        self.port.local_addr().unwrap().as_socket().unwrap().port()
    }

    /// The manual's text with this machine's folders and port, and with the test's user instead of the account `nyala`.
    fn here(&self, text: &str) -> String {
        let (user, group) = (User::from_uid(geteuid()).unwrap().unwrap(), Group::from_gid(getegid()).unwrap().unwrap());
        let mut text = text
            .replace("8080", &self.port().to_string())
            .replace("-o nyala -g nyala", &format!("-o {} -g {}", user.name, group.name));
        // Replaced in two steps, because the test's folder may itself be below one of these.
        for (dir, to) in
            [("/etc/", "etc/"), ("/usr/local/bin", "bin"), ("/var/lib/", "var/lib/"), ("/backup", "backup"), ("/opt/", "opt/")]
        {
            text = text.replace(dir, &format!("\0{to}"));
        }
        text.replace('\0', &format!("{}/", self.root.display()))
    }

    /// A shell with the environment of a fresh login, and none of the test's variables.
    fn shell(&self, script: &str) -> Command {
        let mut shell = Command::new("timeout");
        shell.args([PATIENCE_S, "sh", "-euc", script]).current_dir("/").env_clear();
        shell.env("PATH", format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", self.root.join("bin").display()));
        shell
    }

    /// Runs lines of the manual and returns what they print.
    fn run(&self, script: &str) -> String {
        let out = self.shell(&self.here(script)).output().unwrap();
        let (printed, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(out.status.success(), "{script}\n{printed}{errors}\n{}", self.log());
        printed.into_owned()
    }

    /// Pastes a block. Only root can add accounts and packages and only systemd starts services, so the test replaces these.
    fn paste(&mut self, block: &str) -> String {
        let (mut printed, mut script) = (String::new(), String::new());
        for line in block.lines() {
            match line.split_once(' ') {
                Some(("useradd" | "apt-get" | "chown", _)) => {}
                Some(("systemctl", command)) => {
                    printed += &self.run(&std::mem::take(&mut script));
                    match command {
                        "daemon-reload" | "enable systemd-time-wait-sync" => {}
                        "enable --now nyala" | "start nyala" => self.start(),
                        "stop nyala" => self.stop(),
                        "restart nyala" => {
                            self.stop();
                            self.start();
                        }
                        other => panic!("the manual has a new `systemctl {other}`"),
                    }
                }
                _ => script += &format!("{line}\n"),
            }
        }
        printed + &self.run(&script)
    }

    /// Starts the service as described by its unit file, and returns when it is ready.
    fn start(&mut self) {
        let unit = std::fs::read_to_string(self.root.join("etc/systemd/system/nyala.service")).unwrap();
        let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap();
        let (env, dir, program) = (value("EnvironmentFile"), value("WorkingDirectory"), value("ExecStart"));
        assert_eq!(value("Type"), "notify");
        let socket = self.root.join("notify");
        let _ = std::fs::remove_file(&socket);
        let manager = UnixDatagram::bind(&socket).unwrap();
        manager.set_read_timeout(Some(Duration::from_secs(PATIENCE_S.parse().unwrap()))).unwrap();
        let log = std::fs::File::create(self.root.join("server.log")).unwrap();
        let script = format!("set -a; . {env}; set +a; cd {dir}; exec {program}");
        let mut shell = Command::new("sh");
        shell.args(["-euc", &script]).env_clear().env("PATH", "/usr/bin:/bin").env("NOTIFY_SOCKET", socket);
        self.server = Some(shell.stdout(Stdio::null()).stderr(log).spawn().unwrap());
        let mut message = [0; 64];
        let n = manager.recv(&mut message).unwrap_or_else(|e| panic!("not ready: {e}\n{}", self.log()));
        assert_eq!(&message[..n], b"READY=1");
    }

    fn stop(&mut self) {
        let mut server = self.server.take().unwrap();
        kill(Pid::from_raw(i32::try_from(server.id()).unwrap()), Signal::SIGTERM).unwrap();
        let status = server.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.log());
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.root.join("server.log")).unwrap_or_default()
    }

    /// What cron would mail: what the lines of `/etc/cron.d/nyala` print, run as cron runs them.
    fn cron(&self) -> String {
        let table = std::fs::read_to_string(self.root.join("etc/cron.d/nyala")).unwrap();
        let mut environment: Vec<(String, String)> = Vec::new();
        let (mut mail, mut jobs) = (String::new(), 0);
        for line in table.lines() {
            if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let (name, value) = line.split_once('=').unwrap();
                environment.push((name.to_owned(), value.to_owned()));
                continue;
            }
            // Five fields of time, the account, the command.
            let command = line.splitn(7, ' ').nth(6).unwrap();
            let mut shell = Command::new("sh");
            let out = shell.args(["-c", command]).current_dir("/").env_clear().envs(environment.clone()).output().unwrap();
            mail += &format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            jobs += 1;
        }
        assert_ne!(jobs, 0, "{table}");
        mail
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// The blocks marked `sh`, in their order.
fn blocks() -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = MANUAL.lines();
    while lines.any(|line| line == "```sh") {
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push(block.join("\n"));
    }
    blocks
}

#[test]
fn the_manuals_commands_work_when_pasted_one_after_the_other() {
    let mut host = Host::new();
    // PostgreSQL from npm has no client programs, and according to the manual a dump needs one.
    let dumps = host.shell("command -v pg_dump && command -v pg_restore").output().unwrap().status.success();
    let mut key = String::new();
    for block in blocks() {
        if !dumps && ["pg_dump", "pg_restore", "BACKUP__DIR", "nyala restore"].iter().any(|program| block.contains(program)) {
            // Written directly, because the test runner hides the output of tests that pass.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: PostgreSQL's client programs are not here, so this was not tried:\n{block}"
            );
            continue;
        }
        let printed = host.paste(&block);
        if let Some(secret) = printed.lines().find(|line| line.starts_with("nyk_")) {
            secret.clone_into(&mut key);
            // A row whose loss would be noticed. Making it needs the keys.
            host.run(&format!(
                "curl -sf http://127.0.0.1:8080/ops/v1/owner -H 'Authorization: Bearer {key}' -H 'Idempotency-Key: manual-0001' \
                 -d '{{\"nama\": \"Bu Ani\"}}'"
            ));
        }
    }
    assert_ne!(key, "", "the manual made no key");
    host.run("until curl -sf http://127.0.0.1:8080/readyz; do sleep 0.1; done");
    if dumps {
        for before in ["var/lib/nyala.lost", "var/lib/nyala.before"] {
            assert!(host.root.join(before).is_dir(), "each restore began with a new folder");
        }
        host.run("cd /opt/nyala; NYALA__DATA__DIR=/var/lib/nyala-copy target/release/nyala key list | grep 'Kantor pusat'");
    }
    let keys = host.run("nyala key list");
    let revoked = |name: &str| keys.lines().find(|line| line.contains(name)).map(|line| !line.ends_with("\t-"));
    assert_eq!((revoked("Kantor pusat"), revoked("Pembukaan")), (Some(false), Some(true)), "{keys}");
    let owner = "nyala key add --role owner --owner 1 --nama 'Bu Ani'";
    assert!(host.run(owner).starts_with("nyk_"), "the owner is there");
    assert_eq!(host.cron(), "", "an intact ledger is silent");

    // Cron must report a missing database: a command must not create one.
    host.stop();
    std::fs::rename(host.root.join("var/lib/nyala"), host.root.join("var/lib/elsewhere")).unwrap();
    assert!(host.cron().contains("there is no database in"), "{}", host.cron());
    assert!(!host.root.join("var/lib/nyala").exists());
}
