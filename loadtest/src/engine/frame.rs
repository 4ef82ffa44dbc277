//! Websocket frames (RFC 6455) that a Socket.IO client needs: it receives whole text frames and sends masked ones.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

/// A frame of the server; its payload stays in the read buffer.
#[derive(Debug, PartialEq, Eq)]
pub struct ServerFrame<'a> {
    pub opcode: Opcode,
    pub payload: &'a [u8],
    /// Length of header and payload.
    pub bytes: usize,
}

/// Reason why a stream cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidFrame(pub &'static str);

/// Greatest payload; every message of a Nyala server is shorter.
const MAX_PAYLOAD_BYTES: u64 = 1 << 20;
/// Masking key. It is fixed, because the mask protects proxies from pages in browsers, and here is no such page.
const MASK: [u8; 4] = [0x6e, 0x79, 0x61, 0x6c];

/// Parses the first frame of `bytes`; `None` when it is not complete yet.
///
/// # Errors
/// A frame that a server may not send here.
pub fn next(bytes: &[u8]) -> Result<Option<ServerFrame<'_>>, InvalidFrame> {
    let [first, second, rest @ ..] = bytes else { return Ok(None) };
    if first & 0x80 == 0 {
        return Err(InvalidFrame("fragmented frame"));
    }
    if second & 0x80 != 0 {
        return Err(InvalidFrame("masked frame from the server"));
    }
    let opcode = match first & 0x0f {
        1 => Opcode::Text,
        2 => Opcode::Binary,
        8 => Opcode::Close,
        9 => Opcode::Ping,
        10 => Opcode::Pong,
        _ => return Err(InvalidFrame("frame of an unknown kind")),
    };
    let (length, head) = match (second & 0x7f, rest) {
        (126, [a, b, ..]) => (u64::from(u16::from_be_bytes([*a, *b])), 4),
        (127, [a, b, c, d, e, f, g, h, ..]) => (u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]), 10),
        (126 | 127, _) => return Ok(None),
        (length, _) => (u64::from(length), 2),
    };
    if length > MAX_PAYLOAD_BYTES {
        return Err(InvalidFrame("frame of more than 1 MiB"));
    }
    let end = head + usize::try_from(length).unwrap_or(usize::MAX);
    Ok(bytes.get(head..end).map(|payload| ServerFrame { opcode, payload, bytes: end }))
}

/// Appends a client's text frame.
pub fn text(out: &mut Vec<u8>, payload: &str) {
    masked(out, 0x81, payload.as_bytes());
}

/// Appends the answer to a websocket ping.
pub fn pong(out: &mut Vec<u8>, payload: &[u8]) {
    masked(out, 0x8a, payload);
}

fn masked(out: &mut Vec<u8>, first: u8, payload: &[u8]) {
    out.push(first);
    let length = payload.len();
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(small), _) if small < 126 => out.push(0x80 | small),
        (_, Ok(medium)) => {
            out.push(0x80 | 126);
            out.extend_from_slice(&medium.to_be_bytes());
        }
        _ => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&MASK);
    out.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, key)| byte ^ key));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_one_after_the_other_and_a_partial_one_waits() {
        let bytes = [&[0x81, 2, b'h', b'i'][..], &[0x89, 0], &[0x81, 5, b'h']].concat();
        let first = next(&bytes).unwrap().unwrap();
        assert_eq!((first.opcode, first.payload, first.bytes), (Opcode::Text, &b"hi"[..], 4));
        let second = next(&bytes[4..]).unwrap().unwrap();
        assert_eq!((second.opcode, second.bytes), (Opcode::Ping, 2));
        for cut in 6..bytes.len() {
            assert_eq!(next(&bytes[6..cut]), Ok(None), "{cut}");
        }
    }

    #[test]
    fn long_frames_have_longer_heads() {
        for length in [125_usize, 126, 65_535, 65_536] {
            let mut sent = Vec::new();
            text(&mut sent, &"x".repeat(length));
            // As a server would send it: the same head, unmasked.
            let head = sent.len() - length - 4;
            let mut server = sent[..head].to_vec();
            server[1] &= 0x7f;
            server.extend(std::iter::repeat_n(b'x', length));
            let frame = next(&server).unwrap().unwrap();
            assert_eq!((frame.payload.len(), frame.bytes), (length, head + length));
            let unmasked: Vec<u8> = sent[head + 4..].iter().zip(MASK.iter().cycle()).map(|(b, k)| b ^ k).collect();
            assert!(unmasked.iter().all(|b| *b == b'x'));
        }
    }

    #[test]
    fn frames_that_no_server_sends_are_errors() {
        assert!(next(&[0x01, 0]).is_err());
        assert!(next(&[0x81, 0x80]).is_err());
        assert!(next(&[0x83, 0]).is_err());
        assert!(next(&[0x81, 127, 0, 0, 0, 1, 0, 0, 0, 0]).is_err());
    }
}
