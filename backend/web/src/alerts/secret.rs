//! The secret in an alert's message. Together with the cookie of the browser that received it, it allows taking the entry once.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use nyala_core::domain::id::AlertMessageId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::secrets::{Key, Secrets};

const PURPOSE: &str = "alert message";

fn mac(key: &Key, id: AlertMessageId) -> [u8; 32] {
    key.derive(PURPOSE).mac(&id.to_be_bytes())
}

/// The secret of a message, as it is sent.
pub fn of(secrets: &Secrets, id: AlertMessageId) -> String {
    format!("{id}.{}", B64.encode(mac(&secrets.tokens.in_use().key.token, id)))
}

/// The message whose secret this is.
pub fn read(secrets: &Secrets, text: &str, now: Timestamp) -> Option<AlertMessageId> {
    let (id, tag) = text.split_once('.')?;
    let (id, tag): (_, [u8; 32]) = (AlertMessageId::parse(id)?, B64.decode(tag).ok()?.try_into().ok()?);
    secrets.tokens_at(now).any(|good| good.key.token.derive(PURPOSE).verifies(&id.to_be_bytes(), &tag)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_itself_is_read() {
        let secrets = Secrets::random();
        let (id, now) = (AlertMessageId::new(7), Timestamp::from_ms(1_795_000_000_000));
        let text = of(&secrets, id);
        assert_eq!(read(&secrets, &text, now), Some(id));
        let other = text.replacen('7', "8", 1);
        for wrong in ["", "7", "7.", ".", &other, &text[..text.len() - 1], &format!("{text}A")] {
            assert_eq!(read(&secrets, wrong, now), None, "{wrong}");
        }
        assert_eq!(read(&Secrets::random(), &text, now), None);
    }
}
