//! What an alert says: no customer's name and no number.

use nyala_core::board::attention::Kind;
use nyala_core::domain::id::{AlertId, OutletId};
use nyala_core::domain::rupiah;
use serde::Serialize;

/// For how many seconds a push service keeps an alert for a browser that is offline.
pub const TTL_S: i64 = 3_600;

/// The decrypted message, which the till's service worker reads.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Message<'a> {
    judul: String,
    isi: String,
    /// The page that a click opens.
    tuju: &'static str,
    /// One per alert: a later message replaces an earlier one.
    tanda: &'a str,
    /// The secret with which its person may take the entry, once, from this browser. Null: there is nothing to take.
    tangani: Option<String>,
}

impl<'a> Message<'a> {
    /// `secret` allows taking the entry, while there is one to take.
    pub fn new(content: &Content, secret: String, tag: &'a str) -> Self {
        match content {
            Content::Alert { about, news, .. } => {
                let (judul, isi) = of(about, news);
                let tangani = (*news == AlertNews::Lasts).then_some(secret);
                Self { judul, isi, tuju: "/kasir/perhatian", tanda: tag, tangani }
            }
            Content::Digest { outlet, text, .. } => Self {
                judul: format!("{outlet} kemarin"),
                isi: text.clone(),
                tuju: "/kasir/ringkasan",
                tanda: tag,
                tangani: None,
            },
        }
    }
}

/// What a message is about.
#[derive(Debug)]
pub enum Content {
    Alert {
        alert: AlertId,
        about: About,
        news: AlertNews,
    },
    /// The figures of an outlet's last business day.
    Digest {
        idoutlet: OutletId,
        outlet: String,
        text: String,
    },
}

/// What a message says of an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlertNews {
    /// It began, or lasts.
    Lasts,
    /// This person has taken it.
    Taken(String),
    /// It is over.
    Over,
}

/// Of what a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    pub kind: Kind,
    /// The machine's name, the till's or the outlet's.
    pub name: String,
    pub outlet: String,
    /// Since when, on the outlet's clock.
    pub since: String,
}

/// The title and the text of a message.
pub fn of(about: &About, news: &AlertNews) -> (String, String) {
    let About { name, outlet, since, .. } = about;
    match news {
        AlertNews::Lasts => (title(about), format!("{outlet}, sejak {since}")),
        AlertNews::Taken(person) => (format!("{person} ke sana"), format!("{}, {outlet}", title(about))),
        AlertNews::Over if about.kind == Kind::Complaint => (format!("Keluhan di {name} dijawab"), outlet.clone()),
        AlertNews::Over => (format!("{name} beres"), outlet.clone()),
    }
}

/// What a digest says of a day.
pub fn digest(revenue: i64, cycles: i64) -> String {
    format!("{}, {cycles} siklus", rupiah::text(revenue))
}

fn title(About { kind, name, .. }: &About) -> String {
    match kind {
        Kind::NeedsStaff => format!("{name} perlu petugas"),
        Kind::Unpaid => format!("{name} jalan tanpa bayar"),
        Kind::OutletGone => format!("{name} terputus"),
        Kind::Unsure => format!("{name} belum pasti"),
        Kind::Refused => format!("{name} menolak"),
        Kind::ClosedItself => format!("{name} ditutup sistem"),
        Kind::NeverRan => format!("{name} tidak jalan"),
        Kind::RunsItself => format!("{name} jalan empat jam tanpa pembelian"),
        Kind::MoveRefused => format!("Pindah nomor di {name} ditolak pemiliknya"),
        Kind::Complaint => format!("Keluhan di {name}"),
        Kind::Qris => format!("Pembayaran QRIS di {name} tertahan"),
        Kind::Offline => format!("{name} offline"),
        Kind::Shift => format!("Shift {name} belum ditutup"),
        Kind::Backup => "Cadangan data tertinggal".to_owned(),
        Kind::OldBoard => format!("Papan {name} perlu firmware baru"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(kind: Kind) -> About {
        let (name, outlet, since) = ("Pengering 06".to_owned(), "Laundry Melati".to_owned(), "14.32".to_owned());
        About { kind, name, outlet, since }
    }

    #[test]
    fn each_kind_has_its_title() {
        let titles = Kind::ALL.map(|kind| of(&about(kind), &AlertNews::Lasts).0);
        assert_eq!(titles[0], "Pengering 06 perlu petugas");
        for title in &titles[..13] {
            assert!(title.contains("Pengering 06"), "{title}");
        }
    }

    #[test]
    fn a_digest_has_rupiah_in_groups() {
        assert_eq!(digest(1_318_000, 112), "Rp 1.318.000, 112 siklus");
    }

    #[test]
    fn who_took_it_and_the_end_are_in_the_title() {
        let unsure = about(Kind::Unsure);
        let expected = ("Rina ke sana".to_owned(), "Pengering 06 belum pasti, Laundry Melati".to_owned());
        assert_eq!(of(&unsure, &AlertNews::Taken("Rina".to_owned())), expected);
        assert_eq!(of(&unsure, &AlertNews::Over), ("Pengering 06 beres".to_owned(), "Laundry Melati".to_owned()));
        assert_eq!(of(&unsure, &AlertNews::Lasts).1, "Laundry Melati, sejak 14.32");
    }
}
