//! What every route shares: the envelope, errors, the request id, the caller's address.

pub mod answer;
pub mod client_ip;
pub mod cors;
pub mod envelope;
pub mod error;
pub mod headers;
pub mod in_flight;
pub mod input;
pub mod request_id;
pub mod unrouted;
