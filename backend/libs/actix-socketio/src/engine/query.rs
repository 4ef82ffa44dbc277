//! Query of a request: `EIO`, `transport`, `sid`.

use super::error::EngineError;
use super::sid::{Sid, SidPrefix};

/// The two transports of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Polling,
    Websocket,
}

/// A query that names a transport and this version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Query {
    pub transport: Transport,
    pub sid: Option<Sid>,
}

impl Query {
    /// Unknown keys (`t`, `b64`) are ignored. If a key is repeated, the last one counts.
    pub fn parse(query: &str, prefix: &SidPrefix) -> Result<Self, EngineError> {
        let (mut eio, mut transport, mut sid) = (None, None, None);
        for pair in query.split('&') {
            match pair.split_once('=') {
                Some(("EIO", v)) => eio = Some(v),
                Some(("transport", v)) => transport = Some(v),
                Some(("sid", v)) => sid = Some(v),
                _ => {}
            }
        }
        let transport = match transport {
            Some("polling") => Transport::Polling,
            Some("websocket") => Transport::Websocket,
            _ => return Err(EngineError::UnknownTransport),
        };
        if eio != Some("4") {
            return Err(EngineError::UnsupportedVersion);
        }
        let sid = sid.map(|s| prefix.read(s).map_err(|_| EngineError::UnknownSid)).transpose()?;
        Ok(Self { transport, sid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Result<Query, EngineError> {
        Query::parse(query, &SidPrefix::default())
    }

    #[test]
    fn a_query_needs_transport_and_version() {
        assert_eq!(parse(""), Err(EngineError::UnknownTransport));
        assert_eq!(parse("EIO=4&transport=abc"), Err(EngineError::UnknownTransport));
        assert_eq!(parse("transport=polling"), Err(EngineError::UnsupportedVersion));
        assert_eq!(parse("EIO=3&transport=polling"), Err(EngineError::UnsupportedVersion));
        assert_eq!(parse("EIO=4&transport=polling&sid=x"), Err(EngineError::UnknownSid));
        let open = parse("EIO=4&transport=websocket&t=abc");
        assert_eq!(open, Ok(Query { transport: Transport::Websocket, sid: None }));
        let sid = Sid::random();
        let known = parse(&format!("transport=polling&sid={sid}&EIO=4"));
        assert_eq!(known, Ok(Query { transport: Transport::Polling, sid: Some(sid) }));
    }
}
