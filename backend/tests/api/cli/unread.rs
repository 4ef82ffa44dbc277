//! Commands whose output is not read, or cannot be written.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use super::{CommandOutput, beside, program_beside};
use crate::support::helpers::TestApp;

/// Runs the command with a full disk as its standard output.
fn on_a_full_disk(mut command: Command) -> CommandOutput {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    command.stdout(full).stderr(Stdio::piped()).output().unwrap().into()
}

/// Runs the command with a closed pipe as its standard output.
fn into_a_closed_pipe(mut command: Command) -> CommandOutput {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer).stderr(Stdio::piped()).output().unwrap().into()
}

impl CommandOutput {
    /// Asserts exit code 3 and one line that names the finished work.
    #[track_caller]
    fn done_and_unprinted(self, done: &str) {
        assert_eq!(self.code, 3, "{self:?}");
        assert!(
            self.err.trim_end().lines().count() == 1 && self.err.contains(done) && self.err.contains("standard output"),
            "{self:?}"
        );
    }
}

#[actix_web::test]
async fn finished_work_is_reported_when_its_result_cannot_be_printed() {
    let app = TestApp::spawn().await;
    app.register_customer("81234567890", "Siti", "Rahmawati").await;
    let outlet = app.outlet("Melati").await.idoutlet.to_string();
    let full = |args: &[&str]| on_a_full_disk(program_beside(&app, args));
    full(&["topup", "--telp", "81234567890", "--outlet", &outlet, "--nominal", "50000"])
        .done_and_unprinted("the top-up is booked, do not repeat it");
    full(&["key", "add", "--role", "root", "--nama", "x"]).done_and_unprinted("key 1 was made");
    full(&["key", "revoke", "1"]).done_and_unprinted("key 1 is revoked");
    full(&["petugas", "add", "--role", "kasir", "--outlet", &outlet, "--nama", "Rina"])
        .done_and_unprinted("nyala petugas reset-pin 2");
    full(&["perangkat", "pasang", "--outlet", &outlet]).done_and_unprinted("a browser waits to be paired");
    for looks in [
        &["key", "list"][..],
        &["petugas", "list"],
        &["perangkat", "list"],
        &["device", "list"],
        &["cluster", "status"],
        &["config", "check"],
    ] {
        full(looks).done_and_unprinted("nothing was changed");
    }
    full(&["audit", "verify"]).done_and_unprinted("no rule of the ledger is broken");
    full(&["migrate"]).done_and_unprinted("the database is at schema");
    let list = beside(&app, &["key", "list"]).ok();
    assert_eq!(list.lines().count(), 3, "a header, the revoked key and the kasir: {list}");
    let booked: i64 = app.db.query_one("SELECT count(*) FROM pembelian_emoney", &[]).await.unwrap().get(0);
    assert_eq!(booked, 1);
}

#[actix_web::test]
async fn a_reader_that_is_gone_is_no_error() {
    let app = TestApp::spawn().await;
    app.register_customer("81234567890", "Siti", "Rahmawati").await;
    let outlet = app.outlet("Melati").await.idoutlet.to_string();
    for args in [
        &["key", "list"][..],
        &["key", "add", "--role", "root", "--nama", "x"],
        &["topup", "--telp", "81234567890", "--outlet", &outlet, "--nominal", "50000"],
        &["audit", "verify"],
        &["config", "check"],
        &["cluster", "status"],
        &["--help"],
    ] {
        into_a_closed_pipe(program_beside(&app, args)).ok();
    }
}
