//! Session ids.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const RANDOM_BYTES: usize = 15;
const LENGTH: usize = 20;

/// 120 random bits as 20 characters: whoever knows it is the session, so it cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Sid([u8; LENGTH]);

/// The text is no sid that this server made.
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

/// What every sid of a server begins with where clients see it, so that a load balancer finds the server; empty: nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct SidPrefix(pub String);

impl SidPrefix {
    /// The sid as clients know it.
    pub fn tell(&self, sid: Sid) -> String {
        format!("{}{sid}", self.0)
    }

    /// The sid that a client knows so.
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
    /// Only its start: a whole sid in a log would let its reader take over the session.
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
        assert_eq!(named.tell(sid), format!("n1{sid}"));
        assert_eq!(named.read(&named.tell(sid)), Ok(sid));
        assert_eq!(alone.read(&alone.tell(sid)), Ok(sid));
        assert_eq!(SidPrefix("n2".into()).read(&named.tell(sid)), Err(NotASid));
        assert_eq!(alone.read(&named.tell(sid)), Err(NotASid));
    }
}
