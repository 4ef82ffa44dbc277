//! The devices' core in C (`backend/firmware/core`), held against the model of a device: what the model was told in a history, the core is
//! told as well, under the sanitizers, and it must do and say the same.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use nyala_machines::device::mqtt::word::{Topic, Word};
use serde_json::{Map, Value};

/// Lines before the one that differs, to be shown.
const SHOWN: usize = 12;
/// The core beats by its own clock, tells its versions, and counts only what it has said.
const ITS_OWN: [&str; 3] = ["seq", "fw", "hw"];

/// What a device was told in a history, as `firmware/tests/core-stdio.c` reads it, and what it did.
#[derive(Debug, Default)]
pub struct Transcript(Vec<Step>);

#[derive(Debug)]
struct Step {
    told: String,
    does: Does,
}

#[derive(Debug, Default, PartialEq)]
struct Does {
    says: Vec<(&'static str, Value)>,
    relay: bool,
}

impl Transcript {
    pub fn told(&mut self, told: String) {
        let relay = self.0.last().is_some_and(|before| before.does.relay) && told != "off";
        self.0.push(Step { told, does: Does { says: Vec::new(), relay } });
    }

    pub fn says(&mut self, word: &Word) {
        let said = match word {
            Word::Gone(_) => "gone",
            // By its own clock.
            Word::Beat(_) => return,
            word => word.topic().as_str(),
        };
        if let Some(step) = self.0.last_mut() {
            step.does.says.push((said, common(serde_json::from_slice(&word.json()).unwrap())));
        }
    }

    pub fn switches(&mut self, on: bool) {
        if let Some(step) = self.0.last_mut() {
            step.does.relay = on;
        }
    }
}

fn common(word: Map<String, Value>) -> Value {
    word.into_iter().filter(|(field, _)| !ITS_OWN.contains(&field.as_str())).collect()
}

/// The core as a process; `None`: there is nothing here to build it with, which is said.
pub fn built() -> Option<PathBuf> {
    let firmware = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../firmware");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("firmware");
    let core = folder.join("core-stdio");
    let mut make = Command::new("make");
    make.arg("--quiet").arg("-C").arg(firmware).arg(format!("BUILD={}", folder.display())).arg(&core);
    // The make that runs the tests has options of its own.
    make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env_remove("MFLAGS");
    let sanitized = || {
        let mut cc = Command::new("cc");
        let program = folder.join("has-sanitizers");
        cc.args(["-fsanitize=address,undefined", "-x", "c", "-", "-o"]).arg(&program).stdin(Stdio::piped()).stderr(Stdio::null());
        std::fs::create_dir_all(&folder).ok()?;
        let mut cc = cc.spawn().ok()?;
        cc.stdin.take()?.write_all(b"int main(void) { return 0; }\n").ok()?;
        (cc.wait().ok()?.success() && Command::new(program).status().ok()?.success()).then_some(())
    };
    if sanitized().is_none() {
        // Past what the test runner keeps of a test that is fine.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: there is no `cc` with the address and undefined-behaviour sanitizers to build the core in C with"
        );
        return None;
    }
    let made = make.output().expect("make");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(core)
}

/// Tells the core all of it, and compares; how often the relay was on.
pub fn compare(core: &Path, seed: u64, transcripts: Vec<Transcript>) -> usize {
    let mut process = Command::new(core).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut steps: Vec<Step> = Vec::new();
    for Transcript(of) in transcripts {
        let on = of.iter().rev().find(|step| step.told == "off" || step.told.starts_with("boot"));
        let ends = if on.is_some_and(|step| step.told != "off") { &["off", "blank"][..] } else { &["blank"] };
        steps.extend(of);
        steps.extend(ends.iter().map(|end| Step { told: (*end).to_owned(), does: Does::default() }));
    }
    let mut input = process.stdin.take().unwrap();
    let lines: String = steps.iter().map(|step| format!("{}\n", step.told)).collect();
    let telling = thread::spawn(move || input.write_all(lines.as_bytes()));
    let (mut heard, mut complaint) = (String::new(), String::new());
    process.stdout.take().unwrap().read_to_string(&mut heard).unwrap();
    process.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    // Whatever is wrong with the pipe is the process's end, which says why.
    let _ = telling.join().unwrap();
    let answers = answers(&heard);
    let mut before: VecDeque<String> = VecDeque::new();
    for (n, step) in steps.iter().enumerate() {
        before.truncate(SHOWN);
        let answer =
            answers.get(n).unwrap_or_else(|| panic!("seed {seed}: no answer to {before:#?}, {}: {complaint}", step.told));
        let does = does(answer, n.checked_sub(1).is_some_and(|before| steps[before].does.relay) && step.told != "off");
        assert_eq!(does, step.does, "seed {seed}: the core and the model, told `{}` after {before:#?}", step.told);
        before.push_front(step.told.clone());
    }
    assert!(process.wait().unwrap().success(), "seed {seed}: {complaint}");
    steps.windows(2).filter(|pair| !pair[0].does.relay && pair[1].does.relay).count()
}

/// The lines of each answer.
fn answers(heard: &str) -> Vec<Vec<&str>> {
    let mut answers = vec![Vec::new()];
    for line in heard.lines() {
        match line.strip_prefix(". ") {
            Some(_) => answers.push(Vec::new()),
            None => answers.last_mut().unwrap().push(line),
        }
    }
    answers.pop();
    answers
}

/// What the core has done, whose relay was `relay`; what is saved before it is switched on, and that before anything is said.
fn does(answer: &[&str], mut relay: bool) -> Does {
    let (mut says, mut saved) = (Vec::new(), false);
    for line in answer {
        match line.split_once(' ') {
            Some(("journal", _)) => saved = true,
            Some(("relay", on)) => {
                assert!(on == "off" || saved && says.is_empty(), "on before it is saved, or after it is told: {answer:?}");
                relay = on == "on";
            }
            Some((said, word)) if said != Topic::Hb.as_str() => {
                let said = ["ack", "state", "gone"].into_iter().find(|name| *name == said).unwrap_or_else(|| panic!("{line}"));
                says.push((said, common(serde_json::from_str(word).unwrap())));
            }
            _ => {}
        }
    }
    Does { says, relay }
}
