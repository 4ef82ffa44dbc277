//! `RESULTS.md`: what was measured, when, on which machine, with what.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use time::OffsetDateTime;
use time::macros::format_description;

use crate::Error;

const HEAD: &str = "# Results\n\nWritten by `make bench ARGS=…`, newest last; ARCHITECTURE and operations quote from here.\n";

/// One measurement: a title and its lines, each a figure with what it means.
pub struct Figures {
    pub title: String,
    pub lines: Vec<String>,
}

/// Prints `figures` and adds them to `file` with the circumstances.
///
/// # Errors
/// When the file cannot be written.
pub fn add(file: &Path, figures: &Figures) -> Result<(), Error> {
    let now = OffsetDateTime::now_utc().format(format_description!("[year]-[month]-[day] [hour]:[minute] UTC"))?;
    let mut text = String::new();
    if !file.exists() {
        text.push_str(HEAD);
    }
    writeln!(text, "\n## {}, {now}\n", figures.title)?;
    for line in &figures.lines {
        writeln!(text, "- {line}")?;
    }
    writeln!(text, "\n{}", circumstances())?;
    print!("{text}");
    std::fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(text.as_bytes())?;
    Ok(())
}

fn circumstances() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name")).map_or("?", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    let words: Vec<String> = std::env::args().skip(1).collect();
    format!(
        "Machine: {cores} × {model}, Linux {}, load average at the end {load} (this program and all others). {}; nyala {} at {}. \
         Command: `make bench ARGS=\"{}\"`.",
        said("uname", &["-r"]),
        said("pgbench", &["--version"]),
        env!("CARGO_PKG_VERSION"),
        said("git", &["describe", "--always", "--dirty"]),
        words.join(" ")
    )
}

/// What a program says of itself, one line.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(|_| format!("{program} unknown"), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
}
