//! `--env-file`: settings in a file that systemd reads, too.

use std::path::PathBuf;

use super::{CommandOutput, nyala, program_beside};
use crate::support::helpers::TestApp;

/// A file that is deleted after the test.
struct EnvFile(PathBuf);

impl EnvFile {
    fn of(text: impl AsRef<[u8]>) -> Self {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.env", uuid::Uuid::new_v4().simple()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for EnvFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[actix_web::test]
async fn a_database_url_is_read_verbatim_from_the_file() {
    let app = TestApp::spawn().await;
    let config = app.state.store.db.config();
    let tokio_postgres::config::Host::Unix(dir) = &config.get_hosts()[0] else { return };
    let host = dir.display().to_string().replace('/', "%2F");
    let (user, port, database) = (config.get_user().unwrap(), config.get_ports()[0], config.get_dbname().unwrap());
    // A shell would end the command at the `&`.
    let url = format!("postgres://{user}@{host}:{port}/{database}?connect_timeout=5&application_name=nyala");
    let data = app.state.config.data.dir.display();
    let file = EnvFile::of(format!("# secrets\nDATABASE_URL={url}\nNYALA__DATA__DIR='{data}'\n"));
    for args in [vec!["--env-file", file.path(), "key", "list"], vec!["key", "list", "--env-file", file.path()]] {
        let listed = CommandOutput::from(nyala().args(args).output().unwrap()).ok();
        assert!(listed.starts_with("id\trole\t"), "{listed}");
    }
}

#[actix_web::test]
async fn the_environment_wins_over_the_file_and_the_flags_win_over_both() {
    let file = EnvFile::of(
        "NYALA__HTTP__PORT=8123\nNYALA__HTTP__BACKLOG=66\nNYALA__HTTP__TRUSTED_PROXIES=\"127.0.0.1,10.0.0.0/8\"\nNYALA__PUSH__CONTACT=mailto:a\\\n@b.example\n",
    );
    let flag = format!("--env-file={}", file.path());
    let printed =
        CommandOutput::from(nyala().env("NYALA__HTTP__BACKLOG", "77").args(["config", "check", &flag]).output().unwrap()).ok();
    for line in [
        "backlog = 77",
        "port = 8123",
        "trusted_proxies = [\"127.0.0.1/32\", \"10.0.0.0/8\"]",
        "contact = \"mailto:a@b.example\"",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    let set = CommandOutput::from(nyala().args(["config", "check", &flag, "--set", "http.port=8125"]).output().unwrap()).ok();
    assert!(set.contains("port = 8125"), "{set}");
    let later = EnvFile::of("NYALA__HTTP__PORT=8126\n");
    let both = CommandOutput::from(nyala().args([&flag, "--env-file", later.path(), "config", "check"]).output().unwrap()).ok();
    assert!(both.contains("port = 8126"), "{both}");
}

#[actix_web::test]
async fn an_unreadable_file_is_named() {
    let app = TestApp::spawn().await;
    for (file, why) in
        [("no/such.env", "no/such.env"), (EnvFile::of([0xff, b'A']).path(), "UTF-8"), (EnvFile::of(*b"A=\0").path(), "UTF-8")]
    {
        CommandOutput::from(program_beside(&app, &["--env-file", file, "key", "list"]).output().unwrap()).refused(why);
    }
}
