//! Writing of a CONNECT (MQTT 3.1.1 §3.1).

use std::fmt;

use mqtt_protocol_core::mqtt::packet::v3_1_1;

use crate::packet::Will;
use crate::write::{Unsent, check_size, check_text, check_topic, put};

/// Login of a client, with a clean session. Its `Debug` does not show the password.
#[derive(Clone, Copy, Default)]
pub struct Login<'a> {
    /// The client id. If two connections have the same id, the server keeps the second. Empty: the server assigns an id.
    pub client_id: &'a str,
    /// The user's name.
    pub user: Option<&'a str>,
    /// The password. Needs a user.
    pub password: Option<&'a [u8]>,
    /// Maximum seconds between two packets. The caller must call [`ClientConnection::ping`](super::ClientConnection::ping) in time. 0: no limit.
    pub keep_alive: u16,
    /// Message that the server publishes when the connection ends without a DISCONNECT.
    pub will: Option<Will<'a>>,
}

impl fmt::Debug for Login<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("client_id", &self.client_id)
            .field("user", &self.user)
            .field("password", &self.password.map(|_| "***"))
            .field("keep_alive", &self.keep_alive)
            .field("will", &self.will)
            .finish()
    }
}

impl Login<'_> {
    pub(crate) fn put(&self, max: usize, out: &mut Vec<u8>) -> Result<(), Unsent> {
        check_size(self.strings().map(<[u8]>::len).sum(), max)?;
        check_text(self.client_id)?;
        let mut packet = v3_1_1::Connect::builder().client_id(self.client_id)?.clean_session(true).keep_alive(self.keep_alive);
        if let Some(Will { topic, payload, qos, retain }) = self.will {
            check_topic(topic)?;
            packet = packet.will_message(topic, payload.to_vec(), qos.to_core(), retain)?;
        }
        if let Some(user) = self.user {
            check_text(user)?;
            packet = packet.user_name(user)?;
        }
        if let Some(password) = self.password {
            packet = packet.password(password.to_vec())?;
        }
        put(&packet.build()?, max, out)
    }

    /// All strings, which have no separate limit.
    fn strings(&self) -> impl Iterator<Item = &[u8]> {
        let (topic, payload) = self.will.map_or(("", &[][..]), |will| (will.topic, will.payload));
        [
            self.client_id.as_bytes(),
            self.user.unwrap_or_default().as_bytes(),
            self.password.unwrap_or_default(),
            topic.as_bytes(),
            payload,
        ]
        .into_iter()
    }
}
