//! A database of an older version with open purchases is migrated to this program's schema and loses none of them.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use futures_util::future::join;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::migrate::MigrateError;
use nyala_store::db::{lock, migrate};
use refinery::Target;
use tokio_postgres::Client;

use crate::support::database::Database;

mod older {
    refinery::embed_migrations!("../../migrations");
}

/// A database at the schema of `version`.
async fn at(version: &str) -> (Database, Client) {
    let database = Database::empty().await;
    let (mut client, _) = lock::connect(&database.url().parse().unwrap()).await.unwrap();
    let target = Target::Version(version.parse().unwrap());
    older::migrations::runner().set_target(target).run_async(&mut client).await.unwrap();
    (database, client)
}

/// Five purchases of one customer on five machines: held, sent, running with a pending stop, running, and finished while a stop arrived.
const WITH_OUTBOX: &str = "
INSERT INTO owner_usaha (nama, created_at) VALUES ('Bu Ani', '2026-11-20Z');
INSERT INTO outlet (idowner, nama, kota, latitude, longitude, created_at) VALUES (1, 'Melati', 'Bandung', -6.9, 107.6, '2026-11-20Z');
INSERT INTO layanan (idoutlet, nama, durasi_s, harga, created_at) VALUES (1, 'Cuci', 3600, 10000, '2026-11-20Z');
INSERT INTO mesin (idoutlet, idowner, nama, driver, kode, epoch, created_at)
    SELECT 1, 1, 'Mesin', 'sim', lpad(n::TEXT, 8, '0'), 1, '2026-11-20Z' FROM generate_series(1, 5) n;
INSERT INTO customer_global (telp, nama_awal, nama_akhir, password_hash, created_at, updated_at)
    VALUES ('81234567890', 'Siti', 'Rahma', 'x', '2026-11-20Z', '2026-11-20Z');
INSERT INTO customer (id_customer_global, idoutlet, owner_idowner, created_at) VALUES (1, 1, 1, '2026-11-20Z');
INSERT INTO akun (jenis, idoutlet, idcustomer) VALUES ('W', 1, 1), ('R', 1, NULL), ('K', 1, NULL);
INSERT INTO quota_emoney (idcustomer, idakun, jenis_emoney, credits_posted, debits_posted, debits_pending, updated_at)
    VALUES (1, 1, 2, 100000, 30000, 20000, '2026-11-20Z');
INSERT INTO pembelian_emoney (idcustomer, id_customer_global, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at)
    VALUES (1, 1, 1, 1, 'Top-Up', 100000, 100000, 100000, '2026-11-20Z');
INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    VALUES ('topup', 3, 1, 100000, 1, 1, 1, 1, 'uji', '2026-11-20Z');
INSERT INTO nota (id_customer_global, no_nota, body_hash, created_at)
    SELECT 1, 'SLF' || lpad(n::TEXT, 15, '0'), '\\x00', '2026-11-20Z' FROM generate_series(1, 5) n;
INSERT INTO snap_transaksi (id_customer_global, no_nota, idcustomer, idowner, idmesin, idoutlet, idlayanan, nama_mesin, nama_layanan,
    durasi_s, grandtotal, state, cmd_id, cmd_epoch, cmd_exp, created_at, started_at, ends_at, finished_at)
SELECT 1, 'SLF' || lpad(n::TEXT, 15, '0'), 1, 1, n, 1, 1, 'Mesin', 'Cuci', 3600, 10000, state, gen_random_uuid(), 1,
    '2026-11-20 00:00:10Z', '2026-11-20Z', started_at, ends_at, CASE WHEN state = 'FINISHED' THEN ends_at END
FROM (VALUES (1, 'HELD', NULL::TIMESTAMPTZ, NULL::TIMESTAMPTZ), (2, 'SENT', NULL, NULL), (3, 'RUNNING', '2026-11-20Z', '2026-11-20 01:00Z'),
    (4, 'RUNNING', '2026-11-20Z', '2026-11-20 01:00Z'), (5, 'FINISHED', '2026-11-20Z', '2026-11-20 01:00Z')) t (n, state, started_at, ends_at)
ORDER BY n;
INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT 'pending', 1, 2, 10000, id, 1, 1, 1, 'pelanggan:1', created_at FROM snap_transaksi ORDER BY id;
INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, pending_id, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT 'post', 1, 2, 10000, l.id, t.id, 1, 1, 1, 'sistem', t.started_at
    FROM snap_transaksi t JOIN ledger_transfer l ON l.idtransaksi = t.id WHERE t.started_at IS NOT NULL ORDER BY t.id;
INSERT INTO outbox (idtransaksi, idmesin, op, available_at, created_at)
    SELECT id, idmesin, CASE WHEN started_at IS NULL THEN 'start' ELSE 'stop' END, '2026-11-20 00:40Z', '2026-11-20 00:30Z'
    FROM snap_transaksi WHERE id <> 4;
";

async fn broken_rules(client: &Client) -> Vec<String> {
    let rows = client.query("SELECT aturan || ' ' || kunci FROM pelanggaran", &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[actix_web::test]
async fn a_pending_stop_survives_the_removal_of_the_outbox() {
    let (_database, mut client) = at("20261128").await;
    client.batch_execute(WITH_OUTBOX).await.unwrap();
    assert!(broken_rules(&client).await.is_empty(), "{:?}", broken_rules(&client).await);
    let states = "SELECT idmesin, state FROM snap_transaksi ORDER BY id";
    let fingerprints = async |client: &Client| -> Vec<(i64, String)> {
        client.query(states, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
    };
    let before = fingerprints(&client).await;
    migrate::run(&mut client).await.unwrap();
    assert_eq!(fingerprints(&client).await, before);
    assert!(broken_rules(&client).await.is_empty(), "{:?}", broken_rules(&client).await);
    let gone: bool = client.query_one("SELECT to_regclass('outbox') IS NULL", &[]).await.unwrap().get(0);
    assert!(gone, "nothing is written there any more");
    let sql = "SELECT id, stop_requested_at, stop_requested_at = '2026-11-20 00:30Z' FROM snap_transaksi ORDER BY id";
    let stops: Vec<(i64, Option<Timestamp>, Option<bool>)> =
        client.query(sql, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    for (id, at, as_asked) in &stops {
        assert_eq!((at.is_some(), *as_asked), if *id == 3 { (true, Some(true)) } else { (false, None) }, "{stops:?}");
    }
}

/// The newest schema version from before programs accepted schemas newer than their own.
const BEFORE_OLDEST_PROGRAM: u32 = 20_261_204;
/// Statements that may remove or change what an older program uses.
const CHANGES: [&str; 6] = ["DROP ", "RENAME ", "ALTER COLUMN", "ADD CONSTRAINT", "CREATE UNIQUE", "CREATE TRIGGER"];

/// In a rolling upgrade, the previous release still works on the new schema.
#[test]
fn a_migration_that_does_more_than_add_names_the_programs_that_still_work() {
    for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let version: u32 = name[1..].split("__").next().unwrap().parse().unwrap();
        let sql = std::fs::read_to_string(&path).unwrap();
        let changes = CHANGES.iter().any(|word| sql.to_uppercase().contains(word));
        assert!(
            version <= BEFORE_OLDEST_PROGRAM || !changes || sql.contains("oldest_program"),
            "{name}: raise `oldest_program`, or say in a comment why it stays"
        );
    }
}

async fn waits_for_a_lock(client: &Client) -> bool {
    let sql = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    !client.query(sql, &[]).await.unwrap().is_empty()
}

/// A dump or a long report keeps reading. Sessions that queue behind the migration wait at most for its lock timeout of one second.
#[actix_web::test]
async fn a_migration_yields_to_a_table_lock_and_is_retried() {
    let (database, mut client) = at("20261128").await;
    let (other, _) = lock::connect(&database.url().parse().unwrap()).await.unwrap();
    other.batch_execute("BEGIN; LOCK TABLE outbox IN ACCESS SHARE MODE").await.unwrap();
    let gives_way = async {
        for waits in [true, false] {
            while waits_for_a_lock(&other).await != waits {
                sleep(Duration::from_millis(5)).await;
            }
        }
        other.batch_execute("COMMIT").await.unwrap();
    };
    let (done, ()) = join(migrate::run(&mut client), gives_way).await;
    done.unwrap();
    let usual: String = client.query_one("SHOW lock_timeout", &[]).await.unwrap().get(0);
    assert_eq!(usual, "0");
}

#[actix_web::test]
async fn a_migration_that_never_gets_its_lock_names_the_session_that_has_it() {
    let (database, mut client) = at("20261128").await;
    let (other, _) = lock::connect(&database.url().parse().unwrap()).await.unwrap();
    other.batch_execute("SET application_name = 'pg_dump'; BEGIN; LOCK TABLE outbox IN ACCESS SHARE MODE").await.unwrap();
    let pid: i32 = other.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let why = migrate::run_in(&mut client, 2).await.unwrap_err();
    assert!(matches!(why, MigrateError::Blocked { .. }));
    assert!(why.to_string().contains(&format!("in 2 tries: session {pid} of pg_dump")), "{why}");
    other.batch_execute("COMMIT").await.unwrap();
    migrate::run(&mut client).await.unwrap();
}

/// The newest schema version of a release. A release takes the newest of its migrations here.
const RELEASED: i32 = 20_261_221;
/// Tables that grow with customers, purchases and top-ups: a million rows in a large installation.
const GROWING: [&str; 12] = [
    "customer_global",
    "customer",
    "akun",
    "quota_emoney",
    "snap_transaksi",
    "ledger_transfer",
    "nota",
    "pembelian_emoney",
    "kas_gerak",
    "audit_log",
    "idempotensi",
    "langganan_push",
];

/// How often each growing table was read as a whole, or through an index.
async fn scans(client: &Client) -> Vec<(String, i64)> {
    const SCANS: &str = "
        SELECT relname::TEXT, (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::INT8
        FROM pg_stat_user_tables WHERE relname = ANY($1) ORDER BY relname";
    // This session's counts become visible at once.
    client.query_one("SELECT pg_stat_force_next_flush()", &[]).await.unwrap();
    let scans: Vec<_> =
        client.query(SCANS, &[&GROWING.as_slice()]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(scans.len(), GROWING.len());
    scans
}

/// PostgreSQL keeps a table's lock until the migration is committed, and others wait for it for one second. A migration that rewrites a large
/// table, updates it, validates a constraint or builds an index reads all rows and may take longer. PostgreSQL counts each of these as a scan,
/// even on an empty table. A migration that has to read says so in a comment with the time that `make migration-locks` measured.
#[actix_web::test]
async fn a_new_migration_reads_no_rows_of_a_large_table() {
    let (_database, mut client) = at(&RELEASED.to_string()).await;
    let mut before = scans(&client).await;
    for migration in older::migrations::runner().get_migrations().iter().filter(|migration| migration.version() > RELEASED) {
        let target = Target::Version(migration.version());
        older::migrations::runner().set_target(target).run_async(&mut client).await.unwrap();
        let after = scans(&client).await;
        let measured = migration.sql().and_then(|sql| sql.split_once("make migration-locks")).map(|(_, says)| says);
        let is_measured = measured.is_some_and(|says| says.lines().take(3).any(|line| line.contains(" ms")));
        assert!(
            after == before || is_measured,
            "{migration} reads a large table ({before:?}, now {after:?}): add constraints as NOT VALID and columns with a constant \
             default, and change rows in the program, a few at a time; or say in a comment what `make migration-locks` measured"
        );
        before = after;
    }
}

/// For how long a session waits at most for a growing table, to write there, until `done`.
async fn longest_wait(client: &Client, done: &Cell<bool>) -> Duration {
    let mut longest = Duration::ZERO;
    while !done.get() {
        for table in GROWING {
            let since = Instant::now();
            client.batch_execute(&format!("BEGIN; LOCK TABLE {table} IN ROW EXCLUSIVE MODE; COMMIT")).await.unwrap();
            longest = longest.max(since.elapsed());
        }
    }
    longest
}

/// `make migration-locks` measures each new migration on tables of ROWS rows; `make test` only shows that it can.
#[actix_web::test]
async fn a_new_migration_holds_its_locks_for_less_than_a_second() {
    let asked: Option<i64> = std::env::var("NYALA_MIGRATION_ROWS").ok().map(|n| n.parse().expect("a number of rows"));
    let rows = asked.unwrap_or(1_000);
    let (database, mut client) = at(&RELEASED.to_string()).await;
    let (other, _) = lock::connect(&database.url().parse().unwrap()).await.unwrap();
    client.batch_execute(&MANY.replace("MANY", &rows.to_string())).await.unwrap();
    for migration in older::migrations::runner().get_migrations() {
        let version = migration.version();
        if version <= RELEASED {
            continue;
        }
        let (since, done) = (Instant::now(), Cell::new(false));
        let migrates = async {
            older::migrations::runner().set_target(Target::Version(version)).run_async(&mut client).await.unwrap();
            done.set(true);
            since.elapsed()
        };
        let (took, waited) = join(migrates, longest_wait(&other, &done)).await;
        println!("{migration}: {} ms, and others waited {} ms, on {rows} rows", took.as_millis(), waited.as_millis());
        assert!(asked.is_none() || waited < Duration::from_secs(1), "{migration} holds its locks for {} ms", waited.as_millis());
    }
}

/// MANY customers with a wallet; as many finished purchases of one of them at a hundred machines within a year, each with its receipt, hold, post and
/// audit row; and as many top-ups with their answer and their cash. Triggers and foreign keys are not asked.
const MANY: &str = "
SET session_replication_role = replica;
INSERT INTO outlet (idowner, nama, kota, latitude, longitude, created_at) VALUES (1, 'Melati', 'Bandung', -6.9, 107.6, '2026-11-20Z');
INSERT INTO customer_global (telp, nama_awal, nama_akhir, password_hash, created_at, updated_at)
    SELECT (80000000000 + n)::TEXT, 'Siti', 'Rahma', 'x', '2026-11-20Z', '2026-11-20Z' FROM generate_series(1, MANY) n;
INSERT INTO customer (id_customer_global, idoutlet, owner_idowner, created_at)
    SELECT n, 1, 1, '2026-11-20Z' FROM generate_series(1, MANY) n;
INSERT INTO akun (jenis, idoutlet, idcustomer) SELECT 'W', 1, n FROM generate_series(1, MANY) n;
INSERT INTO quota_emoney (idcustomer, idakun, jenis_emoney, credits_posted, updated_at)
    SELECT n, n, 2, 100000, '2026-11-20Z' FROM generate_series(1, MANY) n;
INSERT INTO nota (id_customer_global, no_nota, body_hash, created_at)
    SELECT 1, 'SLF' || lpad(n::TEXT, 15, '0'), '\\x00', '2026-11-20Z' FROM generate_series(1, MANY) n;
INSERT INTO snap_transaksi (id_customer_global, no_nota, idcustomer, idowner, idmesin, idoutlet, idlayanan, nama_mesin, nama_layanan,
    durasi_s, grandtotal, state, cmd_id, cmd_epoch, cmd_exp, created_at, started_at, ends_at, finished_at)
    SELECT 1, 'SLF' || lpad(n::TEXT, 15, '0'), 1, 1, 1 + n % 100, 1, 1, 'Mesin', 'Cuci', 3600, 10000, 'FINISHED', gen_random_uuid(), 1,
    '2026-11-20 00:00:10Z', at, at, at, at FROM (SELECT n, TIMESTAMPTZ '2026-11-20Z' - n * INTERVAL '365 days' / MANY FROM generate_series(1, MANY) n) t (n, at);
INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT 'pending', 1, 2, 10000, id, 1, 1, 1, 'pelanggan:1', created_at FROM snap_transaksi;
INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, pending_id, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, created_at)
    SELECT 'post', 1, 2, 10000, id, idtransaksi, 1, 1, 1, 'sistem', created_at FROM ledger_transfer;
INSERT INTO audit_log (aktor, aksi, objek, isi, created_at)
    SELECT 'uji', 'mesin.dihentikan', 'mesin:' || n, '{}', '2026-11-20Z' FROM generate_series(1, MANY) n;
INSERT INTO pembelian_emoney (idcustomer, id_customer_global, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at)
    SELECT 1, 1, 1, 1, 'Top-Up', 100000, 100000, 100000, '2026-11-20Z' FROM generate_series(1, MANY);
INSERT INTO idempotensi (id_kunci, kunci, body_hash, jawaban, created_at)
    SELECT 1, n::TEXT, '\\x00', '{}', '2026-11-20Z' FROM generate_series(1, MANY) n;
INSERT INTO kas_gerak (idshift, jenis, nominal, idpembelian_emoney, aktor, created_at)
    SELECT 1, 'topup', 100000, n, 'operator:1', '2026-11-20Z' FROM generate_series(1, MANY) n;
RESET session_replication_role;
ANALYZE;
";
