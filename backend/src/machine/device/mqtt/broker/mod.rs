//! The second way to the devices: a broker that they connect to, and the server as one of its clients (docs/devices.md). Words, order and
//! everything that they decide are those of the endpoint; a broker's memory is not trusted.

mod address;
mod bridge;
mod line;

pub use self::address::{Broker, BrokerError, Place, authorities};
pub use self::bridge::run_forever;

use crate::secrets::Secrets;

/// The server's user.
pub const USER: &str = "nyala";
/// What devices publish, by the last part of the topic.
pub const WORDS: [&str; 3] = ["ack", "state", "hb"];
/// What the server's password is derived for: the settings need to hold none.
const PURPOSE: &str = "device broker";
const PASSWORD_BYTES: usize = 16;

/// The server's password at its broker, unless the settings have another one.
pub fn password(secrets: &Secrets) -> String {
    secrets.otp.derive(PURPOSE).bytes().iter().take(PASSWORD_BYTES).map(|b| format!("{b:02x}")).collect()
}
