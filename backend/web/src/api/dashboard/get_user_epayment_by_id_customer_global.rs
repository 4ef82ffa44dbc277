//! `GET /scan/v1/dashboard/get_user_epayment_by_id_customer_global`: every E-Pay account of the customer.

use actix_web::{HttpResponse, web};
use nyala_store::db::Store;

use crate::api::auth::customer::Customer;
use crate::api::epay_account::{AkunEpay, epay_sql};
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;

const ALL: &str = epay_sql!("WHERE c.id_customer_global = $1 ORDER BY c.idcustomer");

/// All E-Pay accounts, oldest first; the app decides which to show (docs/product.md §5).
#[utoipa::path(
    get, path = "/scan/v1/dashboard/get_user_epayment_by_id_customer_global", tag = "dashboard", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<Vec<AkunEpay>>))
)]
pub async fn get_user_epayment_by_id_customer_global(
    store: web::Data<Store>,
    customer: Customer,
) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(ALL).await?;
    let rows = client.query(&stmt, &[&customer.id]).await?;
    Ok(ok(AkunEpay::from_rows(&rows)?))
}
