//! What customers see of an outlet's machines: no receipts, no reasons, no names of others.

use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::text::natural_key;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::{PurchaseState, open_states};
use nyala_ledger::on_sale::{Closing, is_on_sale, runs_unsold};
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::read::Board;
use crate::api::transaksi::get_layanan::OutletTutup;

/// Whether a machine can be bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusPapan {
    /// Free, and its device is connected: a server closes a connection after 45 s of silence.
    Idle,
    /// Stored as free, but its device is not connected: it has not reconnected since its server started.
    Diam,
    /// In use or reserved.
    Busy,
    /// It takes no purchase now.
    Offline,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MesinPapan {
    #[schema(value_type = i64)]
    pub id: MachineId,
    pub nama: String,
    pub jenis: MachineKind,
    pub status: StatusPapan,
    /// Epoch milliseconds of the end while it runs, else null.
    #[schema(required)]
    pub ends_at: Option<i64>,
    /// Until when the customer who is called to it has a head start; null when no customer is called.
    #[schema(value_type = Option<Timestamp>, required)]
    pub dipanggil_sampai: Option<Timestamp>,
}

/// An outlet that customers see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OutletUmum {
    #[schema(value_type = i64)]
    pub idoutlet: OutletId,
    pub nama: String,
    pub kota: String,
    pub alamat: String,
    /// Why nothing can be bought there; null: it is open.
    #[schema(required)]
    pub tutup: Option<OutletTutup>,
}

/// Customers see nothing of what needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum NoEntry {}

/// What customers see of an outlet.
pub type CustomerBoard = Board<OutletUmum, MesinPapan, NoEntry>;

/// Outlets that customers see: not those that are being prepared. $1 outlets.
const OUTLETS: &str = "
SELECT o.idoutlet, o.nama, o.kota, o.alamat, o.ditutup_alasan, o.ditutup_sejak, o.ditutup_sampai FROM outlet o
WHERE o.idoutlet = ANY($1) AND o.dibuka_at IS NOT NULL ORDER BY o.idoutlet";

/// $1 outlets, $2 now.
const MACHINES: &str = concat!(
    "
SELECT m.idoutlet, m.idmesin, m.nama, m.jenis, m.urut, m.driver, m.link_node IS NOT NULL AS di_server_lain, m.online AND NOT m.perlu_petugas AND ",
    is_on_sale!("$2"),
    " AS reachable, ",
    runs_unsold!(),
    " AS jalan, m.jalan_sampai, t.state, t.ends_at, t.durasi_s, c.dipanggil_sampai
FROM mesin m JOIN outlet o USING (idoutlet)
LEFT JOIN snap_transaksi t ON t.idmesin = m.idmesin AND t.state IN ",
    open_states!(),
    "
LEFT JOIN panggilan c ON c.idmesin = m.idmesin AND c.selesai_at IS NULL AND c.dipanggil_sampai > $2
WHERE m.idoutlet = ANY($1) AND m.aktif"
);

/// Those of these outlets that customers see, with their machines.
///
/// # Errors
/// When the database does not answer.
pub async fn read(client: &DbClient, mqtt: &Mqtt, outlets: &[OutletId], now: Timestamp) -> Result<Vec<CustomerBoard>, DbError> {
    let stmt = client.prepare_cached(OUTLETS).await?;
    let open = client.query(&stmt, &[&outlets]).await?;
    let stmt = client.prepare_cached(MACHINES).await?;
    let mut rows = client.query(&stmt, &[&outlets, &now]).await?;
    rows.sort_by_cached_key(|row| {
        let order: Option<i32> = row.get("urut");
        (order.is_none(), order, natural_key(row.get("nama")), row.get::<_, MachineId>("idmesin"))
    });
    let mut boards = Vec::new();
    for row in &open {
        let outlet = OutletUmum {
            idoutlet: row.try_get(0)?,
            nama: row.try_get(1)?,
            kota: row.try_get(2)?,
            alamat: row.try_get(3)?,
            tutup: Closing::of(row, now)?.map(OutletTutup::from),
        };
        let own = rows.iter().filter(|row| row.get::<_, OutletId>("idoutlet") == outlet.idoutlet);
        let machines = own.map(|row| machine(row, mqtt, now)).collect::<Result<_, _>>()?;
        boards.push(CustomerBoard { outlet, tiles: machines, entries: Vec::new() });
    }
    Ok(boards)
}

/// Whether a machine's device is connected. The row has its `driver` and `di_server_lain` (connected to another server).
pub fn is_connected(row: &Row, mqtt: &Mqtt, id: MachineId) -> Result<bool, DbError> {
    let elsewhere = row.try_get("di_server_lain")?;
    Ok(row.try_get::<_, DriverKind>("driver")? == DriverKind::Sim || elsewhere || mqtt.is_connected(id))
}

fn machine(row: &Row, mqtt: &Mqtt, now: Timestamp) -> Result<MesinPapan, DbError> {
    let id: MachineId = row.try_get("idmesin")?;
    let (reachable, runs): (bool, bool) = (row.try_get("reachable")?, row.try_get("jalan")?);
    let state: Option<PurchaseState> = row.try_get("state")?;
    let status = match (reachable, state.is_some() || runs) {
        // Also when it was closed since: its customer sees how long it runs.
        (_, true) => StatusPapan::Busy,
        (false, false) => StatusPapan::Offline,
        (true, false) if is_connected(row, mqtt, id)? => StatusPapan::Idle,
        (true, false) => StatusPapan::Diam,
    };
    // No cycle has more time left than its duration, even if it started while the clock was ahead.
    let latest = row.try_get::<_, Option<i32>>("durasi_s")?.map(|s| now.plus_ms(i64::from(s) * 1_000));
    let end: Option<Timestamp> = match state {
        Some(PurchaseState::Running) => {
            row.try_get::<_, Option<Timestamp>>("ends_at")?.map(|end| latest.map_or(end, |latest| end.min(latest)))
        }
        _ => row.try_get::<_, Option<Timestamp>>("jalan_sampai")?.filter(|_| runs),
    };
    Ok(MesinPapan {
        id,
        nama: row.try_get("nama")?,
        jenis: row.try_get("jenis")?,
        status,
        ends_at: end.map(Timestamp::ms),
        dipanggil_sampai: row.try_get("dipanggil_sampai")?,
    })
}
