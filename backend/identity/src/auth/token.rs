//! Customer tokens: JWT, HS256 only, with `kid` and `aud` (docs/decisions/0019-tokens-carry-a-version.md; RFC 7519, RFC 8725).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::secrets::Keyring;
use rand::RngCore;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::AuthError;

/// Audience of the tokens; a token for another program is refused.
const AUDIENCE: &str = "nyala-pelanggan";
/// Longer texts are not parsed: a token made here has about 300 bytes.
const MAX_TOKEN_BYTES: usize = 1024;
const DAY_S: i64 = 24 * 60 * 60;

/// Identifies a token among all tokens of its customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenId(pub [u8; 16]);

/// Claims of a token; `exp` and `iat` are epoch seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    pub id_customer_global: CustomerId,
    /// `customer_global.token_version` when the token was made; an older one is invalid (docs/contract.md §1).
    pub ver: i32,
    pub aud: String,
    pub iat: i64,
    pub exp: i64,
    /// Random (RFC 7519 §4.1.7). Tokens from before logout existed on the server have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jti: Option<String>,
}

impl Claims {
    /// Derived from `jti`. Without one, it is derived from the other claims, which two logins of a customer share only within one
    /// second.
    pub fn token_id(&self) -> TokenId {
        let digest = match &self.jti {
            Some(jti) => Sha256::digest(jti),
            None => Sha256::digest(format!("{}.{}.{}.{}", self.id_customer_global, self.ver, self.iat, self.exp)),
        };
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        TokenId(id)
    }
}

/// Makes and reads tokens with the keys of `secrets.toml`.
pub struct Tokens {
    keyring: Keyring,
    validation: Validation,
    days: i64,
}

impl Tokens {
    /// `days`: validity of a token.
    pub fn new(keyring: Keyring, days: i64) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["exp", "aud"]);
        // `read` checks the expiry against the server's clock instead of the library's.
        validation.validate_exp = false;
        Self { keyring, validation, days }
    }

    /// A token of version `ver` for the customer `id`, valid from `now`.
    ///
    /// # Errors
    /// When the library cannot sign it; no claims cause this.
    pub fn mint(&self, id: CustomerId, ver: i32, now: Timestamp) -> Result<String, AuthError> {
        let iat = now.ms().div_euclid(1000);
        let mut random = [0; 16];
        rand::rng().fill_bytes(&mut random);
        let (exp, jti) = (iat + self.days * DAY_S, Some(B64.encode(random)));
        let claims = Claims { id_customer_global: id, ver, aud: AUDIENCE.to_owned(), iat, exp, jti };
        let secrets = self.keyring.get();
        let signing = secrets.tokens.in_use();
        let mut header = Header::new(Algorithm::HS256);
        header.kid = Some(signing.kid.to_string());
        let key = EncodingKey::from_secret(signing.key.token.bytes());
        jsonwebtoken::encode(&header, &claims, &key).map_err(AuthError::broken)
    }

    /// The claims of a token that was made here and has not expired. Does not check its version.
    ///
    /// # Errors
    /// `Unauthorized` for any other.
    pub fn read(&self, token: &str, now: Timestamp) -> Result<Claims, AuthError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(AuthError::Unauthorized);
        }
        let unauthorized = |_| AuthError::Unauthorized;
        let kid = jsonwebtoken::decode_header(token).map_err(unauthorized)?.kid.ok_or(AuthError::Unauthorized)?;
        let secrets = self.keyring.get();
        let good = secrets.tokens_at(now).find(|good| good.kid.to_string() == kid).ok_or(AuthError::Unauthorized)?;
        let key = DecodingKey::from_secret(good.key.token.bytes());
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &self.validation).map_err(unauthorized)?.claims;
        let live = claims.exp.saturating_mul(1000) > now.ms();
        if live { Ok(claims) } else { Err(AuthError::Unauthorized) }
    }
}

#[cfg(test)]
mod tests {
    use nyala_store::secrets::{Secrets, What};

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);

    fn forged(alg: Algorithm, kid: Option<&str>, aud: &str, key: &[u8]) -> String {
        let mut header = Header::new(alg);
        header.kid = kid.map(str::to_owned);
        let iat = NOW.ms() / 1000;
        let claims =
            Claims { id_customer_global: CustomerId::new(7), ver: 1, aud: aud.to_owned(), iat, exp: iat + DAY_S, jti: None };
        jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(key)).unwrap()
    }

    #[test]
    fn a_token_is_valid_for_its_days_and_no_longer() {
        let tokens = Tokens::new(Secrets::random().into(), 30);
        let token = tokens.mint(CustomerId::new(7), 3, NOW).unwrap();
        let claims = tokens.read(&token, NOW.plus_ms(30 * DAY_S * 1000 - 1)).unwrap();
        assert_eq!((claims.id_customer_global, claims.ver), (CustomerId::new(7), 3));
        assert!(tokens.read(&token, NOW.plus_ms(30 * DAY_S * 1000)).is_err());
    }

    #[test]
    fn each_login_has_its_own_token_id_and_an_older_token_is_identified_by_its_claims() {
        let secrets = Secrets::random();
        let tokens = Tokens::new(secrets.clone().into(), 30);
        let id = |token: &str| tokens.read(token, NOW).unwrap().token_id();
        let token = tokens.mint(CustomerId::new(7), 3, NOW).unwrap();
        assert_eq!(id(&token), id(&token));
        assert_ne!(id(&token), id(&tokens.mint(CustomerId::new(7), 3, NOW).unwrap()));
        let older = forged(Algorithm::HS256, Some("1"), AUDIENCE, secrets.tokens.in_use().key.token.bytes());
        assert_eq!(id(&older), id(&older));
        assert_ne!(id(&older), id(&token));
    }

    #[test]
    fn only_our_key_algorithm_kid_and_audience_pass() {
        let secrets = Secrets::random();
        let tokens = Tokens::new(secrets.clone().into(), 30);
        let ours = secrets.tokens.in_use().key.token.bytes();
        assert!(tokens.read(&forged(Algorithm::HS256, Some("1"), AUDIENCE, ours), NOW).is_ok());
        for token in [
            forged(Algorithm::HS384, Some("1"), AUDIENCE, ours),
            forged(Algorithm::HS256, Some("2"), AUDIENCE, ours),
            forged(Algorithm::HS256, None, AUDIENCE, ours),
            forged(Algorithm::HS256, Some("1"), "other", ours),
            forged(Algorithm::HS256, Some("1"), AUDIENCE, Secrets::random().tokens.in_use().key.token.bytes()),
        ] {
            assert!(tokens.read(&token, NOW).is_err(), "{token}");
        }
    }

    #[test]
    fn an_unsigned_token_is_refused() {
        use base64::Engine;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
        let tokens = Tokens::new(Secrets::random().into(), 30);
        let token = tokens.mint(CustomerId::new(7), 1, NOW).unwrap();
        let payload = token.split('.').nth(1).unwrap();
        let none = B64.encode(r#"{"alg":"none","kid":"1","typ":"JWT"}"#);
        for text in [format!("{none}.{payload}."), format!("{none}.{payload}"), String::new(), "..".to_owned(), "a".repeat(5000)]
        {
            assert!(tokens.read(&text, NOW).is_err(), "{text}");
        }
    }

    #[test]
    fn a_token_of_the_key_before_is_good_for_thirty_days_after_the_rotation() {
        let mut secrets = Secrets::random();
        let old = Tokens::new(secrets.clone().into(), 60).mint(CustomerId::new(7), 1, NOW).unwrap();
        let first = Tokens::new(secrets.clone().into(), 60);
        secrets.rotate(What::Tokens, NOW, NOW);
        let both = Tokens::new(secrets.clone().into(), 60);
        let new = both.mint(CustomerId::new(7), 1, NOW).unwrap();
        let kid = |token: &str| jsonwebtoken::decode_header(token).unwrap().kid.unwrap();
        assert_eq!((kid(&old), kid(&new)), ("1".to_owned(), "2".to_owned()));
        assert!(first.read(&new, NOW).is_err(), "a server without the new key");
        let (last, end) = (NOW.plus_ms(30 * DAY_S * 1000 - 1), NOW.plus_ms(30 * DAY_S * 1000));
        assert!(both.read(&old, last).is_ok() && both.read(&old, end).is_err());
        assert!(both.read(&new, end).is_ok());
        secrets.retire(What::Tokens, "1", NOW).unwrap();
        let retired = Tokens::new(secrets.into(), 60);
        assert!(retired.read(&old, NOW).is_err() && retired.read(&new, NOW).is_ok());
    }
}
