//! The files of docs/cluster that no load balancer test runs: checks that need no container engine.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use nyala_store::config::ServerSettings;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The instructions of a Containerfile: the name and the rest of each, with continued lines joined.
fn instructions(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.split_once(' ').unwrap()).map(|(name, rest)| (name.to_owned(), rest.trim().to_owned())).collect()
}

#[test]
fn the_container_file_builds_what_make_does_and_serves_what_is_configured() {
    const WORKDIR: &str = "/opt/nyala/";
    let (mut stages, mut last, mut made) = (Vec::new(), HashMap::new(), Vec::new());
    for (name, rest) in instructions(&read("docs/cluster/Containerfile")) {
        match name.as_str() {
            "FROM" => {
                stages.push(rest.split_once(" AS ").map_or("", |(_, stage)| stage).to_owned());
                last.clear();
            }
            "COPY" => {
                let (from, what) = match rest.strip_prefix("--from=") {
                    Some(copied) => copied.split_once(' ').unwrap(),
                    None => ("", rest.as_str()),
                };
                assert!(from.is_empty() || stages.iter().any(|stage| stage == from), "{rest}: no such stage");
                let source = what.split(' ').next().unwrap();
                match source.strip_prefix(WORKDIR) {
                    // Built by `make build`, or in the repository already.
                    Some(path) => assert!(
                        ["target/release/nyala", "frontend/dist"].contains(&path) || root().join(path).exists(),
                        "{path} is not there after the build"
                    ),
                    None => assert!(!from.is_empty() || root().join(source).exists(), "{source} is not in the repository"),
                }
            }
            "RUN" => made.extend(rest.split("&&").map(|command| command.trim().to_owned())),
            "WORKDIR" => assert_eq!(format!("{rest}/"), WORKDIR),
            "ENV" | "USER" | "EXPOSE" | "VOLUME" | "STOPSIGNAL" | "ENTRYPOINT" | "CMD" => {
                last.insert(name, rest);
            }
            other => panic!("{other} is no instruction that is known here"),
        }
    }
    assert_eq!(stages.last().unwrap(), "", "the last stage is what is served");
    // Each `make` command is a target of the Makefile, and the last stage copies only files which that target builds.
    let targets: Vec<&str> = made.iter().filter_map(|command| command.strip_prefix("make ")).collect();
    assert_eq!(targets, ["build"]);
    let makefile = read("Makefile");
    assert!(makefile.contains("\nbuild: app server\n") && makefile.contains("--release -p nyala"), "make build");
    assert!(makefile.contains("$CARGO_TARGET_DIR/release/nyala"));
    // An unprivileged user, who is created there and owns the data folder.
    let user = &last["USER"];
    assert!(
        made.iter().any(|command| command.starts_with("useradd ") && command.ends_with(&format!(" {user}"))) && user != "root"
    );
    let folder = &last["VOLUME"];
    assert!(made.iter().any(|command| command.starts_with(&format!("install -d -o {user} ")) && command.ends_with(folder)));
    // The settings that it sets, with those that production needs from its operator.
    let env: Vec<(&str, &str)> = last["ENV"].split(' ').map(|set| set.split_once('=').unwrap()).collect();
    let mut args: Vec<String> = env
        .iter()
        .map(|(key, value)| format!("{}={value}", key.strip_prefix("NYALA__").unwrap().replace("__", ".").to_lowercase()))
        .collect();
    args.extend(["access_token", "phone_number_id", "template"].map(|key| format!("whatsapp.meta_{key}=1")));
    let settings = ServerSettings::load(Some(&root().join("config")), &args).unwrap();
    assert_eq!(last["EXPOSE"], format!("{} {}", settings.http.port, settings.mqtt.port));
    assert_eq!((settings.http.host.as_str(), settings.mqtt.host.as_str()), ("0.0.0.0", "0.0.0.0"));
    assert!(settings.is_production() && settings.data.dir == Path::new(folder));
    assert_eq!((last["ENTRYPOINT"].as_str(), last["CMD"].as_str()), ("[\"target/release/nyala\"]", "[\"serve\"]"));
    assert_eq!(last["STOPSIGNAL"], "SIGTERM");
    // No key and no local build is copied.
    let ignored = read(".containerignore");
    assert!(["/data", "/target", "**/node_modules"].iter().all(|path| ignored.lines().any(|line| line == *path)));
}

/// systemd reports what it does not understand. Whether the program and the user exist depends on the host.
#[test]
fn systemd_understands_the_unit() {
    let unit = root().join("docs/cluster/nyala.service");
    let Ok(told) = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(unit).output() else {
        // Written past the test runner, which hides the output of a test that passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED: systemd-analyze is not installed here, so the unit is not verified");
        return;
    };
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    let unclear: Vec<&str> =
        told.lines().filter(|line| line.contains("nyala.service") && !line.contains("is not executable")).collect();
    assert!(unclear.is_empty(), "{told}");
}
