//! QR texts, `<prefix>.<kid>.<payload>.<mac>`: the app scans machines' codes, and the cashier scans customers'.

pub mod customer;
pub mod machine;
pub mod png;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;

use nyala_core::domain::code;
use nyala_store::secrets::{Key, Kid};

/// Bytes kept of the HMAC: 128 bits cannot be guessed, and a smaller QR is easier to scan.
const MAC_BYTES: usize = 16;
/// Longest QR text, in bytes; a longer one is not even decoded.
const MAX_TEXT_BYTES: usize = 200;

/// `payload` under the key `kid`, readable back by [`open`] with the same `prefix` and key.
fn seal(prefix: &str, kid: Kid, key: &Key, payload: &[u8]) -> String {
    let body = format!("{prefix}.{kid}.{}", B64.encode(payload));
    let mac = key.mac(body.as_bytes());
    let kept = mac.first_chunk::<MAC_BYTES>().map_or(&mac[..], |m| &m[..]);
    format!("{body}.{}", B64.encode(kept))
}

/// The payload of `text`; `None` when it is not a text of ours, was made with a key that is not good, or was altered. `good` finds a good key
/// by its number.
fn open<'k, const N: usize>(prefix: &str, good: impl FnOnce(Kid) -> Option<&'k Key>, text: &str) -> Option<[u8; N]> {
    let text = code::trim(text);
    if text.len() > MAX_TEXT_BYTES {
        return None;
    }
    let (body, mac) = text.rsplit_once('.')?;
    let (kid, payload) = body.strip_prefix(prefix)?.strip_prefix('.')?.split_once('.')?;
    let mac = B64.decode(mac).ok().filter(|m| m.len() == MAC_BYTES)?;
    if !good(kid.parse().ok()?)?.verifies(body.as_bytes(), &mac) {
        return None;
    }
    B64.decode(payload).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyala_core::domain::timestamp::Timestamp;
    use nyala_store::secrets::{Secrets, What};

    fn sealed(keys: &Secrets) -> String {
        seal("NYX1", keys.stickers.in_use().kid, &keys.stickers.in_use().key, &[7; 4])
    }

    fn opened<const N: usize>(keys: &Secrets, prefix: &str, text: &str) -> Option<[u8; N]> {
        open(prefix, |kid| Some(&keys.stickers.get(kid)?.key), text)
    }

    #[test]
    fn an_altered_text_never_opens() {
        let keys = Secrets::random();
        let text = sealed(&keys);
        assert_eq!(opened(&keys, "NYX1", &format!("\u{feff}{text}\r\n")), Some([7; 4]));
        for i in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[i] = if altered[i] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(opened::<4>(&keys, "NYX1", &altered), None, "{altered}");
        }
    }

    #[test]
    fn a_foreign_text_never_opens() {
        let keys = Secrets::random();
        let text = sealed(&keys);
        assert_eq!(opened::<4>(&Secrets::random(), "NYX1", &text), None, "another key");
        assert_eq!(opened::<4>(&keys, "NYY1", &text), None, "another prefix");
        assert_eq!(opened::<5>(&keys, "NYX1", &text), None, "another length");
        for kid in ["2", "01", "+1", "1 ", ""] {
            let other = text.replacen(".1.", &format!(".{kid}."), 1);
            assert_eq!(opened::<4>(&keys, "NYX1", &other), None, "{other}");
        }
        for bad in ["", ".", "...", "NYX1", "NYX1.1..", "https://example.com/?q=1.2.3", "NYX1.1.\u{1F600}.x", &"A".repeat(5000)] {
            assert_eq!(opened::<4>(&keys, "NYX1", bad), None, "{bad}");
        }
    }

    #[test]
    fn a_text_of_the_key_before_opens_until_that_is_retired() {
        let mut keys = Secrets::random();
        let old = sealed(&keys);
        keys.rotate(What::Stickers, Timestamp::default(), Timestamp::default());
        let new = sealed(&keys);
        assert!(new.starts_with("NYX1.2."), "{new}");
        for text in [&old, &new] {
            assert_eq!(opened(&keys, "NYX1", text), Some([7; 4]), "{text}");
        }
        keys.retire(What::Stickers, "1", Timestamp::default()).unwrap();
        assert_eq!((opened::<4>(&keys, "NYX1", &old), opened(&keys, "NYX1", &new)), (None, Some([7; 4])));
    }
}
