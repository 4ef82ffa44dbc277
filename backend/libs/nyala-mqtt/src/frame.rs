//! Cuts a stream of bytes into packets (MQTT 3.1.1 §2.2), and refuses at the first byte that tells.

use std::borrow::Cow;

use crate::packet::Kind;
use crate::violation::Violation;

/// Most bytes of a header: the first one and four of remaining length.
const MAX_HEADER: usize = 5;

/// One whole packet.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub kind: Kind,
    /// The low half of its first byte.
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

/// What of a packet's header is known when it is whole.
struct Header {
    kind: Kind,
    flags: u8,
    size: usize,
    /// Size of the whole packet.
    packet: usize,
}

/// The bytes that make no whole packet yet, or that nobody may read yet.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    held: Vec<u8>,
}

impl Frames {
    /// Takes the next packet from the front of what is held and of `bytes`. None: `bytes` are empty now, and more are needed.
    /// `largest` says how large a packet of a kind may be here and now, or that none may come. An unfinished packet never holds
    /// more.
    pub fn next<'a>(
        &mut self,
        bytes: &mut &'a [u8],
        largest: impl Fn(Kind) -> Result<usize, Violation>,
    ) -> Result<Option<Frame<'a>>, Violation> {
        // What came whole is read where it lies.
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
                // The header is read byte by byte, so that nothing is held that it would refuse.
                None => 1,
            };
            if bytes.is_empty() {
                return Ok(None);
            }
            self.hold(bytes, missing);
        }
    }

    /// Takes up to `most` of `bytes` for later.
    pub fn hold(&mut self, bytes: &mut &[u8], most: usize) {
        let (taken, rest) = bytes.split_at(most.min(bytes.len()));
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

/// The header at the front of `bytes`. None: it is not whole.
fn header(bytes: &[u8], largest: impl Fn(Kind) -> Result<usize, Violation>) -> Result<Option<Header>, Violation> {
    let Some((first, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    let kind = Kind::from_type(first >> 4).ok_or(Violation::UnknownType(first >> 4))?;
    let flags = first & 0x0f;
    let max = largest(kind)?;
    kind.check_flags(flags)?;
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
