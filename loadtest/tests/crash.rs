//! Short runs of `make crash`: the whole server with its private database, and with devices over MQTT on a bad network; and of
//! `make restore-drill`.
#![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

fn lose_nothing(command: &str, name: &str, args: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crash = Path::new(env!("CARGO_BIN_EXE_nyala-loadtest"));
    let nyala = std::env::var_os("NYALA_BIN").map_or_else(|| crash.with_file_name("nyala"), Into::into);
    assert!(
        nyala.is_file(),
        "{} is not there; `cargo build -p nyala -p nyala-device-sim` makes it, or NYALA_BIN names it",
        nyala.display()
    );
    let data_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{command}-{name}-{}", std::process::id()));
    let out = Command::new(crash)
        .args([command, "--config-dir"])
        .arg(here.join("../config"))
        .arg("--data-dir")
        .arg(&data_dir)
        .args(args)
        .env("NYALA_BIN", &nyala)
        .current_dir(here.join(".."))
        .output()
        .expect("the program");
    let (output, why) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    if command == "restore-drill" && out.status.code() == Some(3) {
        // Written past the test runner, which hides the output of a test that passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {}", why.trim_end());
        return;
    }
    assert!(out.status.success(), "{output}{why}see {}", data_dir.display());
    std::fs::remove_dir_all(&data_dir).expect("the data folder");
}

#[test]
fn a_few_crashes_lose_nothing() {
    lose_nothing("crash", "sim", &["--rounds", "4"]);
}

#[test]
fn a_few_crashes_with_devices_over_mqtt_lose_nothing() {
    let few = ["--driver", "mqtt", "--customers", "24", "--machines", "48", "--tills", "1", "--rounds", "3"];
    lose_nothing("crash", "mqtt", &few);
}

#[test]
fn what_was_answered_is_there_after_a_restore() {
    let few =
        ["--rounds", "2", "--seconds", "3", "--customers", "12", "--machines", "48", "--tills", "1", "--may-be-lost", "2000"];
    lose_nothing("restore-drill", "sim", &few);
}

/// The devices remember what the restored database has forgotten.
#[test]
fn devices_start_for_the_first_customers_after_a_restore() {
    let few = [
        "--driver",
        "mqtt",
        "--rounds",
        "1",
        "--seconds",
        "3",
        "--customers",
        "12",
        "--machines",
        "24",
        "--tills",
        "1",
        "--may-be-lost",
        "2000",
    ];
    lose_nothing("restore-drill", "mqtt", &few);
}
