//! Errors of requests, and reasons for the end of a session.

use actix_http::StatusCode;

/// The reference server's answers to a bad request, with its codes, and some additional ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// `transport` is neither `polling` nor `websocket`.
    #[error("Transport unknown")]
    UnknownTransport,
    /// No session has this `sid`, or it was closed.
    #[error("Session ID unknown")]
    UnknownSid,
    /// A session must be opened by GET.
    #[error("Bad handshake method")]
    BadHandshakeMethod,
    /// The request does not fit the session's state, or its body is not a valid payload.
    #[error("Bad request")]
    BadRequest,
    /// The `Origin` is not allowed.
    #[error("Forbidden")]
    Forbidden,
    /// `EIO` is not 4.
    #[error("Unsupported protocol version")]
    UnsupportedVersion,
    /// `max_sessions` have joined, or the server is shutting down.
    #[error("Too many sessions")]
    TooManySessions,
    /// The POST body is larger than `max_payload`.
    #[error("Payload too large")]
    PayloadTooLarge,
    /// The POST body did not arrive in `post_timeout`.
    #[error("Request timeout")]
    Timeout,
    /// Too many sessions of this caller have not joined yet.
    #[error("Too many sessions that have not joined")]
    TooManyUnjoined,
    /// Too many bytes of other unfinished POSTs (`host::Bodies`).
    #[error("No room for the payload")]
    NoRoom,
}

impl EngineError {
    /// The code of the reference server's JSON answer.
    pub fn code(self) -> u8 {
        match self {
            Self::UnknownTransport => 0,
            Self::UnknownSid => 1,
            Self::BadHandshakeMethod => 2,
            Self::BadRequest => 3,
            Self::Forbidden => 4,
            Self::UnsupportedVersion => 5,
            Self::TooManySessions => 6,
            Self::PayloadTooLarge => 7,
            Self::Timeout => 8,
            Self::TooManyUnjoined => 9,
            Self::NoRoom => 10,
        }
    }

    /// The HTTP status to answer with.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::TooManySessions | Self::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::TooManyUnjoined => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// The reference server's JSON answer: `{"code":1,"message":"Session ID unknown"}`.
    pub fn to_json(self) -> String {
        format!(r#"{{"code":{},"message":"{self}"}}"#, self.code())
    }
}

/// Reason for the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// The client sent a close packet or left the namespace.
    ClientLeft,
    /// The host closed the session or the socket.
    ServerLeft,
    /// The connection of the websocket or of the waiting GET ended.
    TransportGone,
    /// A heartbeat was not answered in time.
    HeartbeatMissed,
    /// The client did not take packets that must not be dropped.
    Stalled,
    /// No namespace was joined in time.
    ConnectTimeout,
    /// It had not joined, and another caller's session needed its place.
    Displaced,
    /// The client broke the protocol.
    Violation,
    /// The host's handler panicked.
    Panicked,
}
