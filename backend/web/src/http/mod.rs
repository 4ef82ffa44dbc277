//! What every route shares: the envelope, errors, the request id, the caller's address.

pub mod admission;
pub mod answer;
pub mod body;
pub mod client_ip;
pub mod connection;
pub mod cors;
pub mod cross_site;
pub mod dev_guard;
pub mod envelope;
pub mod error;
pub mod headers;
pub mod in_flight;
pub mod input;
pub mod json;
pub mod kept_body;
pub mod metrics;
pub mod request_id;
pub mod schema;
