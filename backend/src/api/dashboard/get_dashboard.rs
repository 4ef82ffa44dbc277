//! `GET /scan/v1/dashboard/get_dashboard`: who it is and what runs (docs/product.md §2, Dashboard).

use actix_web::{HttpResponse, web};
use futures_util::future::try_join;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::api::snap::{SnapTransaksi, snap_sql};
use crate::db::Store;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;
use crate::purchase::state::open_states;

#[derive(Debug, Serialize, ToSchema)]
pub struct Dashboard {
    pub customer_global: CustomerSummary,
    /// The purchases whose status is not 4, newest first.
    pub list_snap_transaksi: Vec<SnapTransaksi>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CustomerSummary {
    pub id: i64,
    pub nama_awal: String,
    pub nama_akhir: String,
    /// Without the country code.
    #[schema(example = "81234567890")]
    pub telp: String,
}

const CUSTOMER: &str = "SELECT id, nama_awal, nama_akhir, telp FROM customer_global WHERE id = $1";

/// One open purchase a machine: a hundred are more than one customer's dashboard can show.
const OPEN: &str = snap_sql!("WHERE t.id_customer_global = $1 AND t.state IN ", open_states!(), " ORDER BY t.id DESC LIMIT 100");

/// The customer's name and running machines.
#[utoipa::path(
    get, path = "/scan/v1/dashboard/get_dashboard", tag = "dashboard", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<Dashboard>))
)]
pub async fn get_dashboard(store: web::Data<Store>, customer: Customer) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    let (names, open) = try_join(client.prepare_cached(CUSTOMER), client.prepare_cached(OPEN)).await?;
    let (names, open) = try_join(client.query_opt(&names, &[&customer.id]), client.query(&open, &[&customer.id])).await?;
    let names = names.ok_or(AppError::Unauthorized)?;
    let now = store.now();
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
    }))
}
