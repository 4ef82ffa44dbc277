//! Content of a push: no customer's name, no phone number and no balance.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use serde::Serialize;

use nyala_core::calls::CALLED_MS;
use nyala_core::domain::ledger_kind::LedgerKind;
use nyala_ledger::push_queue::{Cause, REMIND_AFTER_MS, Taken};
use nyala_store::secrets::Secrets;

/// How long a push service keeps a message for a customer's browser that is offline. After that the message is obsolete.
pub const TTL_S: i64 = 600;
/// The same of a move to another number, to which the customer has a day to object.
pub const MOVE_TTL_S: i64 = 24 * 60 * 60;

/// The decrypted message, which the app's service worker reads.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Message<'a> {
    judul: &'static str,
    isi: String,
    /// The page that a click opens.
    tuju: Cow<'static, str>,
    /// One per purchase: a later message replaces an earlier one.
    tanda: &'a str,
}

impl<'a> Message<'a> {
    /// A top-up and a complaint have neither machine nor outlet.
    pub fn new(taken: &Taken, tag: &'a str) -> Self {
        let (machine, outlet, usable_until) = (&taken.machine, &taken.outlet, taken.usable_until.as_deref());
        let (judul, isi, tuju) = match taken.cause {
            Cause::Called => {
                let page = taken.idoutlet.map_or(Cow::Borrowed("/outlet"), |id| format!("/outlet/{id}").into());
                let isi = format!("{machine} di {outlet}, {} menit untuk Anda", CALLED_MS / 60_000);
                return Self { judul: "Mesin siap", isi, tuju: page, tanda: tag };
            }
            Cause::Ended => ("Cucian selesai", format!("{machine} di {outlet}"), "/dashboard"),
            Cause::Waits => ("Cucian menunggu", format!("Sudah {} menit di {machine}", REMIND_AFTER_MS / 60_000), "/dashboard"),
            Cause::NeverRan => ("Mesin tidak jalan", format!("{machine} di {outlet}. Hubungi petugas"), "/dashboard"),
            Cause::NotStarted => ("Mesin tidak menyala", came_back(usable_until), "/dashboard"),
            Cause::Answered => ("Laporan Anda dijawab", "Lihat Riwayat".to_owned(), "/riwayatPage"),
            Cause::TopUpReversed => ("Isi saldo dibatalkan kasir", "Lihat Riwayat".to_owned(), "/riwayatPage"),
            Cause::Moves => ("Akun akan pindah nomor", "Bukan Anda? Buka untuk membatalkan".to_owned(), "/dashboard"),
            Cause::Balance => (balance_moved(taken.movement), "Lihat Riwayat".to_owned(), "/riwayatPage"),
        };
        Self { judul, isi, tuju: tuju.into(), tanda: tag }
    }
}

const fn balance_moved(how: Option<LedgerKind>) -> &'static str {
    match how {
        Some(LedgerKind::TopUp) => "Pembayaran QRIS diterima",
        Some(LedgerKind::Payout) => "Saldo ditarik di kasir",
        _ => "Saldo berubah",
    }
}

fn came_back(usable_until: Option<&str>) -> String {
    usable_until.map_or_else(|| "Saldo sudah kembali".to_owned(), |until| format!("Saldo sudah kembali, berlaku sampai {until}"))
}

/// What a tag names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    Purchase(i64),
    TopUp(i64),
    Call(i64),
    /// A ledger row.
    Movement(i64),
    /// A move to another number.
    Move(i64),
    Complaint(i64),
    Alert(i64),
    /// The digest of an outlet.
    Digest(i64),
}

impl Object {
    pub const fn of(cause: Cause, object: i64) -> Self {
        match cause {
            Cause::TopUpReversed => Self::TopUp(object),
            Cause::Called => Self::Call(object),
            Cause::Balance => Self::Movement(object),
            Cause::Moves => Self::Move(object),
            Cause::Answered => Self::Complaint(object),
            Cause::Ended | Cause::Waits | Cause::NotStarted | Cause::NeverRan => Self::Purchase(object),
        }
    }
}

/// A tag: a name of an object that reveals nothing without the server's keys. 22 characters of base64url; `Topic` takes up to 32
/// (RFC 8030 §5.4).
pub fn tag(secrets: &Secrets, object: Object) -> String {
    let (of, id) = match object {
        Object::Purchase(id) => ("transaksi", id),
        Object::TopUp(id) => ("topup", id),
        Object::Call(id) => ("panggilan", id),
        Object::Movement(id) => ("gerak", id),
        Object::Move(id) => ("pindah", id),
        Object::Complaint(id) => ("keluhan", id),
        Object::Alert(id) => ("alarm", id),
        Object::Digest(id) => ("ringkasan", id),
    };
    let mac = secrets.tokens.in_use().key.token.derive("push tag").mac(format!("{of}:{id}").as_bytes());
    B64.encode(&mac[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purchase_has_one_tag_and_a_top_up_another() {
        let secrets = Secrets::random();
        let tag = |cause, object| super::tag(&secrets, Object::of(cause, object));
        assert_eq!(tag(Cause::Ended, 7), tag(Cause::Waits, 7));
        assert_ne!(tag(Cause::Ended, 7), tag(Cause::Ended, 8));
        assert_ne!(tag(Cause::Ended, 7), tag(Cause::TopUpReversed, 7));
        assert_eq!(tag(Cause::Ended, 7).len(), 22);
    }
}
