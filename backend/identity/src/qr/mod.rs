//! QR texts, `<prefix>.<kid>.<payload>.<mac>`: the app scans machines' codes, and the cashier scans customers'.

pub mod customer;
pub mod machine;
pub mod png;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;

use nyala_core::domain::code;
use nyala_store::secrets::Key;

/// Bytes kept of the HMAC: 128 bits cannot be guessed, and a smaller QR is easier to scan.
const MAC_BYTES: usize = 16;
/// Longest QR text, in bytes; a longer one is not even decoded.
const MAX_TEXT_BYTES: usize = 200;

/// `payload` under `key`, readable back by [`open`] with the same `prefix`, `kid` and `key`.
fn seal(prefix: &str, kid: &str, key: &Key, payload: &[u8]) -> String {
    let body = format!("{prefix}.{kid}.{}", B64.encode(payload));
    let mac = key.mac(body.as_bytes());
    let kept = mac.first_chunk::<MAC_BYTES>().map_or(&mac[..], |m| &m[..]);
    format!("{body}.{}", B64.encode(kept))
}

/// The payload of `text`; `None` when it is not a text of ours, was made with other keys, or was altered.
fn open<const N: usize>(prefix: &str, kid: &str, key: &Key, text: &str) -> Option<[u8; N]> {
    let text = code::trim(text);
    if text.len() > MAX_TEXT_BYTES {
        return None;
    }
    let (body, mac) = text.rsplit_once('.')?;
    let payload = body.strip_prefix(prefix)?.strip_prefix('.')?.strip_prefix(kid)?.strip_prefix('.')?;
    let mac = B64.decode(mac).ok().filter(|m| m.len() == MAC_BYTES)?;
    if !key.verifies(body.as_bytes(), &mac) {
        return None;
    }
    B64.decode(payload).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyala_store::secrets::Secrets;

    #[test]
    fn an_altered_text_never_opens() {
        let keys = Secrets::random();
        let text = seal("NYX1", &keys.kid, &keys.qr_mesin, &[7; 4]);
        assert_eq!(open("NYX1", &keys.kid, &keys.qr_mesin, &format!("\u{feff}{text}\r\n")), Some([7; 4]));
        for i in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[i] = if altered[i] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(open::<4>("NYX1", &keys.kid, &keys.qr_mesin, &altered), None, "{altered}");
        }
    }

    #[test]
    fn a_foreign_text_never_opens() {
        let keys = Secrets::random();
        let text = seal("NYX1", "1", &keys.qr_mesin, &[7; 4]);
        assert_eq!(open::<4>("NYX1", "1", &keys.qr_pelanggan, &text), None, "another key");
        assert_eq!(open::<4>("NYY1", "1", &keys.qr_mesin, &text), None, "another prefix");
        assert_eq!(open::<4>("NYX1", "2", &keys.qr_mesin, &text), None, "another kid");
        assert_eq!(open::<5>("NYX1", "1", &keys.qr_mesin, &text), None, "another length");
        for bad in ["", ".", "...", "NYX1", "NYX1.1..", "https://example.com/?q=1.2.3", "NYX1.1.\u{1F600}.x", &"A".repeat(5000)] {
            assert_eq!(open::<4>("NYX1", "1", &keys.qr_mesin, bad), None, "{bad}");
        }
    }
}
