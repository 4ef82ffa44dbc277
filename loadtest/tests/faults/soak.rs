//! Faults that a soak must find: those of the mixed load, and a server whose memory grows.

use std::process::{Child, Command, Stdio};

use crate::cases::report_of;
use crate::fake::Faults;
use crate::run::{RunReport, measure};

#[test]
fn a_soak_without_fault_is_clean() {
    let report = report_of("soak");
    report.clean();
    assert_eq!((report.metric("done"), report.metric("missed")), (report.metric("planned"), 0.0), "{}", report.output);
}

#[test]
fn faults_of_the_mixed_load_are_reported() {
    let report = report_of("soak: faults");
    report.failed("missed > 0");
    report.faulty("missed");
    report.faulty("failed");
    assert!(report.errors("pay answered 500 terjadi kesalahan") >= 1, "{}", report.output);
}

/// Process in place of the server's.
struct Process(Child);

impl Process {
    fn of(program: &str, arg: &str) -> Self {
        let child = Command::new(program).arg(arg).stdin(Stdio::null()).spawn();
        Self(child.unwrap_or_else(|e| panic!("{program}: {e}")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn with(process: &Process) -> RunReport {
    let pid = process.0.id().to_string();
    let args = ["soak", "--minutes=0.15", "--rate=2", "--durasi=1", "--watchers=2", "--per-session=1", "--server-pid", &pid];
    measure(Faults::default(), &[&args[..], &["--fail-if=server_rss_slope_mib_per_h > 100"]].concat())
}

/// Growth of 256 KiB in a tenth of a second, which is 9,000 MiB per hour.
pub fn with_one_that_grows() -> RunReport {
    let leak = r#"BEGIN { s = "x"; while (length(s) < 262144) s = s s; while (1) { kept[n++] = s n; system("sleep 0.1") } }"#;
    with(&Process::of("awk", leak))
}

pub fn with_one_that_stays() -> RunReport {
    with(&Process::of("sleep", "600"))
}

pub fn with_one_that_ends() -> RunReport {
    with(&Process::of("sleep", "3"))
}

#[test]
fn growing_memory_is_reported() {
    report_of("soak: memory grows").failed("server_rss_slope_mib_per_h > 100");
}

#[test]
fn memory_that_stays_is_clean() {
    report_of("soak: memory stays").clean();
}

#[test]
fn a_server_that_ends_is_reported() {
    let report = report_of("soak: server ends");
    assert!(report.output.contains("was gone before the end"), "{}", report.output);
}
