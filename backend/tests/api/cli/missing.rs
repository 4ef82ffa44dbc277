//! Only `serve`, `migrate` and `seed` make a database or keys. Any other command in the wrong folder, or without the server's
//! environment, reports that and creates nothing.

use std::path::Path;

use super::{CommandOutput, nyala};
use crate::support::database::Database;
use crate::support::pair::client;

/// Every command that needs an existing database.
const COMMANDS: [&[&str]; 6] = [
    &["key", "add", "--role", "root", "--nama", "uji"],
    &["key", "list"],
    &["key", "revoke", "1"],
    &["qr", "1", "--out", "/dev/null"],
    &["topup", "--telp", "81234567890", "--outlet", "1", "--nominal", "1000"],
    &["audit", "verify"],
];

/// The test's own folder, which is deleted after the test.
struct EmptyFolder(std::path::PathBuf);

impl EmptyFolder {
    fn new() -> Self {
        let dir = std::env::temp_dir().join(format!("nyala-uji-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir(&dir).unwrap();
        Self(dir)
    }

    fn content(&self) -> usize {
        self.0.read_dir().unwrap().count()
    }
}

impl Drop for EmptyFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run_in(data_dir: &Path, args: &[&str]) -> CommandOutput {
    nyala().env("NYALA__DATA__DIR", data_dir).args(args).output().unwrap().into()
}

#[actix_web::test]
async fn a_folder_without_a_database_is_named_and_left_as_it_is() {
    let empty = EmptyFolder::new();
    for dir in [empty.0.clone(), empty.0.join("not/there")] {
        for args in COMMANDS {
            let outcome = run_in(&dir, args);
            assert!(outcome.err.contains("NYALA__DATA__DIR") && outcome.err.contains("DATABASE_URL"), "{outcome:?}");
            outcome.refused(&format!("there is no database in {}", dir.display()));
        }
    }
    assert_eq!(empty.content(), 0);
    run_in(&empty.0, &["migrate"]);
    assert!(run_in(&empty.0, &["audit", "verify"]).ok().starts_with("OK: 0 rekening"), "what `migrate` has made is there");
    let file = empty.0.join("secrets.toml");
    let outcome = run_in(&empty.0, &["qr", "1", "--out", "/dev/null"]);
    assert!(outcome.err.contains("NYALA__DATA__DIR"), "{outcome:?}");
    outcome.refused(&format!("{} is not there", file.display()));
    assert!(!file.exists());
}

#[actix_web::test]
async fn a_database_server_without_the_schema_is_reported_and_left_as_it_is() {
    let (database, folder) = (Database::empty().await, EmptyFolder::new());
    let run = |args: &[&str]| -> CommandOutput {
        nyala().env("DATABASE_URL", database.url()).env("NYALA__DATA__DIR", &folder.0).args(args).output().unwrap().into()
    };
    for args in COMMANDS {
        run(args).refused("the database of DATABASE_URL is empty");
    }
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    let client = client(&database.url()).await;
    assert_eq!(client.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 0);
    run(&["migrate"]).ok();
    run(&["audit", "verify"]).ok();
}
