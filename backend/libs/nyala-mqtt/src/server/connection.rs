//! Server's side of a connection.

use mqtt_protocol_core::mqtt::packet::v3_1_1;
use mqtt_protocol_core::mqtt::result_code::SubackReturnCode;

use super::connect::Connect;
use super::topics::{Subscribe, Unsubscribe};
use crate::frame::{Frame, Frames};
use crate::kind::Kind;
use crate::limits::Limits;
use crate::packet::{Granted, Publish, Qos, Refusal, acknowledged, malformed};
use crate::violation::Violation;
use crate::write::{Ids, Message, Unsent, acknowledge, append};

/// Refusal of an MQTT 5 client, in the format of MQTT 5: CONNACK, "unsupported protocol version" (MQTT 5 §3.2).
const REFUSED_V5: [u8; 5] = [0x20, 3, 0, 0x84, 0];

/// Packet from a client: one event for each complete packet. Each event shows that the client is alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEvent {
    /// A login, always the first event. No further packet is read until [`ServerConnection::accept`] or [`ServerConnection::refuse`].
    Connect(Connect),
    /// A message. For QoS 1, the acknowledgement is already written.
    Publish(Publish),
    /// A subscription; the caller answers it with [`ServerConnection::grant`].
    Subscribe(Subscribe),
    /// The end of subscriptions; the answer is already written.
    Unsubscribe(Unsubscribe),
    /// The message with this packet id arrived ([`ServerConnection::publish`]). Whether it was ever sent is not checked.
    Acknowledged(u16),
    /// A ping; the answer is already written.
    Ping,
    /// The client disconnects, so its will is not published. Always the last event.
    Disconnect,
}

/// Server's side of one connection. Methods with an `out` append the bytes to send to it.
///
/// Call [`ServerConnection::feed`] with all received bytes until [`ServerConnection::is_over`]. The first event is [`ServerEvent::Connect`]; answer it
/// with [`ServerConnection::accept`] or [`ServerConnection::refuse`].
///
/// ```
/// use nyala_mqtt::Limits;
/// use nyala_mqtt::server::{ServerConnection, ServerEvent};
///
/// let mut connection = ServerConnection::new(Limits::default());
/// let mut out = Vec::new();
/// // What a read of the socket gave: CONNECT of the client id "a", and PINGREQ.
/// let mut bytes = &b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x1e\x00\x01a\xc0\x00"[..];
/// while let Some(event) = connection.feed(&mut bytes, &mut out)? {
///     match event {
///         ServerEvent::Connect(connect) => assert_eq!(connect.client_id(), "a"),
///         other => panic!("{other:?}"),
///     }
/// }
/// // Who it is was looked up, and the rest waited for it.
/// connection.accept(&mut out)?;
/// assert_eq!(connection.feed(&mut &[][..], &mut out)?, Some(ServerEvent::Ping));
/// assert_eq!(out, b"\x20\x02\x00\x00\xd0\x00");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ServerConnection {
    limits: Limits,
    state: ServerState,
    frames: Frames,
    ids: Ids,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerState {
    /// Waits for CONNECT.
    New,
    /// Waits for the caller's answer to the login.
    Judged,
    Open,
    Ended,
}

impl ServerConnection {
    /// A new connection, without received bytes.
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: ServerState::New, frames: Frames::default(), ids: Ids::default() }
    }

    /// Takes the next packet from the front of `bytes`, and leaves the following bytes there. None: `bytes` are empty now; an
    /// unfinished packet, or bytes that arrived before the answer to the login, are held. After the end of the connection all bytes
    /// are dropped.
    ///
    /// # Errors
    /// The client's protocol error. The connection is over; `out` may have an answer to it, which must still be sent.
    pub fn feed(&mut self, bytes: &mut &[u8], out: &mut Vec<u8>) -> Result<Option<ServerEvent>, Violation> {
        let event = match self.state {
            ServerState::New | ServerState::Open => self.packet(bytes, out),
            ServerState::Judged => self.wait(bytes),
            ServerState::Ended => Ok(None),
        };
        if event.is_err() {
            self.end();
        }
        if self.state == ServerState::Ended {
            *bytes = &[];
        }
        event
    }

    /// Accepts the login. Call [`ServerConnection::feed`] afterwards, even without bytes, because packets after the login may be held.
    ///
    /// # Errors
    /// When no login waits to be judged.
    pub fn accept(&mut self, out: &mut Vec<u8>) -> Result<(), Unsent> {
        self.judge(None, out)?;
        self.state = ServerState::Open;
        Ok(())
    }

    /// Refuses the login. The connection is over.
    ///
    /// # Errors
    /// When no login waits to be judged.
    pub fn refuse(&mut self, why: Refusal, out: &mut Vec<u8>) -> Result<(), Unsent> {
        self.judge(Some(why), out)?;
        self.end();
        Ok(())
    }

    /// Answers a subscription: one answer for each of its topics, in their order. A topic without an answer is refused.
    ///
    /// # Errors
    /// When the connection is not open.
    pub fn grant(&self, subscribe: &Subscribe, granted: &[Granted], out: &mut Vec<u8>) -> Result<(), Unsent> {
        self.check_open()?;
        let codes = (0..subscribe.topics().len()).map(|at| match granted.get(at) {
            Some(Granted::Yes(Qos::AtMostOnce)) => SubackReturnCode::SuccessMaximumQos0,
            Some(Granted::Yes(Qos::AtLeastOnce)) => SubackReturnCode::SuccessMaximumQos1,
            Some(Granted::No) | None => SubackReturnCode::Failure,
        });
        append(&v3_1_1::Suback::builder().packet_id(subscribe.id()).return_codes(codes.collect()).build()?, out);
        Ok(())
    }

    /// Sends a message, never a retained one. Returns its packet id (QoS 1 only).
    ///
    /// # Errors
    /// When the connection is not open, the packet would be too large, or the topic is not valid for a message.
    pub fn publish(&mut self, topic: &str, payload: &[u8], qos: Qos, out: &mut Vec<u8>) -> Result<Option<u16>, Unsent> {
        self.check_open()?;
        Message { topic, payload, qos, retain: false }.put(&mut self.ids, self.limits.packet, out)
    }

    /// True after the end of the connection: no packet is read or sent any more. Close the socket once `out` is sent.
    pub fn is_over(&self) -> bool {
        self.state == ServerState::Ended
    }

    /// Bytes of memory held: by an unfinished packet, or by bytes that arrived before the answer to the login. Never more than the
    /// largest of the limits.
    pub fn held(&self) -> usize {
        self.frames.held()
    }

    fn packet(&mut self, bytes: &mut &[u8], out: &mut Vec<u8>) -> Result<Option<ServerEvent>, Violation> {
        let (state, limits) = (self.state, self.limits);
        let Some(frame) = self.frames.next(bytes, |kind| largest(state, &limits, kind))? else {
            return Ok(None);
        };
        let event = match frame.kind {
            Kind::Connect => self.connect(&frame, out)?,
            Kind::Publish => {
                let publish = Publish::parse(&frame)?;
                acknowledge(&publish, out)?;
                ServerEvent::Publish(publish)
            }
            Kind::Subscribe => ServerEvent::Subscribe(Subscribe::parse(&frame)?),
            Kind::Unsubscribe => {
                let unsubscribe = Unsubscribe::parse(&frame)?;
                let answer = v3_1_1::Unsuback::builder().packet_id(unsubscribe.id()).build();
                append(&answer.map_err(|_| malformed(frame.kind, "packet id 0"))?, out);
                ServerEvent::Unsubscribe(unsubscribe)
            }
            Kind::Puback => ServerEvent::Acknowledged(acknowledged(&frame)?),
            Kind::Pingreq => {
                append(&v3_1_1::Pingresp::new(), out);
                ServerEvent::Ping
            }
            Kind::Disconnect => {
                self.end();
                ServerEvent::Disconnect
            }
            other => return Err(Violation::Direction(other)),
        };
        Ok(Some(event))
    }

    fn connect(&mut self, frame: &Frame<'_>, out: &mut Vec<u8>) -> Result<ServerEvent, Violation> {
        self.state = ServerState::Judged;
        let connect = Connect::parse(frame, self.limits.keep_alive);
        // Answers the errors that have an answer in the standard.
        match connect {
            Err(Violation::Version(5)) => out.extend(REFUSED_V5),
            Err(Violation::Version(_)) => put_connack(Some(Refusal::Version), out),
            // The standard's only answer to such a session (§3.1.3.1).
            Err(Violation::LastingSession) => put_connack(Some(Refusal::ClientId), out),
            _ => {}
        }
        connect.map(ServerEvent::Connect)
    }

    /// Holds the bytes that arrive before the answer to the login.
    fn wait(&mut self, bytes: &mut &[u8]) -> Result<Option<ServerEvent>, Violation> {
        if self.frames.held() + bytes.len() > self.limits.early {
            return Err(Violation::Early(self.limits.early));
        }
        self.frames.hold(bytes, usize::MAX);
        Ok(None)
    }

    fn judge(&self, refusal: Option<Refusal>, out: &mut Vec<u8>) -> Result<(), Unsent> {
        if self.state != ServerState::Judged {
            return Err(Unsent::Closed);
        }
        put_connack(refusal, out);
        Ok(())
    }

    fn check_open(&self) -> Result<(), Unsent> {
        if self.state == ServerState::Open { Ok(()) } else { Err(Unsent::Closed) }
    }

    fn end(&mut self) {
        self.state = ServerState::Ended;
        self.frames = Frames::default();
    }
}

/// Maximum size of a packet of this kind in this state.
fn largest(state: ServerState, limits: &Limits, kind: Kind) -> Result<usize, Violation> {
    match (state, kind) {
        (ServerState::New, Kind::Connect) => Ok(limits.connect),
        (ServerState::New, _) => Err(Violation::TooSoon(kind)),
        (_, Kind::Connect) => Err(Violation::Again(kind)),
        (_, Kind::Connack | Kind::Suback | Kind::Unsuback | Kind::Pingresp) => Err(Violation::Direction(kind)),
        (_, Kind::Pubrec | Kind::Pubrel | Kind::Pubcomp) => Err(Violation::ExactlyOnce(kind)),
        _ => Ok(limits.packet),
    }
}

/// CONNACK (§3.2), without a session. None: accepted.
fn put_connack(refusal: Option<Refusal>, out: &mut Vec<u8>) {
    out.extend([0x20, 2, 0, refusal.map_or(0, Refusal::code)]);
}
