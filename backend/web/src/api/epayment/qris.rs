//! `GET /scan/v1/epayment/qris`: where the customer can top up by QRIS, and what for.

use std::collections::HashMap;

use actix_web::{HttpResponse, web};
use nyala_core::bill::{MAX_BILL, MIN_ON_PHONE, QrisMode};
use nyala_core::domain::id::{OutletId, PackageId};
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;
use crate::qris::Qris;

/// Amounts that are offered.
const OFFERED: [i64; 4] = [20_000, 50_000, 100_000, 200_000];
/// Outlets and packages in an answer.
const MAX_OUTLETS: i64 = 500;
const MAX_PACKAGES: i64 = 5_000;

/// An outlet where the customer can top up.
#[derive(Debug, Serialize, ToSchema)]
pub struct OutletQris {
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    nama: String,
    kota: String,
    /// Rupiah that are offered; others from 10,000 on can be paid, too.
    nominal: [i64; 4],
    paket: Vec<PaketQris>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PaketQris {
    #[schema(value_type = i64)]
    idpaket: PackageId,
    nama: String,
    /// Rupiah to be paid.
    harga: i64,
    /// Rupiah added.
    quota: i64,
}

/// The outlets that take QRIS by bills.
#[utoipa::path(
    get, path = "/scan/v1/epayment/qris", operation_id = "epayment_qris", tag = "epayment", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<Vec<OutletQris>>))
)]
pub async fn outlets(store: web::Data<Store>, bills: web::Data<Qris>, _: Customer) -> Result<HttpResponse, AppError> {
    const OUTLETS: &str = "
        SELECT idoutlet, nama, kota, idowner, qris FROM outlet
        WHERE qris IN ('midtrans', 'simulated') AND dibuka_at IS NOT NULL ORDER BY nama, idoutlet LIMIT $1";
    const PACKAGES: &str = "
        SELECT idoutlet, idpaket, nama, harga, quota FROM paket
        WHERE idoutlet = ANY($1) AND aktif AND harga BETWEEN $2 AND $3 ORDER BY harga, idpaket LIMIT $4";
    let client = store.get().await?;
    let stmt = client.prepare_cached(OUTLETS).await?;
    let rows = client.query(&stmt, &[&MAX_OUTLETS]).await?;
    let served = rows.iter().filter(|row| {
        let mode = QrisMode::from_stored(row.get(4));
        mode.is_some_and(|mode| bills.serves(mode, row.get(3)))
    });
    let mut outlets: Vec<OutletQris> = served
        .map(|row| OutletQris { idoutlet: row.get(0), nama: row.get(1), kota: row.get(2), nominal: OFFERED, paket: Vec::new() })
        .collect();
    let ids: Vec<OutletId> = outlets.iter().map(|outlet| outlet.idoutlet).collect();
    let stmt = client.prepare_cached(PACKAGES).await?;
    let mut packages: HashMap<OutletId, Vec<PaketQris>> = HashMap::new();
    for row in client.query(&stmt, &[&ids, &MIN_ON_PHONE, &MAX_BILL, &MAX_PACKAGES]).await? {
        let package = PaketQris { idpaket: row.get(1), nama: row.get(2), harga: row.get(3), quota: row.get(4) };
        packages.entry(row.get(0)).or_default().push(package);
    }
    for outlet in &mut outlets {
        outlet.paket = packages.remove(&outlet.idoutlet).unwrap_or_default();
    }
    Ok(ok(outlets))
}
