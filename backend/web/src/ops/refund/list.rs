//! `GET /ops/v1/pemakaian`: purchases at an outlet, newest first. A kasir sees those since the till's shift was opened.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::WalletId;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::PurchaseState;
use nyala_ledger::refund::THIS_MONTH;
use nyala_store::db::Store;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Caller;
use crate::ops::refund::issue::GivenBackOften;
use crate::ops::rows::{OutletPage, Rows, Sight};
use crate::ops::topup::list::customer_name;

#[derive(Debug, Serialize, ToSchema)]
pub struct UseRow {
    /// The receipt number.
    idtransaksi: String,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    /// RFC 3339.
    created_at: Timestamp,
    /// The customer; a kasir sees the first name and an initial.
    nama: String,
    /// The name at the time of the purchase.
    mesin: String,
    /// The name at the time of the purchase.
    layanan: String,
    /// Rupiah.
    grandtotal: i64,
    /// Rupiah that staff refunded.
    dikembalikan: i64,
    status: UseStatus,
    /// RFC 3339; null unless it was deleted.
    #[schema(required)]
    dihapus_at: Option<Timestamp>,
    /// Without a refund of this purchase that is about to be issued.
    sudah: GivenBackOften,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UseStatus {
    /// Paid; the machine has not answered yet.
    Menunggu,
    /// The machine has not answered for a long time.
    BelumPasti,
    Jalan,
    Selesai,
    /// Stopped by an operator.
    Dihentikan,
    /// The machine never ran; the money was returned.
    Gagal,
}

impl UseStatus {
    /// As messages have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Menunggu => "menunggu",
            Self::BelumPasti => "belum_pasti",
            Self::Jalan => "jalan",
            Self::Selesai => "selesai",
            Self::Dihentikan => "dihentikan",
            Self::Gagal => "gagal",
        }
    }

    pub const fn of(state: PurchaseState) -> Self {
        match state {
            PurchaseState::Held | PurchaseState::Sent => Self::Menunggu,
            PurchaseState::Unsure => Self::BelumPasti,
            PurchaseState::Running => Self::Jalan,
            PurchaseState::Finished => Self::Selesai,
            PurchaseState::Stopped => Self::Dihentikan,
            PurchaseState::Refused | PurchaseState::Expired => Self::Gagal,
        }
    }
}

/// A shift's list ends before the newest purchase that is older than the shift; that one is found from the end of the index. Without
/// this bound, reading a last page would scan years of rows. $1 outlet, $2 now, $3 before this id, $4 limit, $5 when the shift was
/// opened.
const LIST: &str = "
    SELECT t.id, t.no_nota, t.idcustomer, t.created_at, c.nama_awal, c.nama_akhir, t.nama_mesin, t.nama_layanan, t.grandtotal,
        t.dikembalikan, t.state, t.dihapus_at, (SELECT count(*) FROM went_back b WHERE b.idcustomer = t.idcustomer),
        (SELECT count(*) FROM went_back b WHERE b.idmesin = t.idmesin)
    FROM snap_transaksi t JOIN customer_global c ON c.id = t.id_customer_global
    WHERE t.idoutlet = $1 AND t.id < $3 AND NOT t.uji
        AND t.id > COALESCE((SELECT o.id FROM snap_transaksi o WHERE $5::TIMESTAMPTZ IS NOT NULL AND o.idoutlet = $1 AND o.created_at < $5
            ORDER BY o.id DESC LIMIT 1), 0)
    ORDER BY t.id DESC LIMIT $4";

/// A page of purchases.
#[utoipa::path(
    get, path = "/ops/v1/pemakaian", tag = "kasir", security(("operator" = []), ("session" = [])), params(OutletPage),
    responses(
        (status = 200, body = Answer<Rows<UseRow>>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "A kasir's API key: it has no shift", body = Empty), (status = 404, body = Empty),
        (status = 422, description = "`idoutlet wajib diisi`: several outlets are in sight", body = Empty),
    )
)]
pub async fn pemakaian(
    Caller(operator): Caller,
    store: web::Data<Store>,
    from: web::Query<OutletPage>,
) -> Result<HttpResponse, AppError> {
    let limit = from.page().limit()?;
    let client = store.get().await?;
    let (idoutlet, since) = match from.sight(&*client, &operator).await? {
        Sight::Nothing => return Ok(answer::ok(Rows::<UseRow>::none())),
        Sight::Shift { idoutlet, since, .. } => (idoutlet, Some(since)),
        Sight::Outlet(idoutlet) => (idoutlet, None),
    };
    let went_back =
        format!("WITH went_back AS MATERIALIZED (SELECT t.idcustomer, t.idmesin FROM {THIS_MONTH} WHERE o.idoutlet = $1)");
    let stmt = client.prepare_cached(&format!("{went_back} {LIST}")).await?;
    let rows = client.query(&stmt, &[&idoutlet, &store.now(), &from.page().before(), &(limit + 1), &since]).await?;
    let shortened = operator.role == Role::Kasir;
    Ok(answer::ok(Rows::of(rows.iter().map(|row| (row.get(0), read(row, shortened))), limit)))
}

fn read(row: &Row, shortened: bool) -> UseRow {
    UseRow {
        idtransaksi: row.get(1),
        idcustomer: row.get(2),
        created_at: row.get(3),
        nama: customer_name(row.get(4), row.get(5), shortened),
        mesin: row.get(6),
        layanan: row.get(7),
        grandtotal: row.get(8),
        dikembalikan: row.get(9),
        status: UseStatus::of(row.get(10)),
        dihapus_at: row.get(11),
        sudah: GivenBackOften { pelanggan: row.get(12), mesin: row.get(13) },
    }
}
