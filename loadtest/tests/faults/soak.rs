//! What a soak has to see: faults in the mix, and a server whose memory grows.

use std::process::{Child, Command, Stdio};

use crate::cases::told;
use crate::fake::Faults;
use crate::run::{Told, measure};

#[test]
fn a_soak_without_fault_is_clean() {
    let told = told("soak");
    told.clean();
    assert_eq!((told.metric("done"), told.metric("missed")), (told.metric("planned"), 0.0), "{}", told.said);
}

#[test]
fn faults_in_the_mix_are_told() {
    let told = told("soak: faults");
    told.failed("missed > 0");
    told.faulty("missed");
    told.faulty("failed");
    assert!(told.errors("pay answered 500 terjadi kesalahan") >= 1, "{}", told.said);
}

/// A process that stands for the server's.
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

fn with(process: &Process) -> Told {
    let pid = process.0.id().to_string();
    let args = ["soak", "--minutes=0.15", "--rate=2", "--durasi=1", "--watchers=2", "--per-session=1", "--server-pid", &pid];
    measure(Faults::default(), &[&args[..], &["--fail-if=server_rss_slope_mib_per_h > 100"]].concat())
}

/// 256 KiB in a tenth of a second are 9,000 MiB an hour.
pub fn with_one_that_grows() -> Told {
    let leak = r#"BEGIN { s = "x"; while (length(s) < 262144) s = s s; while (1) { kept[n++] = s n; system("sleep 0.1") } }"#;
    with(&Process::of("awk", leak))
}

pub fn with_one_that_stays() -> Told {
    with(&Process::of("sleep", "600"))
}

pub fn with_one_that_ends() -> Told {
    with(&Process::of("sleep", "3"))
}

#[test]
fn memory_that_grows_is_told() {
    told("soak: memory grows").failed("server_rss_slope_mib_per_h > 100");
}

#[test]
fn memory_that_stays_is_clean() {
    told("soak: memory stays").clean();
}

#[test]
fn a_server_that_ends_is_told() {
    let told = told("soak: server ends");
    assert!(told.said.contains("was gone before the end"), "{}", told.said);
}
