//! What happened to one machine, its cycles, and what its device reported (`GET /ops/v1/mesin/{id}/rincian`).

use std::cmp::Reverse;

use nyala_core::board::timeline::{self, Event, PurchaseTimes};
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::name;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::error::LedgerError;
use nyala_ledger::figures::coins::{self, Koin};
use nyala_machines::device::mqtt::signal::{HOUR_MS, SignalNow, hour_of};
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use super::history::day_began;
use super::spells::spell;

/// Events that are shown.
const SHOWN: usize = 20;
const HOURS: i64 = 24;
const DAY_MS: i64 = 24 * HOUR_MS;
const WEEK_DAYS: i64 = 7;

/// An event of a machine.
#[derive(Debug, Serialize, ToSchema)]
pub struct Riwayat {
    pub at: Timestamp,
    /// For people.
    pub teks: String,
    /// `dibayar`, `dikirim`, `dikirim_lagi`, `ditanya`, `dijawab`, `mulai`, `selesai`, `dihentikan`, `ditolak`, `kembali`, `ditutup`, `dibuka`,
    /// `putus`, `tersambung`.
    pub apa: &'static str,
}

/// How often a machine has run for customers.
#[derive(Debug, Serialize, ToSchema)]
pub struct Siklus {
    /// Since the outlet's business day began.
    pub hari_ini: i64,
    /// In seven business days with today.
    pub tujuh_hari: i64,
    /// Since the last service, or ever.
    pub sejak_servis: i64,
    /// After how many cycles it is due.
    #[schema(required)]
    pub servis_tiap: Option<i32>,
    #[schema(value_type = Option<Timestamp>, required)]
    pub servis_at: Option<Timestamp>,
}

/// Coins that a machine's board has counted.
#[derive(Debug, Serialize, ToSchema)]
pub struct KoinMesin {
    /// In all.
    pub jumlah: i64,
    /// Since the outlet's business day began.
    pub hari_ini: Koin,
}

/// What a machine's device reported.
#[derive(Debug, Serialize, ToSchema)]
pub struct PerangkatMesin {
    pub driver: &'static str,
    /// dBm.
    #[schema(required)]
    pub rssi: Option<i16>,
    #[schema(required)]
    pub fw: Option<String>,
    #[schema(required)]
    pub hw: Option<String>,
    #[schema(value_type = Option<Timestamp>, required)]
    pub terdengar_at: Option<Timestamp>,
    /// Seconds since its boot.
    #[schema(required)]
    pub menyala_s: Option<i64>,
    /// Since when its key exists.
    #[schema(value_type = Option<Timestamp>, required)]
    pub kunci_sejak: Option<Timestamp>,
    pub boot_hari_ini: i64,
    pub sambung_hari_ini: i64,
    pub boot_tujuh_hari: i64,
    /// What the board says that it can: `pulse`, `sense`, `coin`; null: it has not said.
    #[schema(required)]
    pub bisa: Option<Vec<String>>,
    /// Why it booted: `power`, `brownout`, `watchdog`, `panic` or `other`.
    #[schema(required)]
    pub sebab_boot: Option<String>,
    /// Messages that were lost on the way.
    pub hilang_hari_ini: i64,
    pub hilang_tujuh_hari: i64,
    /// Milliseconds from the hold to the commit of the device's answer, its pulses included, the median of the newest 20 starts of seven days.
    #[schema(required)]
    pub jawab_ms: Option<i64>,
    /// Starts that it refused, and that expired, in seven days.
    pub ditolak_tujuh_hari: i64,
    pub kedaluwarsa_tujuh_hari: i64,
    /// When it refused last in that time, and why: `terputus` when power was lost in its pulses; null: it did not say.
    #[schema(value_type = Option<Timestamp>, required)]
    pub ditolak_at: Option<Timestamp>,
    #[schema(required)]
    pub sebab_tolak: Option<String>,
    /// 24 hours, the oldest first.
    pub sinyal: Vec<SinyalJam>,
}

/// An hour of a device.
#[derive(Debug, Serialize, ToSchema)]
pub struct SinyalJam {
    /// When the hour begins.
    pub jam: Timestamp,
    /// dBm, the last of the hour; null: none was reported.
    #[schema(required)]
    pub rssi: Option<i16>,
    /// Seconds without a connection.
    pub putus: i64,
}

/// The machine, and its place in time.
pub struct Of {
    pub idmesin: MachineId,
    pub idoutlet: OutletId,
    pub driver: DriverKind,
    pub now: Timestamp,
    day_began: Timestamp,
}

impl Of {
    /// Of a row with `idoutlet`, `driver`, `zona` and `hari_mulai`.
    pub fn row(idmesin: MachineId, row: &Row, now: Timestamp) -> Result<Self, DbError> {
        let day_began = day_began(row.try_get("zona")?, row.try_get("hari_mulai")?, now)?;
        Ok(Self { idmesin, idoutlet: row.try_get("idoutlet")?, driver: row.try_get("driver")?, now, day_began })
    }

    fn week_began(&self) -> Timestamp {
        self.day_began.plus_ms(-(WEEK_DAYS - 1) * DAY_MS)
    }
}

/// What [`of_purchase`] reads of a purchase `t` and its customer `c`.
pub const STEPS: &str = "
    t.state, t.created_at, t.started_at, t.finished_at, t.uji, t.uji AND t.durasi_s = 0 AS sent_once, c.nama_awal, c.nama_akhir,
    CASE WHEN t.uji AND t.durasi_s = 0 THEN 'Tes ' || t.pulsa || ' pulsa' WHEN t.uji THEN 'Tes nyala' ELSE t.nama_layanan END AS nama_layanan,
    (SELECT max(l.created_at) FROM ledger_transfer l WHERE l.idtransaksi = t.id AND l.kind IN ('post', 'void')) AS decided_at";

/// The newest events, with customers' short names or without.
pub async fn events(client: &DbClient, of: &Of, names: bool) -> Result<Vec<Riwayat>, DbError> {
    // The outlet leads to the newest purchases without reading all of the machine's.
    let purchases = format!(
        "SELECT {STEPS}
        FROM snap_transaksi t JOIN customer_global c ON c.id = t.id_customer_global
        WHERE t.idoutlet = $1 AND t.idmesin = $2 ORDER BY t.id DESC LIMIT $3"
    );
    const SPELLS: &str = "
        SELECT k.keadaan, k.dari, k.sampai, CASE WHEN k.sampai IS NULL THEN m.ditutup_alasan END AS alasan
        FROM keadaan_mesin k JOIN mesin m USING (idmesin)
        WHERE k.idmesin = $1 AND k.keadaan IN ('ditutup', 'offline') ORDER BY k.dari DESC LIMIT $2";
    let shown = i64::try_from(SHOWN).unwrap_or(i64::MAX);
    let stmt = client.prepare_cached(&purchases).await?;
    let mut events = Vec::new();
    for row in client.query(&stmt, &[&of.idoutlet, &of.idmesin, &shown]).await? {
        events.extend(steps(&row, names, of.now)?);
    }
    let stmt = client.prepare_cached(SPELLS).await?;
    for row in client.query(&stmt, &[&of.idmesin, &shown]).await? {
        let spell = spell(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)?;
        let reason: Option<&str> = row.try_get("alasan")?;
        let ends = timeline::of_spell(spell).into_iter();
        events.extend(ends.map(|(at, event)| (at, event, text(event, reason.unwrap_or_default(), ""))));
    }
    Ok(newest_first(events))
}

/// The steps of a purchase, the newest first, of a row with the columns of [`STEPS`].
pub fn of_purchase(row: &Row, now: Timestamp) -> Result<Vec<Riwayat>, DbError> {
    Ok(newest_first(steps(row, true, now)?))
}

/// An event with its moment and its text.
type TextedEvent = (Timestamp, Event, String);

fn steps(row: &Row, names: bool, now: Timestamp) -> Result<Vec<TextedEvent>, DbError> {
    let purchase = PurchaseTimes {
        state: row.try_get("state")?,
        created_at: row.try_get("created_at")?,
        decided_at: row.try_get("decided_at")?,
        started_at: row.try_get("started_at")?,
        finished_at: row.try_get("finished_at")?,
        test: row.try_get("uji")?,
        sent_once: row.try_get("sent_once")?,
    };
    let what = row.try_get("nama_layanan")?;
    let payer = if names { name::short(row.try_get("nama_awal")?, row.try_get("nama_akhir")?) } else { String::new() };
    let steps = timeline::of_purchase(&purchase, now).into_iter();
    Ok(steps.map(|(at, event)| (at, event, text(event, what, &payer))).collect())
}

fn newest_first(mut events: Vec<TextedEvent>) -> Vec<Riwayat> {
    events.sort_by_key(|(at, event, _)| Reverse((*at, *event)));
    events.truncate(SHOWN);
    events.into_iter().map(|(at, event, teks)| Riwayat { at, teks, apa: event.as_str() }).collect()
}

/// An event for people. `what`: the service, or why it was closed.
fn text(event: Event, what: &str, payer: &str) -> String {
    match event {
        Event::Paid if payer.is_empty() => "Dibayar".to_owned(),
        Event::Paid => format!("Dibayar {payer}"),
        Event::Sent => "Perintah nyala dikirim".to_owned(),
        Event::SentAgain => "Dikirim ulang".to_owned(),
        Event::Asked => "Mesin ditanya".to_owned(),
        Event::Answered => "Mesin menjawab".to_owned(),
        Event::Started => format!("{what} mulai"),
        Event::Finished => format!("{what} selesai"),
        Event::Stopped => format!("{what} dihentikan"),
        Event::Refused => "Mesin menolak".to_owned(),
        Event::Refunded => "Uang kembali".to_owned(),
        Event::Closed if what.is_empty() => "Ditutup".to_owned(),
        Event::Closed => format!("Ditutup: {what}"),
        Event::Opened => "Dibuka".to_owned(),
        Event::Gone => "Terputus".to_owned(),
        Event::Back => "Tersambung lagi".to_owned(),
    }
}

/// How often the machine has run. Test starts do not count.
pub async fn cycles(client: &DbClient, of: &Of) -> Result<Siklus, DbError> {
    const COUNT: &str = "
        SELECT count(*) FILTER (WHERE t.started_at >= $2), count(*) FILTER (WHERE t.started_at >= $3),
            count(t.id) FILTER (WHERE m.servis_at IS NULL OR t.started_at > m.servis_at), m.servis_tiap, m.servis_at
        FROM mesin m LEFT JOIN snap_transaksi t ON t.idmesin = m.idmesin AND t.started_at IS NOT NULL AND NOT t.uji
        WHERE m.idmesin = $1 GROUP BY m.idmesin";
    let stmt = client.prepare_cached(COUNT).await?;
    let row = client.query_one(&stmt, &[&of.idmesin, &of.day_began, &of.week_began()]).await?;
    Ok(Siklus {
        hari_ini: row.try_get(0)?,
        tujuh_hari: row.try_get(1)?,
        sejak_servis: row.try_get(2)?,
        servis_tiap: row.try_get(3)?,
        servis_at: row.try_get(4)?,
    })
}

/// Coins that the machine's board has counted; `None`: it counts none.
pub async fn coins(client: &DbClient, of: &Of) -> Result<Option<KoinMesin>, LedgerError> {
    let counted = coins::of_machine_since(&**client, of.idmesin, of.day_began).await?;
    Ok(counted.map(|(jumlah, hari_ini)| KoinMesin { jumlah, hari_ini }))
}

/// What the machine's device reported. `here`: what it last reported to this server; `heard_at`: another server has just heard it.
pub async fn device(
    client: &DbClient,
    of: &Of,
    here: Option<SignalNow>,
    heard_at: Option<Timestamp>,
) -> Result<PerangkatMesin, DbError> {
    const DEVICE: &str = "
        SELECT k.rssi, k.fw, k.hw, k.terdengar_at, k.menyala_at, k.putus_sejak, k.bisa, k.reset, (
            SELECT d.created_at FROM device_key d WHERE d.idmesin = m.idmesin AND d.revoked_at IS NULL
            ORDER BY d.first_used_at IS NULL, d.id DESC LIMIT 1) AS kunci_sejak
        FROM mesin m LEFT JOIN perangkat_kini k USING (idmesin) WHERE m.idmesin = $1";
    const STARTS: &str = "
        WITH t AS (
            SELECT id, state, created_at, finished_at, kendala FROM snap_transaksi WHERE idoutlet = $1 AND idmesin = $2 AND created_at >= $3 AND NOT uji
        ), answered AS (
            SELECT EXTRACT(EPOCH FROM l.created_at - t.created_at) * 1000 AS ms
            FROM t JOIN ledger_transfer l ON l.idtransaksi = t.id AND l.kind = 'post' ORDER BY t.id DESC LIMIT 20
        )
        SELECT (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ms)::BIGINT FROM answered), count(*) FILTER (WHERE state = 'REFUSED'),
            count(*) FILTER (WHERE state = 'EXPIRED'), max(finished_at) FILTER (WHERE state = 'REFUSED'),
            (SELECT kendala FROM t WHERE state = 'REFUSED' ORDER BY id DESC LIMIT 1) FROM t";
    const HOURS_OF: &str = "SELECT jam, rssi, boot, sambung, putus_s, hilang FROM perangkat_jam WHERE idmesin = $1 AND jam >= $2";
    let stmt = client.prepare_cached(DEVICE).await?;
    let row = client.query_one(&stmt, &[&of.idmesin]).await?;
    let stmt = client.prepare_cached(STARTS).await?;
    let starts = client.query_one(&stmt, &[&of.idoutlet, &of.idmesin, &of.week_began()]).await?;
    let this_hour = hour_of(of.now);
    let first_hour = this_hour.plus_ms(-(HOURS - 1) * HOUR_MS);
    let stmt = client.prepare_cached(HOURS_OF).await?;
    let hours = client.query(&stmt, &[&of.idmesin, &hour_of(of.week_began()).min(first_hour)]).await?;
    let hours = hours.iter().map(DeviceHour::of).collect::<Result<Vec<_>, _>>()?;
    let sum = |from: Timestamp, count: fn(&DeviceHour) -> i32| -> i64 {
        hours.iter().filter(|hour| hour.at >= hour_of(from)).map(|hour| i64::from(count(hour))).sum()
    };
    let stored: Option<Timestamp> = row.try_get("terdengar_at")?;
    // What is connected to another server by now was here before.
    let here = here.filter(|here| stored.is_none_or(|stored| here.heard_at >= stored));
    let rssi = here.as_ref().and_then(|here| here.rssi);
    let gone_since: Option<Timestamp> = row.try_get("putus_sejak")?;
    let booted_at = here.as_ref().and_then(|here| here.booted_at).or(row.try_get("menyala_at")?);
    let sinyal = (0..HOURS).map(|n| {
        let at = first_hour.plus_ms(n * HOUR_MS);
        let known = hours.iter().find(|hour| hour.at == at);
        let stored_rssi = known.and_then(|hour| hour.rssi);
        let gone_ms = gone_since.map_or(0, |since| since.max(at).ms_until(of.now.min(at.plus_ms(HOUR_MS))).max(0));
        SinyalJam {
            jam: at,
            rssi: if at == this_hour { rssi.or(stored_rssi) } else { stored_rssi },
            putus: (known.map_or(0, |hour| i64::from(hour.gone_s)) + gone_ms / 1_000).min(HOUR_MS / 1_000),
        }
    });
    Ok(PerangkatMesin {
        driver: of.driver.as_str(),
        sinyal: sinyal.collect(),
        rssi: rssi.or(row.try_get("rssi")?),
        fw: here.as_ref().and_then(|here| here.fw.clone()).or(row.try_get("fw")?),
        hw: here.as_ref().and_then(|here| here.hw.clone()).or(row.try_get("hw")?),
        terdengar_at: here.map(|here| here.heard_at).max(stored).max(heard_at),
        menyala_s: booted_at.map(|at| at.ms_until(of.now).max(0) / 1_000),
        kunci_sejak: row.try_get("kunci_sejak")?,
        boot_hari_ini: sum(of.day_began, |hour| hour.boots),
        sambung_hari_ini: sum(of.day_began, |hour| hour.connections),
        boot_tujuh_hari: sum(of.week_began(), |hour| hour.boots),
        bisa: row.try_get("bisa")?,
        sebab_boot: row.try_get("reset")?,
        hilang_hari_ini: sum(of.day_began, |hour| hour.lost),
        hilang_tujuh_hari: sum(of.week_began(), |hour| hour.lost),
        jawab_ms: starts.try_get(0)?,
        ditolak_tujuh_hari: starts.try_get(1)?,
        kedaluwarsa_tujuh_hari: starts.try_get(2)?,
        ditolak_at: starts.try_get(3)?,
        sebab_tolak: starts.try_get(4)?,
    })
}

/// A row of `perangkat_jam`.
struct DeviceHour {
    at: Timestamp,
    rssi: Option<i16>,
    boots: i32,
    connections: i32,
    gone_s: i32,
    lost: i32,
}

impl DeviceHour {
    fn of(row: &Row) -> Result<Self, DbError> {
        Ok(Self {
            at: row.try_get(0)?,
            rssi: row.try_get(1)?,
            boots: row.try_get(2)?,
            connections: row.try_get(3)?,
            gone_s: row.try_get(4)?,
            lost: row.try_get(5)?,
        })
    }
}
