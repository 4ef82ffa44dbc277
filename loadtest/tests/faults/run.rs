//! Runs of the tool against servers with faults, and what they tell.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::fake::{Fake, Faults};

/// A folder for one run's report.
pub fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("report-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

pub fn tool(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nyala-loadtest"));
    command.args(args).env_remove("NYALA_KEY").env_remove("NYALA_BIN").output().expect("the program")
}

/// Both of its streams.
pub fn said(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// What a run told.
pub struct Told {
    pub code: Option<i32>,
    pub said: String,
    pub report: Value,
    pub page: String,
    /// What the page draws.
    pub data: Value,
    /// What is on it then.
    pub drawn: String,
}

impl Told {
    pub fn metric(&self, name: &str) -> f64 {
        self.report["metrics"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {}", self.said))
    }

    pub fn has(&self, name: &str) -> bool {
        self.report["metrics"][name].is_number()
    }

    /// How often a kind of error came.
    #[track_caller]
    pub fn errors(&self, kind: &str) -> u64 {
        let all = self.report["errors"].as_array().expect("a list");
        let found = all.iter().find(|error| error[0] == kind);
        found.unwrap_or_else(|| panic!("no `{kind}` in {}", self.said))[1].as_u64().expect("a number")
    }

    /// The threshold was crossed: the exit code and the last lines say so.
    #[track_caller]
    pub fn failed(&self, threshold: &str) {
        assert_eq!(self.code, Some(2), "{}", self.said);
        assert!(self.said.contains(&format!("Failed: {threshold}")), "{threshold}: {}", self.said);
    }

    /// A figure that is a fault by itself: the verdict names it.
    #[track_caller]
    pub fn faulty(&self, name: &str) {
        let verdict = self.said.lines().find(|line| line.starts_with("Faults were seen: ")).unwrap_or_default();
        assert!(verdict.contains(&format!("{name} ")), "{name}: {}", self.said);
        assert_eq!(self.data["is_clean"], false, "the page says so too");
        assert_eq!(self.data["verdict"], verdict);
    }

    #[track_caller]
    pub fn clean(&self) {
        assert_eq!(self.code, Some(0), "{}", self.said);
        assert!(self.said.contains("Clean: no fault was seen") && self.data["is_clean"] == true, "{}", self.said);
    }
}

/// A page as its script draws it.
fn drawn(page: &Path) -> String {
    let browser = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser.cjs");
    let page = std::fs::File::open(page).expect("a page");
    let node = Command::new("node").arg(browser).stdin(page).output().expect("node");
    assert!(node.status.success(), "{}", String::from_utf8_lossy(&node.stderr));
    String::from_utf8(node.stdout).expect("text")
}

/// Runs a scenario against a server with `faults`.
pub fn measure(faults: Faults, args: &[&str]) -> Told {
    let (fake, folder) = (Fake::start(faults), folder());
    let common = ["--url", &fake.url, "--key", "root", "--report", folder.to_str().expect("a path")];
    let out = tool(&[args, &common].concat());
    let said = said(&out);
    let json = std::fs::read_to_string(folder.join("report.json")).unwrap_or_else(|e| panic!("{e}: {said}"));
    let page = std::fs::read_to_string(folder.join("report.html")).expect("a page");
    let data = page.split_once("application/json\">").and_then(|(_, rest)| rest.split_once("</script>")).expect("its data").0;
    let data = serde_json::from_str(data).expect("JSON in the page");
    let drawn = drawn(&folder.join("report.html"));
    let told = Told { code: out.status.code(), said, report: serde_json::from_str(&json).expect("JSON"), page, data, drawn };
    let _ = std::fs::remove_dir_all(folder);
    told
}
