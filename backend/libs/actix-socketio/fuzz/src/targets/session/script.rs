//! What an input says is done, step by step. A step is a line, or one byte from 0x80 on, which stands for one of [`LINES`] or for a POST
//! of one of [`PACKETS`]. In a line the first byte says what is done, the second to whom, the others how. An upper-case letter stands for
//! the same step, but the next one comes in the same turn of the thread.
//!
//! | step | |
//! |---|---|
//! | `h3` | a handshake from the address 3 |
//! | `g0` | a GET of the session 0 |
//! | `p0…` | a POST with this body |
//! | `o0…`, `m0…`, `e0`, `f0` | a POST of which only the first piece comes; one more; its end; the client breaks it off |
//! | `x0`, `y0` | the client hangs up on its last GET, on its last POST |
//! | `k0leave` | the host acts towards a socket by itself |
//! | `q1…` | another method, any query |
//!
//! A control character in a body stands for one of [`PACKETS`], too: a search need not find them letter by letter.

/// No session has it, though it is well-formed.
pub(super) const NOBODY: &str = "AAAAAAAAAAAAAAAAAAAA";

const FIRST_CODE: u8 = 0x80;

/// By control character; a line's end and the separator of packets stand for themselves.
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
    /// Whether the next one waits until everything that is ready has run.
    pub settles: bool,
    /// The digit of a session, an address, a method. None: a session that there is not.
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

    /// Less than 0x80: POSTs of two sessions, those of the first once more in one turn with the next step, and lines.
    fn coded(code: u8) -> Self {
        let (table, nth) = (code / 32, usize::from(code % 32));
        match table {
            3 => Self::line(LINES[nth].as_bytes()),
            _ => Self { what: b'p', settles: table < 2, whom: Some(usize::from(table % 2)), how: PACKETS[nth].into() },
        }
    }

    /// The bytes, with every packet in its place.
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

    /// The same as far as it is text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.how).into_owned()
    }
}
