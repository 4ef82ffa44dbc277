//! `GET /ops/v1/topup`: top-ups, newest first. A kasir sees the till's open shift, all others the outlet.
//!
//! `GET /ops/v1/topup/{id}`: one of them. The drawer is counted blind, so a kasir's list has amounts only for the newest few sales. An
//! older sale is opened individually, which is counted (docs/till.md).

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::TopUpId;
use nyala_core::domain::name;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::shift;
use nyala_ledger::topup::REVERSE_WITHIN_MS;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::Serialize;
use serde_json::json;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::{Caller, NEEDS_TILL};
use crate::ops::rows::{OutletPage, Rows, Sight};

#[derive(Debug, Serialize, ToSchema)]
pub struct TopUpRow {
    /// A decimal string, as in the history.
    idpembelian_emoney: String,
    /// RFC 3339.
    created_at: Timestamp,
    /// The customer; a kasir sees the first name and an initial.
    nama: String,
    /// Rupiah paid; for a kasir null except for the ten newest sales of the shift.
    #[schema(required)]
    nominal: Option<i64>,
    /// Rupiah added; null when `nominal` is null.
    #[schema(required)]
    quota: Option<i64>,
    /// Null when `nominal` is null.
    #[schema(required)]
    nama_paket: Option<String>,
    /// `tunai`, `qris` or `transfer`; null when it was not recorded.
    #[schema(required)]
    cara_bayar: Option<String>,
    /// Who sold it; null for the command line.
    #[schema(required)]
    petugas: Option<String>,
    /// RFC 3339; null unless it was reversed.
    #[schema(required)]
    batal_at: Option<Timestamp>,
    /// Who reversed it; null unless it was reversed, and for the command line.
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
    WHERE";

/// A page of top-ups.
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
    Caller(operator): Caller,
    store: web::Data<Store>,
    from: web::Query<OutletPage>,
) -> Result<HttpResponse, AppError> {
    let limit = from.page().limit()?;
    let client = store.get().await?;
    let sight = from.sight(&*client, &operator).await?;
    let (of, id, with_amounts_from): (_, &(dyn ToSql + Sync), _) = match &sight {
        Sight::Nothing => return Ok(answer::ok(Rows::<TopUpRow>::none())),
        Sight::Shift { id, .. } => ("p.idshift", id, shift::oldest_open_sale(&*client, *id).await?),
        Sight::Outlet(id) => ("p.idoutlet", id, None),
    };
    let stmt = client.prepare_cached(&format!("{LIST} {of} = $1 AND p.id < $2 ORDER BY p.id DESC LIMIT $3")).await?;
    let rows = client.query(&stmt, &[id, &from.page().before(), &(limit + 1)]).await?;
    let shortened = operator.role == Role::Kasir;
    let read = |row: &Row| {
        let id: TopUpId = row.get(0);
        let sale = read(row, shortened);
        (id.get(), if Some(id) < with_amounts_from { sale.without_amounts() } else { sale })
    };
    Ok(answer::ok(Rows::of(rows.iter().map(read), limit)))
}

/// One top-up with its amounts. A kasir sees those of the open shift; each view of one older than the ten newest is counted and audited.
#[utoipa::path(
    get, path = "/ops/v1/topup/{id}", operation_id = "one_topup", tag = "kasir", security(("operator" = []), ("session" = [])),
    params(("id" = inline(TopUpId), Path, description = "idpembelian_emoney")),
    responses(
        (status = 200, body = Answer<TopUpRow>), (status = 401, body = Empty),
        (status = 403, description = "A kasir's API key: it has no shift", body = Empty),
        (status = 404, description = "`top-up tidak ditemukan`", body = Empty),
    )
)]
pub async fn topup_one(
    Caller(operator): Caller,
    store: web::Data<Store>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    const UNKNOWN: AppError = AppError::NotFound("top-up tidak ditemukan");
    let id = TopUpId::parse(&id).ok_or(UNKNOWN)?;
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let within = match operator.role {
        Role::Kasir => {
            let till = operator.at.ok_or(AppError::NotAllowed(NEEDS_TILL))?;
            let open = shift::open_at(&tx, till.browser).await?.ok_or(UNKNOWN)?;
            Some((till, open.id))
        }
        _ => None,
    };
    let sql = format!(
        "{LIST} p.id = $1 AND ($2::BIGINT IS NULL OR p.idowner = $2) AND ($3::BIGINT IS NULL OR p.idoutlet = $3)
            AND ($4::BIGINT IS NULL OR p.idshift = $4)"
    );
    let stmt = tx.prepare_cached(&sql).await?;
    let row = tx.query_opt(&stmt, &[&id, &operator.scope.owner, &operator.scope.outlet, &within.map(|(_, shift)| shift)]).await?;
    let row = row.ok_or(UNKNOWN)?;
    if let Some((till, shift)) = within
        && Some(id) < shift::oldest_open_sale(&tx, shift).await?
    {
        if !shift::count_look(&tx, shift).await? {
            return Err(UNKNOWN);
        }
        let (principal, content) = (&*operator.principal(), json!({ "idpembelian_emoney": id }));
        let entry = AuditEntry { principal, action: "shift.topup_dilihat", object: format!("shift:{shift}"), content };
        audit::write_at(&tx, till.idoutlet, &entry, store.now()).await?;
    }
    let sale = read(&row, operator.role == Role::Kasir);
    tx.commit().await?;
    Ok(answer::ok(sale))
}

impl TopUpRow {
    /// A row in a kasir's list before the count. The package is left out too, because it implies the price.
    fn without_amounts(self) -> Self {
        Self { nominal: None, quota: None, nama_paket: None, ..self }
    }
}

fn read(row: &Row, shortened: bool) -> TopUpRow {
    let created_at: Timestamp = row.get(1);
    TopUpRow {
        idpembelian_emoney: row.get::<_, TopUpId>(0).to_string(),
        created_at,
        nama: customer_name(row.get(2), row.get(3), shortened),
        nominal: Some(row.get(4)),
        quota: Some(row.get(5)),
        nama_paket: Some(row.get(6)),
        cara_bayar: row.get(7),
        petugas: row.get(8),
        batal_at: row.get(9),
        batal_oleh: row.get(10),
        batal_sampai: created_at.plus_ms(REVERSE_WITHIN_MS),
    }
}

/// A customer's name in a list.
pub(in crate::ops) fn customer_name(first: &str, last: &str, shortened: bool) -> String {
    if shortened { name::short(first, last) } else { format!("{first} {last}") }
}
