//! Credentials of customers: tokens (RFC 7519, RFC 7515) and the cookie of a known phone. The first byte selects which, and with what
//! signature; no search finds a signature, so the harness makes it.

use actix_web::http::header::{COOKIE, HeaderMap, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::auth::known_phone::{KnownPhone, KnownPhones};
use nyala_identity::auth::token::{Claims, Tokens};
use nyala_store::secrets::Key;
use serde::Deserialize;

use crate::keys::{SECRETS, signed};
use actix_socketio_fuzz::harness::{kind_and_rest, of_kind};

const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);
const NOW_S: i64 = NOW.ms() / 1000;
const DAYS: i64 = 30;
/// Bytes of the signature of HS256.
const SIGNATURE_BYTES: usize = 32;

/// As [`KnownPhones`] writes it: format, customer, version, until when, phone.
const PHONE_BYTES: usize = 1 + 8 + 4 + 8 + 16;
const PHONE_TAG_BYTES: usize = 16;

const TEXT: u8 = 0;
const SIGNED: u8 = 1;
const FORGED: u8 = 2;
const UNSIGNED: u8 = 3;
const COOKIES: u8 = 4;
const PHONE: u8 = 5;
const KINDS: u8 = 6;

pub fn run(bytes: &[u8]) {
    let (kind, rest) = kind_and_rest(bytes);
    match kind % KINDS {
        TEXT => text(rest),
        SIGNED => signed_by_us(rest),
        FORGED => forged(rest, Some(&SECRETS.tokens.in_use().key.otp)),
        UNSIGNED => forged(rest, None),
        COOKIES => cookies(rest),
        _ => phone(rest),
    }
}

fn read(token: &str) -> Option<Claims> {
    Tokens::new(SECRETS.clone().into(), DAYS).read(token, NOW).ok()
}

/// Any text: one that passes carries our signature, and in the one form that it has.
fn text(bytes: &[u8]) {
    let Ok(token) = std::str::from_utf8(bytes) else { return };
    if read(token).is_some() {
        let signed_again =
            token.rsplit_once('.').map(|(input, _)| signed(input, &SECRETS.tokens.in_use().key.token, SIGNATURE_BYTES));
        assert_eq!(signed_again.as_deref(), Some(token));
    }
}

/// Header and claims, a line each, before they are signed.
fn signing_input(bytes: &[u8]) -> (&[u8], &[u8], String) {
    let at = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (header, claims) = (&bytes[..at], bytes.get(at + 1..).unwrap_or_default());
    (header, claims, format!("{}.{}", B64.encode(header), B64.encode(claims)))
}

/// What is asked of a header.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
}

/// Even with our signature only a token of our kind passes, and says what is written in it.
fn signed_by_us(bytes: &[u8]) {
    let (header, claims, input) = signing_input(bytes);
    let parsed = read(&signed(&input, &SECRETS.tokens.in_use().key.token, SIGNATURE_BYTES));
    if let Some(parsed) = parsed {
        let header = serde_json::from_slice::<Header>(header).ok();
        assert!(header.is_some_and(|header| header.alg == "HS256" && header.kid == "1"));
        assert_eq!(parsed.aud, "nyala-pelanggan");
        assert!(parsed.exp > NOW_S, "it has run out");
        assert_eq!(serde_json::from_slice::<Claims>(claims).ok(), Some(parsed));
    }
}

/// With another key's signature, or none, no content is accepted.
fn forged(bytes: &[u8], key: Option<&Key>) {
    let (_, _, input) = signing_input(bytes);
    match key {
        Some(key) => assert_eq!(read(&signed(&input, key, SIGNATURE_BYTES)), None),
        None => {
            let short = signed(&input, &SECRETS.tokens.in_use().key.token, SIGNATURE_BYTES - 1);
            [format!("{input}."), input, short].iter().for_each(|token| assert_eq!(read(token), None, "{token}"));
        }
    }
}

fn known(line: &[u8]) -> Option<KnownPhone> {
    let mut headers = HeaderMap::new();
    headers.append(COOKIE, HeaderValue::from_bytes(line).ok()?);
    KnownPhones::new(SECRETS.clone().into(), false).of_headers(&headers, NOW)
}

fn phones_key() -> Key {
    SECRETS.tokens.in_use().key.token.derive("known phone")
}

/// A cookie with our signature.
fn cookie(body: &[u8]) -> String {
    let tag = phones_key().mac(body);
    format!("nyala_phone={}", B64.encode([body, &tag[..PHONE_TAG_BYTES]].concat()))
}

/// Any cookies: a phone that is known showed one with our signature.
fn cookies(line: &[u8]) {
    let Some(known) = known(line) else { return };
    let shown = String::from_utf8_lossy(line);
    let is_ours = |part: &str| {
        let (installation, value) = part.trim().strip_prefix("nyala_phone")?.split_once('=')?;
        let bytes = B64.decode(value).ok().filter(|_| installation.is_empty() || installation.starts_with('_'))?;
        let (body, tag) = bytes.split_at_checked(PHONE_BYTES)?;
        (phones_key().verifies(body, tag) && body[1..9] == known.customer.to_be_bytes()).then_some(())
    };
    assert!(shown.split(';').any(|part| is_ours(part).is_some()), "{shown}");
}

/// Our own signature under any bytes: only those of the right form are a phone, and exactly the one that they name. With another
/// signature they are refused.
fn phone(body: &[u8]) {
    let expected = <[u8; PHONE_BYTES]>::try_from(body).ok().filter(|body| body[0] == 1).and_then(|body| {
        let (customer, version) = (body[1..9].try_into().ok()?, body[9..13].try_into().ok()?);
        let (until_s, device) = (i64::from_be_bytes(body[13..21].try_into().ok()?), body[21..].try_into().ok()?);
        let (customer, version) = (CustomerId::from_be_bytes(customer), i32::from_be_bytes(version));
        (until_s > NOW_S).then_some(KnownPhone { customer, version, device })
    });
    let cookie = cookie(body);
    assert_eq!(known(cookie.as_bytes()), expected);
    assert_eq!(known(format!("a=b; nyala_phone=x;{cookie} ; c").as_bytes()), expected);
    let other = SECRETS.tokens.in_use().key.token.mac(body);
    let forged = format!("nyala_phone={}", B64.encode([body, &other[..PHONE_TAG_BYTES]].concat()));
    assert_eq!(known(forged.as_bytes()), None);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let header = r#"{"typ":"JWT","alg":"HS256","kid":"1"}"#;
    let claims = format!(
        r#"{{"id_customer_global":7,"ver":3,"aud":"nyala-pelanggan","iat":{NOW_S},"exp":{},"jti":"AAECAwQFBgcICQoLDA0ODw"}}"#,
        NOW_S + 1
    );
    let lines = [header.as_bytes(), claims.as_bytes()].join(&b'\n');
    let token =
        signed(&format!("{}.{}", B64.encode(header), B64.encode(&claims)), &SECRETS.tokens.in_use().key.token, SIGNATURE_BYTES);
    let mut body = vec![1];
    body.extend(7_i64.to_be_bytes());
    body.extend(3_i32.to_be_bytes());
    body.extend((NOW_S + 1).to_be_bytes());
    body.extend([9; 16]);
    vec![
        of_kind(TEXT, token.as_bytes()),
        of_kind(SIGNED, &lines),
        of_kind(FORGED, &lines),
        of_kind(UNSIGNED, &lines),
        of_kind(
            UNSIGNED,
            format!("{{\"alg\":\"none\",\"kid\":\"1\"}}\n{{\"aud\":\"nyala-pelanggan\",\"exp\":{}}}", NOW_S + 1).as_bytes(),
        ),
        of_kind(COOKIES, cookie(&body).as_bytes()),
        of_kind(COOKIES, format!("theme=dark; {}", cookie(&body)).as_bytes()),
        of_kind(PHONE, &body),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the targets would search where nothing can be found.
    #[test]
    fn the_seeds_pass() {
        let seeds = seeds();
        assert!(read(std::str::from_utf8(&seeds[0][1..]).unwrap()).is_some());
        let (_, _, input) = signing_input(&seeds[1][1..]);
        assert!(read(&signed(&input, &SECRETS.tokens.in_use().key.token, SIGNATURE_BYTES)).is_some());
        // One that the server makes has what the target asks of every token that passes.
        let minted = Tokens::new(SECRETS.clone().into(), DAYS).mint(CustomerId::new(7), 3, NOW).unwrap();
        assert!(read(&minted).is_some());
        text(minted.as_bytes());
        assert!(known(&seeds[5][1..]).is_some() && known(&seeds[6][1..]).is_some());
    }
}
