//! A short run of `make cluster`: a fault of each kind but the primary's, and every answer is true. Times are not checked.
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use nyala_loadtest::cluster;
use nyala_loadtest::local::installed;

#[test]
fn a_cluster_loses_nothing_through_a_fault_of_each_kind() {
    if let Some(missing) = cluster::missing() {
        // Written directly, because the test runner hides the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {missing}, so there is no cluster to hurt");
        return;
    }
    if installed("nats-server").is_none() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: nats-server is not installed here, so the cluster is hurt without NATS");
    }
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cluster-report");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tool = Path::new(env!("CARGO_BIN_EXE_nyala-loadtest"));
    let nyala = std::env::var_os("NYALA_BIN").map_or_else(|| tool.with_file_name("nyala"), Into::into);
    assert!(
        nyala.is_file(),
        "{} is not there; `cargo build -p nyala -p nyala-device-sim` makes it, or NYALA_BIN names it",
        nyala.display()
    );
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
        .arg("--report")
        .arg(&report)
        .env("NYALA_BIN", &nyala)
        .current_dir(here.join(".."))
        .output()
        .expect("the program");
    let output = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{output}");
    // A run without purchases would prove nothing.
    let text = std::fs::read_to_string(report.join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    for counted in ["paid", "ticks", "finals", "phones_lost"] {
        assert!(report["metrics"][counted].as_u64() > Some(0), "no {counted}: {output}");
    }
    let faults = report["faults"].as_array().expect("faults");
    let kinds: BTreeSet<&str> = faults.iter().filter_map(|fault| fault["kind"].as_str()).collect();
    let mut expected = vec!["kill", "pause", "stop", "cut", "stall", "phones_cut", "devices_cut"];
    if report["news"] == "on" {
        expected.extend(["news_kill", "news_away", "news_cut"]);
    }
    assert_eq!(kinds, BTreeSet::from_iter(expected), "{output}");
}
