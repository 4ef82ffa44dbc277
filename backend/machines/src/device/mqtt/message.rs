//! Messages of devices as JSON (docs/contract.md §6), read and written on both sides. Fields that the contract's
//! first version does not have may be absent, and unknown fields are ignored. Everything else must be within its limits, or the message
//! is rejected with a reason.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use nyala_core::domain::whole::Whole;
use nyala_core::purchase::device::AckResult;

/// Greatest size of a message in bytes, and of the packet that contains it.
pub const MAX_MESSAGE_BYTES: usize = 512;
/// Length of a `boot_id` that is text: a UUID with some room.
const BOOT_ID_BYTES: usize = 40;
/// Length to which `fw` and `hw` are cut; only people read them.
const VERSION_CHARS: usize = 32;
/// Abilities of which a state report is read.
const MAX_ABILITIES: usize = 8;
/// Longest run that is accepted.
pub(super) const MAX_RUN_S: i64 = 86_400;
/// By how many seconds a sensor may move the end of a run in all.
const MAX_ADDED_S: i64 = 3_600;
/// A board counts coins in 32 bits.
const MAX_COINS: i64 = 0xFFFF_FFFF;

/// Topics that a device publishes, by their last part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topic {
    Ack,
    State,
    Hb,
}

impl Topic {
    pub const ALL: [Self; 3] = [Self::Ack, Self::State, Self::Hb];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ack => "ack",
            Self::State => "state",
            Self::Hb => "hb",
        }
    }

    /// Returns `None` for a topic that devices do not publish.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.as_str() == text)
    }
}

/// Message from a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceMessage {
    Ack(Ack),
    State(State),
    /// A state report with `online: false`: a last will, or a farewell.
    Gone(Stamp),
    Heartbeat(Heartbeat),
}

/// Position of a message among the others of its device, as far as the device reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamp {
    pub boot_id: Option<BootId>,
    pub conn: Option<u64>,
    pub seq: Option<u64>,
    /// Milliseconds since the device's boot.
    pub up_ms: Option<i64>,
}

/// Identifier of a boot, different for each; it carries no order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "boot_id is a whole number or text")]
pub enum BootId {
    Number(i64),
    Text(Box<str>),
}

impl BootId {
    /// Number that identifies the boot.
    pub fn key(&self) -> i64 {
        match self {
            Self::Number(n) => *n,
            // FNV-1a gives the same number in every version of the server.
            Self::Text(text) => text
                .bytes()
                .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
                .cast_signed(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    pub stamp: Stamp,
    pub cmd_id: Uuid,
    /// Epoch of the command; nothing depends on it.
    pub epoch: Option<i64>,
    pub result: AckResult,
    pub why: Option<Why>,
}

/// The outcome of a command: a result, and why it is so.
const fn outcome(result: AckResult, why: Option<Why>) -> AckResult {
    match (result, why) {
        (AckResult::Refused, Some(Why::Cut)) => AckResult::Cut,
        _ => result,
    }
}

impl Ack {
    pub const fn outcome(&self) -> AckResult {
        outcome(self.result, self.why)
    }
}

impl Last {
    pub const fn outcome(&self) -> AckResult {
        outcome(self.result, self.why)
    }
}

/// Why a command was refused, where the device says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// The power was lost in its pulses.
    Cut,
    /// A reason that this server does not know.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub stamp: Stamp,
    /// The highest epoch that the device has seen.
    pub epoch: Option<i64>,
    /// Result of the last command that the device remembers.
    pub last: Option<Last>,
    pub run: Option<Run>,
    pub fw: Option<String>,
    pub hw: Option<String>,
    /// What it can besides closing a relay, as it says: `pulse`, `sense`, `coin`.
    pub can: Vec<String>,
    /// Whether the machine runs, by the board's sensor.
    pub sense: Option<bool>,
    /// Coins that the board has counted since it was new.
    pub coins: Option<i64>,
    pub reset: Option<Reset>,
}

/// Why a device booted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reset {
    Power,
    Brownout,
    Watchdog,
    Panic,
    /// Another reason, or one that this server does not know.
    #[serde(other)]
    Other,
}

impl Reset {
    /// As it is stored, and shown by the board.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::Brownout => "brownout",
            Self::Watchdog => "watchdog",
            Self::Panic => "panic",
            Self::Other => "other",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    pub cmd_id: Uuid,
    #[serde(with = "ResultName")]
    pub result: AckResult,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub cmd_id: Uuid,
    pub left_s: i64,
    /// By how many seconds the sensor has moved the end to a later time.
    pub added_s: i64,
}

impl Run {
    pub fn left_ms(self) -> i64 {
        self.left_s * 1000
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heartbeat {
    pub stamp: Stamp,
    pub rssi: Option<i64>,
    pub sense: Option<bool>,
    pub coins: Option<i64>,
}

/// Reason why a message or a command is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMessage {
    #[error("{0} bytes are more than {MAX_MESSAGE_BYTES}")]
    TooLong(usize),
    #[error("{topic}: {why}", topic = .0.as_str(), why = .1)]
    Malformed(Topic, String),
    #[error("cmd: {0}")]
    MalformedCmd(String),
    #[error("{0} is {1}, which is not from 0 to {2}")]
    OutOfRange(&'static str, i64, i64),
    #[error("boot_id has {0} bytes, more than {BOOT_ID_BYTES}")]
    BootId(usize),
}

impl DeviceMessage {
    /// Parses a message that was published on `topic`.
    ///
    /// # Errors
    /// When it is not a valid message for that topic; the device's maker reads the error.
    pub fn parse(topic: Topic, payload: &[u8]) -> Result<Self, InvalidMessage> {
        if payload.len() > MAX_MESSAGE_BYTES {
            return Err(InvalidMessage::TooLong(payload.len()));
        }
        let malformed = |e: serde_json::Error| InvalidMessage::Malformed(topic, e.to_string());
        Ok(match topic {
            Topic::Ack => {
                let Raw { stamp, rest: RawAck { cmd_id, epoch, result, why } } =
                    serde_json::from_slice(payload).map_err(malformed)?;
                Self::Ack(Ack { stamp: stamp.check()?, cmd_id, epoch: within("epoch", epoch, i64::MAX)?, result, why })
            }
            Topic::State => {
                let Raw::<RawState> { stamp, rest } = serde_json::from_slice(payload).map_err(malformed)?;
                let stamp = stamp.check()?;
                if rest.online { Self::State(rest.check(stamp)?) } else { Self::Gone(stamp) }
            }
            Topic::Hb => {
                let Raw { stamp, rest: RawHeartbeat { rssi, sense, coins } } =
                    serde_json::from_slice(payload).map_err(malformed)?;
                let (stamp, coins) = (stamp.check()?, within("coins", coins, MAX_COINS)?);
                Self::Heartbeat(Heartbeat { stamp, rssi: rssi.map(Whole::get), sense, coins })
            }
        })
    }

    /// Topic on which the message is published.
    pub fn topic(&self) -> Topic {
        match self {
            Self::Ack(_) => Topic::Ack,
            Self::State(_) | Self::Gone(_) => Topic::State,
            Self::Heartbeat(_) => Topic::Hb,
        }
    }

    /// Bytes to publish.
    pub fn json(&self) -> Vec<u8> {
        match self {
            Self::Ack(Ack { cmd_id, epoch, result, why, .. }) => {
                self.write(RawAck { cmd_id: *cmd_id, epoch: epoch.map(Whole::from), result: *result, why: *why })
            }
            Self::State(State { epoch, last, run, fw, hw, can, sense, coins, reset, .. }) => {
                let run = run.map(|Run { cmd_id, left_s, added_s }| RawRun {
                    cmd_id,
                    sisa_s: left_s.into(),
                    tambah_s: (added_s > 0).then(|| added_s.into()),
                });
                let (epoch, coins) = (epoch.map(Whole::from), coins.map(Whole::from));
                let (fw, hw, can) = (fw.clone(), hw.clone(), can.clone());
                self.write(RawState { online: true, epoch, last: *last, run, fw, hw, can, sense: *sense, coins, reset: *reset })
            }
            Self::Gone(_) => self.write(RawGone { online: false }),
            Self::Heartbeat(Heartbeat { rssi, sense, coins, .. }) => {
                self.write(RawHeartbeat { rssi: rssi.map(Whole::from), sense: *sense, coins: coins.map(Whole::from) })
            }
        }
    }

    fn write(&self, rest: impl Serialize) -> Vec<u8> {
        // Objects of numbers, names and text cannot fail to serialize.
        serde_json::to_vec(&Raw { stamp: RawStamp::from(self.stamp()), rest }).unwrap_or_default()
    }

    pub fn stamp(&self) -> &Stamp {
        match self {
            Self::Ack(Ack { stamp, .. })
            | Self::State(State { stamp, .. })
            | Self::Gone(stamp)
            | Self::Heartbeat(Heartbeat { stamp, .. }) => stamp,
        }
    }
}

/// Every message is an object with the fields of a stamp beside its own.
#[derive(Serialize, Deserialize)]
struct Raw<T> {
    #[serde(flatten)]
    stamp: RawStamp,
    #[serde(flatten)]
    rest: T,
}

#[derive(Serialize, Deserialize)]
struct RawStamp {
    #[serde(skip_serializing_if = "Option::is_none")]
    boot_id: Option<BootId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conn: Option<Whole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<Whole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    up_ms: Option<Whole>,
}

#[derive(Serialize, Deserialize)]
struct RawAck {
    cmd_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<Whole>,
    #[serde(with = "ResultName")]
    result: AckResult,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
}

#[derive(Serialize, Deserialize)]
struct RawState {
    online: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<Whole>,
    last: Option<Last>,
    run: Option<RawRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hw: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    can: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sense: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coins: Option<Whole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reset: Option<Reset>,
}

#[derive(Serialize)]
struct RawGone {
    online: bool,
}

#[derive(Serialize, Deserialize)]
struct RawRun {
    cmd_id: Uuid,
    sisa_s: Whole,
    #[serde(skip_serializing_if = "Option::is_none")]
    tambah_s: Option<Whole>,
}

#[derive(Serialize, Deserialize)]
struct RawHeartbeat {
    #[serde(skip_serializing_if = "Option::is_none")]
    rssi: Option<Whole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sense: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coins: Option<Whole>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "AckResult", rename_all = "lowercase")]
enum ResultName {
    Started,
    Refused,
    /// `refused` with `why` on the wire ([`Ack::outcome`]).
    #[serde(skip)]
    Cut,
    Expired,
    Done,
}

impl RawStamp {
    fn check(self) -> Result<Stamp, InvalidMessage> {
        if let Some(BootId::Text(text)) = &self.boot_id
            && text.len() > BOOT_ID_BYTES
        {
            return Err(InvalidMessage::BootId(text.len()));
        }
        let count = |field, n: Option<Whole>| Ok(within(field, n, i64::MAX)?.map(i64::cast_unsigned));
        let (conn, seq) = (count("conn", self.conn)?, count("seq", self.seq)?);
        Ok(Stamp { boot_id: self.boot_id, conn, seq, up_ms: within("up_ms", self.up_ms, i64::MAX)? })
    }
}

impl From<&Stamp> for RawStamp {
    fn from(stamp: &Stamp) -> Self {
        let count = |n: Option<u64>| n.map(|n| Whole::from(i64::try_from(n).unwrap_or(i64::MAX)));
        let (conn, seq, up_ms) = (count(stamp.conn), count(stamp.seq), stamp.up_ms.map(Whole::from));
        Self { boot_id: stamp.boot_id.clone(), conn, seq, up_ms }
    }
}

impl RawState {
    fn check(self, stamp: Stamp) -> Result<State, InvalidMessage> {
        let run = match self.run {
            Some(RawRun { cmd_id, sisa_s, tambah_s }) => {
                let added_s = within("tambah_s", tambah_s, MAX_ADDED_S)?.unwrap_or(0);
                within("sisa_s", Some(sisa_s), MAX_RUN_S)?.map(|left_s| Run { cmd_id, left_s, added_s })
            }
            None => None,
        };
        let (epoch, coins) = (within("epoch", self.epoch, i64::MAX)?, within("coins", self.coins, MAX_COINS)?);
        let can = self.can.into_iter().take(MAX_ABILITIES).map(readable).collect();
        let (fw, hw) = (self.fw.map(readable), self.hw.map(readable));
        Ok(State { stamp, epoch, last: self.last, run, fw, hw, can, sense: self.sense, coins, reset: self.reset })
    }
}

pub(super) fn within(field: &'static str, n: Option<Whole>, max: i64) -> Result<Option<i64>, InvalidMessage> {
    match n.map(Whole::get) {
        Some(n) if !(0..=max).contains(&n) => Err(InvalidMessage::OutOfRange(field, n, max)),
        n => Ok(n),
    }
}

/// Cuts a version to the length that fits, and removes characters that would spoil a list or a log.
fn readable(text: String) -> String {
    text.chars().filter(|c| !c.is_control()).take(VERSION_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "6f1d6c1e-0000-4000-8000-000000000001";

    fn id() -> Uuid {
        ID.parse().unwrap()
    }

    fn stamp() -> Stamp {
        Stamp { boot_id: Some(BootId::Number(7)), conn: Some(2), seq: Some(9), up_ms: Some(5_000_000_000) }
    }

    /// `ID` takes the place of `$`.
    fn parse(topic: Topic, text: &str) -> Result<DeviceMessage, InvalidMessage> {
        DeviceMessage::parse(topic, text.replace('$', ID).as_bytes())
    }

    #[test]
    fn complete_messages_are_parsed() {
        let ack =
            parse(Topic::Ack, r#"{"cmd_id":"$","epoch":4,"result":"started","boot_id":7,"conn":2,"seq":9,"up_ms":5000000000}"#);
        assert_eq!(
            ack,
            Ok(DeviceMessage::Ack(Ack { stamp: stamp(), cmd_id: id(), epoch: Some(4), result: AckResult::Started, why: None }))
        );
        let state = r#"{"online":true,"boot_id":7,"conn":2,"seq":9,"up_ms":5000000000,"epoch":4,"last":{"cmd_id":"$","result":"done"},
            "run":{"cmd_id":"$","sisa_s":59,"tambah_s":60},"fw":"1.2","hw":"esp32","can":["pulse"],"sense":true,"coins":4294967295,
            "reset":"brownout"}"#;
        let expected = State {
            stamp: stamp(),
            epoch: Some(4),
            last: Some(Last { cmd_id: id(), result: AckResult::Done, why: None }),
            run: Some(Run { cmd_id: id(), left_s: 59, added_s: 60 }),
            fw: Some("1.2".to_owned()),
            hw: Some("esp32".to_owned()),
            can: vec!["pulse".to_owned()],
            sense: Some(true),
            coins: Some(MAX_COINS),
            reset: Some(Reset::Brownout),
        };
        assert_eq!(parse(Topic::State, state), Ok(DeviceMessage::State(expected)));
        let heartbeat =
            parse(Topic::Hb, r#"{"boot_id":7,"conn":2,"seq":9,"up_ms":5000000000,"rssi":-61,"sense":false,"coins":3}"#);
        let expected = Heartbeat { stamp: stamp(), rssi: Some(-61), sense: Some(false), coins: Some(3) };
        assert_eq!(heartbeat, Ok(DeviceMessage::Heartbeat(expected)));
        let will = parse(Topic::State, r#"{"online":false,"boot_id":7,"conn":2}"#);
        assert_eq!(will, Ok(DeviceMessage::Gone(Stamp { seq: None, up_ms: None, ..stamp() })));
    }

    #[test]
    fn optional_fields_may_be_absent_and_unknown_ones_present() {
        for text in [r#"{"online":true}"#, r#"{"online":true,"run":null,"last":null,"conn":null,"colour":{"deep":[1,2]}}"#] {
            assert_eq!(parse(Topic::State, text), Ok(DeviceMessage::State(State::default())), "{text}");
        }
        assert_eq!(parse(Topic::Hb, "{}"), Ok(DeviceMessage::Heartbeat(Heartbeat::default())));
        for (why, expected) in [("power", Reset::Power), ("sun", Reset::Other)] {
            let state = parse(Topic::State, &format!(r#"{{"online":true,"reset":"{why}"}}"#));
            assert!(matches!(state, Ok(DeviceMessage::State(State { reset, .. })) if reset == Some(expected)), "{state:?}");
        }
        for (why, expected) in [("cut", Why::Cut), ("tired", Why::Unknown)] {
            let ack = parse(Topic::Ack, &format!(r#"{{"cmd_id":"$","result":"refused","why":"{why}"}}"#));
            assert!(matches!(ack, Ok(DeviceMessage::Ack(Ack { why: Some(why), .. })) if why == expected), "{ack:?}");
        }
        let ack = parse(Topic::Ack, r#"{"cmd_id":"$","result":"expired"}"#);
        assert_eq!(
            ack,
            Ok(DeviceMessage::Ack(Ack {
                stamp: Stamp::default(),
                cmd_id: id(),
                epoch: None,
                result: AckResult::Expired,
                why: None
            }))
        );
        let Ok(DeviceMessage::Heartbeat(heartbeat)) = parse(Topic::Hb, r#"{"boot_id":"a1-b2","seq":3.0}"#) else {
            panic!("a word")
        };
        assert_eq!((heartbeat.stamp.boot_id, heartbeat.stamp.seq), (Some(BootId::Text("a1-b2".into())), Some(3)));
    }

    #[test]
    fn versions_are_cut_to_what_can_be_shown() {
        let text = format!(r#"{{"online":true,"fw":"1\u001b[2J{}"}}"#, "9".repeat(90));
        let Ok(DeviceMessage::State(State { fw: Some(fw), .. })) = parse(Topic::State, &text) else { panic!("a state") };
        assert_eq!(fw, format!("1[2J{}", "9".repeat(28)));
    }

    #[test]
    fn an_invalid_message_is_rejected_with_a_reason() {
        let long = format!(r#"{{"online":true,"x":"{}"}}"#, "y".repeat(512));
        let boot = format!(r#"{{"boot_id":"{}"}}"#, "b".repeat(41));
        for (topic, text, why) in [
            (Topic::State, "", "state: EOF while parsing"),
            (Topic::State, "[]", "state: invalid type"),
            (Topic::State, "{}", "state: missing field `online`"),
            (Topic::State, r#"{"online":"ja"}"#, "state: invalid type: string \"ja\", expected a boolean"),
            (Topic::State, r#"{"online":true} {}"#, "state: trailing characters"),
            (Topic::State, r#"{"online":true,"run":{"cmd_id":"$"}}"#, "state: missing field `sisa_s`"),
            (
                Topic::State,
                r#"{"online":true,"run":{"cmd_id":"$","sisa_s":86401}}"#,
                "sisa_s is 86401, which is not from 0 to 86400",
            ),
            (Topic::State, r#"{"online":true,"run":{"cmd_id":"$","sisa_s":-1}}"#, "sisa_s is -1, which is not from 0 to 86400"),
            (Topic::State, r#"{"online":true,"last":{"cmd_id":"$","result":"ok"}}"#, "state: unknown variant `ok`"),
            (
                Topic::State,
                r#"{"online":true,"run":{"cmd_id":"$","sisa_s":1,"tambah_s":3601}}"#,
                "tambah_s is 3601, which is not from 0 to 3600",
            ),
            (Topic::State, r#"{"online":true,"coins":4294967296}"#, "coins is 4294967296, which is not from 0 to 4294967295"),
            (Topic::Hb, r#"{"coins":-1}"#, "coins is -1"),
            (Topic::Hb, r#"{"sense":1}"#, "hb: invalid type: integer `1`, expected a boolean"),
            (Topic::State, r#"{"online":true,"epoch":-3}"#, "epoch is -3"),
            (Topic::State, &long, "534 bytes are more than 512"),
            (Topic::Ack, r#"{"result":"done"}"#, "ack: missing field `cmd_id`"),
            (Topic::Ack, r#"{"cmd_id":"7","result":"done"}"#, "ack: "),
            (Topic::Hb, r#"{"conn":1.5}"#, "hb: "),
            (Topic::Hb, r#"{"up_ms":-1}"#, "up_ms is -1"),
            (Topic::Hb, r#"{"boot_id":[1]}"#, "hb: boot_id is a whole number or text"),
            (Topic::Hb, &boot, "boot_id has 41 bytes, more than 40"),
        ] {
            let expected = parse(topic, text).unwrap_err().to_string();
            assert!(expected.starts_with(why), "{text}: {expected}");
        }
        assert!(DeviceMessage::parse(Topic::Hb, b"{\"boot_id\":\"\xff\"}").is_err());
    }

    #[test]
    fn a_message_is_written_as_the_contract_shows_it() {
        let text = |message: &DeviceMessage| String::from_utf8(message.json()).unwrap().replace(ID, "$");
        let at = r#""boot_id":7,"conn":2,"seq":9,"up_ms":5000000000"#;
        let ack = DeviceMessage::Ack(Ack { stamp: stamp(), cmd_id: id(), epoch: Some(4), result: AckResult::Started, why: None });
        assert_eq!(text(&ack), format!(r#"{{{at},"cmd_id":"$","epoch":4,"result":"started"}}"#));
        let idle = DeviceMessage::State(State { stamp: stamp(), epoch: Some(0), ..State::default() });
        assert_eq!(text(&idle), format!(r#"{{{at},"online":true,"epoch":0,"last":null,"run":null}}"#));
        let will = DeviceMessage::Gone(Stamp { seq: None, up_ms: None, ..stamp() });
        assert_eq!(text(&will), r#"{"boot_id":7,"conn":2,"online":false}"#);
        let heartbeat = DeviceMessage::Heartbeat(Heartbeat { stamp: stamp(), rssi: Some(-61), ..Heartbeat::default() });
        assert_eq!(text(&heartbeat), format!(r#"{{{at},"rssi":-61}}"#));
        assert_eq!(
            [ack, idle, will, heartbeat].map(|message| message.topic()),
            [Topic::Ack, Topic::State, Topic::State, Topic::Hb]
        );
    }

    #[test]
    fn the_longest_message_of_a_device_fits_into_its_packet() {
        let stamp = Stamp {
            boot_id: Some(BootId::Text("b".repeat(BOOT_ID_BYTES).into())),
            // Devices count in 32 bits.
            conn: Some(u32::MAX.into()),
            seq: Some(u32::MAX.into()),
            up_ms: Some(i64::MAX),
        };
        let last = Some(Last { cmd_id: id(), result: AckResult::Refused, why: Some(Why::Cut) });
        let run = Some(Run { cmd_id: id(), left_s: MAX_RUN_S, added_s: MAX_ADDED_S });
        let version = || Some("9".repeat(8));
        let state = DeviceMessage::State(State {
            stamp,
            epoch: Some(i64::MAX),
            last,
            run,
            fw: version(),
            hw: version(),
            can: ["pulse", "sense", "coin"].map(str::to_owned).to_vec(),
            sense: Some(false),
            coins: Some(MAX_COINS),
            reset: Some(Reset::Watchdog),
        });
        let json = state.json();
        // The packet adds its topic, the lengths of both, and a packet id.
        let packet = json.len() + format!("nyala/v1/{0}/{0}/state", i64::MAX).len() + 7;
        assert!(packet <= MAX_MESSAGE_BYTES, "{packet}");
        assert_eq!(DeviceMessage::parse(Topic::State, &json), Ok(state));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_are_too_strange(payload in proptest::collection::vec(proptest::num::u8::ANY, 0..600), text in "[\\[\\]{}:,\"a-z0-9._ -]{0,80}") {
            for topic in Topic::ALL {
                let _ = DeviceMessage::parse(topic, &payload);
                let _ = DeviceMessage::parse(topic, text.as_bytes());
            }
        }
    }
}
