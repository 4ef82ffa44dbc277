//! What the store was asked, with its answers: without the ids that PostgreSQL gives by itself, so that both can be compared.

use nyala::domain::waktu::Waktu;
use nyala::ledger::pembelian::Held;
use nyala::pembelian::aturan::{Putusan, Tolakan};
use nyala::pembelian::keadaan::Keadaan;
use nyala::pembelian::step::{Change, Pembelian};

use super::rows::Order;

/// What the database was asked, and what it answered.
#[derive(Debug, Clone)]
pub enum Asked {
    Facts { order: Order, putusan: String, now: Waktu },
    Open { machine: usize, stored: Option<Stored> },
    Hold { order: Order, now: Waktu, held: Result<i64, Option<Tolakan>> },
    Refuse { order: Order, why: Tolakan, now: Waktu, done: bool },
    Apply { purchase: i64, change: Change, now: Waktu, done: bool },
    Record { machine: usize, online: bool, runs: bool, foreign: Option<i64>, now: Waktu },
    Stop { purchase: i64, now: Waktu },
    Refund { purchase: i64, amount: i64, now: Waktu, done: bool },
}

/// An open purchase as it is read back, without the ids that PostgreSQL gives by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    pub epoch: i64,
    pub durasi_s: i64,
    pub created_at: Waktu,
    pub keadaan: Keadaan,
    pub ends_at: Waktu,
    pub stop_requested: bool,
}

impl From<&Pembelian> for Stored {
    fn from(p: &Pembelian) -> Self {
        let Pembelian { epoch, durasi_s, created_at, keadaan, ends_at, .. } = *p;
        Self { epoch, durasi_s, created_at, keadaan, ends_at, stop_requested: p.obrolan.stop_requested }
    }
}

/// A decision without ids.
pub fn told(putusan: &Putusan) -> String {
    match putusan {
        Putusan::Boleh { layanan, .. } => format!("hold {} s", layanan.durasi_s),
        Putusan::Tolak(why) => format!("refused: {why:?}"),
        Putusan::SudahDitolak(why) => format!("refused before: {why:?}"),
        Putusan::NotaBeda => "another body".to_owned(),
        Putusan::Ada { keadaan, .. } => format!("is {keadaan:?}"),
    }
}

/// A hold's outcome without ids of PostgreSQL's.
pub fn outcome(held: &Held) -> Result<i64, Option<Tolakan>> {
    match held {
        Held::Won { idtransaksi, .. } => Ok(*idtransaksi),
        Held::Lost(why) => Err(Some(*why)),
        Held::Changed => Err(None),
    }
}
