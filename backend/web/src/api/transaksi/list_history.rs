//! `POST /scan/v1/transaksi/list_history`: every movement of the customer's money, newest first (docs/product.md §2, History).

use actix_web::{HttpResponse, web};
use nyala_core::domain::cursor::Cursor;
use nyala_core::domain::ledger_kind::{LedgerKind, kinds_of_balance};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, ok};
use crate::http::error::AppError;
use crate::http::input::{Filter, OffsetPage};
use crate::http::json::Json;

#[derive(Debug, Deserialize, ToSchema)]
pub struct ListHistory {
    #[schema(minimum = 0, maximum = 9223372036854775807_i64)]
    #[serde(deserialize_with = "whole::deserialize")]
    skip: i64,
    #[schema(minimum = 1, maximum = 100)]
    #[serde(deserialize_with = "whole::deserialize")]
    limit: i64,
    /// `""` for all, `snap_transaksi` for purchases, deletions and refunds, `pembelian_emoney` for what is about the balance itself: top-ups, their
    /// reversals, payouts, moves and opening balances.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(snap_transaksi|pembelian_emoney)?$")]
    jenis: Option<Kind>,
    /// An outlet's id, or `""` for all.
    #[serde(default)]
    outlet: Filter,
    /// `sampai` of the first page's answer, so that later pages show the same list. Without it, new rows shift the pages.
    #[serde(default)]
    #[schema(value_type = Option<Cursor>)]
    sampai: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
enum Kind {
    All,
    /// Purchases, their deletions and their refunds.
    SnapTransaksi,
    /// What is about the balance itself.
    PembelianEmoney,
}

impl TryFrom<String> for Kind {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "" => Ok(Self::All),
            "snap_transaksi" => Ok(Self::SnapTransaksi),
            "pembelian_emoney" => Ok(Self::PembelianEmoney),
            _ => Err("harus kosong, snap_transaksi atau pembelian_emoney"),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct History {
    /// Null when the page has no rows.
    #[schema(required)]
    history_data: Option<Vec<HistoryEntry>>,
    /// How many rows the page has.
    returned: usize,
    /// Opaque. Sent back with the next `skip`, so that the next page continues from the state of this one.
    sampai: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct HistoryEntry {
    /// The receipt number of a purchase; otherwise the id of the top-up, the payout, the move or the opening balance.
    ref_id: String,
    ref_type: RefType,
    /// Distinguishes several refunds of one purchase: `get_detail_refund/{ref_id}?entri=…`.
    entri: i64,
    #[schema(value_type = String, format = DateTime)]
    date: Timestamp,
    /// The outlet's name.
    outlet: String,
    /// Whole rupiah: negative when the balance fell.
    value: i64,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefType {
    SnapTransaksi,
    PembelianEmoney,
    /// A top-up that was taken back.
    PembelianEmoneyBatal,
    SnapTransaksiHapus,
    SnapTransaksiRefund,
    /// Paid out in cash.
    Penarikan,
    /// Bonus that ended with a payout (`ref_id` is its), or balance that had expired when accounts moved (`ref_id` is the move's).
    SaldoHangus,
    /// What a number that retired had.
    PindahKeluar,
    /// What the customer's new number had.
    PindahMasuk,
    /// Balance of another system.
    SaldoAwal,
}

/// The `ref_id` of the ledger row `l`, whose purchase, if it is about one, is `t`, as a literal.
macro_rules! ref_id_sql {
    () => {
        "COALESCE(t.no_nota, COALESCE(l.idpembelian_emoney, l.idpenarikan, l.idpindah, l.idsaldo_awal, l.id)::TEXT)"
    };
}
pub(crate) use ref_id_sql;

/// One statement, so that the rows and the limits of the series come from one snapshot. The condition of `riwayat` (and of
/// `riwayat_topup`) is written out, so that the page is read from the end of that index. COALESCE hides from the planner how many rows
/// `<> ALL` leaves. Where many rows share a transaction it would estimate none, and sort.
macro_rules! history_sql {
    ($($kind:expr),+) => {
        concat!(
            "WITH bounds AS MATERIALIZED (SELECT \
               COALESCE($4::BIGINT, (SELECT max(id) FROM ledger_transfer WHERE id_customer_global = $1 AND kind <> 'post'), 0) AS max_id, \
               COALESCE($5::TEXT[], ARRAY(SELECT pg_snapshot_xip(pg_current_snapshot())::TEXT)) AS in_progress) \
             SELECT b.max_id, b.in_progress, l.id, l.kind, l.jumlah, l.created_at, o.nama, ",
            ref_id_sql!(),
            " FROM bounds b LEFT JOIN LATERAL ( \
               SELECT l.* FROM ledger_transfer l WHERE l.id_customer_global = $1 AND ",
            $($kind,)+
            " AND l.id <= b.max_id AND COALESCE(l.xid <> ALL (b.in_progress::XID8[]), TRUE) AND ($6::BIGINT IS NULL OR l.idoutlet = $6) \
               ORDER BY l.id DESC LIMIT $2 OFFSET $3 \
             ) l ON TRUE LEFT JOIN outlet o ON o.idoutlet = l.idoutlet LEFT JOIN snap_transaksi t ON t.id = l.idtransaksi \
             ORDER BY l.id DESC"
        )
    };
}

const ALL_ROWS: &str = history_sql!("l.kind <> 'post'");
const SNAP_TRANSAKSI: &str = history_sql!("l.kind <> 'post' AND l.kind NOT IN ", kinds_of_balance!());
const PEMBELIAN_EMONEY: &str = history_sql!("l.kind IN ", kinds_of_balance!());

/// A page of the history. The sum of all `value`s is the sum of the balances.
#[utoipa::path(
    post, path = "/scan/v1/transaksi/list_history", tag = "transaksi", security(("pelanggan" = [])),
    request_body = ListHistory, responses((status = 200, body = Answer<History>))
)]
pub async fn list_history(
    store: web::Data<Store>,
    customer: Customer,
    body: Json<ListHistory>,
) -> Result<HttpResponse, AppError> {
    let page = OffsetPage { limit: body.limit, skip: body.skip }.checked()?;
    let sampai = match body.sampai.as_deref() {
        None | Some("") => None,
        Some(text) => {
            Some(Cursor::parse(text).ok_or(AppError::bad_input("sampai harus seperti yang diberikan halaman pertama"))?)
        }
    };
    let sql = match body.jenis {
        None | Some(Kind::All) => ALL_ROWS,
        Some(Kind::SnapTransaksi) => SNAP_TRANSAKSI,
        Some(Kind::PembelianEmoney) => PEMBELIAN_EMONEY,
    };
    let max_id = sampai.as_ref().map(|s| s.max_id);
    let in_progress = sampai.map(|s| s.in_progress.iter().map(u64::to_string).collect::<Vec<_>>());
    let outlet = body.outlet.0;
    let client = store.get().await?;
    let stmt = client.prepare_cached(sql).await?;
    let rows = client.query(&stmt, &[&customer.id, &page.limit, &page.skip, &max_id, &in_progress, &outlet]).await?;
    Ok(ok(history(&rows)?))
}

/// The first row always exists: without entries its entry columns are null.
fn history(rows: &[Row]) -> Result<History, AppError> {
    let first = rows.first().ok_or_else(|| AppError::internal("a history without its limits"))?;
    let in_progress: Vec<String> = first.try_get(1)?;
    let in_progress = in_progress.iter().map(|x| x.parse()).collect::<Result<_, _>>().map_err(AppError::internal)?;
    let sampai = Cursor { max_id: first.try_get(0)?, in_progress }.encode();
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        entries.extend(entry(row)?);
    }
    Ok(History { returned: entries.len(), history_data: (!entries.is_empty()).then_some(entries), sampai })
}

fn entry(row: &Row) -> Result<Option<HistoryEntry>, AppError> {
    let Some(entri) = row.try_get(2)? else { return Ok(None) };
    let (ref_type, value) = movement(row.try_get(3)?, row.try_get(4)?)?;
    Ok(Some(HistoryEntry { ref_id: row.try_get(7)?, ref_type, entri, date: row.try_get(5)?, outlet: row.try_get(6)?, value }))
}

/// How a history shows a ledger row: its type, and by how much the balance changed.
pub fn movement(kind: LedgerKind, amount: i64) -> Result<(RefType, i64), AppError> {
    let ref_type = match kind {
        LedgerKind::Hold => RefType::SnapTransaksi,
        LedgerKind::TopUp => RefType::PembelianEmoney,
        LedgerKind::Reversal => RefType::PembelianEmoneyBatal,
        LedgerKind::Deletion => RefType::SnapTransaksiHapus,
        LedgerKind::Void | LedgerKind::Refund => RefType::SnapTransaksiRefund,
        LedgerKind::Payout => RefType::Penarikan,
        LedgerKind::Forfeit => RefType::SaldoHangus,
        LedgerKind::MoveOut => RefType::PindahKeluar,
        LedgerKind::MoveIn => RefType::PindahMasuk,
        LedgerKind::Opening => RefType::SaldoAwal,
        LedgerKind::Post => return Err(AppError::internal("a post in a history")),
    };
    Ok((ref_type, kind.change(amount)))
}
