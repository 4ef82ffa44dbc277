//! Session ids.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const RANDOM_BYTES: usize = 15;
const LENGTH: usize = 20;

/// Session id: 120 random bits as 20 characters. A client that knows it can act as the session, so it must not be guessable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Sid([u8; LENGTH]);

/// The text is not a sid of this server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotASid;

impl Sid {
    pub fn random() -> Self {
        let mut out = [b'A'; LENGTH];
        // 15 bytes are exactly 20 characters, so the slice always fits.
        let _ = URL_SAFE_NO_PAD.encode_slice(rand::random::<[u8; RANDOM_BYTES]>(), &mut out);
        Self(out)
    }
}

/// Prefix of every sid that a server sends to clients, by which a load balancer finds the server. May be empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct SidPrefix(pub String);

impl SidPrefix {
    /// The sid with its prefix, as clients know it.
    pub fn format(&self, sid: Sid) -> String {
        format!("{}{sid}", self.0)
    }

    /// Reads a sid from the text that clients know.
    pub fn read(&self, text: &str) -> Result<Sid, NotASid> {
        text.strip_prefix(&self.0).ok_or(NotASid)?.parse()
    }
}

impl FromStr for Sid {
    type Err = NotASid;

    fn from_str(text: &str) -> Result<Self, NotASid> {
        let bytes: [u8; LENGTH] = text.as_bytes().try_into().map_err(|_| NotASid)?;
        if bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) { Ok(Self(bytes)) } else { Err(NotASid) }
    }
}

impl fmt::Display for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.0).unwrap_or_default())
    }
}

impl fmt::Debug for Sid {
    /// Shows only the start: a reader of a log could take over the session with the whole sid.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sid({}…)", self.to_string().get(..4).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sid_is_read_with_its_servers_prefix_and_with_no_other() {
        let (sid, named, alone) = (Sid::random(), SidPrefix("n1".into()), SidPrefix::default());
        assert_eq!(named.format(sid), format!("n1{sid}"));
        assert_eq!(named.read(&named.format(sid)), Ok(sid));
        assert_eq!(alone.read(&alone.format(sid)), Ok(sid));
        assert_eq!(SidPrefix("n2".into()).read(&named.format(sid)), Err(NotASid));
        assert_eq!(alone.read(&named.format(sid)), Err(NotASid));
    }
}
