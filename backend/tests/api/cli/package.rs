//! Files of the package (`make package`) that can be checked without building it. `make package-test` installs it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Highest exposure score that `systemd-analyze security` may give the unit, in tenths (100 is an unprotected one).
const MAX_EXPOSURE: &str = "25";

fn unit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("package/nyala.service")
}

/// What `systemd-analyze` says of the unit. `None`: it is not installed here.
fn systemd_says(args: &[&str]) -> Option<(bool, String)> {
    let Ok(output) = Command::new("systemd-analyze").args(args).arg(unit()).output() else {
        // Written past the test runner, which hides the output of a test that passes.
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: systemd-analyze is not installed here, so the package's unit is not checked");
        return None;
    };
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    Some((output.status.success(), text))
}

#[test]
fn the_packages_unit_is_tight() {
    let threshold = format!("--threshold={MAX_EXPOSURE}");
    let Some((is_tight, text)) = systemd_says(&["security", "--offline=true", "--no-pager", &threshold]) else { return };
    assert!(is_tight, "{text}");
}

/// Whether the program and the account are there depends on the host.
#[test]
fn systemd_understands_the_packages_unit() {
    let Some((_, text)) = systemd_says(&["verify", "--man=no"]) else { return };
    let unclear: Vec<&str> =
        text.lines().filter(|line| line.contains("nyala.service") && !line.contains("is not executable")).collect();
    assert!(unclear.is_empty(), "{text}");
}
