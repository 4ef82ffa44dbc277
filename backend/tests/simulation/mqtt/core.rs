//! Compares the devices' core in C (`backend/firmware/core`) with the model of a device. The core gets the inputs that the model got in a
//! history, runs under the sanitizers, and must produce the same actions and messages.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use nyala_core::purchase::device::Pulses;
use nyala_machines::device::mqtt::message::{DeviceMessage, Topic};
use serde_json::{Map, Value};

/// Number of steps before the one that differs, for the failure message.
const SHOWN: usize = 12;
/// Fields that are not compared: the core reports its versions, and counts only messages it has sent.
const ITS_OWN: [&str; 3] = ["seq", "fw", "hw"];

/// The inputs of a device in a history, in the format of `firmware/tests/core-stdio.c`, and what the device did.
#[derive(Debug, Default)]
pub struct Transcript(Vec<TranscriptStep>);

#[derive(Debug)]
struct TranscriptStep {
    input: String,
    does: Does,
}

#[derive(Debug, Default, PartialEq)]
struct Does {
    sent: Vec<(&'static str, Value)>,
    relay: bool,
    /// Number, width and gap of pulses that begin.
    pulses: Option<[i32; 3]>,
}

impl Transcript {
    pub fn record_input(&mut self, input: String) {
        let relay = self.0.last().is_some_and(|before| before.does.relay) && input != "off";
        self.0.push(TranscriptStep { input, does: Does { relay, ..Does::default() } });
    }

    pub fn record_output(&mut self, message: &DeviceMessage) {
        let kind = match message {
            DeviceMessage::Gone(_) => "gone",
            message => message.topic().as_str(),
        };
        if let Some(step) = self.0.last_mut() {
            step.does.sent.push((kind, common(serde_json::from_slice(&message.json()).unwrap())));
        }
    }

    pub fn pulses(&mut self, pulses: Pulses) {
        if let Some(step) = self.0.last_mut() {
            step.does.pulses = Some([pulses.n, pulses.width_ms, pulses.gap_ms]);
        }
    }

    pub fn switches(&mut self, on: bool) {
        if let Some(step) = self.0.last_mut() {
            step.does.relay = on;
        }
    }
}

fn common(message: Map<String, Value>) -> Value {
    message.into_iter().filter(|(field, _)| !ITS_OWN.contains(&field.as_str())).collect()
}

/// Builds the core as a process. `None`, with a note on stderr: no suitable compiler exists here.
pub fn built() -> Option<PathBuf> {
    let firmware = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../firmware");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("firmware");
    let core = folder.join("core-stdio");
    let mut make = Command::new("make");
    make.arg("--quiet").arg("-C").arg(firmware).arg(format!("BUILD={}", folder.display())).arg(&core);
    // The `make` that runs the tests passes its own options through these variables.
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
        // Written past the test runner, which hides the output of a test that passes.
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

/// Sends the core all inputs and compares its actions. Returns how often the relay was switched on, or pulses were sent.
pub fn compare(core: &Path, seed: u64, transcripts: Vec<Transcript>) -> usize {
    let mut process = Command::new(core).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut steps: Vec<TranscriptStep> = Vec::new();
    for Transcript(of) in transcripts {
        let on = of.iter().rev().find(|step| step.input == "off" || step.input.starts_with("boot"));
        let ends = if on.is_some_and(|step| step.input != "off") { &["off", "blank"][..] } else { &["blank"] };
        steps.extend(of);
        steps.extend(ends.iter().map(|end| TranscriptStep { input: (*end).to_owned(), does: Does::default() }));
    }
    let mut input = process.stdin.take().unwrap();
    let lines: String = steps.iter().map(|step| format!("{}\n", step.input)).collect();
    let writing = thread::spawn(move || input.write_all(lines.as_bytes()));
    let (mut output, mut complaint) = (String::new(), String::new());
    process.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    process.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    // A broken pipe only means that the process ended; its exit status and stderr give the reason.
    let _ = writing.join().unwrap();
    let answers = answers(&output);
    let mut before: VecDeque<String> = VecDeque::new();
    for (n, step) in steps.iter().enumerate() {
        before.truncate(SHOWN);
        let answer =
            answers.get(n).unwrap_or_else(|| panic!("seed {seed}: no answer to {before:#?}, {}: {complaint}", step.input));
        let does = does(answer, n.checked_sub(1).is_some_and(|before| steps[before].does.relay) && step.input != "off");
        assert_eq!(does, step.does, "seed {seed}: the core and the model, given `{}` after {before:#?}", step.input);
        before.push_front(step.input.clone());
    }
    assert!(process.wait().unwrap().success(), "seed {seed}: {complaint}");
    let pulses = steps.iter().filter(|step| step.does.pulses.is_some()).count();
    pulses + steps.windows(2).filter(|pair| !pair[0].does.relay && pair[1].does.relay).count()
}

/// The lines of each answer.
fn answers(output: &str) -> Vec<Vec<&str>> {
    let mut answers = vec![Vec::new()];
    for line in output.lines() {
        match line.strip_prefix(". ") {
            Some(_) => answers.push(Vec::new()),
            None => answers.last_mut().unwrap().push(line),
        }
    }
    answers.pop();
    answers
}

/// The actions of the core, which began with its relay at `relay`. It must save before it switches on or sends pulses, and do that before it
/// sends anything.
fn does(answer: &[&str], mut relay: bool) -> Does {
    let (mut sent, mut saved, mut pulses) = (Vec::new(), false, None);
    for line in answer {
        match line.split_once(' ') {
            Some(("journal", _)) => saved = true,
            Some(("relay", on)) => {
                assert!(on == "off" || saved && sent.is_empty(), "on before it is saved, or after it is reported: {answer:?}");
                relay = on == "on";
            }
            Some(("pulse", numbers)) => {
                assert!(saved && sent.is_empty(), "pulses before they are saved, or after they are reported: {answer:?}");
                let mut numbers = numbers.split(' ').map(|number| number.parse().unwrap());
                pulses = Some(std::array::from_fn(|_| numbers.next().unwrap()));
            }
            Some((kind, message)) => {
                let mut kinds = Topic::ALL.map(Topic::as_str).into_iter().chain(["gone"]);
                let kind = kinds.find(|name| *name == kind).unwrap_or_else(|| panic!("{line}"));
                sent.push((kind, common(serde_json::from_str(message).unwrap())));
            }
            None => {}
        }
    }
    Does { sent, relay, pulses }
}
