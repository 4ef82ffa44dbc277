//! Sender's identity: a signature that push services require with every message (VAPID, RFC 8292).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::push::endpoint::Endpoint;
use nyala_store::secrets::Key;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use p256::pkcs8::EncodePrivateKey;
use serde::Serialize;

use super::error::PushError;

/// RFC 8292 §2: at most a day. Half a day is accepted even when a clock is hours off.
const GOOD_FOR_S: i64 = 12 * 3600;

#[derive(Serialize)]
struct Claims<'a> {
    aud: &'a str,
    exp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<&'a str>,
}

pub struct Vapid {
    key: EncodingKey,
    public: String,
    /// Contact for a push service that has a question about these pushes.
    contact: String,
}

impl Vapid {
    /// The identity with a private key of `secrets.toml`.
    pub fn of(key: &Key, contact: &str) -> Result<Self, PushError> {
        let secret = key.p256().ok_or(PushError::Key)?;
        let der = secret.to_pkcs8_der().map_err(|_| PushError::Key)?;
        let public = B64.encode(secret.public_key().to_encoded_point(false).as_bytes());
        Ok(Self { key: EncodingKey::from_ec_der(der.as_bytes()), public, contact: contact.to_owned() })
    }

    pub fn public(&self) -> &str {
        &self.public
    }

    /// The value of `Authorization` for a message to that endpoint.
    pub fn authorization(&self, endpoint: &Endpoint, now: Timestamp) -> Result<String, PushError> {
        let sub = Some(self.contact.as_str()).filter(|contact| !contact.is_empty());
        let claims = Claims { aud: endpoint.origin(), exp: now.ms().div_euclid(1000) + GOOD_FOR_S, sub };
        let token = jsonwebtoken::encode(&Header::new(Algorithm::ES256), &claims, &self.key)?;
        Ok(format!("vapid t={token}, k={}", self.public))
    }
}
