//! Assembles a binary packet and the attachments that follow it.

use bytes::Bytes;
use bytestring::ByteString;

use super::packet::{Packet, PacketError};
use crate::limits::Size;

/// A packet with all of its attachments. Placeholders in its JSON (`{"_placeholder":true,"num":0}`) name them by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembled {
    /// The packet.
    pub packet: Packet,
    /// Its attachments, in order.
    pub attachments: Vec<Bytes>,
}

/// Reason why messages do not form a packet. The session that sent them is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// The text is not a packet.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// More attachments than allowed.
    #[error("{got} attachments: at most {max} are allowed")]
    TooMany {
        /// Announced number.
        got: usize,
        /// Allowed number.
        max: usize,
    },
    /// The attachments together are too large.
    #[error("attachments are larger than {0} bytes")]
    TooLarge(usize),
    /// Text while an attachment is expected, or binary while none is.
    #[error("binary and text messages out of order")]
    OutOfOrder,
}

/// Assembles one packet at a time, within limits.
#[derive(Debug)]
pub struct Assembler {
    max: Size,
    /// Boxed: most sessions never send an attachment.
    waiting: Option<Box<IncompletePacket>>,
}

#[derive(Debug)]
struct IncompletePacket {
    assembled: Assembled,
    bytes: usize,
}

impl Assembler {
    /// An assembler of packets whose attachments are at most `max`.
    pub fn new(max: Size) -> Self {
        Self { max, waiting: None }
    }

    /// Takes a text message (without its `4`). None: attachments are still missing.
    ///
    /// # Errors
    /// When the text is not a packet, announces too many attachments, or comes while attachments are missing.
    pub fn text(&mut self, text: &ByteString) -> Result<Option<Assembled>, AssembleError> {
        if self.waiting.is_some() {
            return Err(AssembleError::OutOfOrder);
        }
        let packet = Packet::parse(text)?;
        if packet.attachments > self.max.count {
            return Err(AssembleError::TooMany { got: packet.attachments, max: self.max.count });
        }
        let due = packet.attachments;
        let assembled = Assembled { packet, attachments: Vec::with_capacity(due) };
        if due == 0 {
            return Ok(Some(assembled));
        }
        self.waiting = Some(Box::new(IncompletePacket { assembled, bytes: 0 }));
        Ok(None)
    }

    /// Takes a binary message. None: more are still missing.
    ///
    /// # Errors
    /// When no attachment is expected or the attachments grow too large.
    pub fn binary(&mut self, bytes: Bytes) -> Result<Option<Assembled>, AssembleError> {
        let mut waiting = self.waiting.take().ok_or(AssembleError::OutOfOrder)?;
        waiting.bytes += bytes.len();
        if waiting.bytes > self.max.bytes {
            return Err(AssembleError::TooLarge(self.max.bytes));
        }
        waiting.assembled.attachments.push(bytes);
        if waiting.assembled.attachments.len() == waiting.assembled.packet.attachments {
            return Ok(Some(waiting.assembled));
        }
        self.waiting = Some(waiting);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_are_gathered_in_order() {
        let mut assembler = Assembler::new(Size { count: 2, bytes: 8 });
        assert_eq!(assembler.text(&r#"52-["a"]"#.into()), Ok(None));
        assert_eq!(assembler.binary(Bytes::from_static(b"x")), Ok(None));
        let whole = assembler.binary(Bytes::from_static(b"y")).unwrap().unwrap();
        assert_eq!(whole.attachments, [&b"x"[..], b"y"]);
        assert!(assembler.text(&r#"50-["a"]"#.into()).unwrap().is_some(), "no attachments due");
        assert!(assembler.text(&r#"2["a"]"#.into()).unwrap().is_some());
    }

    #[test]
    fn limits_and_order_hold() {
        let mut assembler = Assembler::new(Size { count: 2, bytes: 3 });
        assert_eq!(assembler.text(&r#"53-["a"]"#.into()), Err(AssembleError::TooMany { got: 3, max: 2 }));
        assert_eq!(assembler.binary(Bytes::new()), Err(AssembleError::OutOfOrder));
        assert_eq!(assembler.text(&r#"52-["a"]"#.into()), Ok(None));
        assert_eq!(assembler.text(&r#"2["a"]"#.into()), Err(AssembleError::OutOfOrder));
        assert_eq!(assembler.binary(Bytes::from_static(b"1234")), Err(AssembleError::TooLarge(3)));
    }
}
