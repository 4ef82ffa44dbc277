//! Codec: bytes to packets and back. Pure: no sockets, no clocks. It never panics, and never allocates more than a small multiple of
//! its input or of its limits.

mod attachments;
mod frame;
mod packet;
mod payload;
mod websocket;
mod websocket_frame;

pub use attachments::{AssembleError, Assembled, Assembler};
pub use frame::Frame;
pub use packet::{Kind, Packet, PacketError};
pub use payload::{Incoming, PayloadError, SEPARATOR, parse_packet, push_binary, split};
pub use websocket::{Decoder, Message, WebsocketError};
pub use websocket_frame::{close_frame, encode_frame, opcode};
