//! The text of `secrets.toml`. Until the first rotation it has the form of release 0.1, which older programs read, too.

use nyala_core::domain::timestamp::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::key::Key;
use super::ring::{GoodKey, Kid, Ring};
use super::{CustomerKeys, Fingerprint, Secrets};

const HEADER: &str = "\
# Keys of this installation; no other account may read them. `nyala secrets rotate` and `nyala secrets retire` write this file:
# copy it whole to the other servers of a cluster (docs/operations.md, \"Rotating keys\").

";

/// The form until the first rotation: one key of each purpose, some of them derived.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FirstKeys {
    pub kid: Kid,
    pub token: Key,
    pub otp: Key,
    pub qr_mesin: Key,
    pub qr_pelanggan: Key,
}

/// The form since then: each key with its number. The newest of a table is in use, the others are still good.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RotatedKeys {
    installation: Fingerprint,
    tokens: Vec<Tokens>,
    stickers: Vec<Numbered>,
    devices: Vec<Numbered>,
    pushes: Vec<Numbered>,
    pins: Vec<Numbered>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    kid: Kid,
    #[serde(deserialize_with = "instant")]
    since: Timestamp,
    token: Key,
    otp: Key,
    qr_pelanggan: Key,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbered {
    kid: Kid,
    #[serde(deserialize_with = "instant")]
    since: Timestamp,
    key: Key,
}

fn instant<'de, D: Deserializer<'de>>(d: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(d)?;
    Timestamp::parse_rfc3339(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is no instant of RFC 3339 with its zone")))
}

pub(super) fn read(text: &str) -> Result<Secrets, String> {
    let of_toml = |e: toml::de::Error| e.message().to_owned();
    let table: toml::Table = toml::from_str(text).map_err(of_toml)?;
    if !table.contains_key("installation") {
        return toml::from_str(text).map(Secrets::first).map_err(of_toml);
    }
    let RotatedKeys { installation, tokens, stickers, devices, pushes, pins } = toml::from_str(text).map_err(of_toml)?;
    let tokens = tokens.into_iter().map(|Tokens { kid, since, token, otp, qr_pelanggan }| GoodKey {
        kid,
        since: Some(since),
        key: CustomerKeys { token, otp, qr_pelanggan },
    });
    Ok(Secrets {
        installation,
        tokens: Ring::of(tokens.collect()).ok_or_else(|| order("tokens"))?,
        stickers: numbered("stickers", stickers)?,
        devices: on_curve("devices", devices)?,
        pushes: on_curve("pushes", pushes)?,
        pins: numbered("pins", pins)?,
        first: None,
    })
}

fn order(what: &str) -> String {
    format!("[[{what}]] must have a key, and each kid must be above the one before")
}

fn numbered(what: &str, keys: Vec<Numbered>) -> Result<Ring<Key>, String> {
    let keys = keys.into_iter().map(|Numbered { kid, since, key }| GoodKey { kid, since: Some(since), key });
    Ring::of(keys.collect()).ok_or_else(|| order(what))
}

fn on_curve(what: &str, keys: Vec<Numbered>) -> Result<Ring<Key>, String> {
    match keys.iter().find(|numbered| numbered.key.p256().is_none()) {
        Some(Numbered { kid, .. }) => Err(format!("key {kid} of [[{what}]] is no private key on P-256")),
        None => numbered(what, keys),
    }
}

pub(super) fn write(secrets: &Secrets) -> Result<String, toml::ser::Error> {
    if let Some(first) = &secrets.first {
        return toml::to_string(first);
    }
    let tokens = secrets.tokens.iter().map(|good| {
        let CustomerKeys { token, otp, qr_pelanggan } = good.key.clone();
        Tokens { kid: good.kid, since: good.since.unwrap_or_default(), token, otp, qr_pelanggan }
    });
    let mut keys = RotatedKeys {
        installation: secrets.installation,
        tokens: tokens.collect(),
        stickers: numbers(&secrets.stickers),
        devices: numbers(&secrets.devices),
        pushes: numbers(&secrets.pushes),
        pins: numbers(&secrets.pins),
    };
    keys.tokens.reverse();
    Ok(HEADER.to_owned() + &toml::to_string(&keys)?)
}

fn numbers(ring: &Ring<Key>) -> Vec<Numbered> {
    let number = |good: &GoodKey<Key>| Numbered { kid: good.kid, since: good.since.unwrap_or_default(), key: good.key.clone() };
    let mut keys: Vec<Numbered> = ring.iter().map(number).collect();
    keys.reverse();
    keys
}
