//! Simulated devices (driver `sim`, the default): they answer in 100–300 ms, keep their own time and memory across a crash of
//! the server, and have the faults of contract §5.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use dashmap::DashMap;
use rand::Rng;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Command, DeviceEvent, Run};
use crate::domain::waktu::Waktu;
use crate::pembelian::step::{AckResult, Send};

const JOURNAL: &str = "perangkat-sim.jsonl";
/// Commands a device remembers, so that a repeated one is answered and not run again.
const MEMORY: usize = 16;
/// `late`: how long after the start every answer about it waits.
const LATE_MS: i64 = 9_000;
/// Lines in the journal before it is written anew at the next start.
const COMPACT_LINES: usize = 10_000;

/// What is wrong with a device (contract §5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    Ok,
    Refuse,
    Silent,
    Late,
    Offline,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    cmd_id: Uuid,
    result: KnownResult,
    started_ms: i64,
    ends_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KnownResult {
    Started,
    Refused,
    Expired,
}

/// One device's own memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Memory {
    mode: Mode,
    epoch: i64,
    known: VecDeque<Known>,
}

impl Memory {
    fn find(&self, cmd_id: Uuid) -> Option<&Known> {
        self.known.iter().find(|k| k.cmd_id == cmd_id)
    }

    fn running(&self, now: Waktu) -> Option<&Known> {
        self.known.iter().find(|k| k.result == KnownResult::Started && k.ends_ms > now.ms())
    }

    fn run(&self, now: Waktu) -> Option<Run> {
        self.running(now).map(|k| Run { cmd_id: k.cmd_id, sisa_ms: k.ends_ms - now.ms() })
    }

    fn remember(&mut self, known: Known) {
        if self.known.len() == MEMORY {
            self.known.pop_front();
        }
        self.known.push_back(known);
    }
}

/// What a device will say, and how long after the command.
#[derive(Debug, PartialEq, Eq)]
pub struct Reply {
    pub after_ms: i64,
    pub events: Vec<DeviceEvent>,
}

/// All simulated devices of this server.
pub struct Sim {
    devices: DashMap<i64, Memory>,
    journal: Mutex<File>,
    answer_ms: (i64, i64),
}

#[derive(Serialize, Deserialize)]
struct Line {
    idmesin: i64,
    memory: Memory,
}

impl Sim {
    /// Reads what the devices remembered from `<dir>/perangkat-sim.jsonl`; they answer within `answer_ms`.
    pub fn open(dir: &Path, answer_ms: (u64, u64)) -> std::io::Result<Self> {
        let path = dir.join(JOURNAL);
        let (devices, lines) = read(&path)?;
        if lines > COMPACT_LINES {
            compact(&path, &devices)?;
        }
        let journal = Mutex::new(OpenOptions::new().create(true).append(true).open(&path)?);
        let ms = |v: u64| i64::try_from(v).unwrap_or(i64::MAX);
        Ok(Self { devices, journal, answer_ms: (ms(answer_ms.0), ms(answer_ms.1)) })
    }

    /// Does what the device would do on `cmd` at `now`; `None`: not a word.
    pub fn command(&self, cmd: &Command, now: Waktu) -> Option<Reply> {
        let mut memory = self.devices.entry(cmd.idmesin).or_default();
        if matches!(memory.mode, Mode::Silent | Mode::Offline) {
            return None;
        }
        let mut changed = false;
        let mut events = match cmd.op {
            Send::Start => {
                changed = memory.find(cmd.cmd_id).is_none();
                start(&mut memory, cmd, now)
            }
            Send::Query => vec![state(&memory, now)],
            Send::Stop => {
                changed = stop(&mut memory, cmd.cmd_id, now);
                vec![state(&memory, now)]
            }
        };
        if cmd.op != Send::Start {
            events.extend(answer(&memory, cmd, now));
        }
        if changed {
            self.write(cmd.idmesin, &memory);
        }
        let (low, high) = self.answer_ms;
        let mut after_ms = if high == 0 { 0 } else { rand::rng().random_range(low..=high) };
        if memory.mode == Mode::Late
            && let Some(known) = memory.find(cmd.cmd_id)
        {
            after_ms = after_ms.max(known.started_ms + LATE_MS - now.ms());
        }
        Some(Reply { after_ms, events })
    }

    /// Sets what is wrong with a device; the answer is what it says at once about being reachable.
    pub fn set_mode(&self, idmesin: i64, mode: Mode, now: Waktu) -> DeviceEvent {
        let mut memory = self.devices.entry(idmesin).or_default();
        memory.mode = mode;
        self.write(idmesin, &memory);
        DeviceEvent::State { online: mode != Mode::Offline, run: memory.run(now) }
    }

    /// Unsynced on purpose: a device's memory must outlive a crash of the server, not of the whole machine.
    fn write(&self, idmesin: i64, memory: &Memory) {
        let Ok(mut line) = serde_json::to_vec(&Line { idmesin, memory: memory.clone() }) else { return };
        line.push(b'\n');
        let mut file = self.journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Err(e) = file.write_all(&line) {
            tracing::error!(error = %e, "a simulated device cannot write its memory");
        }
    }
}

fn start(memory: &mut Memory, cmd: &Command, now: Waktu) -> Vec<DeviceEvent> {
    if memory.find(cmd.cmd_id).is_none() {
        let result = if now > cmd.exp {
            KnownResult::Expired
        } else if memory.mode == Mode::Refuse || cmd.epoch < memory.epoch || memory.running(now).is_some() {
            KnownResult::Refused
        } else {
            KnownResult::Started
        };
        memory.epoch = memory.epoch.max(cmd.epoch);
        memory.remember(Known { cmd_id: cmd.cmd_id, result, started_ms: now.ms(), ends_ms: now.ms() + cmd.durasi_s * 1000 });
    }
    answer(memory, cmd, now).into_iter().collect()
}

/// Ends the run of `cmd_id`; whether anything changed.
fn stop(memory: &mut Memory, cmd_id: Uuid, now: Waktu) -> bool {
    match memory.known.iter_mut().find(|k| k.cmd_id == cmd_id && k.result == KnownResult::Started && k.ends_ms > now.ms()) {
        Some(known) => {
            known.ends_ms = now.ms();
            true
        }
        None => false,
    }
}

/// The ack of a command it knows, or `expired` for one it never heard and will never run.
fn answer(memory: &Memory, cmd: &Command, now: Waktu) -> Option<DeviceEvent> {
    let result = match memory.find(cmd.cmd_id) {
        Some(k) => match k.result {
            KnownResult::Started if k.ends_ms > now.ms() => AckResult::Started,
            KnownResult::Started => AckResult::Done,
            KnownResult::Refused => AckResult::Refused,
            KnownResult::Expired => AckResult::Expired,
        },
        None if now > cmd.exp => AckResult::Expired,
        None => return None,
    };
    Some(DeviceEvent::Ack { cmd_id: cmd.cmd_id, result })
}

fn state(memory: &Memory, now: Waktu) -> DeviceEvent {
    DeviceEvent::State { online: true, run: memory.run(now) }
}

fn read(path: &PathBuf) -> std::io::Result<(DashMap<i64, Memory>, usize)> {
    let devices = DashMap::new();
    let mut lines = 0;
    match File::open(path) {
        Ok(file) => {
            for line in BufReader::new(file).lines() {
                lines += 1;
                // A crash may leave a torn last line; everything before it counts.
                if let Ok(line) = serde_json::from_str::<Line>(&line?) {
                    devices.insert(line.idmesin, line.memory);
                }
            }
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    Ok((devices, lines))
}

fn compact(path: &Path, devices: &DashMap<i64, Memory>) -> std::io::Result<()> {
    let beside = path.with_extension("jsonl.new");
    let mut file = File::create(&beside)?;
    for device in devices {
        serde_json::to_writer(&mut file, &Line { idmesin: *device.key(), memory: device.value().clone() })?;
        file.write_all(b"\n")?;
    }
    std::fs::rename(beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: Waktu = Waktu::from_ms(1_000_000);

    fn cmd(op: Send, cmd_id: Uuid, epoch: i64) -> Command {
        Command { idmesin: 1, cmd_id, epoch, op, durasi_s: 60, exp: T0.plus_ms(10_000) }
    }

    fn sim(dir: &Path) -> Sim {
        Sim::open(dir, (0, 0)).unwrap()
    }

    fn scratch() -> PathBuf {
        let dir = std::env::temp_dir().join(format!("nyala-sim-{}", Uuid::new_v4()));
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn ack(cmd_id: Uuid, result: AckResult) -> DeviceEvent {
        DeviceEvent::Ack { cmd_id, result }
    }

    #[test]
    fn a_repeated_command_is_acknowledged_and_not_run_again() {
        let dir = scratch();
        let sim = sim(&dir);
        let id = Uuid::new_v4();
        assert_eq!(sim.command(&cmd(Send::Start, id, 1), T0).unwrap().events, [ack(id, AckResult::Started)]);
        let later = T0.plus_ms(5_000);
        assert_eq!(sim.command(&cmd(Send::Start, id, 1), later).unwrap().events, [ack(id, AckResult::Started)]);
        let run = Some(Run { cmd_id: id, sisa_ms: 55_000 });
        assert_eq!(
            sim.command(&cmd(Send::Query, id, 1), later).unwrap().events,
            [DeviceEvent::State { online: true, run }, ack(id, AckResult::Started)]
        );
    }

    #[test]
    fn memory_outlives_the_server() {
        let dir = scratch();
        let id = Uuid::new_v4();
        sim(&dir).command(&cmd(Send::Start, id, 1), T0);
        let again = sim(&dir);
        assert_eq!(
            again.command(&cmd(Send::Query, id, 1), T0.plus_ms(60_001)).unwrap().events.last(),
            Some(&ack(id, AckResult::Done))
        );
        again.set_mode(1, Mode::Silent, T0);
        assert_eq!(sim(&dir).command(&cmd(Send::Query, id, 1), T0), None);
    }

    #[test]
    fn late_stale_and_second_commands_do_not_run() {
        let dir = scratch();
        let sim = sim(&dir);
        let (first, second, stale, late) = (Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4());
        sim.command(&cmd(Send::Start, first, 2), T0);
        assert_eq!(sim.command(&cmd(Send::Start, second, 3), T0).unwrap().events, [ack(second, AckResult::Refused)]);
        assert_eq!(
            sim.command(&cmd(Send::Stop, first, 2), T0.plus_ms(1)).unwrap().events.last(),
            Some(&ack(first, AckResult::Done))
        );
        assert_eq!(sim.command(&cmd(Send::Start, stale, 1), T0.plus_ms(2)).unwrap().events, [ack(stale, AckResult::Refused)]);
        assert_eq!(sim.command(&cmd(Send::Start, late, 4), T0.plus_ms(10_001)).unwrap().events, [ack(late, AckResult::Expired)]);
    }

    #[test]
    fn a_late_device_starts_at_once_and_speaks_after_nine_seconds() {
        let dir = scratch();
        let sim = sim(&dir);
        sim.set_mode(1, Mode::Late, T0);
        let id = Uuid::new_v4();
        assert_eq!(sim.command(&cmd(Send::Start, id, 1), T0).unwrap().after_ms, LATE_MS);
        assert_eq!(sim.command(&cmd(Send::Query, id, 1), T0.plus_ms(4_000)).unwrap().after_ms, 5_000);
    }
}
