//! A short run of `make crash`: the whole server with its private database.

use std::path::Path;
use std::process::Command;

/// Something is killed this often.
const ROUNDS: &str = "4";

#[test]
fn a_few_crashes_lose_nothing() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crash = Path::new(env!("CARGO_BIN_EXE_nyala-loadtest"));
    let nyala = std::env::var_os("NYALA_BIN").map_or_else(|| crash.with_file_name("nyala"), Into::into);
    assert!(nyala.is_file(), "{} is not there; `cargo build -p nyala` makes it, or NYALA_BIN names it", nyala.display());
    let data_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("crash-{}", std::process::id()));
    let out = Command::new(crash)
        .args(["crash", "--rounds", ROUNDS, "--config-dir"])
        .arg(here.join("../config"))
        .arg("--data-dir")
        .arg(&data_dir)
        .env("NYALA_BIN", &nyala)
        .current_dir(here.join(".."))
        .output()
        .expect("the program");
    let (said, why) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}{why}see {}", data_dir.display());
    std::fs::remove_dir_all(&data_dir).expect("the data folder");
}
