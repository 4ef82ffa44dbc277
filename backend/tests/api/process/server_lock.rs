//! Which servers may serve a database at the same time, and how a server reacts when it loses its lock.

use std::time::Instant;

use actix_web::rt::time::sleep;
use futures_util::future::join;
use nyala_store::db::lock::{self, Part, ServerLock};

use super::{LOOK_EVERY, PATIENCE, Site};

const N1: [(&str, &str); 2] = [("NYALA__CLUSTER__ENABLED", "true"), ("NYALA__CLUSTER__NAME", "n1")];
const N2: [(&str, &str); 2] = [("NYALA__CLUSTER__ENABLED", "true"), ("NYALA__CLUSTER__NAME", "n2")];
const KEY: i64 = 0x4e59_414c_4102;
/// The sessions that hold the server's lock.
const HOLDERS: &str = "FROM pg_locks JOIN pg_database d ON d.oid = database
    WHERE locktype = 'advisory' AND granted AND d.datname = current_database()
        AND objsubid = 1 AND classid = 0x4e59 AND objid = 0x414c4102";

impl Site {
    async fn lock_sessions(&self) -> Vec<i32> {
        let rows = self.db.query(&hex(&format!("SELECT pid {HOLDERS} ORDER BY 1")), &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn break_lock(&self) {
        self.db.query(&hex(&format!("SELECT pg_terminate_backend(pid) {HOLDERS}")), &[]).await.unwrap();
    }

    async fn is_locked_by_another_than(&self, old: &[i32]) -> Vec<i32> {
        let since = Instant::now();
        loop {
            let now = self.lock_sessions().await;
            if now.len() == old.len() && now.iter().all(|pid| !old.contains(pid)) {
                return now;
            }
            assert!(since.elapsed() < PATIENCE, "the lock is held by {now:?}, and was by {old:?}: {}", self.log());
            sleep(LOOK_EVERY).await;
        }
    }

    async fn refused(&self, env: &[(&str, &str)]) -> String {
        let mut command = self.program(&["serve"]);
        command.envs(env.iter().copied());
        let out = actix_web::rt::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        assert!(!out.status.success());
        String::from_utf8_lossy(&out.stderr).into_owned()
    }

    async fn serves(&self) -> bool {
        self.ask("GET", "/readyz", "", &serde_json::Value::Null).await.is_ok_and(|answer| answer.status == 200)
    }
}

/// PostgreSQL before 16 reads no hexadecimal numbers.
fn hex(sql: &str) -> String {
    sql.replace("0x4e59", &0x4e59.to_string()).replace("0x414c4102", &0x414c_4102.to_string())
}

#[actix_web::test]
async fn a_server_that_is_alone_lets_no_other_in() {
    let mut site = Site::new().await;
    site.start("").await;
    let second = site.beside().await;
    let alone = second.refused(&[]).await;
    assert!(alone.contains("another `nyala serve` already runs on this database (nyala at "), "{alone}");
    let clustered = second.refused(&N1).await;
    assert!(clustered.contains("a server that is alone already runs on this database (nyala at "), "{clustered}");
    assert!(clustered.contains("cluster.enabled = true"), "{clustered}");
    assert!(site.serves().await);
}

#[actix_web::test]
async fn servers_of_a_cluster_share_a_database_and_let_none_in_that_is_alone() {
    let mut site = Site::new().await;
    site.start_with(&N1).await;
    let mut second = site.beside().await;
    second.start_with(&N2).await;
    let third = site.beside().await;
    let alone = third.refused(&[]).await;
    assert!(alone.contains("servers of a cluster already run on this database (nyala n1 at "), "{alone}");
    assert!(alone.contains("nyala n2 at "), "{alone}");
    let twice = third.refused(&N2).await;
    assert!(twice.contains("another server of this cluster has the name \"n2\" already (nyala n2 at "), "{twice}");
    assert!(site.serves().await && second.serves().await);
    second.kill().await;
    third.refused(&[]).await;
    site.kill().await;
    site.start("").await;
}

#[actix_web::test]
async fn a_lost_lock_is_taken_again() {
    for part in [&[][..], &N1] {
        let mut site = Site::new().await;
        site.start_with(part).await;
        let mut old = site.lock_sessions().await;
        assert_eq!(old.len(), 1);
        for _ in 0..3 {
            site.break_lock().await;
            old = site.is_locked_by_another_than(&old).await;
        }
        assert!(site.serves().await);
        assert!(site.beside().await.refused(if part.is_empty() { &N1 } else { &[] }).await.contains("on this database"));
    }
}

#[actix_web::test]
async fn a_server_whose_lock_another_server_has_ends_with_a_message() {
    let mut site = Site::new().await;
    site.start("").await;
    let (other, _) = lock::connect(&site.url.parse().unwrap()).await.unwrap();
    let waits = async {
        other.query_one("SELECT pg_advisory_lock($1)", &[&KEY]).await.unwrap();
    };
    let breaks = async {
        let waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid = $1";
        let pid: i32 = other.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
        while site.db.query(waiting, &[&pid]).await.unwrap().is_empty() {
            sleep(LOOK_EVERY).await;
        }
        site.break_lock().await;
    };
    join(breaks, waits).await;
    assert_eq!(site.ended().await.code(), Some(1));
    let log = site.log();
    assert!(
        log.contains("the server's lock was lost, and somebody else has it now: another `nyala serve` already runs"),
        "{log}"
    );
}

/// The state after the connection broke and only the server's side has noticed it.
#[actix_web::test]
async fn ones_own_old_session_does_not_keep_the_lock() {
    let site = Site::new().await;
    let config = site.url.parse().unwrap();
    for part in [Part::Alone, Part::Among("n1".to_owned())] {
        let before = ServerLock::wait(&config, &part).await.unwrap();
        let old = site.lock_sessions().await;
        let after = before.again().await.unwrap();
        assert!(!after.is_on_another_server(&before));
        assert_ne!(site.is_locked_by_another_than(&old).await, old);
        drop((before, after));
    }
}
