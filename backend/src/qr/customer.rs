//! The customer's code, shown to the cashier for a top-up: `NYC1.<kid>.<payload>.<mac>`, good for 5 minutes
//! (docs/contract.md §2).

use crate::domain::timestamp::Timestamp;
use crate::secrets::Secrets;

const PREFIX: &str = "NYC1";
/// How long a code is good, in milliseconds (docs/contract.md §2).
pub const LIFE_MS: i64 = 5 * 60 * 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QrError {
    /// Not a customer's code of ours.
    Foreign,
    /// It was one, more than [`LIFE_MS`] ago.
    Expired,
}

/// The text inside the code of customer `id_customer_global`, good until `now` + [`LIFE_MS`].
pub fn make(secrets: &Secrets, id_customer_global: i64, now: Timestamp) -> String {
    let mut payload = [0; 16];
    payload[..8].copy_from_slice(&id_customer_global.to_be_bytes());
    payload[8..].copy_from_slice(&now.plus_ms(LIFE_MS).ms().to_be_bytes());
    super::seal(PREFIX, &secrets.kid, &secrets.qr_pelanggan, &payload)
}

/// Whose code it is.
pub fn parse(text: &str, secrets: &Secrets, now: Timestamp) -> Result<i64, QrError> {
    let payload: [u8; 16] = super::open(PREFIX, &secrets.kid, &secrets.qr_pelanggan, text).ok_or(QrError::Foreign)?;
    let id = payload.first_chunk().copied().map(i64::from_be_bytes).ok_or(QrError::Foreign)?;
    let good_until = payload.last_chunk().copied().map(i64::from_be_bytes).map(Timestamp::from_ms).ok_or(QrError::Foreign)?;
    if now <= good_until { Ok(id) } else { Err(QrError::Expired) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_lives_five_minutes() {
        let (secrets, now) = (Secrets::random(), Timestamp::from_ms(1_795_000_000_000));
        let text = make(&secrets, 42, now);
        assert_eq!(parse(&text, &secrets, now.plus_ms(5 * 60 * 1000)), Ok(42));
        assert_eq!(parse(&text, &secrets, now.plus_ms(5 * 60 * 1000 + 1)), Err(QrError::Expired));
        assert_eq!(parse(&text, &Secrets::random(), now), Err(QrError::Foreign));
    }

    #[test]
    fn a_machines_sticker_is_no_customer() {
        let secrets = Secrets::random();
        assert_eq!(parse(&crate::qr::machine::make(&secrets, 1, 1), &secrets, Timestamp::from_ms(0)), Err(QrError::Foreign));
    }
}
