//! Rules of the code that the compiler does not check (ARCHITECTURE.md, the invariants).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The server's crates, from the lowest up. Their manifests define which may import which.
pub const CRATES: [&str; 8] = ["core", "store", "cluster", "ledger", "machines", "identity", "web", "server"];

/// A folder of the checkout.
pub fn checkout(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Every Rust file below `dir`.
pub fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The code without its comments and without the tests at its end.
fn code(text: &str) -> String {
    let is_tests = |at: &usize| text[*at..].lines().nth(1).is_some_and(|line| line.contains("mod ") && line.ends_with('{'));
    let tests = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(is_tests);
    let text = &text[..tests.unwrap_or(text.len())];
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Time comes from the server's clock, which a test can set. Only that clock, and leases between servers, read the database's time.
#[test]
fn no_statement_asks_for_the_time() {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut asked, mut seen) = (Vec::new(), 0);
    for name in CRATES {
        let src = checkout(&format!("backend/{name}/src"));
        let mut files = Vec::new();
        sources(&src, &mut files);
        seen += files.len();
        for file in files {
            let code = code(&std::fs::read_to_string(&file).unwrap()).to_lowercase();
            let now = code.match_indices("now()").any(|(at, _)| {
                let before = code[..at].chars().next_back().unwrap_or(' ');
                !is_word(before) && before != '.' && before != ':' && !code[..at].ends_with("fn ")
            });
            let named = ["current_timestamp", "clock_timestamp", "localtimestamp", "statement_timestamp"];
            if now || named.iter().any(|f| code.contains(f)) {
                asked.push(format!("{name}/{}", file.strip_prefix(&src).unwrap().display()));
            }
        }
    }
    assert!(seen > 200, "{seen} files were found");
    asked.sort();
    assert_eq!(asked, ["cluster/membership.rs", "store/db/clock.rs"]);
}

/// Names of the library crates that `nyala-core` is built with.
fn crates_of_core(features: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--package", "nyala-core", "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{lib}", "--no-default-features", "--features", features, "--manifest-path"])
        .arg(checkout("backend/core/Cargo.toml"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    let crates: Vec<String> = tree.lines().map(|line| line.trim().trim_end_matches(" (*)").to_owned()).collect();
    assert!(["serde", "nyala_core"].iter().all(|name| crates.iter().any(|found| found == name)), "{crates:?}");
    crates
}

/// The core crate, which makes the decisions, depends on no runtime, no network, no clock, no database and no source of randomness. The
/// server builds it with the feature `sql`, which adds how its values are stored in PostgreSQL (`stored.rs`): the formats of a client without
/// I/O, of which the protocol's login uses random numbers. No other file of the crate uses them.
#[test]
fn core_is_pure() {
    let io = ["tokio", "actix", "mio", "postgres", "socket2", "hyper", "rustls", "async", "getrandom", "nix"];
    let found = |features: &str| -> BTreeSet<String> {
        crates_of_core(features).into_iter().filter(|name| io.iter().any(|io| name.contains(io))).collect()
    };
    assert_eq!(found(""), BTreeSet::new());
    assert_eq!(found("sql"), ["getrandom", "postgres_protocol", "postgres_types"].map(str::to_owned).into());

    let (src, mut files) = (checkout("backend/core/src"), Vec::new());
    sources(&src, &mut files);
    let uses_sql =
        |file: &&PathBuf| ["postgres_types", "bytes::"].iter().any(|name| std::fs::read_to_string(file).unwrap().contains(name));
    let users: Vec<&Path> = files.iter().filter(uses_sql).map(|file| file.strip_prefix(&src).unwrap()).collect();
    assert_eq!(users, [Path::new("stored.rs")]);
}

/// An operator searches the log for what the manual lists.
#[test]
fn log_lines_of_the_manual_are_in_the_sources() {
    let manual = std::fs::read_to_string(checkout("docs/operations.md")).unwrap();
    let (_, listed) = manual.split_once("### Log lines that changed").expect("the list");
    let listed = listed.split("\n#").next().unwrap_or_default();
    let rows = listed.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")).skip(1);
    let rows: Vec<(&str, &str)> = rows.collect();
    assert!(rows.len() > 10, "{rows:?}");
    let mut files = Vec::new();
    for name in CRATES {
        sources(&checkout(&format!("backend/{name}/src")), &mut files);
    }
    // A text of several lines is one.
    let texts = files.iter().map(|file| code(&std::fs::read_to_string(file).unwrap()));
    let texts: Vec<String> = texts.map(|code| code.split("\\\n").map(str::trim_start).collect()).collect();
    let is_logged = |line: &str| texts.iter().any(|code| code.contains(&format!("\"{line}")));
    let wrong: Vec<_> = rows.iter().filter(|(before, now)| is_logged(before) || !is_logged(now)).collect();
    assert!(wrong.is_empty(), "what is listed as new is logged, and what is listed as old is not: {wrong:?}");
}
