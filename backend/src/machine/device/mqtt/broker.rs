//! What a broker that stands between server and devices has to know of the server.

use crate::secrets::Secrets;

/// The server's user.
pub const USER: &str = "nyala";
/// What devices publish, by the last part of the topic.
pub const WORDS: [&str; 3] = ["ack", "state", "hb"];
/// What the server's password is derived for: no settings hold it.
const PURPOSE: &str = "device broker";
const PASSWORD_BYTES: usize = 16;

/// The server's password at its broker.
pub fn password(secrets: &Secrets) -> String {
    secrets.otp.derive(PURPOSE).bytes().iter().take(PASSWORD_BYTES).map(|b| format!("{b:02x}")).collect()
}
