//! Engine.IO session: a plain actor that owns its current transport.
//!
//! It is a plain `Context` actor and not a websocket body, because actix-http polls a body only while its socket takes bytes: once
//! the client stops reading, no timeout inside the body fires.

mod actor;
mod deadlines;
mod outgoing;
mod polling;
mod sink;
mod turn;
mod upgrade;
mod waiting;
mod wheel;
mod wire;

pub(crate) use actor::{CloseSession, Opening, Session};
pub(crate) use outgoing::Part;
pub(crate) use polling::{OpenPoll, PollGone, Polled, PostBegin, PostBody, PostEnd, next_request};
pub(crate) use upgrade::Attach;
pub(crate) use wire::Wire;
