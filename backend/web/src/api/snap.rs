//! A purchase as the customer sees it (docs/product.md §3, snap transaction): one shape for the dashboard and both details.

use nyala_core::domain::id::{CustomerId, MachineId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::run_trouble::{PulsedRun, RunTrouble};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Cycle;
use nyala_store::db::Store;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::http::error::AppError;
use crate::http::schema::{ComplaintReason, ComplaintStatus};

/// The query whose rows `SnapTransaksi::from_row` reads; the tail selects and orders them.
macro_rules! snap_sql {
    ($($tail:tt)+) => {
        concat!(
            "SELECT t.no_nota, t.grandtotal, t.created_at, t.finished_at, t.ends_at, t.state, t.durasi_s, t.idmesin, t.nama_mesin, \
             t.nama_layanan, CASE WHEN t.pulsa IS NOT NULL THEN t.started_at END AS pulsed_at, \
             t.sense, t.kendala, o.nama AS nama_outlet, o.kota FROM snap_transaksi t JOIN outlet o USING (idoutlet) ",
            $($tail)+
        )
    };
}
pub(crate) use snap_sql;

/// The customer's ($1) last purchases, newest first, as a table. They are read from the end of the index `riwayat`.
macro_rules! last_purchases {
    () => {
        "(SELECT idtransaksi FROM ledger_transfer WHERE id_customer_global = $1 AND kind <> 'post' AND kind = 'pending' ORDER BY id DESC LIMIT 20)"
    };
}
pub(crate) use last_purchases;

/// A purchase, running or past.
#[derive(Debug, Serialize, ToSchema)]
pub struct SnapTransaksi {
    /// The receipt number.
    #[schema(example = "SLF261120180530123", pattern = "^SLF[0-9]{15}$")]
    pub id: String,
    /// Whole rupiah: the full price, also after refunds.
    pub grandtotal: i64,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub finished_at: Option<Timestamp>,
    /// Epoch milliseconds of the end while it runs, else null.
    #[schema(required)]
    pub ends_at: Option<i64>,
    /// The server's clock at this answer, epoch milliseconds.
    pub server_time: i64,
    /// True only in the detail of a deletion.
    #[serde(rename = "isDelete")]
    pub is_delete: bool,
    pub outlet: OutletSummary,
    /// Of a machine with its own cycle and a sensor: `belum_jalan` (the door is open, or its start button not pressed), `tidak_jalan` (it has not run).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kendala: Option<&'static str>,
    /// Epoch milliseconds at which to look again whether such a machine runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tanya_lagi_at: Option<i64>,
    /// Always one item.
    #[schema(min_items = 1, max_items = 1)]
    pub snap_transaksi_detail: [SnapDetail; 1],
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SnapDetail {
    /// 1 held, 2 command sent or unsure, 3 running, 4 finished.
    #[schema(minimum = 1, maximum = 4)]
    pub status: u8,
    /// Seconds.
    pub durasi: i32,
    #[schema(value_type = i64)]
    pub idmesin: MachineId,
    pub snap_mesin: SnapMesin,
    pub snap_layanan: SnapLayanan,
}

/// The machine at the time of the purchase.
#[derive(Debug, Serialize, ToSchema)]
pub struct SnapMesin {
    pub nama: String,
}

/// The service at the time of the purchase.
#[derive(Debug, Serialize, ToSchema)]
pub struct SnapLayanan {
    pub nama: String,
    /// Seconds.
    pub durasi: i32,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OutletSummary {
    pub nama: String,
    pub kota: String,
}

impl SnapTransaksi {
    /// `None` for a purchase that never started, which has no detail (docs/contract.md §2).
    pub fn from_row(row: &Row, now: Timestamp) -> Result<Option<Self>, AppError> {
        let state: PurchaseState = row.try_get("state")?;
        let Some(status) = state.detail_status() else { return Ok(None) };
        let durasi: i32 = row.try_get("durasi_s")?;
        let ends_at: Option<Timestamp> = row.try_get("ends_at")?;
        let pulsed = pulsed_run(row, state)?;
        let shown_end = |end| Cycle::until(end, i64::from(durasi) * 1_000).shown_end(now);
        Ok(Some(Self {
            id: row.try_get("no_nota")?,
            grandtotal: row.try_get("grandtotal")?,
            created_at: row.try_get("created_at")?,
            finished_at: row.try_get("finished_at")?,
            ends_at: ends_at.filter(|_| state == PurchaseState::Running).map(|end| shown_end(end).ms()),
            server_time: now.ms(),
            is_delete: false,
            kendala: pulsed.and_then(|run| run.trouble(now)).map(RunTrouble::as_str),
            tanya_lagi_at: pulsed.and_then(|run| run.look_again_at(now)).map(Timestamp::ms),
            outlet: OutletSummary { nama: row.try_get("nama_outlet")?, kota: row.try_get("kota")? },
            snap_transaksi_detail: [SnapDetail {
                status,
                durasi,
                idmesin: row.try_get("idmesin")?,
                snap_mesin: SnapMesin { nama: row.try_get("nama_mesin")? },
                snap_layanan: SnapLayanan { nama: row.try_get("nama_layanan")?, durasi },
            }],
        }))
    }
}

/// How a machine that was started by pulses runs; `None`: a relay has started it.
fn pulsed_run(row: &Row, state: PurchaseState) -> Result<Option<PulsedRun>, AppError> {
    let Some(started_at) = row.try_get("pulsed_at")? else { return Ok(None) };
    let trouble: Option<&str> = row.try_get("kendala")?;
    let never_ran = trouble == Some(RunTrouble::Never.as_str());
    Ok(Some(PulsedRun { state, started_at, has_run: row.try_get("sense")?, never_ran }))
}

/// A purchase in detail.
#[derive(Debug, Serialize, ToSchema)]
pub struct RincianTransaksi {
    #[serde(flatten)]
    pub snap: SnapTransaksi,
    /// What the customer says went wrong, and the answer.
    #[schema(required)]
    pub keluhan: Option<Keluhan>,
}

/// A complaint of the customer.
#[derive(Debug, Serialize, ToSchema)]
pub struct Keluhan {
    /// `terbuka`, `diterima`, `ditolak`.
    #[schema(value_type = ComplaintStatus)]
    pub status: String,
    /// `tidak_jalan`, `berhenti`, `hasil`, `lain`.
    #[schema(value_type = ComplaintReason)]
    pub alasan: String,
    #[schema(required)]
    pub catatan: Option<String>,
    /// Whole rupiah that came back for it; null unless it was accepted.
    #[schema(required)]
    pub nominal: Option<i64>,
    /// The sentence with which it was rejected.
    #[schema(required)]
    pub jawaban: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub dijawab_at: Option<Timestamp>,
}

/// $1 customer, $2 receipt.
const COMPLAINT: &str = "
    SELECT k.status, k.alasan, k.catatan, k.nominal, k.jawaban, k.dijawab_at FROM snap_transaksi t JOIN keluhan k ON k.idtransaksi = t.id
    WHERE t.id_customer_global = $1 AND t.no_nota = $2";

/// The customer's purchase with the receipt number `receipt_number` that `sql` selects by `($1 customer, $2 receipt)`.
pub async fn find(
    store: &Store,
    sql: &str,
    id_customer_global: CustomerId,
    receipt_number: &str,
) -> Result<Option<RincianTransaksi>, AppError> {
    let Some(receipt_number) = ReceiptNumber::parse(receipt_number) else { return Ok(None) };
    let client = store.get().await?;
    let stmt = client.prepare_cached(sql).await?;
    let row = client.query_opt(&stmt, &[&id_customer_global, &receipt_number.as_str()]).await?;
    let Some(row) = row else { return Ok(None) };
    let Some(snap) = SnapTransaksi::from_row(&row, store.now())? else { return Ok(None) };
    let stmt = client.prepare_cached(COMPLAINT).await?;
    let keluhan = client.query_opt(&stmt, &[&id_customer_global, &receipt_number.as_str()]).await?.as_ref().map(complaint);
    Ok(Some(RincianTransaksi { snap, keluhan: keluhan.transpose()? }))
}

fn complaint(row: &Row) -> Result<Keluhan, AppError> {
    Ok(Keluhan {
        status: row.try_get(0)?,
        alasan: row.try_get(1)?,
        catatan: row.try_get(2)?,
        nominal: row.try_get(3)?,
        jawaban: row.try_get(4)?,
        dijawab_at: row.try_get(5)?,
    })
}
