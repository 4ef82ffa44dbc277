//! Customer's QR code, shown to the cashier for a top-up: `NYC1.<kid>.<payload>.<mac>`, valid for 5 minutes (docs/contract.md §2).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::secrets::{Kid, Secrets};

const PREFIX: &str = "NYC1";
/// Every response shows a code that is good for at least this long, in milliseconds (docs/contract.md §2).
pub const TTL_MS: i64 = 5 * 60 * 1000;
/// A code is shown for this long after it was made ([`Pictures`]), and so is good for this much longer.
const MINUTE_MS: i64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QrError {
    /// Not a customer's code of this installation.
    Foreign,
    /// Made more than six minutes ago.
    Expired,
}

/// The text inside the code of customer `id_customer_global`, valid for six minutes from `now`.
pub fn make(secrets: &Secrets, id_customer_global: CustomerId, now: Timestamp) -> String {
    let mut payload = [0; 16];
    payload[..8].copy_from_slice(&id_customer_global.to_be_bytes());
    payload[8..].copy_from_slice(&now.plus_ms(TTL_MS + MINUTE_MS).ms().to_be_bytes());
    let good = secrets.tokens.in_use();
    super::seal(PREFIX, good.kid, &good.key.qr_pelanggan, &payload)
}

/// Customers whose pictures are kept in a minute, about 1 KiB each; beyond that each picture is drawn for its request.
const MAX_KEPT: usize = 10_000;

/// Pictures of codes, each kept for its minute. A repeated request gets the same picture, so a worker thread does not draw it again.
#[derive(Debug, Clone, Default)]
pub struct Pictures(Arc<Mutex<Minute>>);

#[derive(Debug, Default)]
struct Minute {
    number: i64,
    /// The key that signed these codes; `None` before the first one.
    kid: Option<Kid>,
    by_customer: HashMap<CustomerId, Arc<str>>,
}

impl Pictures {
    /// The code of a customer as a PNG in base64. It is kept for the rest of its minute, and still valid for five minutes then.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn of(
        &self,
        secrets: &Secrets,
        id_customer_global: CustomerId,
        now: Timestamp,
    ) -> Result<Arc<str>, super::png::PictureError> {
        let number = now.ms().div_euclid(MINUTE_MS);
        let kid = Some(secrets.tokens.in_use().kid);
        {
            let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if (minute.number, minute.kid) != (number, kid) {
                *minute = Minute { number, kid, by_customer: HashMap::new() };
            }
            if let Some(kept) = minute.by_customer.get(&id_customer_global) {
                return Ok(kept.clone());
            }
        }
        let picture: Arc<str> = super::png::base64(&make(secrets, id_customer_global, now))?.into();
        let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if (minute.number, minute.kid) == (number, kid) && minute.by_customer.len() < MAX_KEPT {
            minute.by_customer.insert(id_customer_global, picture.clone());
        }
        Ok(picture)
    }
}

/// A code that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomerCode {
    pub id_customer_global: CustomerId,
    pub made_at: Timestamp,
}

/// Reads a code. Whether its customer is still the one for whom it was made, the database knows
/// ([`crate::auth::session::is_of_another`]).
///
/// # Errors
/// When it is not a customer's code of this installation, or has expired.
pub fn parse(text: &str, secrets: &Secrets, now: Timestamp) -> Result<CustomerCode, QrError> {
    let good = |kid| Some(&secrets.tokens_at(now).find(|good| good.kid == kid)?.key.qr_pelanggan);
    let payload: [u8; 16] = super::open(PREFIX, good, text).ok_or(QrError::Foreign)?;
    let id_customer_global = payload.first_chunk().copied().map(CustomerId::from_be_bytes).ok_or(QrError::Foreign)?;
    let good_until = payload.last_chunk().copied().map(i64::from_be_bytes).map(Timestamp::from_ms).ok_or(QrError::Foreign)?;
    let made_at = good_until.plus_ms(-TTL_MS - MINUTE_MS);
    if now <= good_until { Ok(CustomerCode { id_customer_global, made_at }) } else { Err(QrError::Expired) }
}

#[cfg(test)]
mod tests {
    use nyala_core::domain::id::MachineId;

    use super::*;

    #[test]
    fn a_code_is_valid_for_the_minute_it_is_shown_and_five_more() {
        let (secrets, now) = (Secrets::random(), Timestamp::from_ms(1_795_000_000_000));
        let text = make(&secrets, CustomerId::new(42), now);
        let code = CustomerCode { id_customer_global: CustomerId::new(42), made_at: now };
        assert_eq!(parse(&text, &secrets, now.plus_ms(6 * 60 * 1000)), Ok(code));
        assert_eq!(parse(&text, &secrets, now.plus_ms(6 * 60 * 1000 + 1)), Err(QrError::Expired));
        assert_eq!(parse(&text, &Secrets::random(), now), Err(QrError::Foreign));
    }

    #[test]
    fn a_picture_is_kept_for_its_minute_and_each_customers_is_its_own() {
        let (secrets, now, pictures) = (Secrets::random(), Timestamp::from_ms(1_795_000_020_000), Pictures::default());
        let first = pictures.of(&secrets, CustomerId::new(42), now).unwrap();
        assert_eq!(pictures.of(&secrets, CustomerId::new(42), now.plus_ms(30_000)).unwrap(), first);
        assert_ne!(pictures.of(&secrets, CustomerId::new(43), now).unwrap(), first);
        assert_ne!(pictures.of(&secrets, CustomerId::new(42), now.plus_ms(MINUTE_MS)).unwrap(), first);
        assert_eq!(pictures.0.lock().unwrap().by_customer.len(), 1, "the minute before is forgotten");
    }

    #[test]
    fn a_machines_sticker_is_not_accepted_as_a_customer() {
        let secrets = Secrets::random();
        assert_eq!(
            parse(&crate::qr::machine::make(&secrets, MachineId::new(1), 1), &secrets, Timestamp::from_ms(0)),
            Err(QrError::Foreign)
        );
    }
}
