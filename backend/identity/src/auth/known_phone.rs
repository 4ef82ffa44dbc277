//! Phones that logged in before are recognised by a cookie (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"). Strangers
//! that guess at a number, or neighbours behind the same address, therefore cannot lock out its owner.
//!
//! The cookie grants no access. It names the customer who logged in here last. It is signed, so that it cannot be made without the
//! password or a code that was sent to the number. It stays when the customer logs out.

use actix_web::http::header::{COOKIE, HeaderMap, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use nyala_core::domain::cookie;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::secrets::{CustomerKeys, Key, Keyring};
use rand::RngCore;

use super::error::AuthError;

/// The first part of the cookie's name; the installation's name follows.
const NAME: &str = "nyala_phone";
/// The longest that browsers keep a cookie (RFC 6265bis §5.5: 400 days). Each login renews it.
const MAX_AGE_S: i64 = 400 * 24 * 60 * 60;

const FORMAT: u8 = 1;
const DEVICE_BYTES: usize = 16;
const BODY_BYTES: usize = 1 + 8 + 4 + 8 + DEVICE_BYTES;
const TAG_BYTES: usize = 16;

/// A phone on which a customer has logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KnownPhone {
    /// The customer who logged in last.
    pub customer: CustomerId,
    /// `token_version` at that time. A phone from before the current password may be one that the customer wants to exclude.
    pub version: i32,
    /// Identifies the phone; every login gets a new one.
    pub device: [u8; DEVICE_BYTES],
}

/// The key of the cookies.
fn signing(keys: &CustomerKeys) -> Key {
    keys.token.derive("known phone")
}

/// Makes and reads the cookies.
#[derive(Debug)]
pub struct KnownPhones {
    keyring: Keyring,
    /// The cookie's full name. Another installation on the same host has a different one.
    name: String,
    /// `Secure` on every cookie, also over a plain connection.
    always_secure: bool,
}

impl KnownPhones {
    /// `always_secure` in production, where every request comes over TLS.
    pub fn new(keyring: Keyring, always_secure: bool) -> Self {
        let name = cookie::name_of(NAME, &keyring.get().installation_name());
        Self { keyring, name, always_secure }
    }

    /// The phone of a request with these headers, when it carries a valid cookie. Makes no database query, so it does not check that
    /// `version` is still the customer's. All cookies that fit into a request's head are examined.
    pub fn of_headers(&self, headers: &HeaderMap, now: Timestamp) -> Option<KnownPhone> {
        self.shown(headers, now, false).or_else(|| self.shown(headers, now, true))
    }

    /// The same, by cookies with an old name (`old`) or with the current one.
    fn shown(&self, headers: &HeaderMap, now: Timestamp, old: bool) -> Option<KnownPhone> {
        let cookies = headers.get_all(COOKIE).flat_map(|line| cookie::named(line.as_bytes(), NAME));
        cookies.filter(|cookie| cookie.is_old == old).find_map(|cookie| self.read(cookie.value, now))
    }

    /// The `Set-Cookie` headers that make a phone known as one of `customer`, who logged in there with token version `version`.
    /// `over_tls`: the request came encrypted. One of our cookies with an old name among `headers` is replaced; another installation's
    /// is kept.
    ///
    /// # Errors
    /// When it is not a valid header value; its content never causes this.
    pub fn cookies(
        &self,
        customer: CustomerId,
        version: i32,
        over_tls: bool,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<Vec<HeaderValue>, AuthError> {
        let secure = if self.always_secure || over_tls { "; Secure" } else { "" };
        let cookie = |name: &str, value: &str, life_s: i64| {
            let text = format!("{name}={value}; Path=/; Max-Age={life_s}; HttpOnly; SameSite=Strict{secure}");
            HeaderValue::from_str(&text).map_err(AuthError::broken)
        };
        let mut cookies = vec![cookie(&self.name, &self.value(customer, version, now), MAX_AGE_S)?];
        if self.shown(headers, now, true).is_some() {
            cookies.push(cookie(NAME, "", 0)?);
        }
        Ok(cookies)
    }

    fn value(&self, customer: CustomerId, version: i32, now: Timestamp) -> String {
        let mut bytes = Vec::with_capacity(BODY_BYTES + TAG_BYTES);
        bytes.push(FORMAT);
        bytes.extend_from_slice(&customer.to_be_bytes());
        bytes.extend_from_slice(&version.to_be_bytes());
        bytes.extend_from_slice(&(now.ms().div_euclid(1000) + MAX_AGE_S).to_be_bytes());
        let mut device = [0; DEVICE_BYTES];
        rand::rng().fill_bytes(&mut device);
        bytes.extend_from_slice(&device);
        let tag = signing(&self.keyring.get().tokens.in_use().key).mac(&bytes);
        bytes.extend_from_slice(&tag[..TAG_BYTES]);
        B64.encode(bytes)
    }

    fn read(&self, value: &str, now: Timestamp) -> Option<KnownPhone> {
        let mut bytes = [0; BODY_BYTES + TAG_BYTES];
        let whole = B64.decode_slice(value, &mut bytes).ok()? == bytes.len();
        let (body, tag) = bytes.split_first_chunk::<BODY_BYTES>()?;
        let is_ours = || self.keyring.get().tokens_at(now).any(|good| signing(&good.key).verifies(body, tag));
        if !whole || body[0] != FORMAT || !is_ours() {
            return None;
        }
        let (customer, rest) = body[1..].split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (until_s, device) = rest.split_first_chunk()?;
        let live = i64::from_be_bytes(*until_s).saturating_mul(1000) > now.ms();
        let device = device.try_into().ok()?;
        live.then_some(KnownPhone {
            customer: CustomerId::from_be_bytes(*customer),
            version: i32::from_be_bytes(*version),
            device,
        })
    }
}

#[cfg(test)]
mod tests {
    use nyala_store::secrets::Secrets;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);

    fn headers(lines: &[String]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        lines.iter().for_each(|line| headers.append(COOKIE, HeaderValue::from_str(line).unwrap()));
        headers
    }

    #[test]
    fn a_phone_is_known_among_other_cookies_until_its_time_is_over() {
        let phones = KnownPhones::new(Secrets::random().into(), false);
        let value = phones.value(CustomerId::new(7), 3, NOW);
        for line in [format!("{NAME}={value}"), format!("a=b; {NAME}=x; {NAME}={value} ;c"), format!("{NAME}x=1;{NAME}={value}")]
        {
            let known = phones.of_headers(&headers(&["d=e".to_owned(), line.clone()]), NOW).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((known.customer, known.version), (CustomerId::new(7), 3));
        }
        let line = [format!("{NAME}={value}")];
        assert!(phones.of_headers(&headers(&line), NOW.plus_ms(MAX_AGE_S * 1000 - 1)).is_some());
        assert!(phones.of_headers(&headers(&line), NOW.plus_ms(MAX_AGE_S * 1000)).is_none());
        assert!(phones.of_headers(&headers(&[]), NOW).is_none());
    }

    #[test]
    fn nobody_else_makes_one() {
        let (phones, others) =
            (KnownPhones::new(Secrets::random().into(), false), KnownPhones::new(Secrets::random().into(), false));
        let good = phones.value(CustomerId::new(7), 3, NOW);
        let mut bytes = B64.decode(&good).unwrap();
        bytes[8] ^= 1; // another customer
        for value in [
            B64.encode(&bytes),
            others.value(CustomerId::new(7), 3, NOW),
            good[1..].to_owned(),
            format!("{good}AA"),
            String::new(),
            "=".repeat(80),
        ] {
            assert!(phones.of_headers(&headers(&[format!("{NAME}={value}")]), NOW).is_none(), "{value}");
        }
    }

    #[test]
    fn each_login_is_a_phone_of_its_own() {
        let phones = KnownPhones::new(Secrets::random().into(), false);
        let device = || phones.read(&phones.value(CustomerId::new(7), 3, NOW), NOW).unwrap().device;
        assert_ne!(device(), device());
    }

    #[test]
    fn scripts_and_other_sites_do_not_get_it_and_plain_lines_neither() {
        for (always, over_tls, secure) in [(false, false, false), (false, true, true), (true, false, true)] {
            let phones = KnownPhones::new(Secrets::random().into(), always);
            let cookies = phones.cookies(CustomerId::new(7), 3, over_tls, &headers(&[]), NOW).unwrap();
            assert_eq!(cookies.len(), 1);
            let cookie = cookies[0].to_str().unwrap();
            assert!(cookie.starts_with(&format!("{}=", phones.name)), "{cookie}");
            for part in ["Path=/", "Max-Age=34560000", "HttpOnly", "SameSite=Strict"] {
                assert!(cookie.split("; ").any(|p| p == part), "{cookie}");
            }
            assert_eq!(cookie.ends_with("; Secure"), secure, "{cookie}");
        }
    }

    #[test]
    fn a_cookie_with_the_old_name_is_read_and_replaced() {
        let secrets = Secrets::random();
        let (phones, others) = (KnownPhones::new(secrets.into(), false), KnownPhones::new(Secrets::random().into(), false));
        let (old, foreign) = (phones.value(CustomerId::new(7), 3, NOW), others.value(CustomerId::new(7), 3, NOW));
        let replaced = |line: String| {
            let cookies = phones.cookies(CustomerId::new(7), 3, false, &headers(&[line]), NOW).unwrap();
            cookies.iter().skip(1).map(|cookie| cookie.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(phones.of_headers(&headers(&[format!("{NAME}={old}")]), NOW).is_some());
        assert_eq!(replaced(format!("{NAME}={old}")), [format!("{NAME}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")]);
        assert_eq!(replaced(format!("{NAME}={foreign}; {}={old}", phones.name)), [""; 0], "another installation's stays");
    }
}
