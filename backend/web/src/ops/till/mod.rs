//! Browsers of tills: pairing, logging in and out, approvals, the socket.

pub mod approve;
pub mod browsers;
pub mod log_in;
pub mod log_out;
pub mod pair;
pub mod socket;
pub mod this_browser;
