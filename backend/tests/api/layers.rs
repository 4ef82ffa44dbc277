//! Arrows between the rooms of the server point down only (ARCHITECTURE.md, the map).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every room, the lowest first: a room imports from itself and from those before it.
const LAYERS: [&str; 21] = [
    "domain",
    "purchase",
    "machine_core",
    "config",
    "secrets",
    "telemetry",
    "db",
    "ledger",
    "qr",
    "whatsapp",
    "machine",
    "auth",
    "http",
    "live",
    "metrics",
    "api",
    "ops",
    "dev",
    "health",
    "demo",
    "app",
];
/// Above all of them: the commands, which put everything to use.
const TOP: &str = "cli";
/// Rooms that only decide, and what they never touch.
const PURE: [&str; 3] = ["domain", "purchase", "machine_core"];
const OUTSIDE: [&str; 5] = ["actix", "actix_web", "tokio", "deadpool_postgres", "std::time::SystemTime"];
/// Types that are stored say how in their own file, because only the crate of a type or a trait may join them.
const STORED: [&str; 3] = ["purchase/state.rs", "domain/timestamp.rs", "domain/driver_kind.rs"];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// A room's files: its folder's, or the one file that it is.
fn files_of(room: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let (dir, file) = (src().join(room), src().join(format!("{room}.rs")));
    if dir.is_dir() {
        sources(&dir, &mut files);
    }
    files.extend(file.is_file().then_some(file));
    assert!(!files.is_empty(), "{room} is a room of the server");
    files
}

/// The code of a file without comments and without the tests at its end, each line with its number.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_tests = |at: &usize| text[*at..].lines().nth(1).is_some_and(|line| line.contains("mod ") && line.ends_with('{'));
    let tests = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(is_tests);
    let text = &text[..tests.unwrap_or(text.len())];
    text.lines().zip(1..).map(|(line, n)| (n, line.split("//").next().unwrap_or_default()))
}

/// The rooms that a line names after `crate::`, in a list too.
fn rooms(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("crate::").flat_map(|(at, path)| {
        let rest = &line[at + path.len()..];
        let list = rest.strip_prefix('{').and_then(|list| list.split_once('}')).map(|(list, _)| list);
        let names = list.map_or_else(|| vec![rest], |list| list.split(", ").collect());
        names.into_iter().map(|name| name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default())
    })
}

#[test]
fn arrows_point_down_only() {
    let mut wrong = Vec::new();
    let mut arrows = BTreeSet::new();
    for (height, room) in LAYERS.iter().enumerate() {
        for file in files_of(room) {
            let name = file.strip_prefix(src()).unwrap().display().to_string();
            let text = std::fs::read_to_string(&file).unwrap();
            for (n, line) in code(&text) {
                let told = |what: String| format!("backend/src/{name}:{n}: {room} {what}: {}", line.trim());
                for to in rooms(line).filter(|to| to != room) {
                    arrows.insert((*room, to.to_owned()));
                    if !LAYERS[..height].contains(&to) {
                        wrong.push(told(format!("-> {to} points up")));
                    }
                }
                if PURE.contains(room) {
                    wrong.extend(
                        OUTSIDE
                            .iter()
                            .filter(|o| line.contains(&format!("{o}::")))
                            .map(|o| told(format!("decides, and must not know {o}"))),
                    );
                    if line.contains("tokio_postgres::") && !STORED.contains(&name.as_str()) {
                        wrong.push(told("decides, and must not know the database".to_owned()));
                    }
                }
            }
        }
    }
    assert!(arrows.len() > 80, "the imports were not found: {arrows:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_has_its_place() {
    let there: BTreeSet<String> = std::fs::read_dir(src())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "main" && name != "lib")
        .collect();
    let known: BTreeSet<String> = LAYERS.iter().chain([&TOP]).map(|&room| room.to_owned()).collect();
    assert_eq!(there, known, "each folder and file of backend/src is in LAYERS");
}
