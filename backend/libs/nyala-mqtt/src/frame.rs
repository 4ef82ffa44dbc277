//! Splits a byte stream into packets (MQTT 3.1.1 §2.2), and refuses a wrong packet at the first byte that shows the error.

use std::borrow::Cow;

use crate::kind::Kind;
use crate::violation::Violation;

/// Most bytes of a header: the first one and four of remaining length.
const MAX_HEADER: usize = 5;

/// This packet was sent before (§3.3.1.1).
const DUP: u8 = 0b1000;

/// One complete packet.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub kind: Kind,
    /// The low four bits of its first byte.
    pub flags: u8,
    bytes: Cow<'a, [u8]>,
    header: usize,
}

impl Frame<'_> {
    /// What follows the header.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.header..]
    }
}

/// A complete packet header.
struct Header {
    kind: Kind,
    flags: u8,
    size: usize,
    /// Size of the whole packet.
    packet: usize,
}

/// Buffer of received bytes: an unfinished packet, or bytes that must not be read yet.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    held: Vec<u8>,
}

impl Frames {
    /// Takes the next packet from the front of the held bytes and of `bytes`. None: `bytes` are empty now, and more are needed.
    /// `largest` returns the maximum size of a packet of that kind in the current state, or an error if the kind is not allowed.
    /// An unfinished packet never holds more.
    pub fn next<'a>(
        &mut self,
        bytes: &mut &'a [u8],
        largest: impl Fn(Kind) -> Result<usize, Violation>,
    ) -> Result<Option<Frame<'a>>, Violation> {
        // A packet that arrived complete is read in place, without a copy.
        if self.held.is_empty()
            && let Some(header) = header(bytes, &largest)?
            && let Some((packet, rest)) = bytes.split_at_checked(header.packet)
        {
            *bytes = rest;
            return Ok(Some(header.frame(packet.into())));
        }
        loop {
            let missing = match header(&self.held, &largest)? {
                Some(header) if self.held.len() >= header.packet => {
                    let rest = self.held.split_off(header.packet);
                    let packet = std::mem::replace(&mut self.held, rest);
                    return Ok(Some(header.frame(packet.into())));
                }
                Some(header) => header.packet - self.held.len(),
                // The header is read byte by byte, so that no byte of a refused packet is held.
                None => 1,
            };
            if bytes.is_empty() {
                return Ok(None);
            }
            self.hold(bytes, missing);
        }
    }

    /// Holds up to `most` of `bytes` for later.
    pub fn hold(&mut self, bytes: &mut &[u8], limit: usize) {
        let (taken, rest) = bytes.split_at(limit.min(bytes.len()));
        self.held.reserve_exact(taken.len());
        self.held.extend_from_slice(taken);
        *bytes = rest;
    }

    /// Bytes of memory that are held.
    pub fn held(&self) -> usize {
        self.held.capacity()
    }
}

impl Header {
    fn frame(self, bytes: Cow<'_, [u8]>) -> Frame<'_> {
        Frame { kind: self.kind, flags: self.flags, bytes, header: self.size }
    }
}

/// The header at the front of `bytes`. None: it is not complete.
fn header(bytes: &[u8], largest: impl Fn(Kind) -> Result<usize, Violation>) -> Result<Option<Header>, Violation> {
    let Some((first, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    let kind = Kind::from_type(first >> 4).ok_or(Violation::UnknownType(first >> 4))?;
    let flags = first & 0x0f;
    let max = largest(kind)?;
    check_flags(kind, flags)?;
    let mut length = 0;
    for (at, byte) in rest.iter().take(MAX_HEADER - 1).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 != 0 {
            continue;
        }
        let size = 2 + at;
        let packet = size + length;
        if packet > max {
            return Err(Violation::TooLarge { kind, size: packet, max });
        }
        if kind.fixed_length().is_some_and(|due| due != length) {
            return Err(Violation::Size(kind));
        }
        return Ok(Some(Header { kind, flags, size, packet }));
    }
    if bytes.len() < MAX_HEADER { Ok(None) } else { Err(Violation::RemainingLength(kind)) }
}

/// Checks the low four bits of the first byte (§2.2.2, §3.3.1).
fn check_flags(kind: Kind, flags: u8) -> Result<(), Violation> {
    let due = match kind {
        Kind::Publish => {
            return match (flags >> 1 & 0b11, flags & DUP != 0) {
                (2, _) => Err(Violation::ExactlyOnce(kind)),
                (3, _) => Err(Violation::Malformed { kind, what: "QoS 3" }),
                (0, true) => Err(Violation::Malformed { kind, what: "sent again at QoS 0" }),
                _ => Ok(()),
            };
        }
        Kind::Pubrel | Kind::Subscribe | Kind::Unsubscribe => 0b0010,
        _ => 0,
    };
    if flags == due { Ok(()) } else { Err(Violation::ReservedBits(kind)) }
}
