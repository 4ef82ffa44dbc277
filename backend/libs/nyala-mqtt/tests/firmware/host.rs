//! `nyala-device` as a process, with a pipe as its relay, and with its journal.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};

pub const IDOUTLET: i64 = 3;
pub const IDMESIN: i64 = 7;
pub const SECRET: &str = "00112233445566778899aabbccddeeff";
/// Time limit of each wait; a test that reaches it fails.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// The test writes this into the relay's pipe: once it is read, all earlier bytes have been read.
const MARK: u8 = b'-';

/// Builds a program of the firmware's Makefile and returns its path.
pub fn built(program: &str, flags: &[&str]) -> PathBuf {
    let path = folder().join(program);
    make(path.to_str().unwrap(), flags);
    path
}

fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("firmware"))
}

/// Makes a target of the firmware's Makefile and returns what was printed.
pub fn make(target: &str, flags: &[&str]) -> String {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap();
    let make = Command::new("make")
        .args(["--silent", "-C", concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware")])
        .arg(format!("BUILD={}", folder().display()))
        .args(flags)
        .arg(target)
        // Without the options of the make that runs the tests.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .output()
        .unwrap();
    assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
    String::from_utf8(make.stdout).unwrap()
}

/// Host of a device: its login, journal and relay outlive the process.
pub struct Host {
    program: PathBuf,
    folder: PathBuf,
    relay: Receiver<u8>,
    /// Keeps the pipe open, and writes [`MARK`] into it.
    pipe: std::fs::File,
    process: Option<Child>,
}

impl Host {
    /// A host whose process does not run yet.
    pub fn new(program: PathBuf, name: &str, host: &str, port: u16, ca: Option<&str>) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let login = json!({
            "user": IDMESIN.to_string(), "secret": SECRET, "host": host, "port": port, "idoutlet": IDOUTLET, "idmesin": IDMESIN, "ca": ca,
        });
        std::fs::write(folder.join("login.json"), format!("{login}\n")).unwrap();
        let path = folder.join("relay");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let pipe = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let (mut reader, (sender, relay)) = (pipe.try_clone().unwrap(), mpsc::channel());
        let journal = folder.join("journal");
        std::thread::spawn(move || {
            let mut byte = [0];
            while reader.read_exact(&mut byte).is_ok() {
                // Checked first: the run that closes the relay must already be on flash.
                if byte[0] == b'1' {
                    assert!(running(&journal).is_some(), "the relay is on, and the journal does not know why");
                }
                if byte[0] != b'\n' && sender.send(byte[0]).is_err() {
                    break;
                }
            }
        });
        Self { program, folder, relay, pipe, process: None }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn power_on(&mut self, arguments: &[&str]) {
        let process = Command::new(&self.program)
            .current_dir(&self.folder)
            .args(["--login", "login.json", "--journal", "journal", "--relay", "relay"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.process = Some(process);
    }

    /// Sends SIGKILL. Returns whether the relay was switched on since the last check.
    pub fn power_off(&mut self) -> bool {
        self.power_off_keeping_switches();
        self.switched().contains(&true)
    }

    /// Sends SIGKILL, and leaves what was switched to the next check.
    pub fn power_off_keeping_switches(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Sends SIGTERM, and checks that the process ends with success.
    pub fn ends(&mut self) {
        let mut process = self.process.take().unwrap();
        assert!(Command::new("kill").arg(process.id().to_string()).status().unwrap().success());
        assert!(process.wait().unwrap().success());
    }

    /// All switches of the relay since the last call.
    pub fn switched(&mut self) -> Vec<bool> {
        self.pipe.write_all(&[MARK]).unwrap();
        let bytes = std::iter::from_fn(|| Some(self.relay.recv_timeout(PATIENCE).unwrap()).filter(|byte| *byte != MARK));
        bytes.map(|byte| byte == b'1').collect()
    }

    /// Waits for the next switch of the relay.
    pub fn switches(&self) -> bool {
        self.relay.recv_timeout(PATIENCE).unwrap() == b'1'
    }

    /// The command that runs, by the newest record.
    pub fn journal_runs(&self) -> Option<[u8; 16]> {
        running(&self.folder.join("journal"))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// The command that runs, or that sent pulses, by the newest record (`firmware/core/journal.c`).
fn running(journal: &Path) -> Option<[u8; 16]> {
    const APART: usize = 4096;
    const KNOWN_AT: usize = 26;
    const KNOWN: usize = 17;
    /// Trying, started, pulsing, credited, cut: a pulse is read so late at times that its mark has changed.
    const MARKS: [u8; 5] = [1, 2, 6, 7, 8];
    let bytes = std::fs::read(journal).ok()?;
    let records =
        [0, APART].into_iter().filter_map(|at| bytes.get(at..at + KNOWN_AT + 16 * KNOWN)).filter(|r| r.starts_with(b"NYJ\x02"));
    let newest = records.max_by_key(|record| u64::from_le_bytes(record[4..12].try_into().unwrap()))?;
    let known = newest[KNOWN_AT..].chunks(KNOWN).find(|known| MARKS.contains(&known[16]))?;
    known[..16].try_into().ok()
}

/// The running command of a state report.
pub fn run_of(state: &Value) -> Option<&str> {
    state["run"]["cmd_id"].as_str()
}
