//! Script format: an input is a list of steps. A step is a line, or one byte from 0x80 on, which means one of [`LINES`] or a POST of
//! one of [`PACKETS`]. In a line, the first byte is the action, the second its target, the others its data. An upper-case letter is the
//! same action, but the next step comes in the same event-loop turn.
//!
//! | step | |
//! |---|---|
//! | `h3` | a handshake from the address 3 |
//! | `g0` | a GET of the session 0 |
//! | `p0…` | a POST with this body |
//! | `o0…`, `m0…`, `e0`, `f0` | a POST with only its first piece; one more piece; its end; the client breaks it off |
//! | `x0`, `y0` | the client disconnects during its last GET, during its last POST |
//! | `k0leave` | an action of the host on a socket |
//! | `q1…` | another method, any query |
//!
//! A control character in a body also means one of [`PACKETS`], so that a search does not have to find them letter by letter.

/// A well-formed sid that no session has.
pub(super) const NOBODY: &str = "AAAAAAAAAAAAAAAAAAAA";

const FIRST_CODE: u8 = 0x80;

/// Packets by control character, except the line feed and the packet separator, which have their usual meaning.
const PACKETS: [&str; 32] = [
    r#"42["message",1]"#,
    "40",
    "40/custom,",
    "40/b,",
    r#"40{"token":"slow"}"#,
    r#"40/custom,{"token":"never"}"#,
    r#"40{"token":"wrong"}"#,
    r#"40{"token":"leave"}"#,
    r#"40{"token":"flood"}"#,
    r#"42/custom,["message",2,"é"]"#,
    r#"40{"token":"close"}"#,
    r#"421["ack",[2]]"#,
    r#"42["ask"]"#,
    r#"430["yes"]"#,
    r#"42["room"]"#,
    r#"42["leave"]"#,
    r#"422["close"]"#,
    r#"42["hang"]"#,
    r#"42["flood",20,10]"#,
    r#"42["flood",1,190]"#,
    r#"42["volatile",20,10]"#,
    "451-[\"message\",{\"_placeholder\":true,\"num\":0}]\u{1e}bAQID",
    r#"452-3["ack"]"#,
    "bAQIDBAUGBwgJCgsMDQ4PEA==",
    "461-0[\"yes\"]\u{1e}bAA==",
    "41",
    "41/custom,",
    "1",
    "3",
    "2",
    r#"42["others",1]"#,
    r#"42["tell"]"#,
];

const LINES: [&str; 32] = [
    "h0",
    "h1",
    "h2",
    "H0",
    "g0",
    "g1",
    "g2",
    "G0",
    "G1",
    "x0",
    "x1",
    "y0",
    "o042[\"message\"",
    "m0,4]",
    "e0",
    "f0",
    "k0tell",
    "k1room",
    "g?",
    "p?3",
    "k0hang",
    "k0close",
    "K0close",
    "k0leave",
    "K0leave",
    "k1leave",
    "k0message",
    "K0message",
    "k0flood",
    "k0volatile",
    "k0end",
    "q3EIO=4&transport=polling&sid=",
];

pub(super) struct Step {
    pub what: u8,
    /// Whether the next step waits until all ready tasks have run.
    pub settles: bool,
    /// The digit of a session, an address or a method. None: a session that does not exist.
    pub whom: Option<usize>,
    how: Vec<u8>,
}

/// The steps of a script.
pub(super) fn steps(mut script: &[u8]) -> impl Iterator<Item = Step> {
    std::iter::from_fn(move || {
        let (first, rest) = script.split_first()?;
        if let Some(code) = first.checked_sub(FIRST_CODE) {
            script = rest;
            return Some(Step::coded(code));
        }
        let end = script.iter().position(|byte| *byte == b'\n').unwrap_or(script.len());
        let (line, rest) = script.split_at(end);
        script = rest.get(1..).unwrap_or_default();
        Some(Step::line(line))
    })
}

impl Step {
    fn line(line: &[u8]) -> Self {
        let what = line.first().copied().unwrap_or_default();
        let whom = line.get(1).copied().unwrap_or(b'0');
        let whom = whom.is_ascii_digit().then(|| usize::from(whom - b'0'));
        let how = line.get(2..).unwrap_or_default().to_vec();
        Self { what: what.to_ascii_lowercase(), settles: !what.is_ascii_uppercase(), whom, how }
    }

    /// Codes below 0x80: POSTs of two sessions, POSTs of the first session in one turn with the next step, and lines.
    fn coded(code: u8) -> Self {
        let (table, nth) = (code / 32, usize::from(code % 32));
        match table {
            3 => Self::line(LINES[nth].as_bytes()),
            _ => Self { what: b'p', settles: table < 2, whom: Some(usize::from(table % 2)), how: PACKETS[nth].into() },
        }
    }

    /// The body, with each control character replaced by its packet.
    pub fn body(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for byte in &self.how {
            match byte {
                b'\n' | 0x1e => body.push(*byte),
                control @ ..32 => body.extend_from_slice(PACKETS[usize::from(*control)].as_bytes()),
                byte => body.push(*byte),
            }
        }
        body
    }

    /// The step's data as text, with invalid UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.how).into_owned()
    }
}
