//! `GET /ops/v1/mesin` and `GET /ops/v1/perhatian`: what a board shows, as a subscription's first answer has it (every role).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::OutletId;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::board::entry::Perhatian;
use crate::board::read::OutletPapan;
use crate::board::tile::Tile;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::live::boards::Boards;
use crate::ops::people::key::Caller;
use crate::ops::scope::{self, AtOutlet};

#[derive(Debug, Serialize, ToSchema)]
pub struct Papan {
    /// The number of the answering server's last change of this board.
    versi: i64,
    /// Epoch milliseconds.
    server_time: i64,
    outlet: OutletPapan,
    mesin: Vec<Tile>,
    perhatian: Vec<Perhatian>,
}

/// The board of an outlet.
#[utoipa::path(
    get, path = "/ops/v1/mesin", operation_id = "papan", tag = "papan", security(("operator" = []), ("session" = [])), params(AtOutlet),
    responses(
        (status = 200, body = Answer<Papan>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 404, body = Empty),
        (status = 422, body = Empty, description = "`idoutlet wajib diisi`"),
    )
)]
pub async fn board(
    Caller(operator): Caller,
    store: web::Data<Store>,
    boards: web::Data<Boards>,
    at: web::Query<AtOutlet>,
) -> Result<HttpResponse, AppError> {
    let idoutlet = {
        let client = store.get().await?;
        at.of(&client, &operator).await?.idoutlet
    };
    let (versi, board) = boards.read(idoutlet).await?;
    let server_time = store.now().ms();
    Ok(answer::ok(Papan { versi, server_time, outlet: board.outlet, mesin: board.tiles, perhatian: board.entries }))
}

#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WhichEntries {
    /// The outlet; when left out, all outlets in sight.
    #[param(value_type = OutletId, required = false, inline)]
    idoutlet: Option<OutletId>,
}

/// What needs a person, at one outlet or at all in sight.
#[utoipa::path(
    get, path = "/ops/v1/perhatian", operation_id = "list_perhatian", tag = "papan", security(("operator" = []), ("session" = [])), params(WhichEntries),
    responses(
        (status = 200, body = Answer<Vec<Perhatian>>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn entries(
    Caller(operator): Caller,
    store: web::Data<Store>,
    boards: web::Data<Boards>,
    which: web::Query<WhichEntries>,
) -> Result<HttpResponse, AppError> {
    let outlets = {
        let client = store.get().await?;
        match which.idoutlet {
            Some(id) => vec![scope::outlet(&client, &operator, id).await?.idoutlet],
            None => scope::in_sight(&client, &operator).await?,
        }
    };
    let mut entries = Vec::new();
    for idoutlet in outlets {
        entries.extend(boards.read(idoutlet).await?.1.entries);
    }
    Ok(answer::ok(entries))
}
