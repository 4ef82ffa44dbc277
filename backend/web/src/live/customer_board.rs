//! The board of customers, `outlet/<idoutlet>`: an outlet's machines without receipts, reasons and names.

use std::sync::Arc;

use actix_socketio::{Ack, Broadcast};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Serialize;

use super::boards::{ChangeOf, Content, Snapshot};
use crate::board::customers::{self, CustomerBoard, MesinPapan, NoEntry, OutletUmum};

/// What customers see.
pub struct PublicBoard {
    pub mqtt: Arc<Mqtt>,
}

#[derive(Serialize)]
struct PublicSnapshot<'a> {
    status: u16,
    versi: i64,
    server_time: i64,
    outlet: &'a OutletUmum,
    mesin: &'a [MesinPapan],
}

/// The topic of an outlet's machines.
pub fn topic(idoutlet: OutletId) -> String {
    format!("outlet/{idoutlet}")
}

impl Content for PublicBoard {
    type Outlet = OutletUmum;
    type Tile = MesinPapan;
    type Entry = NoEntry;
    type View = ();

    async fn read(&self, client: &DbClient, idoutlet: OutletId, now: Timestamp) -> Result<Option<CustomerBoard>, DbError> {
        Ok(customers::read(client, &self.mqtt, &[idoutlet], now).await?.pop())
    }

    fn id(tile: &MesinPapan) -> MachineId {
        tile.id
    }

    fn room(idoutlet: OutletId, (): ()) -> String {
        topic(idoutlet)
    }

    fn acknowledge(ack: Ack, all: &Snapshot<'_, Self>, (): ()) {
        let Snapshot { versi, server_time, board } = *all;
        let _ = ack.send(&PublicSnapshot { status: 200, versi, server_time, outlet: &board.outlet, mesin: &board.tiles });
    }

    fn emit(sockets: &Broadcast, idoutlet: OutletId, change: &ChangeOf<'_, Self>) -> serde_json::Result<()> {
        let topic = topic(idoutlet);
        sockets.clone().to(topic.as_str()).emit(&topic, change).map(drop)
    }
}
