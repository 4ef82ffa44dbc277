//! Client's side of a connection.

use mqtt_protocol_core::mqtt::packet::{SubEntry, SubOpts, v3_1_1};
use mqtt_protocol_core::mqtt::result_code::SubackReturnCode;

use super::login::Login;
use crate::frame::{Frame, Frames};
use crate::kind::Kind;
use crate::limits::Limits;
use crate::packet::{Granted, Publish, Qos, Refusal, acknowledged, check_id, malformed};
use crate::violation::Violation;
use crate::write::{Ids, Message, Unsent, acknowledge, append, check_size, check_text, put};

/// Packet from a server: one event for each complete packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// The login is accepted. Always the first event, unless that is [`ClientEvent::Refused`].
    Accepted,
    /// The login is refused. Always the last event.
    Refused(Refusal),
    /// The answer to [`ClientConnection::subscribe`].
    Subscribed(Subscribed),
    /// A message. For QoS 1, the acknowledgement is already written.
    Publish(Publish),
    /// The message with this packet id arrived ([`ClientConnection::publish`]).
    Acknowledged(u16),
    /// The answer to [`ClientConnection::ping`].
    Pong,
}

/// The answer to a SUBSCRIBE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscribed {
    /// Its packet id.
    pub id: u16,
    /// The answer for each of its topics, in their order.
    pub granted: Vec<Granted>,
}

/// Client's side of one connection. Methods with an `out` append the bytes to send to it.
///
/// Call [`ClientConnection::connect`] first, then [`ClientConnection::feed`] with all received bytes until [`ClientConnection::is_over`].
#[derive(Debug)]
pub struct ClientConnection {
    limits: Limits,
    state: ClientState,
    frames: Frames,
    ids: Ids,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientState {
    /// No packet was sent.
    New,
    /// Waits for CONNACK.
    Asked,
    Open,
    Ended,
}

impl ClientConnection {
    /// A new connection, without a login.
    pub fn new(limits: Limits) -> Self {
        Self { limits, state: ClientState::New, frames: Frames::default(), ids: Ids::default() }
    }

    /// Logs in. No other packet may be sent before [`ClientEvent::Accepted`].
    ///
    /// # Errors
    /// When this was called before, or when the login does not fit into a CONNECT.
    pub fn connect(&mut self, login: &Login<'_>, out: &mut Vec<u8>) -> Result<(), Unsent> {
        if self.state != ClientState::New {
            return Err(Unsent::Closed);
        }
        login.put(self.limits.connect, out)?;
        self.state = ClientState::Asked;
        Ok(())
    }

    /// Takes the next packet from the front of `bytes`, and leaves the following bytes there. None: `bytes` are empty now; an
    /// unfinished packet is held. After the end of the connection all bytes are dropped.
    ///
    /// # Errors
    /// The server's protocol error. The connection is over.
    pub fn feed(&mut self, bytes: &mut &[u8], out: &mut Vec<u8>) -> Result<Option<ClientEvent>, Violation> {
        let event = if self.is_over() { Ok(None) } else { self.packet(bytes, out) };
        if event.is_err() {
            self.end();
        }
        if self.is_over() {
            *bytes = &[];
        }
        event
    }

    /// Subscribes to topics. Returns the packet id that [`ClientEvent::Subscribed`] will have.
    ///
    /// # Errors
    /// When the connection is not open, the packet would be too large or there are no topics.
    pub fn subscribe(&mut self, topics: &[(&str, Qos)], out: &mut Vec<u8>) -> Result<u16, Unsent> {
        self.check_open()?;
        check_size(topics.iter().map(|(topic, _)| topic.len()).sum(), self.limits.packet)?;
        let mut entries = Vec::with_capacity(topics.len());
        for (topic, qos) in topics {
            check_text(topic)?;
            if topic.is_empty() {
                return Err(Unsent::Invalid);
            }
            entries.push(SubEntry::new(*topic, SubOpts::new().set_qos(qos.to_core()))?);
        }
        let id = self.ids.next();
        put(&v3_1_1::Subscribe::builder().packet_id(id).entries(entries).build()?, self.limits.packet, out)?;
        Ok(id)
    }

    /// Sends a message. Returns its packet id (QoS 1 only).
    ///
    /// # Errors
    /// When the connection is not open, the packet would be too large, or the topic is not valid for a message.
    pub fn publish(
        &mut self,
        topic: &str,
        payload: &[u8],
        qos: Qos,
        retain: bool,
        out: &mut Vec<u8>,
    ) -> Result<Option<u16>, Unsent> {
        self.check_open()?;
        Message { topic, payload, qos, retain }.put(&mut self.ids, self.limits.packet, out)
    }

    /// Asks for a [`ClientEvent::Pong`].
    ///
    /// # Errors
    /// When the connection is not open.
    pub fn ping(&self, out: &mut Vec<u8>) -> Result<(), Unsent> {
        self.check_open()?;
        append(&v3_1_1::Pingreq::new(), out);
        Ok(())
    }

    /// Sends DISCONNECT, so that the server drops the will. The connection is over.
    ///
    /// # Errors
    /// When the connection is not open.
    pub fn disconnect(&mut self, out: &mut Vec<u8>) -> Result<(), Unsent> {
        self.check_open()?;
        append(&v3_1_1::Disconnect::new(), out);
        self.end();
        Ok(())
    }

    /// True after the end of the connection: no packet is read or sent any more.
    pub fn is_over(&self) -> bool {
        self.state == ClientState::Ended
    }

    /// Bytes of memory that an unfinished packet holds. Never more than [`Limits::packet`].
    pub fn held(&self) -> usize {
        self.frames.held()
    }

    fn packet(&mut self, bytes: &mut &[u8], out: &mut Vec<u8>) -> Result<Option<ClientEvent>, Violation> {
        let (state, max) = (self.state, self.limits.packet);
        let Some(frame) = self.frames.next(bytes, |kind| check_turn(state, kind).map(|()| max))? else {
            return Ok(None);
        };
        let event = match frame.kind {
            Kind::Connack => self.connack(&frame)?,
            Kind::Publish => {
                let publish = Publish::parse(&frame)?;
                acknowledge(&publish, out)?;
                ClientEvent::Publish(publish)
            }
            Kind::Puback => ClientEvent::Acknowledged(acknowledged(&frame)?),
            Kind::Suback => ClientEvent::Subscribed(Subscribed::parse(&frame)?),
            Kind::Pingresp => ClientEvent::Pong,
            other => return Err(Violation::Direction(other)),
        };
        Ok(Some(event))
    }

    fn connack(&mut self, frame: &Frame<'_>) -> Result<ClientEvent, Violation> {
        let (packet, _) = v3_1_1::Connack::parse(frame.body()).map_err(|_| malformed(frame.kind, "unknown return code"))?;
        Ok(match Refusal::from_core(packet.return_code()) {
            None => {
                self.state = ClientState::Open;
                ClientEvent::Accepted
            }
            Some(refusal) => {
                self.end();
                ClientEvent::Refused(refusal)
            }
        })
    }

    fn check_open(&self) -> Result<(), Unsent> {
        if self.state == ClientState::Open { Ok(()) } else { Err(Unsent::Closed) }
    }

    fn end(&mut self) {
        self.state = ClientState::Ended;
        self.frames = Frames::default();
    }
}

impl Subscribed {
    fn parse(frame: &Frame<'_>) -> Result<Self, Violation> {
        let kind = frame.kind;
        let (packet, _) = v3_1_1::Suback::parse(frame.body()).map_err(|_| malformed(kind, "cut short, or an unknown answer"))?;
        check_id(kind, packet.packet_id())?;
        let granted = packet.return_codes().into_iter().map(|code| match code {
            SubackReturnCode::SuccessMaximumQos0 => Ok(Granted::Yes(Qos::AtMostOnce)),
            SubackReturnCode::SuccessMaximumQos1 => Ok(Granted::Yes(Qos::AtLeastOnce)),
            SubackReturnCode::SuccessMaximumQos2 => Err(Violation::ExactlyOnce(kind)),
            SubackReturnCode::Failure => Ok(Granted::No),
        });
        Ok(Self { id: packet.packet_id(), granted: granted.collect::<Result<_, _>>()? })
    }
}

/// Whether a server may send a packet of this kind now.
fn check_turn(state: ClientState, kind: Kind) -> Result<(), Violation> {
    match (state, kind) {
        (ClientState::Asked, Kind::Connack) => Ok(()),
        (ClientState::New | ClientState::Asked, _) => Err(Violation::TooSoon(kind)),
        (_, Kind::Connack) => Err(Violation::Again(kind)),
        (_, Kind::Pubrec | Kind::Pubrel | Kind::Pubcomp) => Err(Violation::ExactlyOnce(kind)),
        (_, Kind::Connect | Kind::Subscribe | Kind::Unsubscribe | Kind::Unsuback | Kind::Pingreq | Kind::Disconnect) => {
            Err(Violation::Direction(kind))
        }
        _ => Ok(()),
    }
}
