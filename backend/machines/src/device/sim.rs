//! Simulated devices (driver `sim`, the default). They answer in 100–300 ms, keep their own time and memory across a crash of the server,
//! and have the faults of docs/contract.md §5.

mod wire;

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use actix_socketio::host::vital;
use dashmap::DashMap;
use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{Command, DeviceEvent};
use nyala_store::db::error::DbError;
use nyala_store::db::pool::Db;
use rand::Rng;

use super::journal::Journal;
use super::memory::DeviceMemory;
pub use super::memory::Mode;
use super::{CommandDropped, Driver, Uplink};
use crate::machines::Location;

const JOURNAL: &str = "perangkat-sim.jsonl";

/// Parameter: $1 the machines that cannot be reached.
const REACH: &str = "UPDATE mesin SET online = NOT online WHERE driver = 'sim' AND online = (idmesin = ANY($1))";

/// All simulated devices of this server, and the thread that plays them.
pub struct Sim {
    devices: Arc<SimulatedDevices>,
    /// Sender to the wire's thread; set once the thread runs. The thread ends when this is dropped.
    commands: OnceLock<SyncSender<(Location, Command)>>,
}

impl Sim {
    /// Reads the devices' memory from `<dir>/perangkat-sim.jsonl`; they answer within `answer_ms`.
    pub fn open(dir: &Path, answer_ms: (u64, u64)) -> std::io::Result<Self> {
        Ok(Self { devices: Arc::new(SimulatedDevices::open(dir, answer_ms)?), commands: OnceLock::new() })
    }

    /// Sets the fault of a device and returns the state report that it sends at once.
    pub fn set_mode(&self, idmesin: MachineId, mode: Mode, now: Timestamp) -> DeviceEvent {
        self.devices.set_mode(idmesin, mode, now)
    }

    /// Stores which devices can be reached, because a crashed process may not have stored their last reports.
    ///
    /// # Errors
    /// When the database rejects the statement.
    pub async fn record_reach(&self, db: &Db) -> Result<(), DbError> {
        let client = db.get().await?;
        let stmt = client.prepare_cached(REACH).await?;
        client.execute(&stmt, &[&self.devices.offline()]).await?;
        Ok(())
    }
}

impl Driver for Sim {
    fn start(&self, uplink: Uplink) -> std::io::Result<()> {
        let (commands, taken) = sync_channel(wire::COMMANDS);
        let devices = self.devices.clone();
        let work = move || wire::run(&devices, &taken, &uplink);
        thread::Builder::new().name("sim".to_owned()).spawn(move || vital::run("sim", work))?;
        // A second wire would end here, because it has no sender.
        let _ = self.commands.set(commands);
        Ok(())
    }

    fn command(&self, to: Location, cmd: Command) -> Result<(), CommandDropped> {
        self.commands.get().and_then(|commands| commands.try_send((to, cmd)).ok()).ok_or(CommandDropped)
    }
}

/// Messages that a device will send, and how long after the command.
#[derive(Debug, PartialEq, Eq)]
struct Reply {
    after_ms: i64,
    events: Vec<DeviceEvent>,
}

/// The simulated devices.
struct SimulatedDevices {
    devices: DashMap<MachineId, DeviceMemory>,
    journal: Mutex<Journal>,
    answer_ms: (i64, i64),
}

impl SimulatedDevices {
    fn open(dir: &Path, answer_ms: (u64, u64)) -> std::io::Result<Self> {
        let (journal, devices) = Journal::open(&dir.join(JOURNAL))?;
        let ms = |v: u64| i64::try_from(v).unwrap_or(i64::MAX);
        Ok(Self {
            devices: devices.into_iter().collect(),
            journal: Mutex::new(journal),
            answer_ms: (ms(answer_ms.0), ms(answer_ms.1)),
        })
    }

    /// Handles `cmd` as the device would at `now`; `None`: the device does not answer.
    fn command(&self, cmd: &Command, now: Timestamp) -> Option<Reply> {
        let mut memory = self.devices.entry(cmd.idmesin).or_default();
        let mut handled = memory.handle(cmd, now)?;
        if let Some(pulses) = handled.pulses {
            // Its pulses are over at once, and its answer comes as late as with real ones.
            memory.pulsed(now);
            handled.after_ms = handled.after_ms.max(pulses.total_ms());
            handled
                .events
                .extend(memory.result_of(cmd.cmd_id, now).map(|result| DeviceEvent::Ack { cmd_id: cmd.cmd_id, result }));
        }
        if handled.changed {
            self.write(cmd.idmesin, &memory);
        }
        let (low, high) = self.answer_ms;
        let answer_ms = if high == 0 { 0 } else { rand::rng().random_range(low..=high) };
        Some(Reply { after_ms: answer_ms.max(handled.after_ms), events: handled.events })
    }

    fn set_mode(&self, idmesin: MachineId, mode: Mode, now: Timestamp) -> DeviceEvent {
        let mut memory = self.devices.entry(idmesin).or_default();
        memory.mode = mode;
        self.write(idmesin, &memory);
        memory.state(now)
    }

    fn offline(&self) -> Vec<MachineId> {
        self.devices.iter().filter(|d| d.mode == Mode::Offline).map(|d| *d.key()).collect()
    }

    fn write(&self, idmesin: MachineId, memory: &DeviceMemory) {
        let mut journal = self.journal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Err(e) = journal.write(idmesin, memory) {
            tracing::error!(error = %e, "a simulated device cannot write its memory");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::PathBuf;

    use nyala_core::purchase::device::{AckResult, DeviceRun, Op};
    use uuid::Uuid;

    use super::super::memory::LATE_MS;
    use super::super::tests::{T0, machine, uplink};
    use super::*;

    fn cmd(op: Op, cmd_id: Uuid, epoch: i64) -> Command {
        Command {
            idmesin: MachineId::new(1),
            cmd_id,
            epoch,
            op,
            duration_s: 60,
            pulses: None,
            exp: T0.plus_ms(10_000),
            held_here: false,
        }
    }

    fn sim(dir: &Path) -> SimulatedDevices {
        SimulatedDevices::open(dir, (0, 0)).unwrap()
    }

    /// Folder that is removed after the test.
    struct Scratch(PathBuf);

    impl std::ops::Deref for Scratch {
        type Target = Path;
        fn deref(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn scratch() -> Scratch {
        let dir = std::env::temp_dir().join(format!("nyala-sim-{}", Uuid::new_v4()));
        std::fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }

    fn ack(cmd_id: Uuid, result: AckResult) -> DeviceEvent {
        DeviceEvent::Ack { cmd_id, result }
    }

    #[test]
    fn a_repeated_command_is_acknowledged_and_not_run_again() {
        let dir = scratch();
        let sim = sim(&dir);
        let id = Uuid::new_v4();
        assert_eq!(sim.command(&cmd(Op::Start, id, 1), T0).unwrap().events, [ack(id, AckResult::Started)]);
        let later = T0.plus_ms(5_000);
        assert_eq!(sim.command(&cmd(Op::Start, id, 1), later).unwrap().events, [ack(id, AckResult::Started)]);
        let run = Some(DeviceRun::new(id, 55_000));
        assert_eq!(
            sim.command(&cmd(Op::Query, id, 1), later).unwrap().events,
            [DeviceEvent::state(true, run), ack(id, AckResult::Started)]
        );
    }

    #[test]
    fn memory_survives_the_server() {
        let dir = scratch();
        let id = Uuid::new_v4();
        sim(&dir).command(&cmd(Op::Start, id, 1), T0);
        let again = sim(&dir);
        assert_eq!(
            again.command(&cmd(Op::Query, id, 1), T0.plus_ms(60_001)).unwrap().events.last(),
            Some(&ack(id, AckResult::Done))
        );
        again.set_mode(MachineId::new(1), Mode::Silent, T0);
        assert_eq!(sim(&dir).command(&cmd(Op::Query, id, 1), T0), None);
    }

    #[test]
    fn a_torn_line_costs_nothing_else() {
        let dir = scratch();
        let (first, second) = (Uuid::new_v4(), Uuid::new_v4());
        sim(&dir).command(&cmd(Op::Start, first, 1), T0);
        let mut journal = OpenOptions::new().append(true).open(dir.join(JOURNAL)).unwrap();
        journal.write_all(br#"{"idmesin":1,"memo"#).unwrap();
        sim(&dir).command(&cmd(Op::Start, second, 2), T0.plus_ms(1));
        let answers = |id| sim(&dir).command(&cmd(Op::Query, id, 1), T0.plus_ms(2)).unwrap().events.pop();
        assert_eq!(answers(first), Some(ack(first, AckResult::Started)));
        assert_eq!(answers(second), Some(ack(second, AckResult::Refused)));
    }

    #[test]
    fn late_stale_and_second_commands_do_not_run() {
        let dir = scratch();
        let sim = sim(&dir);
        let (first, second, stale, late) = (Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4(), Uuid::new_v4());
        sim.command(&cmd(Op::Start, first, 2), T0);
        assert_eq!(sim.command(&cmd(Op::Start, second, 3), T0).unwrap().events, [ack(second, AckResult::Refused)]);
        assert_eq!(
            sim.command(&cmd(Op::Stop, first, 2), T0.plus_ms(1)).unwrap().events.last(),
            Some(&ack(first, AckResult::Done))
        );
        assert_eq!(sim.command(&cmd(Op::Start, stale, 1), T0.plus_ms(2)).unwrap().events, [ack(stale, AckResult::Refused)]);
        assert_eq!(sim.command(&cmd(Op::Start, late, 4), T0.plus_ms(10_001)).unwrap().events, [ack(late, AckResult::Expired)]);
    }

    #[test]
    fn a_late_device_starts_at_once_and_speaks_after_nine_seconds() {
        let dir = scratch();
        let sim = sim(&dir);
        sim.set_mode(MachineId::new(1), Mode::Late, T0);
        let id = Uuid::new_v4();
        assert_eq!(sim.command(&cmd(Op::Start, id, 1), T0).unwrap().after_ms, LATE_MS);
        assert_eq!(sim.command(&cmd(Op::Query, id, 1), T0.plus_ms(4_000)).unwrap().after_ms, 5_000);
    }

    #[test]
    fn answers_come_when_they_are_due_and_a_silent_device_gives_none() {
        let dir = scratch();
        let sim = Sim::open(&dir, (0, 0)).unwrap();
        let (uplink, mut received, _) = uplink(8);
        let id = Uuid::new_v4();
        assert_eq!(sim.command(machine(1), cmd(Op::Start, id, 1)), Err(CommandDropped), "before there is a wire");
        sim.start(uplink).unwrap();
        sim.set_mode(MachineId::new(1), Mode::Silent, T0);
        sim.set_mode(MachineId::new(2), Mode::Late, T0);
        for idmesin in 1..=3 {
            sim.command(machine(idmesin), Command { idmesin: MachineId::new(idmesin), ..cmd(Op::Start, id, 1) }).unwrap();
        }
        let first = received.blocking_recv().unwrap();
        assert_eq!((first.from, first.event, first.at), (machine(3), ack(id, AckResult::Started), T0));
        // The late one's answer is not due for nine seconds.
        drop(sim);
        assert!(received.blocking_recv().is_none(), "its thread ends with it");
    }

    #[test]
    fn one_command_more_than_the_wire_holds_is_lost() {
        let dir = scratch();
        let sim = Sim::open(&dir, (0, 0)).unwrap();
        let (commands, taken) = sync_channel(2);
        assert!(sim.commands.set(commands).is_ok());
        let send = || sim.command(machine(1), cmd(Op::Query, Uuid::nil(), 0));
        assert_eq!((send(), send(), send()), (Ok(()), Ok(()), Err(CommandDropped)));
        taken.recv().unwrap();
        assert_eq!(send(), Ok(()));
    }
}
