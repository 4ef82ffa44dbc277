//! Who may buy what: the refusals of `create_snap_transaksi` in the order of contract §1's table.

use super::fakta::{Fakta, LayananFakta, MesinFakta, Pesanan};
use super::keadaan::Keadaan;
use crate::domain::waktu::Waktu;
use crate::http::error::AppError;

/// A refusal that a repeat of the same receipt hears again (contract §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tolakan {
    EpayNotFound,
    MesinNotFound,
    LayananNotFound,
    HargaChanged,
    MesinOffline,
    MesinBusy,
    SaldoTooLow,
}

impl Tolakan {
    const ALL: [Self; 7] = [
        Self::EpayNotFound,
        Self::MesinNotFound,
        Self::LayananNotFound,
        Self::HargaChanged,
        Self::MesinOffline,
        Self::MesinBusy,
        Self::SaldoTooLow,
    ];

    /// As it is stored in `nota.tolak`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EpayNotFound => "EPAY_NOT_FOUND",
            Self::MesinNotFound => "MESIN_NOT_FOUND",
            Self::LayananNotFound => "LAYANAN_NOT_FOUND",
            Self::HargaChanged => "HARGA_CHANGED",
            Self::MesinOffline => "MESIN_OFFLINE",
            Self::MesinBusy => "MESIN_BUSY",
            Self::SaldoTooLow => "SALDO_TOO_LOW",
        }
    }

    fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }
}

impl From<Tolakan> for AppError {
    fn from(t: Tolakan) -> Self {
        match t {
            Tolakan::EpayNotFound => Self::EpayNotFound,
            Tolakan::MesinNotFound => Self::MesinNotFound,
            Tolakan::LayananNotFound => Self::LayananNotFound,
            Tolakan::HargaChanged => Self::HargaChanged,
            Tolakan::MesinOffline => Self::MesinOffline,
            Tolakan::MesinBusy => Self::MesinBusy,
            Tolakan::SaldoTooLow => Self::SaldoTooLow,
        }
    }
}

/// What the facts say about an order.
#[derive(Debug)]
pub enum Putusan {
    /// Nothing stands against it: hold the money.
    Boleh { mesin: MesinFakta, layanan: LayananFakta },
    /// Refused now; to be remembered.
    Tolak(Tolakan),
    /// Refused before with the same words.
    SudahDitolak(Tolakan),
    /// The receipt number belongs to another body.
    NotaBeda,
    /// The receipt is a purchase already.
    Ada { idtransaksi: i64, keadaan: Keadaan },
}

impl Putusan {
    /// Whether the receipt number was never decided: to refuse it or to hold money for it makes rows.
    pub const fn is_new(&self) -> bool {
        matches!(self, Self::Boleh { .. } | Self::Tolak(_))
    }
}

/// Decides; the first failing row answers.
pub fn putuskan(p: &Pesanan, f: Fakta, now: Waktu) -> Putusan {
    if let Some(nota) = f.nota {
        if nota.body_hash != p.body_hash() {
            return Putusan::NotaBeda;
        }
        if let Some((idtransaksi, keadaan)) = nota.pembelian {
            return Putusan::Ada { idtransaksi, keadaan };
        }
        if let Some(tolakan) = nota.tolak.as_deref().and_then(Tolakan::from_stored) {
            return Putusan::SudahDitolak(tolakan);
        }
    }
    let Some(epay) = f.epay else { return Putusan::Tolak(Tolakan::EpayNotFound) };
    if f.mesin.as_ref().is_some_and(|m| m.idowner != epay.idowner) {
        return Putusan::Tolak(Tolakan::EpayNotFound);
    }
    let Some(mesin) = f.mesin else { return Putusan::Tolak(Tolakan::MesinNotFound) };
    let Some(layanan) = f.layanan.filter(|l| l.idoutlet == mesin.idoutlet && p.idoutlet == mesin.idoutlet) else {
        return Putusan::Tolak(Tolakan::LayananNotFound);
    };
    if p.total != layanan.harga || p.grandtotal != layanan.harga {
        return Putusan::Tolak(Tolakan::HargaChanged);
    }
    if !mesin.online {
        return Putusan::Tolak(Tolakan::MesinOffline);
    }
    if mesin.busy {
        return Putusan::Tolak(Tolakan::MesinBusy);
    }
    let cukup = epay.dompet.is_some_and(|d| {
        let berlaku = d.jenis_emoney == 2 || d.masa_aktif.is_some_and(|m| m >= now);
        berlaku && d.saldo >= layanan.harga
    });
    if cukup { Putusan::Boleh { mesin, layanan } } else { Putusan::Tolak(Tolakan::SaldoTooLow) }
}
