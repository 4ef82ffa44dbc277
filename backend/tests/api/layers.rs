//! Arrows between the rooms of the server point down only (ARCHITECTURE.md, the map).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every room, the lowest first: a room imports from itself and from those before it.
const LAYERS: [&str; 24] = [
    "domain",
    "purchase",
    "machine_core",
    "config",
    "secrets",
    "telemetry",
    "db",
    "cluster",
    "push",
    "ledger",
    "qr",
    "whatsapp",
    "machine",
    "auth",
    "staff",
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
const OUTSIDE: [&str; 6] = ["actix", "actix_web", "tokio", "tokio_postgres", "deadpool_postgres", "SystemTime"];
/// Types that are stored say how in their own file, because only the crate of a type or a trait may join them; and the clock is one.
const ALLOWED: [(&str, &str); 4] = [
    ("purchase/state.rs", "tokio_postgres"),
    ("domain/timestamp.rs", "tokio_postgres"),
    ("domain/driver_kind.rs", "tokio_postgres"),
    ("domain/timestamp.rs", "SystemTime"),
];

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

/// The code without its comments and without the tests at its end; every line keeps its number.
fn code(text: &str) -> String {
    let is_tests = |at: &usize| text[*at..].lines().nth(1).is_some_and(|line| line.contains("mod ") && line.ends_with('{'));
    let tests = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(is_tests);
    let text = &text[..tests.unwrap_or(text.len())];
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn first_word(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

/// The names that a path goes on with: one, or the first of each item of a list.
fn heads(rest: &str) -> Vec<&str> {
    let Some(list) = rest.strip_prefix('{') else { return vec![first_word(rest)] };
    let (mut depth, mut begin, mut heads) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                heads.push(first_word(list[begin..at].trim_start()));
                begin = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    heads.into_iter().filter(|head| !head.is_empty()).collect()
}

/// The rooms that a file names, each with its line: by `crate::`, and by as many `super::` as lead to the root from `depth` modules below.
fn rooms(code: &str, depth: usize) -> Vec<(usize, &str)> {
    let up = "super::".repeat(depth);
    let roots = ["crate::", up.as_str()];
    let mut found = Vec::new();
    for root in roots {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            if !is_word(before) && !code[..at].ends_with("super::") {
                let line = code[..at].matches('\n').count() + 1;
                found.extend(heads(&code[at + root.len()..]).into_iter().map(|room| (line, room)));
            }
        }
    }
    found
}

/// How many modules below the crate's root a file's code is.
fn depth(name: &str) -> usize {
    name.split('/').filter(|part| *part != "mod.rs").count()
}

#[test]
fn arrows_point_down_only() {
    let mut wrong = Vec::new();
    let mut arrows = BTreeSet::new();
    for (height, room) in LAYERS.iter().enumerate() {
        for file in files_of(room) {
            let name = file.strip_prefix(src()).unwrap().display().to_string();
            let code = code(&std::fs::read_to_string(&file).unwrap());
            for (line, to) in rooms(&code, depth(&name)).into_iter().filter(|(_, to)| to != room) {
                arrows.insert((*room, to.to_owned()));
                if !LAYERS[..height].contains(&to) {
                    wrong.push(format!("backend/src/{name}:{line}: {room} -> {to} points up"));
                }
            }
            let mut outside = OUTSIDE.iter().filter(|o| !ALLOWED.contains(&(name.as_str(), o)));
            if PURE.contains(room)
                && let Some(o) = outside.find(|o| code.split(|c| !is_word(c)).any(|word| word == **o))
            {
                wrong.push(format!("backend/src/{name}: {room} decides, and must not know {o}"));
            }
        }
    }
    assert!(arrows.len() > 80, "the imports were not found: {arrows:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Time comes from the server's clock, which a test can set; only that asks the database for its own, and leases, which are between servers.
#[test]
fn no_statement_asks_for_the_time() {
    let mut files = Vec::new();
    sources(&src(), &mut files);
    let mut asked = Vec::new();
    for file in files {
        let code = code(&std::fs::read_to_string(&file).unwrap()).to_lowercase();
        let now = code.match_indices("now()").any(|(at, _)| {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            !is_word(before) && before != '.' && before != ':' && !code[..at].ends_with("fn ")
        });
        if now
            || ["current_timestamp", "clock_timestamp", "localtimestamp", "statement_timestamp"].iter().any(|f| code.contains(f))
        {
            asked.push(file.strip_prefix(src()).unwrap().display().to_string());
        }
    }
    asked.sort();
    assert_eq!(asked, ["cluster/membership.rs", "db/clock.rs"]);
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

#[test]
fn an_arrow_is_seen_however_it_is_written() {
    let text = "use crate::db::pool;\nuse crate::{\n    api::{self, auth::login},\n    ops, // crate::cli\n};\nfn f() { crate::live::x(); }\n\
                use super::super::demo;\nuse super::sibling;\nmacro_rules! m { () => { $crate::http::y } }\n#[cfg(test)]\nmod tests {\n    use crate::app;\n}\n";
    let found: BTreeSet<(usize, String)> =
        rooms(&code(text), depth("machine/actor.rs")).into_iter().map(|(line, room)| (line, room.to_owned())).collect();
    let expected = [(1, "db"), (2, "api"), (2, "ops"), (6, "live"), (7, "demo"), (9, "http")];
    assert_eq!(found, expected.map(|(line, room)| (line, room.to_owned())).into());
    assert_eq!((depth("demo.rs"), depth("machine/mod.rs"), depth("machine/device/sim/wire.rs")), (1, 1, 4));
}
