//! The server's side: the real conversations, and the effects that they have there.

use nyala_core::domain::id::MachineId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::Start;
use nyala_core::purchase::device::{Command, DeviceEvent};
use nyala_core::purchase::step::Purchase;
use nyala_machines::device::mqtt::conversation::{ConnectionId, Conversation, DropReason, Effect, Grounds, Trouble};
use nyala_machines::device::mqtt::message::DeviceMessage;
use uuid::Uuid;

use super::super::store::{COIN_MACHINE, MachineWrite, PurchaseRow};
use super::super::world::{MACHINES, World};
use super::connection::{LATENCY_MS, Weather};
use super::{Mqtt, MqttHappens};

/// A device that returns within this time is not recorded as offline.
const BACK_WITHIN_MS: i64 = 5_000;
/// Time after the start of the process, in which the stored presence of a device counts.
pub const GRACE_MS: i64 = 15_000;
/// Interval of the record of presence.
const RECORD_MS: i64 = 200;
/// Probability that a full queue of the server drops a message or a command.
const LOST: f64 = 0.001;
/// By then the effects of a message are committed and shown.
pub(super) const SHOWN_MS: i64 = 8_000;

const STALE: &str = "stale message";

/// The process's state for one device.
#[derive(Debug, Default)]
pub struct Talk {
    pub conversation: Conversation,
    /// When the conversation checks whether the device is silent.
    alarm: Option<Timestamp>,
    pub presence: Presence,
    /// Requests that wait for the device's answer.
    pub waiting: Vec<(usize, Start)>,
    /// State of the network between them; it survives a crash of the process.
    pub weather: Weather,
    /// What the device runs, by the last accepted state report. Before the first report the machine can only guess the start time, and
    /// queries.
    runs: Option<Uuid>,
    /// When a message to the machine was last dropped in a full queue.
    pub lost_at: Option<Timestamp>,
}

/// Presence, as `machine::device::mqtt::presence` keeps it.
#[derive(Debug, Default)]
pub struct Presence {
    pub known: Option<(bool, Timestamp)>,
    stored: Option<bool>,
    due: bool,
}

const fn idmesin(machine: usize) -> MachineId {
    MachineId::new(machine as i64 + 1)
}

impl World<Mqtt> {
    // --- the process ---

    pub(super) fn talk_begins(&mut self, machine: usize, open: Option<&Purchase>) {
        let weather = self.devices.talks[machine].weather;
        let mut talk = Talk { weather, ..Talk::default() };
        let awaiting_staff = self.store.awaiting_staff(machine);
        if let Some(purchase) = open.or(awaiting_staff.as_ref()) {
            talk.conversation.recall(idmesin(machine), purchase);
        }
        self.devices.talks[machine] = talk;
        if machine == 0 {
            let incarnation = self.server.incarnation;
            self.later(GRACE_MS, MqttHappens::RecordRest { incarnation });
        }
    }

    pub(super) fn server_dies(&mut self) {
        self.hang_up_all();
    }

    // --- the conversation ---

    pub(super) fn converse(&mut self, machine: usize, what: impl FnOnce(&mut Conversation, Timestamp) -> Vec<Effect>) {
        if !self.server.up {
            return;
        }
        let effects = what(&mut self.devices.talks[machine].conversation, self.now);
        effects.into_iter().for_each(|effect| self.carry_out(machine, effect));
        self.answer_probes(machine);
        let talk = &mut self.devices.talks[machine];
        if let Some(at) = talk.conversation.silent_at().filter(|_| talk.alarm.is_none()) {
            talk.alarm = Some(at);
            let (incarnation, after_ms) = (self.server.incarnation, self.now.ms_until(at));
            self.later(after_ms, MqttHappens::Silence { incarnation, machine });
        }
    }

    pub(super) fn silence(&mut self, machine: usize) {
        self.devices.talks[machine].alarm = None;
        self.converse(machine, Conversation::wake);
    }

    fn carry_out(&mut self, machine: usize, effect: Effect) {
        let incarnation = self.server.incarnation;
        match effect {
            Effect::Notify(event, grounds) => {
                self.note_grounds(machine, &event, grounds);
                if self.troubled && self.chance(LOST) {
                    self.devices.talks[machine].lost_at = Some(self.now);
                    return self.note("message finds no room");
                }
                self.later(0, MqttHappens::Reported { incarnation, machine, event });
            }
            Effect::Presence(present) => self.note_presence(machine, present),
            Effect::Write(link, cmd) => self.transmit(machine, link, cmd),
            Effect::Close(link) => {
                self.note("closed for its silence");
                self.hang_up(link);
            }
            // No history restores the database; a device that states any epoch is played by `wild`.
            Effect::Epoch(_) => {}
            Effect::Trouble(trouble) => self.note_trouble(machine, trouble),
            Effect::Dropped(why) => self.note(match why {
                DropReason::Stale => STALE,
                DropReason::Will => "foreign will",
            }),
        }
    }

    /// Counts which kind of message decides an open purchase, if this one does.
    fn note_grounds(&mut self, machine: usize, event: &DeviceEvent, grounds: Grounds) {
        let cmd = match event {
            DeviceEvent::Ack { cmd_id, .. } => Some(*cmd_id),
            DeviceEvent::State { run, .. } => run.map(|run| run.cmd_id),
        };
        let decides = |p: &PurchaseRow| p.order.machine == machine && p.state.undecided() && Some(p.cmd_id) == cmd;
        if self.store.open().any(|(_, p)| decides(p)) {
            self.note(match grounds {
                Grounds::Ack => "decided by an ack",
                Grounds::Run => "decided by a run",
                Grounds::Last => "decided by the last command",
                Grounds::Epoch => "decided by the epoch",
                Grounds::NotWritten => "decided as never written",
            });
        }
    }

    fn note_trouble(&mut self, machine: usize, trouble: Trouble) {
        let (now, of) = (self.now, &self.devices.machines[machine]);
        let doubtful = now <= of.doubtful_until;
        let name = match trouble {
            Trouble::Clone => {
                assert!(doubtful, "it is one device");
                "clone found"
            }
            Trouble::StrangeEpoch { .. } => unreachable!("the record finds it, not the conversation"),
            Trouble::MemoryLost { .. } => {
                assert!(doubtful || of.has_forgotten, "it remembers: {trouble:?}");
                "lost memory found"
            }
            Trouble::EndedEarly { cmd_id, .. } => {
                let ended = of.runs.iter().any(|run| run.cmd_id == cmd_id && (run.forgotten || run.cut));
                assert!(ended || doubtful, "it ran to its end: {trouble:?}");
                "early end found"
            }
        };
        self.note(name);
        let after_ms = self.statement_ms();
        let closes = machine == COIN_MACHINE && !matches!(trouble, Trouble::EndedEarly { .. });
        self.later(after_ms, MqttHappens::HeldBack { machine, closes });
    }

    /// The trouble is written: its machine is closed, or waits for staff.
    pub(super) fn held_back(&mut self, machine: usize, closes: bool) {
        let was_closed = self.store.machines[machine].closed;
        self.store.set(machine, if closes { MachineWrite::Closed } else { MachineWrite::NeedsStaff });
        self.staff_come_if_closed(machine, was_closed);
    }

    /// The machine sends a command.
    pub(super) fn give(&mut self, cmd: Command) {
        if self.troubled && self.chance(LOST) {
            return self.note("command finds no room");
        }
        let incarnation = self.server.incarnation;
        self.later(0, MqttHappens::Send { incarnation, cmd });
    }

    pub(super) fn send_command(&mut self, cmd: &Command) {
        let machine = usize::try_from(cmd.idmesin.get()).unwrap() - 1;
        self.converse(machine, |talk, now| talk.send(cmd, cmd.held_here, now));
    }

    /// The server receives a device's message.
    pub(super) fn server_receives_message(
        &mut self,
        machine: usize,
        from: ConnectionId,
        message: &DeviceMessage,
        sent_at: Timestamp,
    ) {
        let stale = self.seen.get(STALE).copied();
        self.converse(machine, |talk, now| talk.on_message(from, message, now));
        let talk = &mut self.devices.talks[machine];
        if let DeviceMessage::State(state) = message
            && self.seen.get(STALE).copied() == stale
        {
            talk.runs = state.run.map(|run| run.cmd_id);
        }
        if machine == COIN_MACHINE && self.seen.get(STALE).copied() == stale {
            self.record_board(message);
        }
        let talk = &self.devices.talks[machine];
        let quick =
            sent_at.ms_until(self.now) <= LATENCY_MS && matches!(message, DeviceMessage::Heartbeat(_) | DeviceMessage::State(_));
        if let Some(cmd_id) = talk.runs.filter(|_| quick && self.server.up) {
            let incarnation = self.server.incarnation;
            self.later(SHOWN_MS, MqttHappens::Countdown { incarnation, machine, cmd_id });
        }
    }

    // --- the record of a board ---

    /// Records what the coin machine's board can do and has counted.
    fn record_board(&mut self, message: &DeviceMessage) {
        if let DeviceMessage::State(state) = message {
            let pulse = state.can.iter().any(|can| can == "pulse");
            let after_ms = self.statement_ms();
            self.later(after_ms, MqttHappens::Able { pulse });
        }
        let now = self.now;
        self.devices.washer.coins.hear(message, now);
    }

    // --- the record of presence ---

    fn note_presence(&mut self, machine: usize, present: bool) {
        let (incarnation, now) = (self.server.incarnation, self.now);
        let presence = &mut self.devices.talks[machine].presence;
        if presence.known.is_none_or(|(known, _)| known != present) {
            presence.known = Some((present, now));
        }
        presence.due = presence.stored != Some(present);
        if presence.due {
            let after_ms = self.up_to(RECORD_MS) + if present { 0 } else { BACK_WITHIN_MS };
            self.later(after_ms, MqttHappens::Presence { incarnation, machine });
        }
    }

    pub(super) fn record_presence(&mut self, machine: usize) {
        let fails = self.troubled && self.chance(0.01);
        let (incarnation, now) = (self.server.incarnation, self.now);
        let presence = &mut self.devices.talks[machine].presence;
        let Some((present, since)) = presence.known.filter(|_| presence.due) else { return };
        if !present && since.ms_until(now) < BACK_WITHIN_MS {
            return;
        }
        if fails {
            return self.later(RECORD_MS, MqttHappens::Presence { incarnation, machine });
        }
        (presence.stored, presence.due) = (Some(present), false);
        self.store.set(machine, MachineWrite::Online(present));
    }

    pub(super) fn record_rest(&mut self) {
        for machine in 0..MACHINES {
            if self.store.machines[machine].online && self.devices.talks[machine].presence.known.is_none() {
                self.store.set(machine, MachineWrite::Online(false));
            }
        }
    }
}
