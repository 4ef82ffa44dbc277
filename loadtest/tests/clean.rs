//! Short runs against the real server have no findings. One server, four scenarios at once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nyala_loadtest::server::Server;
use serde_json::Value;

const TOOL: &str = env!("CARGO_BIN_EXE_nyala-loadtest");

struct Site {
    server: Server,
    key: String,
    config_dir: PathBuf,
    data_dir: PathBuf,
}

impl Site {
    /// Starts `args` of the tool against the server.
    fn start(&self, args: &[&str]) -> (Child, PathBuf) {
        let report = self.data_dir.join(format!("report-{}", args[0]));
        let child = Command::new(TOOL)
            .args(args)
            .args(["--url", &format!("http://{}", self.server.address()), "--key", &self.key, "--quiet"])
            .args(["--server-pid", &self.server.pid().expect("it runs").to_string(), "--report"])
            .arg(&report)
            .arg("--nyala")
            .arg(self.server.program())
            .arg("--data-dir")
            .arg(&self.data_dir)
            .arg("--config-dir")
            .arg(&self.config_dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        (child, report)
    }
}

/// Report of a run, which must have no findings.
fn clean((child, report): (Child, PathBuf)) -> Value {
    let out = child.wait_with_output().expect("its end");
    let output = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{output}");
    let json = std::fs::read_to_string(report.join("report.json")).expect("a report");
    let metrics = serde_json::from_str::<Value>(&json).expect("JSON")["metrics"].take();
    assert!(output.contains("Clean: no fault was seen"), "{output}");
    assert_eq!(metrics["audit_broken"], 0.0, "the ledger was verified: {output}");
    metrics
}

#[test]
fn bounded_runs_are_clean() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("clean-{}", std::process::id()));
    let nyala = std::env::var_os("NYALA_BIN").map_or_else(|| Path::new(TOOL).with_file_name("nyala"), Into::into);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let config_dir = here.join("../config");
    let mut server = Server::new(nyala, &config_dir, data_dir.clone(), &[]).expect("a server");
    runtime.block_on(server.start()).expect("it comes up");
    let key = runtime.block_on(server.root_key()).expect("a key");
    let mut site = Site { server, key, config_dir, data_dir };

    let watch =
        site.start(&["watch", "--sessions", "60", "--machines", "24", "--per-session", "8", "--seconds", "5", "--warmup", "3"]);
    let purchase = site.start(&["purchase", "--rate", "5", "--durasi", "2", "--seconds", "5"]);
    let hot = site.start(&["hot", "--customers", "40", "--rounds", "3"]);
    let finish = site.start(&["finish", "--machines", "24", "--sessions", "48", "--starts-per-second", "12"]);

    let (watch, purchase, hot, finish) = (clean(watch), clean(purchase), clean(hot), clean(finish));
    assert_eq!((&watch["expected"], &watch["deliveries"]), (&2_400.0.into(), &2_400.0.into()));
    assert!(watch["server_rss_mib"].as_f64().is_some_and(|mib| mib > 1.0), "{watch}");
    assert!(purchase["done"].as_f64() == purchase["planned"].as_f64() && purchase["finals"] == purchase["done"], "{purchase}");
    assert_eq!((&hot["winners"], &hot["presses"]), (&3.0.into(), &120.0.into()));
    assert_eq!((&finish["finals"], &finish["runs_started"]), (&48.0.into(), &48.0.into()));

    runtime.block_on(site.server.stop()).expect("an orderly end");
    site.server.remove().expect("the data folder goes");
}
