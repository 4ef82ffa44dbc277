//! Ctrl-C on a terminal reaches every process of the tool's group; the tool's own server is not one of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Lines, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

const TOOL: &str = env!("CARGO_BIN_EXE_nyala-loadtest");
/// Time in which a killed server's process must end.
const GONE_WITHIN: Duration = Duration::from_secs(10);

struct Try {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
}

impl Try {
    /// A separate process group, as a shell creates for each command.
    fn start() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let nyala = std::env::var_os("NYALA_BIN").map_or_else(|| Path::new(TOOL).with_file_name("nyala"), Into::into);
        let mut child = Command::new(TOOL)
            .args(["try", "--sessions=5", "--machines=5", "--seconds=60", "--config-dir"])
            .arg(here.join("../config"))
            .env("NYALA_BIN", nyala)
            .env("TMPDIR", env!("CARGO_TARGET_TMPDIR"))
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        let lines = BufReader::new(child.stderr.take().expect("its lines")).lines();
        Self { child, lines }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().expect("a process id"))
    }

    fn wait_for(&mut self, what: &str) {
        let found = self.lines.by_ref().map_while(Result::ok).find(|line| line.contains(what));
        assert!(found.is_some(), "it never said {what}");
    }

    /// Waits until ticks were counted. Those of the first line may all be older than the window, which was opening then.
    fn wait_for_counted_ticks(&mut self) {
        let has_ticks = |line: &String| {
            let words: Vec<_> = line.split_whitespace().collect();
            words.windows(2).any(|two| two[1].starts_with("ticks/s") && two[0] != "0")
        };
        let found = self.lines.by_ref().map_while(Result::ok).filter(has_ticks).nth(2);
        assert!(found.is_some(), "it never told three seconds with ticks");
    }

    /// Exit code and standard output.
    fn end(mut self) -> (Option<i32>, String) {
        // Read to the end, so that the program can write.
        self.lines.by_ref().for_each(drop);
        let mut output = String::new();
        self.child.stdout.take().expect("its summary").read_to_string(&mut output).expect("text");
        (self.child.wait().expect("its end").code(), output)
    }
}

/// Child processes of `pid`.
fn children(pid: Pid) -> Vec<String> {
    let all = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("it runs");
    all.split_whitespace().map(str::to_owned).collect()
}

/// Whether a process runs; one that has ended and was not waited for does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

#[test]
fn ctrl_c_leaves_the_server_alive_until_the_money_was_counted() {
    let mut tried = Try::start();
    tried.wait_for_counted_ticks();
    killpg(tried.pid(), Signal::SIGINT).expect("it runs");
    let (code, output) = tried.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("ended by Ctrl-C") && output.contains("audit_broken"), "{output}");
    assert!(output.lines().any(|line| line.split_whitespace().eq(["balances_wrong", "0"])), "{output}");
}

#[test]
fn a_second_ctrl_c_leaves_no_server_behind() {
    let mut tried = Try::start();
    tried.wait_for("ticks/s");
    let servers = children(tried.pid());
    assert_eq!(servers.len(), 1, "{servers:?}");
    kill(tried.pid(), Signal::SIGINT).expect("it runs");
    // The first Ctrl-C has arrived: the program is checking the money.
    tried.wait_for("balances");
    kill(tried.pid(), Signal::SIGINT).expect("it runs");
    let data_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("nyala-loadtest-{}", tried.pid()));
    let (code, output) = tried.end();
    assert_eq!(code, Some(130), "{output}");
    let since = Instant::now();
    while runs(&servers[0]) {
        assert!(since.elapsed() < GONE_WITHIN, "the server {} is left behind", servers[0]);
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = std::fs::remove_dir_all(data_dir);
}
