//! Keys that stay the same, so that a kept input always means the same.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use nyala_store::secrets::{Key, Secrets};

/// As `secrets.toml` has them. Worth nothing: no server has these.
const FILE: &str = r#"
kid = "1"
token = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
otp = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8"
qr_mesin = "QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8"
qr_pelanggan = "YGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn8"
"#;

pub static SECRETS: LazyLock<Secrets> = LazyLock::new(|| Secrets::parse(FILE).unwrap_or_else(|_| Secrets::random()));

/// `text` and behind it its signature: the first `bytes` of the HMAC.
pub fn signed(text: &str, key: &Key, bytes: usize) -> String {
    let mac = key.mac(text.as_bytes());
    format!("{text}.{}", B64.encode(&mac[..bytes.min(mac.len())]))
}
