//! `GET /scan/v1/transaksi/terakhir`: the customer's last service, to buy it again (docs/contract.md §2).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::{OutletId, ServiceId, WalletId};
use nyala_ledger::tariff::{self, tariff};
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::api::snap::last_purchases;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

/// A service as it is sold now, and the account that paid for it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Terakhir {
    #[schema(value_type = i64)]
    idlayanan: ServiceId,
    nama: String,
    /// Seconds.
    durasi: i32,
    /// Whole rupiah, the present price.
    harga: i64,
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
}

/// Service of the last purchase that ran, ignoring later ones that did not start.
const LAST: &str = concat!(
    "SELECT l.idlayanan, l.nama, l.durasi_s, l.idoutlet, t.idcustomer, ",
    tariff!(),
    " FROM (SELECT t.idlayanan, t.idcustomer FROM ",
    last_purchases!(),
    " p JOIN snap_transaksi t ON t.id = p.idtransaksi WHERE t.started_at IS NOT NULL ORDER BY t.id DESC LIMIT 1) t \
     JOIN layanan l ON l.idlayanan = t.idlayanan AND l.aktif JOIN outlet o ON o.idoutlet = l.idoutlet"
);

/// The service of the last purchase at its present price; null without a purchase or when the service is no longer sold.
#[utoipa::path(
    get, path = "/scan/v1/transaksi/terakhir", tag = "transaksi", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<Option<Terakhir>>))
)]
pub async fn terakhir(store: web::Data<Store>, customer: Customer) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(LAST).await?;
    let last = match client.query_opt(&stmt, &[&customer.id]).await? {
        None => None,
        Some(row) => Some(Terakhir {
            idlayanan: row.try_get(0)?,
            nama: row.try_get(1)?,
            durasi: row.try_get(2)?,
            harga: tariff::of(&row)?.price(store.now()),
            idoutlet: row.try_get(3)?,
            idcustomer: row.try_get(4)?,
        }),
    };
    Ok(ok(last))
}
