//! `RESULTS.md`: what was measured, when, on which machine, with what.

use std::path::Path;
use std::process::Command;

use time::OffsetDateTime;
use time::macros::format_description;

use crate::BenchError;

const HEAD: &str =
    "# Results\n\nWritten by `make bench` and `make bench PEERS=1`: a section for each measurement, the last one of its kind.\n";
/// Before a section's title.
const SECTION: &str = "\n## ";

/// One measurement: a title, which names its section, and what it says in Markdown.
pub struct Figures {
    pub title: String,
    pub body: String,
}

impl Figures {
    /// A list of figures, each with what it means.
    pub fn list(title: impl Into<String>, lines: &[String]) -> Self {
        let body = lines.iter().map(|line| format!("- {line}\n")).collect();
        Self { title: title.into(), body }
    }
}

/// Prints `figures` with the circumstances and puts them into `file`, if one is given, in the place of the last ones of that title.
///
/// # Errors
/// When the file cannot be read or written.
pub fn put(file: Option<&Path>, figures: &Figures) -> Result<(), BenchError> {
    let section = format!("{}\n\n{}\n{}\n", figures.title, figures.body, circumstances()?);
    println!("## {section}");
    let Some(file) = file else { return Ok(()) };
    let before = match std::fs::read_to_string(file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    if let Some(old) = before.split(SECTION).find(|old| is_of(old, &figures.title)) {
        println!("before: {}\n", figures_of(old).join(", "));
    }
    // whole or not at all
    let new = file.with_extension("md.new");
    std::fs::write(&new, with_section(&before, &figures.title, &section))?;
    Ok(std::fs::rename(new, file)?)
}

/// `before` with `section` in the place of the section of that title, else at the end.
fn with_section(before: &str, title: &str, section: &str) -> String {
    let mut sections = before.split(SECTION);
    let head = sections.next().filter(|head| !head.is_empty()).unwrap_or(HEAD);
    let mut sections: Vec<&str> = sections.collect();
    match sections.iter_mut().find(|old| is_of(old, title)) {
        Some(old) => *old = section,
        None => sections.push(section),
    }
    sections.iter().fold(head.to_owned(), |text, section| text.trim_end().to_owned() + "\n" + SECTION + section)
}

fn is_of(section: &str, title: &str) -> bool {
    section.lines().next() == Some(title)
}

/// What is bold in a section: its figures.
fn figures_of(section: &str) -> Vec<&str> {
    section.split("**").skip(1).step_by(2).collect()
}

/// When, where and how it was measured, one sentence.
///
/// # Errors
/// When the time cannot be written.
pub fn circumstances() -> Result<String, BenchError> {
    let now = OffsetDateTime::now_utc().format(format_description!("[year]-[month]-[day] [hour]:[minute] UTC"))?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    let words: Vec<String> = std::env::args().skip(1).map(|word| in_any_checkout(&word)).collect();
    Ok(format!(
        "{now}, {}, Linux {}, load average at the end {load} (this program and all others); {}; nyala {} at {}; \
         `nyala-bench {}`.",
        processors(),
        output_of("uname", &["-r"]),
        output_of("pgbench", &["--version"]),
        env!("CARGO_PKG_VERSION"),
        commit(),
        words.join(" ")
    ))
}

/// On which figures can be compared: the processors and the compiler.
pub fn machine() -> String {
    format!("{}, {}", processors(), output_of("rustc", &["--version"]))
}

fn processors() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|l| l.strip_prefix("model name")).map_or("?", |l| l.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{cores} × {model}")
}

/// What is measured; the files that keep figures make it no other.
fn commit() -> String {
    let changed =
        output_of("git", &["status", "--porcelain", "--untracked-files=no", ":!bench/RESULTS.md", ":!bench/criterion.json"]);
    output_of("git", &["describe", "--always"]) + if changed.is_empty() { "" } else { "-dirty" }
}

/// An argument without the path of the checkout, because the files with the figures are committed.
fn in_any_checkout(word: &str) -> String {
    let path = Path::new(word);
    let name = path.file_name().filter(|_| path.is_absolute());
    name.map_or_else(|| word.to_owned(), |name| format!("…/{}", name.display()))
}

/// What a program says of itself, one line.
fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(|_| format!("{program} unknown"), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_a_section_are_bold() {
        let section = "A\n\n- HTTP: **773 purchases/s** (7746 in 10 s)\n- Ratio: **79 %** (aim: 70 %)\n";
        assert_eq!(figures_of(section), ["773 purchases/s", "79 %"]);
        assert!(is_of(section, "A") && !is_of(section, "HTTP"));
    }

    #[test]
    fn where_a_checkout_lies_is_not_kept() {
        assert_eq!(in_any_checkout("/home/siti/nyala/target/criterion"), "…/criterion");
        assert_eq!([in_any_checkout("--keep"), in_any_checkout("bench/criterion.json")], ["--keep", "bench/criterion.json"]);
    }

    #[test]
    fn a_measurement_takes_the_place_of_its_last_one() {
        let first = with_section("", "A", "A\n\n- 1\n");
        let both = with_section(&first, "B", "B\n\n- 2\n");
        let again = with_section(&both, "A", "A\n\n- 3\n");
        assert_eq!(again, format!("{HEAD}\n## A\n\n- 3\n\n## B\n\n- 2\n"));
        assert_eq!(with_section(&again, "A", "A\n\n- 1\n"), both);
    }
}
