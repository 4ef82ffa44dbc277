//! `--env-file`: settings in a file that systemd reads, too (`EnvironmentFile=`, systemd.exec(5)). A shell that sources such a file takes
//! `&`, `$` and blanks in its values for its own.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Failure, output};

const FLAG: &str = "--env-file";
/// The file of an installed program.
const INSTALLED: &str = "/etc/nyala/nyala.env";

/// Starts this program once more in its own place, with what `files` set and the environment does not: a process changes its environment safely
/// only before it begins. A program that is installed below /usr reads the file of its package when none is named. Returns when there is
/// nothing to do, or with why it cannot.
pub fn enter(files: &[PathBuf]) -> Option<Failure> {
    let installed = [PathBuf::from(INSTALLED)];
    let files = if files.is_empty() && is_installed() && installed[0].exists() { &installed } else { files };
    let run = || {
        let variables = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
        let missing: Vec<_> = variables.into_iter().flatten().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut args = std::env::args_os();
        let name = args.next().unwrap_or_default();
        let mut program = Command::new(std::env::current_exe()?);
        let failed = program.arg0(name).args(args).envs(missing).exec();
        Err::<(), _>(Failure::new(format!("this program cannot be started with {FLAG}: {failed}")))
    };
    run().err()
}

/// Whether this program came with a package, and not from a checkout.
pub fn is_installed() -> bool {
    std::env::current_exe().is_ok_and(|program| program.starts_with("/usr"))
}

fn read(file: &Path) -> Result<Vec<(String, String)>, Failure> {
    let path = file.display();
    let bytes = std::fs::read(file).map_err(|e| Failure::new(format!("{path}, which {FLAG} names, cannot be read: {e}")))?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| Failure::new(format!("{path}, which {FLAG} names, must be text in UTF-8")))?;
    let (good, bad): (Vec<_>, Vec<_>) = parse(&text).into_iter().partition(|(name, _)| is_name(name));
    for (name, _) in bad {
        // As systemd does: what it ignores in the service's file must not stop the commands. Its value may be a secret.
        output::warn(&format!("nyala: {path}: `{name}` is no name of a variable and is ignored"));
    }
    Ok(good)
}

/// Letters, digits and underscores, and no digit first.
fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    name.bytes().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before a name.
    Line,
    Comment,
    /// After a backslash in a comment: a comment ends with its line all the same (since systemd 254).
    CommentEscape,
    Name,
    /// Before a value, or between two quoted parts of one.
    Value,
    Bare,
    BareEscape,
    Single,
    Double,
    DoubleEscape,
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
const NEWLINES: [char; 2] = ['\n', '\r'];
/// What a backslash takes the meaning from within double quotes; before anything else it stays.
const ESCAPED: [char; 4] = ['"', '\\', '`', '$'];

/// The assignments in their order. Lines without `=` are skipped. A quoted value may span several lines, and a backslash before the end of a
/// line joins it with the next.
fn parse(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut at, mut name, mut value) = (At::Line, String::new(), String::new());
    // How much of a bare value counts: blanks at its end do not, unless they were escaped.
    let mut whole = 0;
    let mut end = |name: &mut String, value: &mut String, whole: usize, at: At| {
        if at == At::Bare {
            value.truncate(whole);
        }
        found.push((std::mem::take(name).trim_end_matches(BLANKS).to_owned(), std::mem::take(value)));
    };
    for c in text.chars() {
        let newline = NEWLINES.contains(&c);
        at = match at {
            At::Line if ['#', ';'].contains(&c) => At::Comment,
            At::Line if BLANKS.contains(&c) => At::Line,
            At::Line => {
                name.push(c);
                At::Name
            }
            At::Comment | At::CommentEscape if newline => At::Line,
            At::Comment if c == '\\' => At::CommentEscape,
            At::Comment | At::CommentEscape => At::Comment,
            At::Name if newline => {
                name.clear();
                At::Line
            }
            At::Name if c == '=' => At::Value,
            At::Name => {
                name.push(c);
                At::Name
            }
            At::Value | At::Bare if newline => {
                end(&mut name, &mut value, whole, at);
                At::Line
            }
            At::Value if c == '\'' => At::Single,
            At::Value if c == '"' => At::Double,
            At::Value | At::Bare if c == '\\' => At::BareEscape,
            At::Value if BLANKS.contains(&c) => At::Value,
            At::Value | At::Bare => {
                value.push(c);
                if !BLANKS.contains(&c) {
                    whole = value.len();
                }
                At::Bare
            }
            At::BareEscape => {
                if !newline {
                    value.push(c);
                }
                whole = value.len();
                At::Bare
            }
            At::Single if c == '\'' => At::Value,
            At::Double if c == '"' => At::Value,
            At::Double if c == '\\' => At::DoubleEscape,
            At::Single | At::Double => {
                value.push(c);
                at
            }
            At::DoubleEscape => {
                if !ESCAPED.contains(&c) && c != '\n' {
                    value.push('\\');
                }
                if c != '\n' {
                    value.push(c);
                }
                At::Double
            }
        };
    }
    if !matches!(at, At::Line | At::Comment | At::CommentEscape | At::Name) {
        end(&mut name, &mut value, whole, at);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(text: &str, expected: &[(&str, &str)]) {
        let found = parse(text);
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn a_value_is_what_systemd_takes_it_for() {
        is("A=postgres://u:p@h/db?a=1&b=$x#y", &[("A", "postgres://u:p@h/db?a=1&b=$x#y")]);
        is("  A = b c \t \nB=\nC=d", &[("A", "b c"), ("B", ""), ("C", "d")]);
        is("A='it''s $x \\n'\nB=\"a b\" c", &[("A", "its $x \\n"), ("B", "a bc")]);
        is(r#"A="\"\\\`\$ \n \x""#, &[("A", r#""\`$ \n \x"#)]);
        is("A=a\\ b\\n\\\\ \nB=x\\ ", &[("A", "a bn\\"), ("B", "x ")]);
        is("A=one\\\ntwo\nB=\"one\\\ntwo\nthree\"\nC='one\ntwo'", &[("A", "onetwo"), ("B", "onetwo\nthree"), ("C", "one\ntwo")]);
        is("# A=1\n;B=2\n # C=3 \\\nD=4 # no comment\r\nE=5\r\n", &[("D", "4 # no comment"), ("E", "5")]);
        is("no assignment\nexport A=1\nA=b\"c\"", &[("export A", "1"), ("A", "b\"c\"")]);
        is("A=\"never closed\nB=1", &[("A", "never closed\nB=1")]);
        is("A=x   ", &[("A", "x")]);
        is("A=x\\", &[("A", "x")]);
        is("", &[]);
    }

    #[test]
    fn a_name_is_one_of_a_variable() {
        assert!(["A", "_a1", "NYALA__HTTP__PORT"].into_iter().all(is_name));
        assert!(["", "1A", "export A", "A-B", "é"].into_iter().all(|name| !is_name(name)));
    }
}
