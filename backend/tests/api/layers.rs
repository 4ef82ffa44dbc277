//! Arrows between the rooms of the server point down only (ARCHITECTURE.md).

use std::path::{Path, PathBuf};

/// The lowest first; a room imports from itself and from those before it. What is not listed stands above all of them.
const LAYERS: [&str; 3] = ["domain", "purchase", "machine_core"];
/// What a room that only decides never touches.
const OUTSIDE: [&str; 5] = ["actix", "actix_web", "tokio", "deadpool_postgres", "std::time::SystemTime"];
/// Types that are stored say how in their own file, because only the crate of a type or a trait may join them.
const STORED: [&str; 3] = ["purchase/state.rs", "domain/timestamp.rs", "domain/driver_kind.rs"];

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

/// The code of a file without comments, each line with its number.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().zip(1..).map(|(line, n)| (n, line.split("//").next().unwrap_or_default()))
}

/// The rooms that a line names after `crate::`.
fn rooms(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("crate::").map(|(at, path)| {
        let rest = &line[at + path.len()..];
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
    })
}

#[test]
fn arrows_point_down_only() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut arrows = 0;
    for (height, room) in LAYERS.iter().enumerate() {
        let mut files = Vec::new();
        sources(&src.join(room), &mut files);
        assert!(!files.is_empty(), "{room} is a folder of the server");
        for file in files {
            let name = file.strip_prefix(&src).unwrap().display().to_string();
            let text = std::fs::read_to_string(&file).unwrap();
            for (n, line) in code(&text) {
                for to in rooms(line).filter(|to| to != room) {
                    arrows += 1;
                    if !LAYERS[..height].contains(&to) {
                        wrong.push(format!("backend/src/{name}:{n}: {room} -> {to} points up: {}", line.trim()));
                    }
                }
                for outside in OUTSIDE.iter().filter(|o| line.contains(&format!("{o}::"))) {
                    wrong.push(format!("backend/src/{name}:{n}: {room} decides, and must not know {outside}: {}", line.trim()));
                }
                if line.contains("tokio_postgres::") && !STORED.contains(&name.as_str()) {
                    wrong
                        .push(format!("backend/src/{name}:{n}: {room} decides, and must not know the database: {}", line.trim()));
                }
            }
        }
    }
    assert!(arrows > 20, "the imports were not found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
