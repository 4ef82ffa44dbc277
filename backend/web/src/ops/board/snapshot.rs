//! `GET /ops/v1/mesin` and `GET /ops/v1/perhatian`: what a board shows, as a subscription's first answer has it (every role; the latter not for a technician).

use actix_web::{HttpResponse, web};
use nyala_core::board::attention::{About, Entry, Kind};
use nyala_core::domain::id::{OutletId, OwnerId};
use nyala_core::domain::role::{ANYBODY, Role};
use nyala_identity::staff::operator::Operator;
use nyala_store::backup::health::BackupHealth;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::board::entry::{Around, Perhatian};
use crate::board::read::{self, OutletPapan};
use crate::board::tile::Tile;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::live::staff_board::StaffBoards;
use crate::metrics::ServerMetrics;
use crate::ops::people::key::{Caller, Minimal};
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
    Minimal(operator): Minimal<ANYBODY>,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    at: web::Query<AtOutlet>,
) -> Result<HttpResponse, AppError> {
    let idoutlet = {
        let client = store.get().await?;
        at.of(&*client, &operator).await?.idoutlet
    };
    let (versi, board) = boards.read(idoutlet).await?;
    let board = board.for_role(operator.role);
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
    boards: web::Data<StaffBoards>,
    metrics: web::Data<ServerMetrics>,
    which: web::Query<WhichEntries>,
) -> Result<HttpResponse, AppError> {
    Ok(answer::ok(seen_by(&operator, &store, &boards, &metrics.backup.health, which.idoutlet).await?))
}

/// What needs a person at this outlet, or at all outlets in sight. Owners also see that the backup is not as it should be, at the first of
/// their outlets, whichever they asked for.
pub async fn seen_by(
    operator: &Operator,
    store: &Store,
    boards: &StaffBoards,
    backup: &BackupHealth,
    idoutlet: Option<OutletId>,
) -> Result<Vec<Perhatian>, AppError> {
    let outlets = {
        let client = store.get().await?;
        match idoutlet {
            Some(id) => vec![scope::outlet(&*client, operator, id).await?.idoutlet],
            None => scope::in_sight(&*client, operator).await?,
        }
    };
    let mut entries = Vec::new();
    for idoutlet in outlets {
        entries.extend(boards.read(idoutlet).await?.1.entries);
    }
    if let Some(since) = backup.bad_since(store.now()).filter(|_| operator.role >= Role::Owner) {
        let client = store.get().await?;
        if let Some((idoutlet, outlet)) = first_outlet(&client, operator.scope.owner).await? {
            let entry = Entry { kind: Kind::Backup, about: About::Outlet, since };
            let taken = read::taken(&client, idoutlet, entry, store.now()).await?;
            let around = Around { idoutlet, outlet: &outlet, tiles: &[], tills: &[], complaints: &[], now: store.now() };
            entries.push(Perhatian::new(entry, &around, None, taken));
        }
    }
    Ok(entries)
}

/// The first outlet of an owner, or of all.
async fn first_outlet(client: &DbClient, owner: Option<OwnerId>) -> Result<Option<(OutletId, String)>, AppError> {
    const FIRST: &str = "SELECT idoutlet, nama FROM outlet WHERE $1::BIGINT IS NULL OR idowner = $1 ORDER BY idoutlet LIMIT 1";
    let stmt = client.prepare_cached(FIRST).await?;
    let row = client.query_opt(&stmt, &[&owner]).await?;
    Ok(row.map(|row| Ok::<_, DbError>((row.try_get(0)?, row.try_get(1)?))).transpose()?)
}
