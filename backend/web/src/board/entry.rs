//! What needs a person, as pages get it.

use nyala_core::board::attention::{About, Entry};
use nyala_core::domain::id::{ComplaintId, MachineId, OutletId, ShiftId};
use nyala_core::domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::tile::Tile;

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Perhatian {
    /// `perlu_petugas`, `ditutup_sistem`, `tanpa_bayar`, `outlet_putus`, `belum_pasti`, `ditolak`, `tidak_jalan`, `jalan_sendiri`, `pindah`, `keluhan`, `qris`, `offline`,
    /// `shift`, `cadangan`, `papan_lama`.
    pub jenis: &'static str,
    /// `merah`, `kuning`, `abu`.
    pub tingkat: &'static str,
    #[schema(value_type = i64)]
    pub idoutlet: OutletId,
    /// The outlet's name.
    pub outlet: String,
    #[schema(value_type = Option<i64>, required)]
    pub idmesin: Option<MachineId>,
    #[schema(value_type = Option<i64>, required)]
    pub idshift: Option<ShiftId>,
    /// The complaint that it is about.
    #[schema(value_type = Option<i64>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idkeluhan: Option<ComplaintId>,
    /// Of the machine, the till or the outlet.
    pub nama: String,
    pub sejak: Timestamp,
    #[serde(skip)]
    #[schema(ignore)]
    pub about: About,
    /// The receipt number of the machine's open purchase, or of the purchase that is complained about or in which the machine has not run.
    #[schema(required)]
    pub idtransaksi: Option<String>,
    /// Rupiah that are held.
    #[schema(required)]
    pub jumlah: Option<i64>,
    #[schema(value_type = Option<Timestamp>, required)]
    pub kembali_at: Option<Timestamp>,
    /// Who has taken it; null if no one has.
    #[schema(required)]
    pub ditangani: Option<Ditangani>,
}

/// Who has taken an entry, since when and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Ditangani {
    pub nama: String,
    pub sejak: Timestamp,
    pub sampai: Timestamp,
}

/// What an entry's own facts do not say.
pub struct Around<'a> {
    pub idoutlet: OutletId,
    pub outlet: &'a str,
    pub tiles: &'a [Tile],
    /// Names of the tills with open shifts.
    pub tills: &'a [(ShiftId, String)],
    pub complaints: &'a [ComplaintFacts],
    pub now: Timestamp,
}

/// An unanswered complaint.
#[derive(Debug)]
pub struct ComplaintFacts {
    pub id: ComplaintId,
    pub since: Timestamp,
    pub idmesin: MachineId,
    /// The name at the time of the purchase.
    pub machine: String,
    pub receipt: String,
}

impl Perhatian {
    /// `receipt`: of the purchase that the entry is about, other than the machine's open one.
    pub fn new(entry: Entry, around: &Around<'_>, receipt: Option<&str>, ditangani: Option<Ditangani>) -> Self {
        let (idmesin, idshift) = about_ids(entry.about);
        let complaint = around.complaints.iter().find(|complaint| About::Complaint(complaint.id) == entry.about);
        let tile = around.tiles.iter().find(|tile| Some(tile.id) == idmesin);
        let till = around.tills.iter().find(|(id, _)| Some(*id) == idshift).map(|(_, name)| name.as_str());
        let named = complaint.map(|complaint| complaint.machine.as_str()).or(tile.map(|tile| tile.nama.as_str())).or(till);
        Self {
            jenis: entry.kind.as_str(),
            tingkat: entry.level(around.now).as_str(),
            idoutlet: around.idoutlet,
            outlet: around.outlet.to_owned(),
            idmesin: complaint.map(|complaint| complaint.idmesin).or(idmesin),
            idshift,
            idkeluhan: complaint.map(|complaint| complaint.id),
            nama: named.unwrap_or(around.outlet).to_owned(),
            sejak: entry.since,
            about: entry.about,
            idtransaksi: complaint
                .map(|complaint| complaint.receipt.clone())
                .or(receipt.map(str::to_owned))
                .or(tile.and_then(|tile| tile.idtransaksi.clone())),
            jumlah: tile.and_then(|tile| tile.jumlah),
            kembali_at: tile.and_then(|tile| tile.kembali_at),
            ditangani,
        }
    }
}

/// The machine or the shift that an entry is about.
const fn about_ids(entry: About) -> (Option<MachineId>, Option<ShiftId>) {
    match entry {
        About::Machine(id) => (Some(id), None),
        About::Shift(id) => (None, Some(id)),
        About::Outlet | About::Complaint(_) => (None, None),
    }
}

/// The number by which `perhatian_ditangani` knows what an entry is about.
pub const fn about(entry: About) -> i64 {
    match entry {
        About::Outlet => 0,
        About::Machine(id) => id.get(),
        About::Shift(id) => id.get(),
        About::Complaint(id) => id.get(),
    }
}
