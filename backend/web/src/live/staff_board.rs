//! The board of staff, `papan/<idoutlet>`: for people with a session, and for a tablet without one.

use actix_socketio::{Ack, Broadcast};
use nyala_core::board::attention::Patience;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Serialize;

use super::boards::{Boards, ChangeOf, Content, Snapshot};
use crate::board::entry::Perhatian;
use crate::board::read::{self, BoardNow, OutletPapan};
use crate::board::tablet::{TabletEntry, TabletTile};
use crate::board::technician;
use crate::board::tile::Tile;

/// What staff see.
pub struct StaffBoard {
    pub patience: Patience,
}

/// Who watches a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// People with a session.
    Staff,
    /// A technician with a session: no money, nothing about customers.
    Technician,
    /// A tablet without one: no receipts, no money, nothing to press.
    Tablet,
}

#[derive(Serialize)]
struct StaffSnapshot<'a, T, P> {
    status: u16,
    versi: i64,
    server_time: i64,
    outlet: &'a OutletPapan,
    mesin: Vec<T>,
    perhatian: Vec<P>,
}

impl View {
    /// Of a person with a session.
    pub const fn of(role: Role) -> Self {
        match role {
            Role::Technician => Self::Technician,
            _ => Self::Staff,
        }
    }
}

/// The topic of an outlet's board.
pub fn topic(idoutlet: OutletId) -> String {
    format!("papan/{idoutlet}")
}

impl Content for StaffBoard {
    type Outlet = OutletPapan;
    type Tile = Tile;
    type Entry = Perhatian;
    type View = View;

    async fn read(&self, client: &DbClient, idoutlet: OutletId, now: Timestamp) -> Result<Option<BoardNow>, DbError> {
        read::board(client, idoutlet, self.patience, now).await.map(Some)
    }

    fn id(tile: &Tile) -> MachineId {
        tile.id
    }

    fn room(idoutlet: OutletId, view: View) -> String {
        match view {
            View::Staff => topic(idoutlet),
            View::Technician => format!("teknisi/{idoutlet}"),
            View::Tablet => format!("tablet/{idoutlet}"),
        }
    }

    fn acknowledge(ack: Ack, all: &Snapshot<'_, Self>, view: View) {
        let Snapshot { versi, server_time, board } = *all;
        let (status, outlet, tiles, entries) = (200, &board.outlet, board.tiles.iter(), board.entries.iter());
        let _ = match view {
            View::Staff => {
                let (mesin, perhatian) = (tiles.collect(), entries.collect());
                ack.send(&StaffSnapshot::<&Tile, &Perhatian> { status, versi, server_time, outlet, mesin, perhatian })
            }
            View::Technician => {
                let (mesin, perhatian) = (tiles.map(technician::tile).collect(), entries.filter_map(technician::entry).collect());
                ack.send(&StaffSnapshot { status, versi, server_time, outlet, mesin, perhatian })
            }
            View::Tablet => {
                let (mesin, perhatian) = (tiles.map(TabletTile::of).collect(), entries.map(TabletEntry::of).collect());
                ack.send(&StaffSnapshot { status, versi, server_time, outlet, mesin, perhatian })
            }
        };
    }

    fn emit(sockets: &Broadcast, idoutlet: OutletId, change: &ChangeOf<'_, Self>) -> serde_json::Result<()> {
        let topic = topic(idoutlet);
        let to = |view| sockets.clone().to(Self::room(idoutlet, view).as_str());
        to(View::Staff).emit(&topic, change)?;
        to(View::Technician).emit(&topic, &change.with(technician::tile, technician::entry))?;
        to(View::Tablet).emit(&topic, &change.with(TabletTile::of, |entry| Some(TabletEntry::of(entry))))?;
        Ok(())
    }
}

/// The boards of staff.
pub type StaffBoards = Boards<StaffBoard>;

impl StaffBoards {
    /// What the board of an outlet shows now, and the number of this server's last change of it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read(&self, idoutlet: OutletId) -> Result<(i64, BoardNow), DbError> {
        let version = self.version(idoutlet);
        let now = self.read_now(idoutlet).await?;
        Ok((version, now.ok_or_else(|| DbError::broken("an outlet without a board"))?))
    }

    /// The tile of a machine of an outlet; `None` when it is not there.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn tile(&self, idoutlet: OutletId, idmesin: MachineId) -> Result<Option<Tile>, DbError> {
        Ok(self.read(idoutlet).await?.1.tiles.into_iter().find(|tile| tile.id == idmesin))
    }
}
