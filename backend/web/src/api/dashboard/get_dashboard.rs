//! `GET /scan/v1/dashboard/get_dashboard`: the customer and what runs (docs/product.md §2, Dashboard).

use actix_web::{HttpResponse, web};
use futures_util::future::try_join3;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::open_states;
use nyala_ledger::push_queue::laundry_waits;
use nyala_store::db::Store;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::api::snap::{SnapTransaksi, last_purchases, snap_sql};
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

#[derive(Debug, Serialize, ToSchema)]
pub struct Dashboard {
    pub customer_global: CustomerSummary,
    /// The purchases whose status is not 4, newest first.
    pub list_snap_transaksi: Vec<SnapTransaksi>,
    /// Laundry that waits in its machine: of purchases that ended in the last 30 minutes, latest first.
    pub menunggu: Vec<Menunggu>,
}

/// A finished purchase whose laundry the customer has not reported as fetched.
#[derive(Debug, Serialize, ToSchema)]
pub struct Menunggu {
    /// The receipt number.
    #[schema(example = "SLF261120180530123", pattern = "^SLF[0-9]{15}$")]
    id: String,
    #[schema(value_type = String, format = DateTime)]
    finished_at: Timestamp,
    /// Names of the machine and the service at the time of the purchase.
    mesin: String,
    layanan: String,
    outlet: String,
    /// `tidak_jalan`: the machine has its coins and has not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    kendala: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CustomerSummary {
    #[schema(value_type = i64)]
    pub id: CustomerId,
    pub nama_awal: String,
    pub nama_akhir: String,
    /// Without the country code.
    #[schema(example = "81234567890")]
    pub telp: String,
}

const CUSTOMER: &str = "SELECT id, nama_awal, nama_akhir, telp FROM customer_global WHERE id = $1";

/// At most one open purchase per machine: a hundred are more than one customer's dashboard can show.
const OPEN: &str = snap_sql!("WHERE t.id_customer_global = $1 AND t.state IN ", open_states!(), " ORDER BY t.id DESC LIMIT 100");

/// How long laundry is shown as waiting after the end of its cycle.
const WAITS_MS: i64 = 30 * 60_000;

/// $2: cycles that ended before it are not shown.
const WAITING: &str = concat!(
    "SELECT t.no_nota, t.finished_at, t.nama_mesin, t.nama_layanan, o.nama, t.kendala FROM ",
    last_purchases!(),
    " p JOIN snap_transaksi t ON t.id = p.idtransaksi JOIN outlet o ON o.idoutlet = t.idoutlet \
     WHERE t.started_at IS NOT NULL AND t.finished_at > $2 AND ",
    laundry_waits!(),
    " ORDER BY t.finished_at DESC, t.id DESC"
);

/// The customer's name, running machines, and laundry that waits.
#[utoipa::path(
    get, path = "/scan/v1/dashboard/get_dashboard", tag = "dashboard", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<Dashboard>))
)]
pub async fn get_dashboard(store: web::Data<Store>, customer: Customer) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    let (now, id) = (store.now(), customer.id);
    let [names, open, waiting] = [CUSTOMER, OPEN, WAITING].map(|sql| client.prepare_cached(sql));
    let (names, open, waiting) = try_join3(names, open, waiting).await?;
    let since = now.plus_ms(-WAITS_MS);
    let (names, open, waiting) =
        try_join3(client.query_opt(&names, &[&id]), client.query(&open, &[&id]), client.query(&waiting, &[&id, &since])).await?;
    let names = names.ok_or(AppError::Unauthorized)?;
    let mut list_snap_transaksi = Vec::with_capacity(open.len());
    for row in &open {
        list_snap_transaksi.extend(SnapTransaksi::from_row(row, now)?);
    }
    Ok(ok(Dashboard {
        customer_global: CustomerSummary {
            id: names.try_get(0)?,
            nama_awal: names.try_get(1)?,
            nama_akhir: names.try_get(2)?,
            telp: names.try_get(3)?,
        },
        list_snap_transaksi,
        menunggu: waiting.iter().map(menunggu).collect::<Result<_, _>>()?,
    }))
}

fn menunggu(row: &Row) -> Result<Menunggu, AppError> {
    Ok(Menunggu {
        id: row.try_get(0)?,
        finished_at: row.try_get(1)?,
        mesin: row.try_get(2)?,
        layanan: row.try_get(3)?,
        outlet: row.try_get(4)?,
        kendala: row.try_get(5)?,
    })
}
