//! The Containerfile, and the files of docs/cluster that no load balancer test runs: checks that need no container engine.

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
fn the_container_file_serves_what_make_package_has_packed() {
    let (mut set, mut made, mut added) = (HashMap::new(), Vec::new(), Vec::new());
    for (name, rest) in instructions(&read("Containerfile")) {
        match name.as_str() {
            "RUN" => made.extend(rest.split("&&").map(|command| command.trim().to_owned())),
            "ADD" => added.push(rest),
            "FROM" | "ARG" | "ENV" | "USER" | "EXPOSE" | "VOLUME" | "STOPSIGNAL" | "ENTRYPOINT" | "CMD" => {
                assert_eq!(set.insert(name, rest), None, "once");
            }
            other => panic!("{other} is no instruction that is known here"),
        }
    }
    // Nothing but the tarball: `make package` gives its folder for a context.
    assert_eq!((set["ARG"].as_str(), added), ("VERSION", vec!["nyala-${VERSION}-linux-x86_64.tar.gz /opt/".to_owned()]));
    let package = read("scripts/make-package");
    for line in ["tree=$out/nyala-$version-linux-x86_64\n", "\"$tree/bin/\"", "-f Containerfile --build-arg \"VERSION=$version\""]
    {
        assert!(package.contains(line), "{line}");
    }
    assert!(made.contains(&"ln -s /opt/nyala-${VERSION}-linux-x86_64/bin/* /usr/bin/".to_owned()));
    assert_eq!((set["ENTRYPOINT"].as_str(), set["CMD"].as_str()), ("[\"/usr/bin/nyala\"]", "[\"serve\"]"));
    assert_eq!(set["STOPSIGNAL"], "SIGTERM");
    // An unprivileged user, who is created there and owns the data folder.
    let user = &set["USER"];
    assert!(
        made.iter().any(|command| command.starts_with("useradd ") && command.ends_with(&format!(" {user}"))) && user != "root"
    );
    let folder = &set["VOLUME"];
    assert!(made.iter().any(|command| command.starts_with(&format!("install -d -o {user} ")) && command.ends_with(folder)));
    // The settings that it sets, with those that production needs from its operator.
    let env: Vec<(&str, &str)> = set["ENV"].split(' ').map(|set| set.split_once('=').unwrap()).collect();
    let mut args: Vec<String> = env
        .iter()
        .map(|(key, value)| format!("{}={value}", key.strip_prefix("NYALA__").unwrap().replace("__", ".").to_lowercase()))
        .collect();
    args.extend(["access_token", "phone_number_id", "template"].map(|key| format!("whatsapp.meta_{key}=1")));
    // Those in the program, which are these.
    let settings = ServerSettings::load(Some(&root().join("config")), &args).unwrap();
    assert_eq!(set["EXPOSE"], format!("{} {}", settings.http.port, settings.mqtt.port));
    assert_eq!((settings.http.host.as_str(), settings.mqtt.host.as_str()), ("0.0.0.0", "0.0.0.0"));
    assert!(settings.is_production() && settings.data.dir == Path::new(folder));
}

/// systemd reports what it does not understand. Whether the program and the user exist depends on the host.
#[test]
fn systemd_understands_the_unit() {
    let unit = root().join("docs/cluster/nyala.service");
    let Ok(stderr_text) = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(unit).output() else {
        // Written past the test runner, which hides the output of a test that passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED: systemd-analyze is not installed here, so the unit is not verified");
        return;
    };
    let stderr_text = String::from_utf8_lossy(&stderr_text.stderr).into_owned();
    let unclear: Vec<&str> =
        stderr_text.lines().filter(|line| line.contains("nyala.service") && !line.contains("is not executable")).collect();
    assert!(unclear.is_empty(), "{stderr_text}");
}
