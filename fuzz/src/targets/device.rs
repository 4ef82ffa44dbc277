//! A device over MQTT: what it publishes, read (`DeviceMessage::parse`), and the conversation behind it. An input is a history: connections,
//! messages, commands, scans and the time that passes, a byte for each and the bytes that it takes.

use nyala_core::domain::id::{MachineId, PurchaseId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::device::{AckResult, Command, DeviceEvent, Op};
use nyala_core::purchase::step::{self, StartCommand};
use nyala_core::purchase::times::CMD_TTL_MS;
use nyala_machines::device::mqtt::conversation::{ConnectionId, Conversation, Effect, Grounds, ProbeStep};
use nyala_machines::device::mqtt::message::{
    Ack, BootId, DeviceMessage, Heartbeat, Last, MAX_MESSAGE_BYTES, Run, Stamp, State, Topic, Why,
};
use uuid::Uuid;

use actix_socketio_fuzz::harness::{kind_and_rest, of_kind};

const T0: Timestamp = Timestamp::from_ms(1_795_000_000_000);
/// Connections of a device that may have subscribed to its commands.
const LINKS: usize = 4;
/// What one thing that happens may bring about.
const MAX_EFFECTS: usize = 8;
/// The first byte of a payload that is only read.
const PAYLOAD: u8 = 0;

pub fn run(bytes: &[u8]) {
    match kind_and_rest(bytes) {
        (PAYLOAD, payload) => read(payload),
        (_, history) => {
            let mut notified = Notified::new();
            let mut bytes = Bytes(history);
            while !bytes.0.is_empty() {
                notified.happens(&mut bytes);
            }
        }
    }
}

/// Any bytes: what is read of them is within its limits.
fn read(payload: &[u8]) {
    for topic in Topic::ALL {
        if let Ok(device_message) = DeviceMessage::parse(topic, payload) {
            check(&device_message, payload);
        }
    }
}

fn check(device_message: &DeviceMessage, payload: &[u8]) {
    assert!(payload.len() <= MAX_MESSAGE_BYTES);
    let Stamp { boot_id, up_ms, .. } = device_message.stamp();
    assert!(up_ms.is_none_or(|ms| ms >= 0));
    assert!(!matches!(boot_id, Some(BootId::Text(text)) if text.len() > 40));
    if let DeviceMessage::State(State { run, fw, hw, epoch, .. }) = device_message {
        assert!(run.is_none_or(|run| (0..=86_400).contains(&run.left_s)) && epoch.is_none_or(|epoch| epoch >= 0));
        let shown = |text: &String| text.chars().count() <= 32 && !text.contains(char::is_control);
        assert!([fw, hw].into_iter().flatten().all(shown));
    }
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> u8 {
        let (byte, rest) = kind_and_rest(self.0);
        self.0 = rest;
        byte
    }

    fn take(&mut self) -> &'a [u8] {
        let n = usize::from(self.byte()).min(self.0.len());
        let (taken, rest) = self.0.split_at(n);
        self.0 = rest;
        taken
    }

    /// A number of any size, small ones mostly.
    fn number(&mut self) -> i64 {
        match self.byte() {
            n @ 0..=199 => n.into(),
            n @ 200..=231 => 1_i64 << (n - 200) << self.byte().min(31),
            n => i64::MAX - i64::from(n - 232),
        }
    }

    fn some<T>(&mut self, of: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (!self.byte().is_multiple_of(8)).then(|| of(self))
    }
}

/// A conversation, and what must come of it.
struct Notified {
    talk: Conversation,
    now: Timestamp,
    connections: Vec<u64>,
    /// The reported presence.
    present: Option<bool>,
    /// Purchases whose starts were written, and those reported as never written.
    written: Vec<Uuid>,
    void: Vec<Uuid>,
    /// The ends of the starts of all purchases so far.
    exp: Vec<Timestamp>,
}

fn id(n: u8) -> Uuid {
    Uuid::from_u128(n.into())
}

impl Notified {
    fn new() -> Self {
        let talk = Conversation::default();
        let (connections, written, void, exp) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { talk, now: T0, connections, present: None, written, void, exp }
    }

    fn happens(&mut self, bytes: &mut Bytes<'_>) {
        let effects = match bytes.byte() % 16 {
            0 => return self.now = self.now.plus_ms(i64::from(bytes.byte())),
            1 => return self.now = self.now.plus_ms(i64::from(bytes.byte()) * 250),
            2 => return self.now = self.now.plus_ms(i64::from(bytes.byte()) * 60_000),
            3 | 4 => self.connects(bytes.byte()),
            5 => self.disconnects(bytes.byte()),
            6 => self.talk.on_packet(ConnectionId(bytes.byte().into()), self.now),
            7 => {
                let (from, topic) = (bytes.byte(), Topic::ALL[usize::from(bytes.byte()) % Topic::ALL.len()]);
                let payload = bytes.take();
                let Ok(device_message) = DeviceMessage::parse(topic, payload) else { return };
                check(&device_message, payload);
                self.talk.on_message(ConnectionId(from.into()), &device_message, self.now)
            }
            8..=11 => {
                let (from, message) = (bytes.byte(), message(bytes));
                self.talk.on_message(ConnectionId(from.into()), &message, self.now)
            }
            12 => self.wakes(),
            13 => self.probes(),
            14 => self.begins(bytes.byte()),
            _ => self.says(bytes),
        };
        self.check(&effects);
    }

    fn connects(&mut self, connection: u8) -> Vec<Effect> {
        let connection = u64::from(connection);
        if !self.connections.contains(&connection) {
            self.connections.push(connection);
            self.connections.sort_unstable();
        }
        if self.connections.len() > LINKS {
            self.connections.remove(0);
        }
        self.talk.on_subscribed(ConnectionId(connection), self.now)
    }

    fn disconnects(&mut self, connection: u8) -> Vec<Effect> {
        self.connections.retain(|known| *known != u64::from(connection));
        self.talk.on_closed(ConnectionId(connection.into()), self.now)
    }

    fn wakes(&mut self) -> Vec<Effect> {
        let due = self.talk.silent_at().is_some_and(|at| at <= self.now);
        let effects = self.talk.wake(self.now);
        assert_eq!(due, !effects.is_empty(), "{effects:?}");
        assert!(self.talk.silent_at().is_none_or(|at| at > self.now), "it would be woken again and again");
        effects
    }

    fn probes(&mut self) -> Vec<Effect> {
        match self.talk.probe(self.now) {
            ProbeStep::Ask(connection, cmd) => {
                assert!(self.talk.is_asked(self.now) && self.talk.is_present());
                vec![Effect::Write(connection, cmd)]
            }
            ProbeStep::Asked => {
                assert!(self.talk.is_asked(self.now));
                vec![]
            }
            ProbeStep::Fresh => vec![],
            ProbeStep::Offline => {
                assert!(!self.talk.is_present() || self.connections.is_empty());
                vec![]
            }
        }
    }

    /// One of the `n`th purchase's, or of none.
    fn command(&self, op: Op, n: usize) -> Command {
        let exp = n.checked_sub(1).and_then(|at| self.exp.get(at)).copied().unwrap_or(self.now);
        let (cmd_id, epoch) = (Uuid::from_u128(n as u128), i64::try_from(n).unwrap_or_default());
        Command { idmesin: MachineId::new(1), cmd_id, epoch, op, duration_s: 600, pulses: None, exp, held_here: true }
    }

    /// A new purchase, with a higher epoch than any before.
    fn begins(&mut self, within: u8) -> Vec<Effect> {
        self.exp.push(self.now.plus_ms(i64::from(within) * 100));
        let start = self.command(Op::Start, self.exp.len());
        self.talk.send(&start, true, self.now)
    }

    fn says(&mut self, bytes: &mut Bytes<'_>) -> Vec<Effect> {
        let n = usize::from(bytes.byte()).min(self.exp.len());
        match bytes.byte() % 4 {
            0 => self.talk.send(&self.command(Op::Stop, n), false, self.now),
            1 => self.talk.send(&self.command(Op::Query, n), false, self.now),
            2 => self.talk.send(&self.command(Op::Start, n), false, self.now),
            _ => {
                let Command { cmd_id, epoch, exp, .. } = self.command(Op::Query, n);
                let created_at = exp.plus_ms(-CMD_TTL_MS);
                let command = StartCommand { cmd_id, epoch, duration_s: 600, pulses: None };
                self.talk.recall(MachineId::new(1), &step::first(PurchaseId::new(1), command, created_at, created_at));
                vec![]
            }
        }
    }

    fn check(&mut self, effects: &[Effect]) {
        assert!(effects.len() <= MAX_EFFECTS, "{effects:?}");
        for effect in effects {
            match effect {
                Effect::Write(connection, cmd) => {
                    assert_eq!(self.connections.last(), Some(&connection.0), "sent on the newest connection");
                    assert_eq!(cmd.now_ms, self.now.ms());
                    assert!(cmd.json().len() < MAX_MESSAGE_BYTES);
                    if cmd.op == Op::Start {
                        assert!(!self.void.contains(&cmd.cmd_id), "it was told never to run");
                        self.written.push(cmd.cmd_id);
                    }
                }
                Effect::Close(connection) => {
                    assert_eq!(self.connections.pop(), Some(connection.0));
                }
                Effect::Presence(present) => {
                    assert_ne!(self.present, Some(*present), "it is told once");
                    self.present = Some(*present);
                }
                Effect::Notify(DeviceEvent::Ack { cmd_id, .. }, Grounds::NotWritten) => {
                    assert!(!self.written.contains(cmd_id), "it may run");
                    self.void.push(*cmd_id);
                }
                Effect::Notify(DeviceEvent::State { run: Some(run), .. }, _) => {
                    assert!((0..=2 * 86_400_000).contains(&run.left_ms), "{run:?}");
                }
                Effect::Notify(..) | Effect::Epoch(_) | Effect::Trouble(_) | Effect::Dropped(_) => {}
            }
        }
        let present = self.present == Some(true);
        assert_eq!(present, self.talk.is_present());
        assert_eq!(present, self.talk.silent_at().is_some());
    }
}

fn message(bytes: &mut Bytes<'_>) -> DeviceMessage {
    let stamp = Stamp {
        boot_id: bytes.some(|bytes| BootId::Number(bytes.byte().min(4).into())),
        conn: bytes.some(|bytes| bytes.number().unsigned_abs()),
        seq: bytes.some(|bytes| bytes.number().unsigned_abs()),
        up_ms: bytes.some(Bytes::number),
    };
    let result = [AckResult::Started, AckResult::Refused, AckResult::Expired, AckResult::Done][usize::from(bytes.byte() % 4)];
    let why = (result == AckResult::Refused && bytes.byte().is_multiple_of(2)).then_some(Why::Cut);
    match bytes.byte() % 8 {
        0 => DeviceMessage::Gone(stamp),
        1 => DeviceMessage::Heartbeat(Heartbeat { stamp, ..Heartbeat::default() }),
        2 | 3 => DeviceMessage::Ack(Ack { stamp, cmd_id: id(bytes.byte()), epoch: None, result, why }),
        _ => DeviceMessage::State(State {
            stamp,
            epoch: bytes.some(Bytes::number),
            last: bytes.some(|bytes| Last { cmd_id: id(bytes.byte()), result, why }),
            run: bytes.some(|bytes| Run {
                cmd_id: id(bytes.byte()),
                left_s: bytes.number().min(86_400),
                added_s: i64::from(bytes.byte()),
            }),
            sense: bytes.some(|bytes| bytes.byte().is_multiple_of(2)),
            ..State::default()
        }),
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let id = id(1);
    let state = format!(
        r#"{{"online":true,"boot_id":7,"conn":1,"seq":1,"up_ms":9000,"epoch":1,"last":{{"cmd_id":"{id}","result":"done"}},"run":null,"fw":"1"}}"#
    );
    let ack = format!(r#"{{"cmd_id":"{id}","epoch":1,"result":"started","boot_id":"a1","conn":1,"seq":2,"up_ms":9100}}"#);
    let hb = r#"{"boot_id":7,"conn":1,"seq":3,"up_ms":39000,"rssi":-61}"#;
    let will = r#"{"online":false,"boot_id":7,"conn":1}"#;
    let sent = |topic: u8, text: &str| [&[7, 1, topic, u8::try_from(text.len()).unwrap_or(u8::MAX)], text.as_bytes()].concat();
    let running = r#"{"online":true,"boot_id":7,"up_ms":12000,"epoch":1,"run":{"cmd_id":"00000000-0000-0000-0000-000000000001","sisa_s":598}}"#;
    // A connection, its first state, a start, its ack, a minute, the end, and a scan in between.
    let wash = [
        &[3, 1][..],
        &sent(1, &state),
        &[14, 100, 1, 4],
        &sent(0, &ack),
        &sent(1, running),
        &[2, 1, 13, 13],
        &sent(2, hb),
        &sent(1, &state),
        &[15, 1, 1, 15, 1, 0, 3, 2],
        &sent(1, &will.replace("7", "8")),
        &[5, 1, 1, 255, 12, 5, 2, 12],
    ]
    .concat();
    let payloads = [&*state, &*ack, hb, will].map(|text| of_kind(PAYLOAD, text.as_bytes()));
    payloads.into_iter().chain([of_kind(1, &wash)]).collect()
}
