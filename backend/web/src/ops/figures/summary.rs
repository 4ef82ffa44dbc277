//! `GET /ops/v1/ringkasan` (supervisor and above): what an outlet earned, beside the week before, by machine and by day; what was sold and given
//! back, and by whom; what it owes.

use std::collections::{BTreeMap, HashMap, HashSet};

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, StaffId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::right::Right;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::Day;
use nyala_core::figures::downtime::{Band, OutletRecord};
use nyala_core::figures::usual;
use nyala_identity::staff::operator;
use nyala_ledger::figures::balances::{self, Changes};
use nyala_ledger::figures::coins::{self, Koin};
use nyala_ledger::figures::{self, Days, OfMachine, Returned, Sold, cycles};
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::period::{Asked, DaysAsked, snapshot};
use crate::figures::downtime::{self, DownByPart, down_by_part, minutes};
use crate::figures::outlet::{ReportMachine, machines};
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Minimal;

const WEEK: i64 = 7;
/// Weeks whose same day says what is usual.
const USUAL_WEEKS: i64 = 4;

/// Figures of an outlet. Amounts in rupiah.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ringkasan {
    #[schema(value_type = String, format = Date)]
    dari: Day,
    #[schema(value_type = String, format = Date)]
    sampai: Day,
    /// Posts less refunds and deletions, each counted on the day on which it was made.
    pendapatan: i64,
    /// Posts.
    pemakaian: i64,
    siklus: i64,
    per_mesin: Vec<RingkasanMesin>,
    per_hari: Vec<RingkasanHari>,
    /// What was paid for top-ups, those that were reversed later, too.
    topup: PerCaraBayar,
    /// How many.
    topup_kali: PerCaraBayar,
    /// Balances of the accounts that were opened here, at the end of the period, held money too.
    saldo_beredar: i64,
    selisih_kas: i64,
    batal: i64,
    /// Refunds and deletions.
    refund: i64,
    menit_mati: i64,
    /// Holds that were voided because a machine did not start; in no sum.
    kembali_sendiri: KembaliSendiri,
    banding: Banding,
    per_orang: Vec<PerOrang>,
    saldo: RingkasanSaldo,
    /// Coins that fell into machines; in no other figure. Null: none of the outlet's boards counts them.
    #[schema(required)]
    koin: Option<Koin>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RingkasanMesin {
    #[schema(value_type = i64)]
    idmesin: MachineId,
    nama: String,
    jenis: MachineKind,
    siklus: i64,
    pendapatan: i64,
    /// Median of the cycles on the last four same days of the week; null for more than one day, and below two such days.
    #[schema(value_type = Option<f64>, required)]
    biasa: Biasa,
    menit_mati: i64,
    /// Cycles since it was serviced, or since it is there.
    sejak_servis: i64,
    /// What it did on that day, one state at a time; ready in between. Empty for more than one day.
    pita: Vec<Pita>,
}

/// A median: whole, or with a half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Biasa(Option<f64>);

impl Serialize for Biasa {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => s.serialize_none(),
            #[allow(clippy::cast_possible_truncation, reason = "cycles of a day")]
            Some(median) if median.fract() == 0.0 => s.serialize_i64(median as i64),
            Some(median) => s.serialize_f64(median),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Pita {
    dari: Timestamp,
    sampai: Timestamp,
    /// `jalan`, `belum_pasti`, `tidak_diketahui`, `perlu_petugas`, `ditutup`, `offline`.
    keadaan: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RingkasanHari {
    #[schema(value_type = String, format = Date)]
    tanggal: Day,
    pendapatan: i64,
    siklus: i64,
}

#[derive(Debug, Default, Serialize, ToSchema)]
pub struct PerCaraBayar {
    tunai: i64,
    qris: i64,
    transfer: i64,
    /// Without `cara_bayar`.
    lain: i64,
}

impl PerCaraBayar {
    fn of(sold: &[Sold], value: impl Fn(&Sold) -> i64) -> Self {
        let mut all = Self::default();
        for sold in sold {
            *match sold.means.as_deref() {
                Some("tunai") => &mut all.tunai,
                Some("qris") => &mut all.qris,
                Some("transfer") => &mut all.transfer,
                _ => &mut all.lain,
            } += value(sold);
        }
        all
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct KembaliSendiri {
    jumlah: i64,
    kali: i64,
}

/// The same days of the week before, until the same time of the day.
#[derive(Debug, Serialize, ToSchema)]
pub struct Banding {
    #[schema(value_type = String, format = Date)]
    dari: Day,
    #[schema(value_type = String, format = Date)]
    sampai: Day,
    /// Until when they are counted.
    hingga: Timestamp,
    pendapatan: i64,
    siklus: i64,
}

/// Who took top-ups back and refunded.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct PerOrang {
    petugas: String,
    batal: i64,
    batal_kali: i64,
    refund: i64,
    refund_kali: i64,
}

/// What the owner owes, beside the amount from which a licence is needed.
#[derive(Debug, Serialize, ToSchema)]
pub struct RingkasanSaldo {
    /// Of the owner's other outlets, at the end of the period; null for a supervisor.
    #[schema(required)]
    lain: Option<i64>,
    /// `ledger.float_notice`.
    batas: i64,
    /// From when on the page warns.
    ingatkan: i64,
    /// By how much `saldo_beredar` changed in the period.
    perubahan: i64,
}

/// An outlet's figures; today when no days are named.
#[utoipa::path(
    get, path = "/ops/v1/ringkasan", operation_id = "ringkasan", tag = "laporan", security(("operator" = []), ("session" = [])), params(DaysAsked),
    responses(
        (status = 200, body = Answer<Ringkasan>), (status = 400, body = Empty, description = "No day, or `dari` after `sampai`"),
        (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, body = Empty, description = "`paling banyak 92 hari`, `idoutlet wajib diisi`"),
    )
)]
pub async fn ringkasan(
    by: Minimal<{ Right::RingkasanLihat.rank() }>,
    store: web::Data<Store>,
    settings: web::Data<ServerSettings>,
    days: web::Query<DaysAsked>,
) -> Result<HttpResponse, AppError> {
    let days = days.read()?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = snapshot(&mut client).await?;
    let asked = days.of(&tx, &by.0, now).await?;
    let float = Float { notice: settings.ledger.float_notice, others: by.0.role >= Role::Owner };
    Ok(answer::ok(summary(&tx, &asked, float, now).await?))
}

/// How much of the owner's balances the caller sees.
#[derive(Debug, Clone, Copy)]
struct Float {
    notice: i64,
    others: bool,
}

async fn summary(tx: &Transaction<'_>, asked: &Asked, float: Float, now: Timestamp) -> Result<Ringkasan, AppError> {
    let days = asked.days();
    let posts = cycles::posts(tx, days).await?;
    let refunds = figures::refunds(tx, days).await?;
    let returned = figures::returned(tx, days).await?;
    let sold = figures::sold(tx, days).await?;
    let cash = figures::cash_differences(tx, days).await?;
    let machines = machines(tx, asked.outlet.idoutlet).await?;
    let record = downtime::record(tx, (&asked.outlet, &machines), asked.span(), asked.period.is_one_day(), now).await?;
    let down = down_by_part(&record, &asked.bounds);
    let (voided, reversed): (Vec<_>, Vec<_>) = returned.into_iter().partition(|returned| !returned.is_reversal);
    let (used, refund) = (amount(&posts), amount(&refunds));
    let (saldo_beredar, saldo) = balances(tx, asked, float, now).await?;
    Ok(Ringkasan {
        dari: asked.period.first,
        sampai: asked.period.last,
        pendapatan: used - refund,
        pemakaian: used,
        siklus: posts.iter().map(|post| post.count).sum(),
        per_hari: by_day(asked, &posts, &refunds),
        topup: PerCaraBayar::of(&sold, |sold| sold.paid),
        topup_kali: PerCaraBayar::of(&sold, |sold| sold.count),
        saldo_beredar,
        selisih_kas: cash.iter().map(|(_, difference)| difference).sum(),
        batal: reversed.iter().map(|returned| returned.amount).sum(),
        refund,
        menit_mati: minutes(down.iter().flat_map(|(_, days)| days).sum()),
        kembali_sendiri: KembaliSendiri {
            jumlah: voided.iter().map(|returned| returned.amount).sum(),
            kali: voided.iter().map(|returned| returned.count).sum(),
        },
        banding: compared(tx, asked, now).await?,
        per_orang: by_person(tx, &reversed, &refunds).await?,
        saldo,
        koin: coins(tx, asked).await?,
        per_mesin: by_machine(tx, asked, (machines, &record, down), (&posts, &refunds)).await?,
    })
}

async fn coins(tx: &Transaction<'_>, asked: &Asked) -> Result<Option<Koin>, AppError> {
    if !asked.outlet.counts_coins {
        return Ok(None);
    }
    let counted = coins::by_machine(tx, asked.days()).await?;
    Ok(Some(Koin { jumlah: counted.iter().map(|coins| coins.count).sum(), rupiah: amount(&counted) }))
}

fn amount(rows: &[OfMachine]) -> i64 {
    rows.iter().map(|row| row.amount).sum()
}

fn by_day(asked: &Asked, posts: &[OfMachine], refunds: &[OfMachine]) -> Vec<RingkasanHari> {
    let mut days: Vec<_> = asked.period.days().map(|tanggal| RingkasanHari { tanggal, pendapatan: 0, siklus: 0 }).collect();
    for post in posts {
        days[post.day].siklus += post.count;
        days[post.day].pendapatan += post.amount;
    }
    for refund in refunds {
        days[refund.day].pendapatan -= refund.amount;
    }
    days
}

async fn by_machine(
    tx: &Transaction<'_>,
    asked: &Asked,
    (machines, record, down): (Vec<ReportMachine>, &OutletRecord, DownByPart),
    (posts, refunds): (&[OfMachine], &[OfMachine]),
) -> Result<Vec<RingkasanMesin>, AppError> {
    let usual = usual_cycles(tx, asked, &machines).await?;
    let since_service: HashMap<_, _> = cycles::since_service(tx, asked.outlet.idoutlet).await?.into_iter().collect();
    let mut bands: HashMap<_, _> = if asked.period.is_one_day() { record.bands().into_iter().collect() } else { HashMap::new() };
    let down: HashMap<_, _> = down.into_iter().map(|(id, days)| (id, minutes(days.iter().sum()))).collect();
    let (mut cycles, mut revenue): (HashMap<MachineId, i64>, HashMap<MachineId, i64>) = (HashMap::new(), HashMap::new());
    for post in posts {
        *cycles.entry(post.idmesin).or_default() += post.count;
        *revenue.entry(post.idmesin).or_default() += post.amount;
    }
    for refund in refunds {
        *revenue.entry(refund.idmesin).or_default() -= refund.amount;
    }
    let shown: HashSet<MachineId> = revenue.keys().copied().collect();
    let shown = machines.into_iter().filter(|machine| machine.active || shown.contains(&machine.idmesin));
    let row = |machine: ReportMachine| {
        let id = machine.idmesin;
        let of = |counts: &HashMap<MachineId, i64>| counts.get(&id).copied().unwrap_or_default();
        RingkasanMesin {
            idmesin: id,
            nama: machine.name,
            jenis: machine.kind,
            siklus: of(&cycles),
            pendapatan: of(&revenue),
            biasa: Biasa(usual.get(&id).copied().flatten()),
            menit_mati: of(&down),
            sejak_servis: of(&since_service),
            pita: bands.remove(&id).unwrap_or_default().into_iter().map(pita).collect(),
        }
    };
    Ok(shown.map(row).collect())
}

fn pita(band: Band) -> Pita {
    Pita { dari: band.time.from, sampai: band.time.until, keadaan: band.state }
}

/// What is usual on that day of the week. A machine's days count from when it was there.
async fn usual_cycles(
    tx: &Transaction<'_>,
    asked: &Asked,
    machines: &[ReportMachine],
) -> Result<HashMap<MachineId, Option<f64>>, AppError> {
    if !asked.period.is_one_day() {
        return Ok(HashMap::new());
    }
    let mut counts: HashMap<MachineId, Vec<i64>> = HashMap::new();
    for week in 1..=USUAL_WEEKS {
        let period = asked.period.moved(-WEEK * week);
        let bounds = asked.outlet.calendar.bounds(period);
        let days = Days { idoutlet: asked.outlet.idoutlet, first: period.first, bounds: &bounds };
        let posts = cycles::posts(tx, days).await?;
        for machine in machines {
            let cycles: i64 = posts.iter().filter(|post| post.idmesin == machine.idmesin).map(|post| post.count).sum();
            if cycles > 0 || bounds.last().is_some_and(|end| machine.created_at < *end) {
                counts.entry(machine.idmesin).or_default().push(cycles);
            }
        }
    }
    Ok(counts.into_iter().map(|(id, counts)| (id, usual(counts))).collect())
}

async fn compared(tx: &Transaction<'_>, asked: &Asked, now: Timestamp) -> Result<Banding, AppError> {
    let before = asked.period.moved(-WEEK);
    let bounds = asked.outlet.calendar.bounds(before);
    let from = bounds.first().copied().unwrap_or_default();
    let end = bounds.last().copied().unwrap_or_default();
    let until = if now < asked.span().1 { asked.outlet.calendar.same_time(now, -WEEK).clamp(from, end) } else { end };
    let days = Days { idoutlet: asked.outlet.idoutlet, first: before.first, bounds: &[from, until] };
    let (cycles, used) = cycles::total(tx, (asked.outlet.idoutlet, &asked.outlet.calendar), before.first, until).await?;
    let refunds = figures::refunds(tx, days).await?;
    Ok(Banding { dari: before.first, sampai: before.last, hingga: until, pendapatan: used - amount(&refunds), siklus: cycles })
}

async fn by_person(tx: &Transaction<'_>, reversed: &[Returned], refunds: &[OfMachine]) -> Result<Vec<PerOrang>, AppError> {
    const NAMES: &str = "SELECT id, nama FROM kunci_operator WHERE id = ANY($1)";
    let mut people: BTreeMap<&str, PerOrang> = BTreeMap::new();
    for reversal in reversed {
        let person = people.entry(&reversal.by).or_default();
        person.batal += reversal.amount;
        person.batal_kali += reversal.count;
    }
    for refund in refunds {
        let person = people.entry(&refund.by).or_default();
        person.refund += refund.amount;
        person.refund_kali += refund.count;
    }
    let ids: Vec<StaffId> = people.keys().filter_map(|by| operator::of_principal(by)).collect();
    let stmt = tx.prepare_cached(NAMES).await?;
    let mut names = HashMap::new();
    for row in tx.query(&stmt, &[&ids]).await? {
        names.insert(operator::principal(row.try_get(0)?), row.try_get::<_, String>(1)?);
    }
    let named =
        |(by, person): (&str, PerOrang)| PerOrang { petugas: names.remove(by).unwrap_or_else(|| by.to_owned()), ..person };
    let mut named: Vec<PerOrang> = people.into_iter().map(named).collect();
    named.sort_by(|a, b| a.petugas.cmp(&b.petugas));
    Ok(named)
}

/// What the outlet owes at the end of the period, and what the owner's other outlets do.
async fn balances(tx: &Transaction<'_>, asked: &Asked, float: Float, now: Timestamp) -> Result<(i64, RingkasanSaldo), AppError> {
    let here = asked.outlet.idoutlet;
    let outlets = balances::outlets_of(tx, asked.outlet.idowner).await?;
    let others: Vec<_> = outlets.iter().map(|(id, _)| *id).filter(|id| float.others && *id != here).collect();
    let owed = balances::owed(tx, &[&[here], &*others].concat()).await?;
    let of = |own: bool| owed.iter().filter(|(id, _)| (*id == here) == own).map(|(_, owed)| owed).sum::<i64>();
    let changes = balances::changed(tx, (asked.period.first, &asked.bounds), &[here], &outlets).await?;
    let (after, within) = changes.split_last().map(|(after, within)| (after.sum(), within)).unwrap_or_default();
    let end = [asked.span().1];
    let mut others_owe = None;
    if float.others {
        let since = (asked.period.last.plus(1), end.as_slice());
        let after = if end[0] < now { balances::changed(tx, since, &others, &outlets).await? } else { Vec::new() };
        others_owe = Some(of(false) - after.iter().map(Changes::sum).sum::<i64>());
    }
    let saldo = RingkasanSaldo {
        lain: others_owe,
        batas: float.notice,
        ingatkan: float.notice / 5 * 4,
        perubahan: within.iter().map(Changes::sum).sum(),
    };
    Ok((of(true) - after, saldo))
}
