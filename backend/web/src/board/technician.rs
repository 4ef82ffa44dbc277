//! What a technician sees of a board: no money, and of what needs a person only what is about machines.

use nyala_core::board::attention::Kind;
use nyala_core::domain::role::Role;

use super::entry::Perhatian;
use super::read::BoardNow;
use super::tile::Tile;

impl BoardNow {
    /// What this role sees of it.
    #[must_use]
    pub fn for_role(self, role: Role) -> Self {
        match role {
            Role::Technician => Self {
                tiles: self.tiles.iter().map(tile).collect(),
                entries: self.entries.iter().filter_map(entry).collect(),
                ..self
            },
            _ => self,
        }
    }
}

impl Tile {
    /// What this role sees of it.
    #[must_use]
    pub fn for_role(self, role: Role) -> Self {
        if role == Role::Technician { tile(&self) } else { self }
    }
}

pub fn tile(tile: &Tile) -> Tile {
    Tile { jumlah: None, kembali_at: None, ..tile.clone() }
}

/// `None` when it is not about machines.
pub fn entry(entry: &Perhatian) -> Option<Perhatian> {
    let shown = Kind::parse(entry.jenis).is_some_and(Kind::is_about_machines);
    shown.then(|| Perhatian { jumlah: None, kembali_at: None, ..entry.clone() })
}
