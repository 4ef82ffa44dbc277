//! Commands to devices as JSON (docs/contract.md §6), written by the server and read by devices.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::Whole;
use nyala_core::purchase::device::{Command, Op, Pulses};

use super::message::{InvalidMessage, MAX_MESSAGE_BYTES, MAX_RUN_S, within};

/// Last second of the last year with four digits.
const MAX_TIME_S: i64 = 253_402_300_799;

/// Command: the only message that the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawCmd", into = "RawCmd")]
pub struct Cmd {
    pub cmd_id: Uuid,
    pub epoch: i64,
    pub op: Op,
    pub durasi_s: i64,
    /// Set for a start by coin pulses, whose `op` is `pulse`. A device that does not know this `op` ignores the command, so its relay stays open.
    pub pulses: Option<Pulses>,
    /// Unix seconds, rounded down: a device never starts later than the server permits.
    pub exp: i64,
    /// The server's clock when this is written, in Unix milliseconds.
    pub now_ms: i64,
    /// The `up_ms` of the device's last state report. With it, a device gets the time without asking.
    pub echo: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct RawCmd {
    cmd_id: Uuid,
    epoch: i64,
    op: OpName,
    durasi_s: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width_ms: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap_ms: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sense_s: Option<i32>,
    exp: i64,
    now_ms: i64,
    echo: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OpName {
    Start,
    Pulse,
    Query,
    Stop,
}

/// Seconds without the running signal, when a command does not say.
const DEFAULT_SENSE_S: i32 = 60;

impl TryFrom<RawCmd> for Cmd {
    type Error = &'static str;

    fn try_from(raw: RawCmd) -> Result<Self, Self::Error> {
        let RawCmd { cmd_id, epoch, op, durasi_s, n, width_ms, gap_ms, sense_s, exp, now_ms, echo } = raw;
        let (op, pulses) = match op {
            OpName::Start => (Op::Start, None),
            OpName::Query => (Op::Query, None),
            OpName::Stop => (Op::Stop, None),
            OpName::Pulse => {
                let (Some(n), Some(width_ms), Some(gap_ms)) = (n, width_ms, gap_ms) else {
                    return Err("a pulse needs n, width_ms and gap_ms");
                };
                (Op::Start, Some(Pulses { n, width_ms, gap_ms, sense_s: sense_s.unwrap_or(DEFAULT_SENSE_S) }))
            }
        };
        Ok(Self { cmd_id, epoch, op, durasi_s, pulses, exp, now_ms, echo })
    }
}

impl From<Cmd> for RawCmd {
    fn from(cmd: Cmd) -> Self {
        let Cmd { cmd_id, epoch, op, durasi_s, pulses, exp, now_ms, echo } = cmd;
        let pulses = pulses.filter(|_| op == Op::Start);
        let op = match (op, pulses) {
            (Op::Start, Some(_)) => OpName::Pulse,
            (Op::Start, None) => OpName::Start,
            (Op::Query, _) => OpName::Query,
            (Op::Stop, _) => OpName::Stop,
        };
        let of = |field: fn(Pulses) -> i32| pulses.map(field);
        let (n, width_ms, gap_ms, sense_s) = (of(|p| p.n), of(|p| p.width_ms), of(|p| p.gap_ms), of(|p| p.sense_s));
        Self { cmd_id, epoch, op, durasi_s, n, width_ms, gap_ms, sense_s, exp, now_ms, echo }
    }
}

impl Cmd {
    /// Makes the message for `cmd` at `now`.
    pub fn new(cmd: &Command, now: Timestamp, echo: Option<i64>) -> Self {
        let &Command { cmd_id, epoch, op, duration_s, pulses, exp, .. } = cmd;
        Self { cmd_id, epoch, op, durasi_s: duration_s, pulses, exp: exp.ms().div_euclid(1000), now_ms: now.ms(), echo }
    }

    /// Parses a message that was published on a device's `cmd`.
    ///
    /// # Errors
    /// When it is not a valid command.
    pub fn parse(payload: &[u8]) -> Result<Self, InvalidMessage> {
        if payload.len() > MAX_MESSAGE_BYTES {
            return Err(InvalidMessage::TooLong(payload.len()));
        }
        let cmd: Self = serde_json::from_slice(payload).map_err(|e| InvalidMessage::MalformedCmd(e.to_string()))?;
        for (field, n, max) in [
            ("epoch", Some(cmd.epoch), i64::MAX),
            ("durasi_s", Some(cmd.durasi_s), MAX_RUN_S),
            ("exp", Some(cmd.exp), MAX_TIME_S),
            ("now_ms", Some(cmd.now_ms), MAX_TIME_S * 1000),
            ("echo", cmd.echo, i64::MAX),
        ] {
            within(field, n.map(Whole::from), max)?;
        }
        Ok(cmd)
    }

    /// Bytes to publish.
    pub fn json(&self) -> Vec<u8> {
        // A struct of numbers and names cannot fail to serialize.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use nyala_core::domain::id::MachineId;

    use super::*;

    const ID: &str = "6f1d6c1e-0000-4000-8000-000000000001";

    fn id() -> Uuid {
        ID.parse().unwrap()
    }

    #[test]
    fn a_command_is_written_and_its_end_is_rounded_down() {
        let exp = Timestamp::from_ms(1_800_000_010_999);
        let cmd = Command {
            idmesin: MachineId::new(1),
            cmd_id: id(),
            epoch: 4,
            op: Op::Start,
            duration_s: 60,
            pulses: None,
            exp,
            held_here: false,
        };
        let text = |echo| String::from_utf8(Cmd::new(&cmd, Timestamp::from_ms(1_800_000_001_000), echo).json()).unwrap();
        let begin = format!(r#"{{"cmd_id":"{ID}","epoch":4,"op":"start","durasi_s":60,"exp":1800000010,"now_ms":1800000001000,"#);
        assert_eq!(text(Some(77)), format!(r#"{begin}"echo":77}}"#));
        assert_eq!(text(None), format!(r#"{begin}"echo":null}}"#));
    }

    #[test]
    fn a_command_is_parsed_and_an_invalid_one_rejected_with_a_reason() {
        let whole = r#"{"cmd_id":"$","epoch":4,"op":"start","durasi_s":60,"exp":1800000010,"now_ms":1800000001000,"echo":77}"#;
        let parse = |text: &str| Cmd::parse(text.replace('$', ID).as_bytes());
        let cmd = Cmd {
            cmd_id: id(),
            epoch: 4,
            op: Op::Start,
            durasi_s: 60,
            pulses: None,
            exp: 1_800_000_010,
            now_ms: 1_800_000_001_000,
            echo: Some(77),
        };
        assert_eq!(parse(whole), Ok(cmd));
        assert_eq!(parse(&whole.replace("\"echo\":77", "\"colour\":[1]")), Ok(Cmd { echo: None, ..cmd }));
        for op in [Op::Start, Op::Query, Op::Stop] {
            let cmd = Cmd { op, echo: None, ..cmd };
            assert_eq!(Cmd::parse(&cmd.json()), Ok(cmd));
        }
        let pulses = Pulses { n: 4, width_ms: 50, gap_ms: 100, sense_s: 60 };
        let pulse = Cmd { pulses: Some(pulses), ..cmd };
        let text = whole.replace(
            "\"start\",\"durasi_s\":60",
            "\"pulse\",\"durasi_s\":60,\"n\":4,\"width_ms\":50,\"gap_ms\":100,\"sense_s\":60",
        );
        assert_eq!(
            (String::from_utf8(pulse.json()).unwrap().replace(ID, "$"), Cmd::parse(&pulse.json())),
            (text.clone(), Ok(pulse))
        );
        assert_eq!(parse(&text.replace(",\"sense_s\":60", "")), Ok(pulse));
        assert_eq!(Cmd::parse(&Cmd { op: Op::Query, ..pulse }.json()), Ok(Cmd { op: Op::Query, ..cmd }), "only a start pulses");
        for (instead_of, comes, why) in [
            ("\"start\"", "\"begin\"", "cmd: unknown variant `begin`"),
            ("\"start\"", "\"pulse\",\"n\":1,\"gap_ms\":100", "cmd: a pulse needs n, width_ms and gap_ms"),
            ("\"exp\":1800000010,", "", "cmd: missing field `exp`"),
            ("\"durasi_s\":60", "\"durasi_s\":86401", "durasi_s is 86401, which is not from 0 to 86400"),
            ("\"epoch\":4", "\"epoch\":-1", "epoch is -1"),
            ("1800000010", "253402300800", "exp is 253402300800"),
            ("1800000001000", "-5", "now_ms is -5"),
            ("77", "-1", "echo is -1"),
            ("$", "7", "cmd: "),
            ("{", "[{", "cmd: "),
        ] {
            let expected = parse(&whole.replace(instead_of, comes)).unwrap_err().to_string();
            assert!(expected.starts_with(why), "{comes}: {expected}");
        }
        assert_eq!(Cmd::parse(&[b' '; 513]), Err(InvalidMessage::TooLong(513)));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_are_too_strange(payload in proptest::collection::vec(proptest::num::u8::ANY, 0..600), text in "[\\[\\]{}:,\"a-z0-9._ -]{0,80}") {
            let _ = Cmd::parse(&payload);
            let _ = Cmd::parse(text.as_bytes());
        }
    }
}
