//! Runs of the tool against fake servers with faults, and their reports.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::fake::{Fake, Faults};

/// Folder of a run's report.
pub fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("report-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

pub fn tool(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nyala-loadtest"));
    command.args(args).env_remove("NYALA_KEY").env_remove("NYALA_BIN").output().expect("the program")
}

/// Standard output and standard error.
pub fn output_of(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// Report of a run.
pub struct RunReport {
    pub code: Option<i32>,
    pub output: String,
    pub json: Value,
    pub page: String,
    /// Data that the page draws.
    pub data: Value,
    /// Text of the page.
    pub drawn: String,
}

impl RunReport {
    pub fn metric(&self, name: &str) -> f64 {
        self.json["metrics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {}", self.output))
    }

    pub fn has(&self, name: &str) -> bool {
        self.json["metrics"][name].is_number()
    }

    /// Number of errors of a kind.
    #[track_caller]
    pub fn errors(&self, kind: &str) -> u64 {
        let all = self.json["errors"].as_array().expect("a list");
        let found = all.iter().find(|error| error[0] == kind);
        found.unwrap_or_else(|| panic!("no `{kind}` in {}", self.output))[1].as_u64().expect("a number")
    }

    /// Asserts that the threshold was crossed, by the exit code and the last lines.
    #[track_caller]
    pub fn failed(&self, threshold: &str) {
        assert_eq!(self.code, Some(2), "{}", self.output);
        assert!(self.output.contains(&format!("Failed: {threshold}")), "{threshold}: {}", self.output);
    }

    /// Asserts that the verdict names a figure which must be 0.
    #[track_caller]
    pub fn faulty(&self, name: &str) {
        let verdict = self.output.lines().find(|line| line.starts_with("Faults were seen: ")).unwrap_or_default();
        assert!(verdict.contains(&format!("{name} ")), "{name}: {}", self.output);
        assert_eq!(self.data["is_clean"], false, "the page says so too");
        assert_eq!(self.data["verdict"], verdict);
    }

    #[track_caller]
    pub fn clean(&self) {
        assert_eq!(self.code, Some(0), "{}", self.output);
        assert!(self.output.contains("Clean: no fault was seen") && self.data["is_clean"] == true, "{}", self.output);
    }
}

/// Page after its script has run.
fn drawn(page: &Path) -> String {
    let browser = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.cjs");
    let page = std::fs::File::open(page).expect("a page");
    let node = Command::new("node").arg(browser).stdin(page).output().expect("node");
    assert!(node.status.success(), "{}", String::from_utf8_lossy(&node.stderr));
    String::from_utf8(node.stdout).expect("text")
}

/// Runs a scenario against a server with `faults`.
pub fn measure(faults: Faults, args: &[&str]) -> RunReport {
    let (fake, folder) = (Fake::start(faults), folder());
    let common = ["--url", &fake.url, "--key", "root", "--report", folder.to_str().expect("a path")];
    let out = tool(&[args, &common].concat());
    let output = output_of(&out);
    let json = std::fs::read_to_string(folder.join("report.json")).unwrap_or_else(|e| panic!("{e}: {output}"));
    let page = std::fs::read_to_string(folder.join("report.html")).expect("a page");
    let data = page.split_once("application/json\">").and_then(|(_, rest)| rest.split_once("</script>")).expect("its data").0;
    let data = serde_json::from_str(data).expect("JSON in the page");
    let drawn = drawn(&folder.join("report.html"));
    let report =
        RunReport { code: out.status.code(), output, json: serde_json::from_str(&json).expect("JSON"), page, data, drawn };
    let _ = std::fs::remove_dir_all(folder);
    report
}
