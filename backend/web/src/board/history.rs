//! Reads the facts from which the entries of outlets follow: what needs a person, and who has taken it.

use std::cmp::Reverse;
use std::collections::HashMap;

use futures_util::future::{try_join, try_join4, try_join5};
use nyala_core::board::attention::{About, Entry, HISTORY_MS, Kind, MOVE_REFUSED_MS, MachineHistory, OpenComplaint, OpenShift};
use nyala_core::domain::id::{MachineId, OutletId, ShiftId, StaffId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::{ClockTime, Zone};
use nyala_core::purchase::state::open_states;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use tokio_postgres::Row;

use super::entry::{ComplaintFacts, Ditangani, about};
use super::spells::Spells;

/// Conditions of the outlets' machines that hold, or ended after $2. $1 outlets.
const SPELLS: &str = "
SELECT m.idoutlet, k.idmesin, k.keadaan, k.dari, k.sampai FROM mesin m JOIN keadaan_mesin k USING (idmesin)
WHERE m.idoutlet = ANY($1) AND m.aktif AND (k.sampai IS NULL OR k.sampai > $2) ORDER BY k.dari, k.id";

/// Refusals of the outlets' machines after $2, without a start after them. $1 outlets.
const REFUSALS: &str = "
SELECT t.idoutlet, t.idmesin, t.finished_at FROM snap_transaksi t
WHERE t.idoutlet = ANY($1) AND t.state = 'REFUSED' AND t.finished_at > $2 AND NOT t.uji
    AND NOT EXISTS (SELECT FROM snap_transaksi s
        WHERE s.idmesin = t.idmesin AND s.cmd_epoch > t.cmd_epoch AND s.started_at IS NOT NULL AND NOT s.uji)
ORDER BY t.finished_at";

/// Machines that the server closed itself, that run without a purchase, and coin machines that have not run in a purchase after $2 whose money stays. $1
/// outlets.
const BY_THEMSELVES: &str = concat!(
    "
SELECT m.idoutlet, m.idmesin, CASE WHEN m.ditutup_oleh IS NULL THEN m.ditutup_sejak END AS closed_at, n.finished_at AS never_ran_at, n.no_nota,
    CASE WHEN m.cara = 'pulsa' AND NOT EXISTS (SELECT FROM snap_transaksi t WHERE t.idmesin = m.idmesin AND t.state IN ",
    open_states!(),
    ") THEN greatest(m.sense_sejak, (SELECT t.finished_at FROM snap_transaksi t WHERE t.idmesin = m.idmesin AND t.started_at IS NOT NULL
        ORDER BY t.cmd_epoch DESC LIMIT 1)) END AS runs_since
FROM mesin m LEFT JOIN LATERAL (
    SELECT t.finished_at, t.no_nota FROM snap_transaksi t
    WHERE m.cara = 'pulsa' AND t.idmesin = m.idmesin AND t.kendala = 'tidak_jalan' AND t.finished_at > $2
        AND t.dikembalikan < t.grandtotal AND t.dihapus_at IS NULL
    ORDER BY t.finished_at LIMIT 1
) n ON TRUE
WHERE m.idoutlet = ANY($1) AND m.aktif
    AND (m.ditutup_sejak IS NOT NULL AND m.ditutup_oleh IS NULL OR n.finished_at IS NOT NULL OR m.sense_sejak IS NOT NULL)"
);
/// Boards of the outlets' coin machines that say that they cannot send pulses. $1 outlets.
const OLD_BOARDS: &str = "
SELECT m.idoutlet, m.idmesin, k.bisa_sejak FROM mesin m JOIN perangkat_kini k USING (idmesin)
WHERE m.idoutlet = ANY($1) AND m.aktif AND m.driver = 'mqtt' AND m.cara = 'pulsa' AND NOT 'pulse' = ANY(k.bisa) AND k.bisa_sejak IS NOT NULL";

const SHIFTS: &str = "
SELECT s.idoutlet, s.id, s.dibuka_at, p.nama FROM shift s JOIN perangkat p ON p.id = s.id_perangkat
WHERE s.idoutlet = ANY($1) AND s.ditutup_at IS NULL";

/// The newest refusal of a move that was asked for at the outlets, after $2. $1 outlets.
const MOVES: &str = "
SELECT idoutlet, max(ditolak_at) FROM pindah WHERE idoutlet = ANY($1) AND ditolak_at > $2 GROUP BY idoutlet";

/// The oldest 100 unanswered complaints of each of these outlets. $1 outlets.
const COMPLAINTS: &str = "
SELECT k.idoutlet, k.id, k.created_at, k.idmesin, t.nama_mesin, t.no_nota
FROM unnest($1::BIGINT[]) o (id) CROSS JOIN LATERAL (
    SELECT * FROM keluhan WHERE idoutlet = o.id AND status = 'terbuka' ORDER BY created_at LIMIT 100
) k JOIN snap_transaksi t ON t.id = k.idtransaksi";

/// Payments by QRIS that wait for the owner; one without a bill is shown at the owner's first outlet.
const PAYMENTS: &str = "
SELECT idoutlet, min(since) FROM (
    SELECT idoutlet, tertahan_at AS since FROM tagihan
    WHERE idoutlet = ANY($1) AND tertahan_at IS NOT NULL AND selesai_at IS NULL
    UNION ALL
    SELECT (SELECT min(o.idoutlet) FROM outlet o WHERE o.idowner = f.idowner), f.created_at FROM pembayaran_asing f WHERE f.selesai_at IS NULL
) p WHERE idoutlet = ANY($1) GROUP BY idoutlet";

const TAKEN: &str = "
SELECT d.idoutlet, d.jenis, d.tentang, d.sejak, k.id, k.nama, d.ditangani_at, d.sampai
FROM perhatian_ditangani d JOIN kunci_operator k ON k.id = d.id_kunci WHERE d.idoutlet = ANY($1) AND d.sampai > $2";

/// The facts of one outlet.
#[derive(Debug, Default)]
pub struct OutletFacts {
    pub spells: Spells,
    refusals: Vec<(MachineId, Timestamp)>,
    by_themselves: HashMap<MachineId, ByItself>,
    old_boards: Vec<(MachineId, Timestamp)>,
    pub shifts: Vec<OpenShift>,
    /// Names of the tills with open shifts.
    pub tills: Vec<(ShiftId, String)>,
    /// When an old number last refused a move that was asked for here.
    pub move_refused_at: Option<Timestamp>,
    pub complaints: Vec<ComplaintFacts>,
    /// Since when a payment by QRIS needs the owner.
    pub payment_since: Option<Timestamp>,
    taken: Vec<Taken>,
}

/// What the server has decided about a machine, or its sensor sees.
#[derive(Debug, Default)]
struct ByItself {
    closed_at: Option<Timestamp>,
    /// The end of a purchase in which it has not run, and its receipt number.
    never_ran: Option<(Timestamp, String)>,
    runs_since: Option<Timestamp>,
}

#[derive(Debug)]
struct Taken {
    kind: String,
    about: i64,
    since: Timestamp,
    by: StaffId,
    shown: Ditangani,
}

/// The facts of these outlets at `now`. An outlet without any is left out.
///
/// # Errors
/// When the database does not answer.
pub async fn read(client: &DbClient, outlets: &[OutletId], now: Timestamp) -> Result<HashMap<OutletId, OutletFacts>, DbError> {
    let [spells, refusals, by_themselves, old_boards, shifts, moves, complaints, payments, taken] = [
        client.prepare_cached(SPELLS).await?,
        client.prepare_cached(REFUSALS).await?,
        client.prepare_cached(BY_THEMSELVES).await?,
        client.prepare_cached(OLD_BOARDS).await?,
        client.prepare_cached(SHIFTS).await?,
        client.prepare_cached(MOVES).await?,
        client.prepare_cached(COMPLAINTS).await?,
        client.prepare_cached(PAYMENTS).await?,
        client.prepare_cached(TAKEN).await?,
    ];
    let after = now.plus_ms(-HISTORY_MS);
    // One round trip for all of them.
    let ((spells, refusals, shifts, moves, taken), (complaints, payments, by_themselves, old_boards)) = try_join(
        try_join5(
            client.query(&spells, &[&outlets, &after]),
            client.query(&refusals, &[&outlets, &after]),
            client.query(&shifts, &[&outlets]),
            client.query(&moves, &[&outlets, &now.plus_ms(-MOVE_REFUSED_MS)]),
            client.query(&taken, &[&outlets, &now]),
        ),
        try_join4(
            client.query(&complaints, &[&outlets]),
            client.query(&payments, &[&outlets]),
            client.query(&by_themselves, &[&outlets, &after]),
            client.query(&old_boards, &[&outlets]),
        ),
    )
    .await?;
    let mut facts: HashMap<OutletId, OutletFacts> = HashMap::new();
    for row in &spells {
        facts.entry(row.try_get(0)?).or_default().spells.add(row)?;
    }
    for row in &refusals {
        facts.entry(row.try_get(0)?).or_default().refusals.push((row.try_get(1)?, row.try_get(2)?));
    }
    for row in &by_themselves {
        let never_ran = row.try_get::<_, Option<Timestamp>>(3)?.zip(row.try_get(4)?);
        let machine = ByItself { closed_at: row.try_get(2)?, never_ran, runs_since: row.try_get(5)? };
        facts.entry(row.try_get(0)?).or_default().by_themselves.insert(row.try_get(1)?, machine);
    }
    for row in &old_boards {
        facts.entry(row.try_get(0)?).or_default().old_boards.push((row.try_get(1)?, row.try_get(2)?));
    }
    for row in &shifts {
        let outlet = facts.entry(row.try_get(0)?).or_default();
        let id = row.try_get(1)?;
        outlet.shifts.push(OpenShift { id, since: row.try_get(2)? });
        outlet.tills.push((id, row.try_get(3)?));
    }
    for row in &moves {
        facts.entry(row.try_get(0)?).or_default().move_refused_at = row.try_get(1)?;
    }
    for row in &complaints {
        facts.entry(row.try_get(0)?).or_default().complaints.push(ComplaintFacts {
            id: row.try_get(1)?,
            since: row.try_get(2)?,
            idmesin: row.try_get(3)?,
            machine: row.try_get(4)?,
            receipt: row.try_get(5)?,
        });
    }
    for row in &payments {
        facts.entry(row.try_get(0)?).or_default().payment_since = row.try_get(1)?;
    }
    for row in &taken {
        facts.entry(row.try_get(0)?).or_default().taken.push(taken_of(row)?);
    }
    Ok(facts)
}

fn taken_of(row: &Row) -> Result<Taken, DbError> {
    let shown = Ditangani { nama: row.try_get(5)?, sejak: row.try_get(6)?, sampai: row.try_get(7)? };
    Ok(Taken { kind: row.try_get(1)?, about: row.try_get(2)?, since: row.try_get(3)?, by: row.try_get(4)?, shown })
}

impl OutletFacts {
    /// The history of one of its machines.
    pub fn machine(&self, idmesin: MachineId, closed: bool) -> MachineHistory {
        let by_itself = self.by_themselves.get(&idmesin);
        MachineHistory {
            idmesin,
            closed,
            spells: self.spells.of(idmesin).copied().collect(),
            refused_at: self.refusals.iter().filter(|(id, _)| *id == idmesin).map(|(_, at)| *at).collect(),
            closed_itself_at: by_itself.and_then(|machine| machine.closed_at),
            never_ran_at: by_itself.and_then(|machine| machine.never_ran.as_ref()).map(|(at, _)| *at),
            runs_itself_since: by_itself.and_then(|machine| machine.runs_since),
            old_board_since: self.old_boards.iter().find(|(id, _)| *id == idmesin).map(|(_, since)| *since),
        }
    }

    /// The receipt number of the purchase that an entry is about, other than the machine's open one.
    pub fn receipt(&self, entry: Entry) -> Option<&str> {
        let About::Machine(idmesin) = entry.about else { return None };
        let machine = self.by_themselves.get(&idmesin).filter(|_| entry.kind == Kind::NeverRan)?;
        machine.never_ran.as_ref().map(|(_, receipt)| receipt.as_str())
    }

    pub fn open_complaints(&self) -> Vec<OpenComplaint> {
        self.complaints.iter().map(|complaint| OpenComplaint { id: complaint.id, since: complaint.since }).collect()
    }

    /// Who has taken an entry last.
    pub fn taken(&self, entry: Entry) -> Option<(StaffId, Ditangani)> {
        let key = (entry.kind.as_str(), about(entry.about), entry.since);
        let of_entry = self.taken.iter().filter(|taken| (taken.kind.as_str(), taken.about, taken.since) == key);
        of_entry.min_by_key(|taken| Reverse(taken.shown.sejak)).map(|taken| (taken.by, taken.shown.clone()))
    }
}

/// When the business day of an outlet began.
///
/// # Errors
/// When the stored zone or minute is invalid.
pub fn day_began(zone: &str, start_minute: i16, now: Timestamp) -> Result<Timestamp, DbError> {
    let zone = Zone::parse(zone).ok_or_else(|| DbError::broken(format!("unknown time zone {zone}")))?;
    let start = ClockTime::from_minute(start_minute.into()).ok_or_else(|| DbError::broken("a day that begins at no minute"))?;
    Ok(zone.day_began(start, now))
}
