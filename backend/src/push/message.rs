//! What a push says: no name of a customer, no number and no balance.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use serde::Serialize;
use tokio_postgres::types::{FromSql, Type, accepts};

use crate::secrets::{Key, Secrets};

/// How long a push service keeps a message for a browser that is away: after it the news is none.
pub const TTL_S: i64 = 600;
/// How long after the end its customer is reminded of laundry that was not fetched.
pub const REMIND_AFTER_MS: i64 = 10 * 60_000;

/// Why somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The wash is over.
    Ended,
    /// The laundry was not fetched.
    Waits,
    /// The machine did not start and the money is back.
    NotStarted,
    /// A till took a top-up back.
    TopUpVoided,
}

impl Cause {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended => "selesai",
            Self::Waits => "menunggu",
            Self::NotStarted => "gagal",
            Self::TopUpVoided => "topup_batal",
        }
    }

    /// How long after it was queued it is due.
    pub const fn after_ms(self) -> i64 {
        match self {
            Self::Waits => REMIND_AFTER_MS,
            Self::Ended | Self::NotStarted | Self::TopUpVoided => 0,
        }
    }
}

impl<'a> FromSql<'a> for Cause {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        let text = <&str>::from_sql(ty, raw)?;
        let mut all = [Self::Ended, Self::Waits, Self::NotStarted, Self::TopUpVoided].into_iter();
        all.find(|cause| cause.as_str() == text).ok_or_else(|| format!("unknown cause {text}").into())
    }
    accepts!(TEXT);
}

/// The decrypted message, which the app's service worker reads.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Message<'a> {
    judul: &'static str,
    isi: String,
    /// The page that it opens.
    tuju: &'static str,
    /// One a purchase: what is told later takes the place of what was told before.
    tanda: &'a str,
}

impl<'a> Message<'a> {
    /// `machine` and `outlet` are the purchase's; a top-up has none.
    pub fn new(cause: Cause, (machine, outlet): (&str, &str), usable_until: Option<&str>, tag: &'a str) -> Self {
        let (judul, isi, tuju) = match cause {
            Cause::Ended => ("Cucian selesai", format!("{machine} di {outlet}"), "/dashboard"),
            Cause::Waits => ("Cucian menunggu", format!("Sudah {} menit di {machine}", REMIND_AFTER_MS / 60_000), "/dashboard"),
            Cause::NotStarted => ("Mesin tidak menyala", came_back(usable_until), "/dashboard"),
            Cause::TopUpVoided => ("Isi saldo dibatalkan kasir", "Lihat Riwayat".to_owned(), "/riwayatPage"),
        };
        Self { judul, isi, tuju, tanda: tag }
    }
}

fn came_back(usable_until: Option<&str>) -> String {
    usable_until.map_or_else(|| "Saldo sudah kembali".to_owned(), |until| format!("Saldo sudah kembali, berlaku sampai {until}"))
}

/// Makes tags: names of purchases that say nothing to whoever does not have the server's keys.
pub struct Tags(Key);

impl Tags {
    pub fn of(secrets: &Secrets) -> Self {
        Self(secrets.token.derive("push tag"))
    }

    /// 22 characters of base64url; `Topic` takes up to 32 (RFC 8030 §5.4).
    pub fn tag(&self, cause: Cause, object: i64) -> String {
        let of = if cause == Cause::TopUpVoided { "topup" } else { "transaksi" };
        let mac = self.0.mac(format!("{of}:{object}").as_bytes());
        B64.encode(&mac[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purchase_has_one_tag_and_a_top_up_another() {
        let tags = Tags::of(&Secrets::random());
        assert_eq!(tags.tag(Cause::Ended, 7), tags.tag(Cause::Waits, 7));
        assert_ne!(tags.tag(Cause::Ended, 7), tags.tag(Cause::Ended, 8));
        assert_ne!(tags.tag(Cause::Ended, 7), tags.tag(Cause::TopUpVoided, 7));
        assert_eq!(tags.tag(Cause::Ended, 7).len(), 22);
    }
}
