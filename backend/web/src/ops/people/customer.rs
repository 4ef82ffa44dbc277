//! `GET /ops/v1/pelanggan/{id}` and its `/riwayat`: a customer's accounts and movements, as far as they are in sight (supervisor and above).

use actix_web::{HttpResponse, web};
use deadpool_postgres::GenericClient;
use nyala_core::domain::id::{CustomerId, OutletId, WalletId};
use nyala_core::domain::right::Right;
use nyala_core::domain::scope::Scope;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::api::transaksi::list_history::{RefType, movement, ref_id_sql};
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Minimal;
use crate::ops::rows::{Page, Rows};
use crate::ops::topup::list::customer_name;

#[derive(Debug, Serialize, ToSchema)]
pub struct Pelanggan {
    #[schema(value_type = i64)]
    id_customer_global: CustomerId,
    nama: String,
    /// The middle digits are hidden, as `pelanggan/cari` hides them.
    #[schema(example = "0812••••7890")]
    telp: String,
    /// When the customer registered, RFC 3339.
    sejak: Timestamp,
    /// The accounts in sight, the oldest first.
    akun: Vec<Rekening>,
}

/// A customer's account at an outlet.
#[derive(Debug, Serialize, ToSchema)]
pub struct Rekening {
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    /// The outlet's name.
    outlet: String,
    /// Rupiah.
    saldo: i64,
    /// 2 never expires, 1 expires at `masa_aktif`.
    #[schema(minimum = 1, maximum = 2)]
    jenis_emoney: i16,
    /// Epoch milliseconds.
    #[schema(required)]
    masa_aktif: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Gerak {
    id: i64,
    /// The receipt number of a purchase; otherwise the id of the top-up, the payout, the move or the opening balance.
    ref_id: String,
    ref_type: RefType,
    /// RFC 3339.
    created_at: Timestamp,
    /// The name of the outlet where it happened.
    outlet: String,
    /// Rupiah: negative when the balance fell.
    nominal: i64,
}

const UNKNOWN: AppError = AppError::NotFound("pelanggan tidak ditemukan");

/// A customer with the accounts in sight; without any, the customer is unknown.
#[utoipa::path(
    get, path = "/ops/v1/pelanggan/{id}", operation_id = "pelanggan", tag = "operator", security(("operator" = []), ("session" = [])),
    params(("id" = inline(CustomerId), Path, description = "id_customer_global")),
    responses((status = 200, body = Answer<Pelanggan>), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn customer(
    by: Minimal<{ Right::PelangganLihat.rank() }>,
    store: web::Data<Store>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    const READ: &str = "
        SELECT g.nama_awal, g.nama_akhir, g.telp, g.created_at, c.idcustomer, c.idoutlet, o.nama, q.saldo, q.jenis_emoney, q.masa_aktif
        FROM customer c JOIN customer_global g ON g.id = c.id_customer_global JOIN outlet o USING (idoutlet) JOIN quota_emoney q USING (idcustomer)
        WHERE c.id_customer_global = $1 AND NOT g.internal AND ($2::BIGINT IS NULL OR o.idowner = $2)
            AND ($3::BIGINT IS NULL OR o.idoutlet = $3)
        ORDER BY c.idcustomer";
    let Minimal(operator) = by;
    let id = CustomerId::parse(&id).ok_or(UNKNOWN)?;
    let client = store.get().await?;
    let stmt = client.prepare_cached(READ).await?;
    let rows = client.query(&stmt, &[&id, &operator.scope.owner, &operator.scope.outlet]).await?;
    let first = rows.first().ok_or(UNKNOWN)?;
    Ok(answer::ok(Pelanggan {
        id_customer_global: id,
        nama: customer_name(first.try_get(0)?, first.try_get(1)?, false),
        telp: Telp::from_stored(first.try_get(2)?).masked(),
        sejak: first.try_get(3)?,
        akun: rows.iter().map(account).collect::<Result<_, _>>()?,
    }))
}

fn account(row: &Row) -> Result<Rekening, AppError> {
    Ok(Rekening {
        idcustomer: row.try_get(4)?,
        idoutlet: row.try_get(5)?,
        outlet: row.try_get(6)?,
        saldo: row.try_get(7)?,
        jenis_emoney: row.try_get(8)?,
        masa_aktif: row.try_get::<_, Option<Timestamp>>(9)?.map(Timestamp::ms),
    })
}

/// What moved at outlets in sight, or in accounts in sight: $1 owner and $2 outlet of the caller's scope, $3 customer, $4 before this id,
/// $5 limit. The condition of the index `riwayat` is written out.
const MOVEMENTS: &str = concat!(
    "
    SELECT l.id, l.kind, l.jumlah, l.created_at, o.nama, ",
    ref_id_sql!(),
    "
    FROM customer_global g JOIN ledger_transfer l ON l.id_customer_global = g.id JOIN outlet o ON o.idoutlet = l.idoutlet
    JOIN customer c ON c.idcustomer = l.idcustomer LEFT JOIN snap_transaksi t ON t.id = l.idtransaksi
    WHERE g.id = $3 AND NOT g.internal AND l.kind <> 'post' AND l.id < $4
        AND ($1::BIGINT IS NULL OR o.idowner = $1) AND ($2::BIGINT IS NULL OR o.idoutlet = $2 OR c.idoutlet = $2)
    ORDER BY l.id DESC LIMIT $5"
);

/// A page of a customer's movements, newest first.
#[utoipa::path(
    get, path = "/ops/v1/pelanggan/{id}/riwayat", operation_id = "pelanggan_riwayat", tag = "operator",
    security(("operator" = []), ("session" = [])), params(("id" = inline(CustomerId), Path, description = "id_customer_global"), Page),
    responses(
        (status = 200, body = Answer<Rows<Gerak>>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty),
    )
)]
pub async fn history(
    by: Minimal<{ Right::PelangganLihat.rank() }>,
    store: web::Data<Store>,
    id: web::Path<String>,
    page: web::Query<Page>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let id = CustomerId::parse(&id).ok_or(UNKNOWN)?;
    let limit = page.limit()?;
    let client = store.get().await?;
    let Scope { owner, outlet } = operator.scope;
    let stmt = client.prepare_cached(MOVEMENTS).await?;
    let rows = client.query(&stmt, &[&owner, &outlet, &id, &page.before(), &(limit + 1)]).await?;
    if rows.is_empty() && !is_in_sight(&*client, operator.scope, id).await? {
        return Err(UNKNOWN);
    }
    let rows = rows.iter().map(|row| Ok((row.try_get(0)?, gerak(row)?))).collect::<Result<Vec<_>, AppError>>()?;
    Ok(answer::ok(Rows::of(rows, limit)))
}

/// Whether an account of the customer, or a movement at an outlet, is in sight: a later page of a list may be empty.
async fn is_in_sight(client: &impl GenericClient, scope: Scope, id: CustomerId) -> Result<bool, AppError> {
    const ANY: &str = "
        SELECT NOT (SELECT internal FROM customer_global WHERE id = $1) AND (EXISTS (
            SELECT FROM customer c WHERE c.id_customer_global = $1 AND ($2::BIGINT IS NULL OR c.owner_idowner = $2)
                AND ($3::BIGINT IS NULL OR c.idoutlet = $3)
        ) OR EXISTS (
            SELECT FROM ledger_transfer l JOIN outlet o USING (idoutlet) WHERE l.id_customer_global = $1 AND l.kind <> 'post'
                AND ($2::BIGINT IS NULL OR o.idowner = $2) AND ($3::BIGINT IS NULL OR o.idoutlet = $3)
        ))";
    let stmt = client.prepare_cached(ANY).await?;
    let seen: Option<bool> = client.query_one(&stmt, &[&id, &scope.owner, &scope.outlet]).await?.try_get(0)?;
    Ok(seen == Some(true))
}

fn gerak(row: &Row) -> Result<Gerak, AppError> {
    let (ref_type, nominal) = movement(row.try_get(1)?, row.try_get(2)?)?;
    Ok(Gerak {
        id: row.try_get(0)?,
        ref_id: row.try_get(5)?,
        ref_type,
        created_at: row.try_get(3)?,
        outlet: row.try_get(4)?,
        nominal,
    })
}
