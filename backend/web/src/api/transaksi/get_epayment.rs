//! `GET /scan/v1/transaksi/get_epayment/{id}`: the accounts that can pay at owner `{id}` (docs/contract.md §2).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::OwnerId;
use nyala_ledger::expiry::is_good;
use nyala_store::db::Store;

use crate::api::auth::customer::Customer;
use crate::api::epay_account::{AkunEpay, epay_sql};
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

/// Usable (docs/product.md §5): an outlet, a balance, and no expiry that has passed.
const USABLE: &str = epay_sql!(
    "WHERE c.id_customer_global = $1 AND c.owner_idowner = $2 AND o.idoutlet IS NOT NULL AND q.saldo > 0 \
     AND ",
    is_good!("$3"),
    " ORDER BY c.idcustomer"
);

/// The usable accounts at one owner, oldest first; an empty list without one.
#[utoipa::path(
    get, path = "/scan/v1/transaksi/get_epayment/{id}", operation_id = "transaksi_get_epayment", tag = "transaksi", security(("pelanggan" = [])),
    params(("id" = inline(OwnerId), Path, description = "data_mesin.idowner")),
    responses((status = 200, body = Answer<Vec<AkunEpay>>))
)]
pub async fn get_epayment(store: web::Data<Store>, customer: Customer, id: web::Path<String>) -> Result<HttpResponse, AppError> {
    let idowner = OwnerId::parse(&id).ok_or(AppError::NotFound("pemilik tidak ditemukan"))?;
    let client = store.get().await?;
    let stmt = client.prepare_cached(USABLE).await?;
    let rows = client.query(&stmt, &[&customer.id, &idowner, &store.now()]).await?;
    Ok(ok(AkunEpay::from_rows(&rows)?))
}
