//! What a tablet without a session shows of a board: no receipts, no money, and nothing to press.

use nyala_core::domain::id::{MachineId, OutletId, ShiftId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::timestamp::Timestamp;
use serde::Serialize;

use super::entry::{Ditangani, Perhatian};
use super::tile::{MesinDitutup, Tile};

/// A machine on a tablet's board.
#[derive(Debug, PartialEq, Serialize)]
pub struct TabletTile<'a> {
    id: MachineId,
    nama: &'a str,
    jenis: MachineKind,
    ukuran: Option<&'a str>,
    keadaan: &'static str,
    sejak: Option<Timestamp>,
    ends_at: Option<i64>,
    layanan: Option<&'a str>,
    ditutup: Option<&'a MesinDitutup>,
    aksi: [&'static str; 0],
}

impl<'a> TabletTile<'a> {
    pub fn of(tile: &'a Tile) -> Self {
        Self {
            id: tile.id,
            nama: &tile.nama,
            jenis: tile.jenis,
            ukuran: tile.ukuran.as_deref(),
            keadaan: tile.keadaan,
            sejak: tile.sejak,
            ends_at: tile.ends_at,
            layanan: tile.layanan.as_deref(),
            ditutup: tile.ditutup.as_ref(),
            aksi: [],
        }
    }
}

/// What needs a person, on a tablet's board.
#[derive(Debug, PartialEq, Serialize)]
pub struct TabletEntry<'a> {
    jenis: &'static str,
    tingkat: &'static str,
    idoutlet: OutletId,
    outlet: &'a str,
    idmesin: Option<MachineId>,
    idshift: Option<ShiftId>,
    nama: &'a str,
    sejak: Timestamp,
    ditangani: Option<&'a Ditangani>,
}

impl<'a> TabletEntry<'a> {
    pub fn of(entry: &'a Perhatian) -> Self {
        Self {
            jenis: entry.jenis,
            tingkat: entry.tingkat,
            idoutlet: entry.idoutlet,
            outlet: &entry.outlet,
            idmesin: entry.idmesin,
            idshift: entry.idshift,
            nama: &entry.nama,
            sejak: entry.sejak,
            ditangani: entry.ditangani.as_ref(),
        }
    }
}
