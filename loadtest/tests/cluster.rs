//! A short run of `make cluster`: a fault of each kind but the primary's, and everything that was told is true. No times are judged.
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use nyala_loadtest::broker::BrokerKind;
use nyala_loadtest::cluster;

#[test]
fn a_cluster_loses_nothing_through_a_fault_of_each_kind() {
    if let Some(missing) = cluster::missing() {
        // Past what the test runner keeps of a test that is fine.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {missing}, so there is no cluster to hurt");
        return;
    }
    if BrokerKind::Nats.find().is_none() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: nats-server is not installed here, so the cluster is hurt without NATS");
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tool = Path::new(env!("CARGO_BIN_EXE_nyala-loadtest"));
    let nyala = std::env::var_os("NYALA_BIN").map_or_else(|| tool.with_file_name("nyala"), Into::into);
    assert!(nyala.is_file(), "{} is not there; `cargo build -p nyala` makes it, or NYALA_BIN names it", nyala.display());
    let out = Command::new(tool)
        .args([
            "cluster",
            "--seconds",
            "40",
            "--every",
            "5",
            "--machines",
            "60",
            "--outlets",
            "12",
            "--phones",
            "24",
            "--customers",
            "30",
            "--rate",
            "5",
        ])
        .arg("--config-dir")
        .arg(here.join("../config"))
        .env("NYALA_BIN", &nyala)
        .current_dir(here.join(".."))
        .output()
        .expect("the program");
    assert!(out.status.success(), "{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
}
