//! A machine on the board.

use nyala_core::board::{Action, Condition, MachineFacts, TileState};
use nyala_core::domain::id::MachineId;
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::times::GIVE_UP_MS;
use nyala_store::db::error::DbError;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::spells::Spells;

/// A machine on the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Tile {
    #[schema(value_type = i64)]
    pub id: MachineId,
    pub nama: String,
    pub jenis: MachineKind,
    /// Such as `14 kg`.
    #[schema(required)]
    pub ukuran: Option<String>,
    /// The first that holds of `belum_pasti`, `menunggu`, `jalan`, `perlu_petugas`, `ditutup`, `offline`, `siap`.
    pub keadaan: &'static str,
    /// Since when, as far as it is known.
    #[schema(value_type = Option<Timestamp>, required)]
    pub sejak: Option<Timestamp>,
    /// Epoch milliseconds of the end while it runs, else null.
    #[schema(required)]
    pub ends_at: Option<i64>,
    /// The receipt number of the purchase that uses it.
    #[schema(required)]
    pub idtransaksi: Option<String>,
    #[schema(required)]
    pub layanan: Option<String>,
    /// Rupiah that are held.
    #[schema(required)]
    pub jumlah: Option<i64>,
    /// When held money goes back if its device says nothing.
    #[schema(value_type = Option<Timestamp>, required)]
    pub kembali_at: Option<Timestamp>,
    #[schema(required)]
    pub ditutup: Option<MesinDitutup>,
    /// What can succeed now: `tanya`, `tutup`, `buka`, `stop`, `uji`.
    pub aksi: Vec<&'static str>,
}

/// Why, since when and by whom a machine is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MesinDitutup {
    pub alasan: String,
    pub sejak: Timestamp,
    pub oleh: String,
}

/// The closer of a machine that the server closed itself.
const ITSELF: &str = "sistem";

impl Tile {
    /// Of a row of [`super::read::TILES`].
    pub fn of(row: &Row, spells: &Spells, now: Timestamp) -> Result<Self, DbError> {
        let id: MachineId = row.try_get("idmesin")?;
        let state: Option<PurchaseState> = row.try_get("state")?;
        let closed_since: Option<Timestamp> = row.try_get("ditutup_sejak")?;
        let unpaid_until: Option<Timestamp> = row.try_get("jalan_sampai")?;
        let is_held = matches!(state, Some(PurchaseState::Held | PurchaseState::Sent | PurchaseState::Unsure));
        let facts = MachineFacts {
            unsure: state == Some(PurchaseState::Unsure),
            held: is_held,
            runs: state == Some(PurchaseState::Running) || row.try_get("jalan")?,
            needs_staff: row.try_get("perlu_petugas")?,
            closed: closed_since.is_some(),
            online: row.try_get("online")?,
            by_pulses: row.try_get("by_pulses")?,
        };
        let tile_state = TileState::of(facts);
        let created_at: Option<Timestamp> = row.try_get("created_at")?;
        let since = |condition| spells.since(id, condition);
        let ends_at = match state {
            Some(PurchaseState::Running) => {
                let latest = row.try_get::<_, Option<i32>>("durasi_s")?.map(|s| now.plus_ms(i64::from(s) * 1_000));
                row.try_get::<_, Option<Timestamp>>("ends_at")?.map(|end| latest.map_or(end, |latest| end.min(latest)))
            }
            _ => unpaid_until.filter(|_| tile_state == TileState::Runs),
        };
        let reason: Option<String> = row.try_get("ditutup_alasan")?;
        let closer: Option<String> = row.try_get("ditutup_oleh")?;
        Ok(Self {
            id,
            nama: row.try_get("nama")?,
            jenis: row.try_get("jenis")?,
            ukuran: row.try_get("ukuran")?,
            keadaan: tile_state.as_str(),
            sejak: match tile_state {
                TileState::Unsure => since(Condition::Unsure).or(created_at),
                TileState::Held => created_at,
                TileState::Runs => {
                    let since = row.try_get::<_, Option<Timestamp>>("started_at")?.or_else(|| since(Condition::Unpaid));
                    since.or(row.try_get("sense_sejak")?)
                }
                TileState::NeedsStaff => since(Condition::NeedsStaff),
                TileState::Closed => closed_since,
                TileState::Offline => since(Condition::Offline),
                TileState::Ready => row.try_get::<_, Option<Timestamp>>("last_end")?.max(row.try_get("last_condition_end")?),
            },
            ends_at: ends_at.map(Timestamp::ms),
            idtransaksi: row.try_get("no_nota")?,
            layanan: row.try_get("nama_layanan")?,
            jumlah: row.try_get::<_, Option<i64>>("grandtotal")?.filter(|_| is_held),
            kembali_at: created_at.filter(|_| is_held).map(|at| at.plus_ms(GIVE_UP_MS)),
            ditutup: reason.zip(closed_since).map(|(alasan, sejak)| MesinDitutup {
                alasan,
                sejak,
                oleh: closer.unwrap_or_else(|| ITSELF.to_owned()),
            }),
            aksi: Action::possible(facts).into_iter().map(Action::as_str).collect(),
        })
    }
}
