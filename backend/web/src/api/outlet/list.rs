//! `GET /scan/v1/outlet`: the outlets where the customer has an account, with their machines counted by kind.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::OutletId;
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::board::customers::{self, CustomerBoard, OutletUmum, StatusPapan};
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

/// An outlet where the customer has an account.
#[derive(Debug, Serialize, ToSchema)]
pub struct KartuOutlet {
    #[serde(flatten)]
    outlet: OutletUmum,
    jenis: Vec<JenisMesinPapan>,
}

/// The machines of a kind.
#[derive(Debug, Serialize, ToSchema)]
pub struct JenisMesinPapan {
    jenis: MachineKind,
    /// How many are free and connected.
    siap: i64,
    /// How many are in use.
    jalan: i64,
    /// When the next one of them ends, as far as it is known.
    #[schema(value_type = Option<Timestamp>, required)]
    berikutnya_at: Option<Timestamp>,
}

const MINE: &str = "SELECT idoutlet FROM customer WHERE id_customer_global = $1";

/// The customer's outlets.
#[utoipa::path(
    get, path = "/scan/v1/outlet", operation_id = "outlet_saya", tag = "outlet", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<Vec<KartuOutlet>>))
)]
pub async fn list(store: web::Data<Store>, mqtt: web::Data<Mqtt>, customer: Customer) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(MINE).await?;
    let outlets: Vec<OutletId> = client.query(&stmt, &[&customer.id]).await?.iter().map(|row| row.get(0)).collect();
    let boards = customers::read(&client, &mqtt, &outlets, store.now()).await?;
    Ok(ok(boards.into_iter().map(counted).collect::<Vec<_>>()))
}

fn counted(board: CustomerBoard) -> KartuOutlet {
    let of_kind = |kind: MachineKind| {
        let machines: Vec<_> = board.tiles.iter().filter(|machine| machine.jenis == kind).collect();
        let count =
            |status| i64::try_from(machines.iter().filter(|machine| machine.status == status).count()).unwrap_or(i64::MAX);
        let next = machines.iter().filter_map(|machine| machine.ends_at).min();
        (!machines.is_empty()).then(|| JenisMesinPapan {
            jenis: kind,
            siap: count(StatusPapan::Idle),
            jalan: count(StatusPapan::Busy),
            berikutnya_at: next.filter(|_| board.outlet.tutup.is_none()).map(Timestamp::from_ms),
        })
    };
    let jenis = MachineKind::ALL.into_iter().filter_map(of_kind).collect();
    KartuOutlet { outlet: board.outlet, jenis }
}
