//! `GET /ops/v1/topup`: what was sold, the newest first: a kasir sees the open shift of the till, everybody above the outlet.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::rows::{OutletPage, Rows, Sight};
use crate::db::Store;
use crate::domain::name;
use crate::domain::role::Role;
use crate::domain::timestamp::Timestamp;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ledger::topup::VOID_WITHIN_MS;
use crate::staff::operator::Operator;

#[derive(Debug, Serialize, ToSchema)]
pub struct TopUpRow {
    /// A decimal string, as in the history.
    idpembelian_emoney: String,
    /// RFC 3339.
    created_at: Timestamp,
    /// The customer; a kasir sees the first name and an initial.
    nama: String,
    /// Rupiah paid.
    nominal: i64,
    /// Rupiah added.
    quota: i64,
    nama_paket: String,
    /// `tunai`, `qris` or `transfer`; null where nobody said.
    #[schema(required)]
    cara_bayar: Option<String>,
    /// Who sold it; null for the command line.
    #[schema(required)]
    petugas: Option<String>,
    /// RFC 3339; null while it stands.
    #[schema(required)]
    batal_at: Option<Timestamp>,
    /// Who took it back; null while it stands, and for the command line.
    #[schema(required)]
    batal_oleh: Option<String>,
    /// RFC 3339.
    batal_sampai: Timestamp,
}

const LIST: &str = "
    SELECT p.id, p.created_at, c.nama_awal, c.nama_akhir, p.harga_paket, p.quota, p.nama_paket, p.cara_bayar, k.nama, p.batal_at, v.nama
    FROM pembelian_emoney p JOIN customer_global c ON c.id = p.id_customer_global
    LEFT JOIN ledger_transfer l ON l.idpembelian_emoney = p.id AND l.kind = 'topup'
    LEFT JOIN kunci_operator k ON k.id = CASE WHEN l.aktor LIKE 'operator:%' THEN split_part(l.aktor, ':', 2)::BIGINT END
    LEFT JOIN ledger_transfer b ON b.idpembelian_emoney = p.id AND b.kind = 'batal'
    LEFT JOIN kunci_operator v ON v.id = CASE WHEN b.aktor LIKE 'operator:%' THEN split_part(b.aktor, ':', 2)::BIGINT END
    WHERE p.id < $2 AND";

/// A page of what was sold.
#[utoipa::path(
    get, path = "/ops/v1/topup", operation_id = "list_topup", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(OutletPage),
    responses(
        (status = 200, body = Answer<Rows<TopUpRow>>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "A kasir's API key: it has no shift", body = Empty), (status = 404, body = Empty),
        (status = 422, description = "`idoutlet wajib diisi`: several outlets are in sight", body = Empty),
    )
)]
pub async fn topup_list(
    operator: Operator,
    store: web::Data<Store>,
    from: web::Query<OutletPage>,
) -> Result<HttpResponse, AppError> {
    let limit = from.page().limit()?;
    let client = store.get().await?;
    let (of, id) = match from.sight(&client, &operator).await? {
        Sight::Nothing => return Ok(answer::ok(Rows::<TopUpRow>::none())),
        Sight::Shift { id, .. } => ("p.idshift", id),
        Sight::Outlet(id) => ("p.idoutlet", id),
    };
    let stmt = client.prepare_cached(&format!("{LIST} {of} = $1 ORDER BY p.id DESC LIMIT $3")).await?;
    let rows = client.query(&stmt, &[&id, &from.page().before(), &(limit + 1)]).await?;
    let shortened = operator.role == Role::Kasir;
    Ok(answer::ok(Rows::of(rows.iter().map(|row| (row.get(0), read(row, shortened))), limit)))
}

fn read(row: &Row, shortened: bool) -> TopUpRow {
    let created_at: Timestamp = row.get(1);
    TopUpRow {
        idpembelian_emoney: row.get::<_, i64>(0).to_string(),
        created_at,
        nama: customer_name(row.get(2), row.get(3), shortened),
        nominal: row.get(4),
        quota: row.get(5),
        nama_paket: row.get(6),
        cara_bayar: row.get(7),
        petugas: row.get(8),
        batal_at: row.get(9),
        batal_oleh: row.get(10),
        batal_sampai: created_at.plus_ms(VOID_WITHIN_MS),
    }
}

/// A customer's name in a list.
pub(super) fn customer_name(first: &str, last: &str, shortened: bool) -> String {
    if shortened { name::short(first, last) } else { format!("{first} {last}") }
}
