//! Settings of the database, and mistakes in `DATABASE_URL`, and how the server handles them.

use std::path::Path;

use futures_util::future::join_all;
use serde_json::json;

use super::Site;

const SITE_NAME: &str = "SELECT current_database()::TEXT";

impl Site {
    async fn name(&self) -> String {
        self.db.query_one(SITE_NAME, &[]).await.unwrap().get(0)
    }

    /// The error output of `nyala serve` when it refuses `url`.
    async fn refused_url(&self, url: &str) -> String {
        let mut command = self.program(&["serve"]);
        command.env("DATABASE_URL", url);
        let out = actix_web::rt::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        assert!(!out.status.success(), "{url}");
        String::from_utf8_lossy(&out.stderr).into_owned()
    }
}

/// The one line of the refusal, after the log.
fn refusal(stderr: &str) -> &str {
    stderr.trim().lines().last().filter(|line| line.starts_with("nyala: ")).unwrap_or_default()
}

#[actix_web::test]
async fn what_is_set_at_the_database_changes_no_statement() {
    let mut site = Site::new().await;
    let name = site.name().await;
    for setting in [
        "default_transaction_isolation = serializable",
        "idle_session_timeout = '700ms'",
        "statement_timeout = '20ms'",
        "timezone = 'Asia/Jakarta'",
        "client_encoding = 'LATIN1'",
    ] {
        site.db.batch_execute(&format!("ALTER DATABASE \"{name}\" SET {setting}")).await.unwrap();
    }
    // A control session with the same settings: when it times out, one of the server's would have, too.
    let (witness, line) = site.url.parse::<tokio_postgres::Config>().unwrap().connect(tokio_postgres::NoTls).await.unwrap();
    let witness_ends = tokio::spawn(line);
    site.start("").await;
    let key = site.root_key().await;
    let (idoutlet, _) = site.outlet(&key).await;
    let many = json!({"jumlah": 8, "awalan_telp": "8120", "idoutlet": idoutlet, "saldo": 1_000});
    let made = site.ops(&key, "pelanggan/bulk", &many).await;
    assert_eq!(made["pelanggan"].as_array().unwrap().len(), 8);
    let body = json!({"telp": made["pelanggan"][0]["telp"], "idoutlet": idoutlet, "nominal": 1_000});
    let answers = join_all((0..40).map(|_| site.ask("POST", "/ops/v1/topup", &key, &body))).await;
    let refused: Vec<_> = answers.into_iter().map(Result::unwrap).filter(|a| a.status != 200 && a.status != 201).collect();
    assert!(refused.is_empty(), "{} of 40 top-ups: {:?}", refused.len(), refused[0]);
    let _ = witness_ends.await;
    drop(witness);
    let log = site.log();
    assert!(!log.contains("lock is lost") && !log.contains("connection broke"), "{log}");
    site.assert_sound().await;
}

#[actix_web::test]
async fn a_shop_in_a_separate_schema_is_found_and_never_created_again() {
    let mut site = Site::new().await;
    site.db.batch_execute("ALTER SCHEMA public RENAME TO \"Toko Satu\"; CREATE SCHEMA public").await.unwrap();
    site.start("").await;
    site.root_key().await;
    let made =
        "SELECT to_regclass('public.refinery_schema_history') IS NOT NULL, (SELECT count(*) FROM \"Toko Satu\".kunci_operator)";
    let row = site.db.query_one(made, &[]).await.unwrap();
    assert_eq!((row.get(0), row.get(1)), (false, 1_i64));
}

#[actix_web::test]
async fn a_search_path_without_a_schema_is_named() {
    let site = Site::new().await;
    let name = site.name().await;
    site.db.batch_execute("DROP SCHEMA public CASCADE").await.unwrap();
    site.db.batch_execute(&format!("ALTER DATABASE \"{name}\" SET search_path = belum_ada")).await.unwrap();
    let why = site.run(&["serve"]).await.unwrap_err();
    assert!(why.contains("search_path (belum_ada) names no schema"), "{why}");
}

#[actix_web::test]
async fn a_connection_string_is_trimmed_and_what_is_wrong_in_it_is_named_with_the_cure() {
    let site = Site::new().await;
    let url = site.url.clone();
    let mut command = site.program(&["key", "list"]);
    command.env("DATABASE_URL", format!("  {url}\n"));
    let out = actix_web::rt::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    for (url, says) in [
        ("postgres://u@h/d?schema=toko", ["`schema`", "options=-c%20search_path%3D"]),
        ("postgres://u@h/d?sslmode=verify-full", ["sslmode=verify-full", "write sslmode=require"]),
        ("host=h user=u sslmode=verify-ca dbname=d", ["sslmode=verify-ca", "write sslmode=require"]),
        ("postgres://u@h/d?sslmode=allow", ["sslmode", "sslmode=disable"]),
        ("postgres://u@h/d?pgbouncer=true", ["`pgbouncer`", "leave it out"]),
        ("postgres://u:rahasia@h/d?apa=1", ["`apa`", "the options are user, password"]),
    ] {
        let why = site.refused_url(url).await;
        assert!(says.iter().all(|part| refusal(&why).contains(part)), "{url}: {why}");
        assert!(!why.contains("rahasia"), "{why}");
    }
}

#[actix_web::test]
async fn an_empty_database_that_is_not_utf8_is_refused_and_one_with_a_shop_is_served() {
    let mut site = Site::new().await;
    let name = site.name().await;
    let latin = format!("{name}_latin1");
    let create = format!("CREATE DATABASE \"{latin}\" ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    site.db.batch_execute(&create).await.unwrap();
    let url = site.url.replace(&name, &latin);
    let why = site.refused_url(&url).await;
    assert!(refusal(&why).contains("LATIN1") && refusal(&why).contains("ENCODING 'UTF8'"), "{why}");

    // The database as an older version created it.
    let (db, line) = url.parse::<tokio_postgres::Config>().unwrap().connect(tokio_postgres::NoTls).await.unwrap();
    let line = tokio::spawn(line);
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    assert_eq!(db.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 0, "nothing was made");
    let mut files: Vec<_> = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    db.batch_execute(
        "CREATE TABLE refinery_schema_history (version INT4 PRIMARY KEY, name TEXT, applied_on TEXT, checksum TEXT)",
    )
    .await
    .unwrap();
    for file in files {
        db.batch_execute(&std::fs::read_to_string(file).unwrap()).await.unwrap();
    }
    for row in site.db.query("SELECT version, name, applied_on, checksum FROM refinery_schema_history", &[]).await.unwrap() {
        let (version, name, on, sum): (i32, String, String, String) = (row.get(0), row.get(1), row.get(2), row.get(3));
        db.execute("INSERT INTO refinery_schema_history VALUES ($1, $2, $3, $4)", &[&version, &name, &on, &sum]).await.unwrap();
    }
    drop(db);
    let _ = line.await;
    site.start_with(&[("DATABASE_URL", &url)]).await;
    assert!(site.log().contains("not encoded in UTF-8") && site.log().contains("ENCODING 'UTF8'"), "{}", site.log());
    let mut command = site.program(&["key", "add", "--role", "root", "--nama", "uji"]);
    command.env("DATABASE_URL", &url);
    let out = actix_web::rt::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let key = String::from_utf8(out.stdout).unwrap().trim().to_owned();
    let answer = site.ask("POST", "/ops/v1/owner", &key, &json!({"nama": "Łucja"})).await.unwrap();
    assert_eq!(answer.status, 400, "{answer:?}");
    site.ops(&key, "owner", &json!({"nama": "André"})).await;
    site.kill().await;
    site.db.batch_execute(&format!("DROP DATABASE \"{latin}\" WITH (FORCE)")).await.unwrap();
}
