//! Texts of QR codes, stickers' typed codes, and the pictures that are drawn of texts. The first byte says which.

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use nyala_core::domain::code;
use nyala_core::domain::id::{CustomerId, MachineId};
use nyala_core::domain::machine_code::MachineCode;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::qr::customer::{self, QrError};
use nyala_identity::qr::{machine, png};

use crate::keys::{SECRETS, signed};
use actix_socketio_fuzz::harness::{kind_and_rest, of_kind};

/// Bytes of a QR's signature.
const MAC_BYTES: usize = 16;
const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);
/// Longer texts are not drawn: the app's are 60 to 80 bytes.
const MAX_DRAWN_BYTES: usize = 300;

const TEXT: u8 = 0;
const SEALED: u8 = 1;
const ALTERED: u8 = 2;
const TYPED: u8 = 3;
const DRAWN: u8 = 4;
const KINDS: u8 = 5;

pub fn run(bytes: &[u8]) {
    let (kind, rest) = kind_and_rest(bytes);
    match kind % KINDS {
        SEALED => sealed(rest),
        ALTERED => altered(rest),
        kind => {
            let Ok(text) = std::str::from_utf8(rest) else { return };
            match kind {
                TEXT => scanned(text),
                TYPED => typed(text),
                _ => drawn(text),
            }
        }
    }
}

/// Only what was made with our keys is ours, in the one form in which it was made. Invisible characters around it do not belong to it.
fn scanned(text: &str) {
    let code = code::trim(text);
    if let Some((idmesin, versions)) = machine::parse(text, &SECRETS) {
        assert_eq!(machine::make(&SECRETS, idmesin, versions), code);
    }
    if customer::parse(text, &SECRETS, NOW) != Err(QrError::Foreign) {
        let body = code.rsplit_once('.').map(|(body, _)| body);
        assert_eq!(body.map(|body| signed(body, &SECRETS.tokens.in_use().key.qr_pelanggan, MAC_BYTES)).as_deref(), Some(code));
    }
}

/// Our own signature under any payload: only those of the right form say something, and exactly what they say.
fn sealed(payload: &[u8]) {
    for (prefix, kid) in [("NYM1", "1"), ("NYC1", "1"), ("NYM1", "2"), ("NYM", "1")] {
        let body = format!("{prefix}.{kid}.{}", B64.encode(payload));
        let (sticker, code) = (
            signed(&body, &SECRETS.stickers.in_use().key, MAC_BYTES),
            signed(&body, &SECRETS.tokens.in_use().key.qr_pelanggan, MAC_BYTES),
        );
        let sent = payload.try_into().ok().filter(|_| (prefix, kid) == ("NYM1", "1")).map(|payload: [u8; 12]| {
            let [a, b, c, d, e, f, g, h, i, j, k, l] = payload;
            (MachineId::from_be_bytes([a, b, c, d, e, f, g, h]), i32::from_be_bytes([i, j, k, l]))
        });
        assert_eq!(machine::parse(&sticker, &SECRETS), sent);
        assert_eq!(machine::parse(&code, &SECRETS), None, "a customer's key makes no sticker");
        let numbers = payload.try_into().ok().filter(|_| (prefix, kid) == ("NYC1", "1")).map(|payload: [u8; 16]| {
            let (id, until) = payload.split_at(8);
            let number = |bytes: &[u8]| bytes.iter().fold(0, |n: u64, byte| n << 8 | u64::from(*byte)).cast_signed();
            (number(id), number(until))
        });
        let sent =
            numbers.map_or(Err(QrError::Foreign), |(id, until)| if NOW.ms() <= until { Ok(id) } else { Err(QrError::Expired) });
        let read = customer::parse(&code, &SECRETS, NOW).map(|code| code.id_customer_global);
        assert_eq!(read, sent.map(CustomerId::new));
        assert_eq!(customer::parse(&sticker, &SECRETS, NOW), Err(QrError::Foreign), "a machine's key makes no customer");
    }
}

/// A valid text with one changed byte is foreign. The first byte says which one, the second what is done to it.
fn altered(how: &[u8]) {
    let [at, change, ..] = *how else { return };
    if change == 0 {
        return;
    }
    for good in [machine::make(&SECRETS, MachineId::new(7), 1), customer::make(&SECRETS, CustomerId::new(7), NOW)] {
        let mut bytes = good.into_bytes();
        let at = usize::from(at) % bytes.len();
        bytes[at] ^= change;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        assert_eq!(machine::parse(&text, &SECRETS), None, "{text}");
        assert_eq!(customer::parse(&text, &SECRETS, NOW), Err(QrError::Foreign), "{text}");
    }
}

/// However a code is typed, it is read as the one that was printed.
fn typed(text: &str) {
    let Some(code) = MachineCode::parse(text) else { return };
    assert_eq!(code.as_str().len(), 8);
    assert!(code.as_str().bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase()));
    assert_eq!(MachineCode::parse(code.as_str()).as_ref(), Some(&code));
    assert_eq!(MachineCode::parse(&code.as_str().to_lowercase()), Some(code));
}

/// A picture is a square that a decoder reads, with a light border; only a text that fits no code has none.
fn drawn(text: &str) {
    if text.len() > MAX_DRAWN_BYTES {
        return;
    }
    let Ok(picture) = png::render(text) else { unreachable!("{} bytes fit a code", text.len()) };
    let mut decoder = ::png::Decoder::new(Cursor::new(&picture));
    decoder.set_transformations(::png::Transformations::EXPAND);
    let Ok(mut reader) = decoder.read_info() else { unreachable!("no PNG was made") };
    let mut pixels = vec![0; reader.output_buffer_size().unwrap_or(0)];
    let Ok(info) = reader.next_frame(&mut pixels) else { unreachable!("no whole PNG was made") };
    assert_eq!(info.width, info.height);
    let side = info.width as usize;
    // ISO/IEC 18004: 21 modules and 4 more a version, four light ones around; a module has 8 pixels here.
    assert!(side.is_multiple_of(8) && (side / 8 - 8) % 4 == 1, "{side} pixels");
    let light = |rows: &[u8]| rows.iter().all(|pixel| *pixel == 255);
    assert!(light(&pixels[..side * 32]) && light(&pixels[pixels.len() - side * 32..]));
}

pub fn seeds() -> Vec<Vec<u8>> {
    let (sticker, code) = (machine::make(&SECRETS, MachineId::new(7), 1), customer::make(&SECRETS, CustomerId::new(7), NOW));
    let sealed_sticker = [&7_i64.to_be_bytes()[..], &1_i32.to_be_bytes()].concat();
    let sealed_code = [7_i64.to_be_bytes(), NOW.plus_ms(1).ms().to_be_bytes()].concat();
    vec![
        of_kind(TEXT, sticker.as_bytes()),
        of_kind(TEXT, format!(" {code}\n").as_bytes()),
        of_kind(SEALED, &sealed_sticker),
        of_kind(SEALED, &sealed_code),
        of_kind(ALTERED, &[0, 1]),
        of_kind(ALTERED, &[60, 0x20]),
        // Seven zeros have the check character 0.
        of_kind(TYPED, b"0000-0000"),
        of_kind(TYPED, b" ooOO lIL0 "),
        of_kind(DRAWN, sticker.as_bytes()),
    ]
}
