//! The rows of the reports, summed from the ledger and from what is recorded of machines.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use nyala_core::domain::id::{MachineId, TopUpId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::Day;
use nyala_ledger::figures::balances::{self, Changes};
use nyala_ledger::figures::{self, coins, cycles};
use tokio_postgres::Row;

use super::period::Asked;
use super::rows::{Harian, LaporanMesin, LaporanQris, LaporanSaldo, LaporanShift};
use crate::figures::downtime::{self, DownByPart, down_by_part, minutes};
use crate::figures::outlet::{ReportMachine, machines};
use crate::http::error::AppError;

/// Milliseconds in which each machine was down, by day.
async fn down(tx: &Transaction<'_>, asked: &Asked, machines: &[ReportMachine], now: Timestamp) -> Result<DownByPart, AppError> {
    let record = downtime::record(tx, (&asked.outlet, machines), asked.span(), false, now).await?;
    Ok(down_by_part(&record, &asked.bounds))
}

pub async fn harian(tx: &Transaction<'_>, asked: &Asked, now: Timestamp) -> Result<Vec<Harian>, AppError> {
    let days = asked.days();
    let empty = |tanggal| Harian {
        tanggal,
        pendapatan: 0,
        siklus: 0,
        topup_tunai: 0,
        topup_qris: 0,
        topup_transfer: 0,
        topup_lain: 0,
        batal: 0,
        refund: 0,
        selisih_kas: 0,
        menit_mati: 0,
        koin: 0,
        rupiah_koin: 0,
    };
    let mut rows: Vec<Harian> = asked.period.days().map(empty).collect();
    for post in cycles::posts(tx, days).await? {
        rows[post.day].siklus += post.count;
        rows[post.day].pendapatan += post.amount;
    }
    for refund in figures::refunds(tx, days).await? {
        rows[refund.day].refund += refund.amount;
        rows[refund.day].pendapatan -= refund.amount;
    }
    for returned in figures::returned(tx, days).await?.into_iter().filter(|returned| returned.is_reversal) {
        rows[returned.day].batal += returned.amount;
    }
    for sold in figures::sold(tx, days).await? {
        let row = &mut rows[sold.day];
        *match sold.means.as_deref() {
            Some("tunai") => &mut row.topup_tunai,
            Some("qris") => &mut row.topup_qris,
            Some("transfer") => &mut row.topup_transfer,
            _ => &mut row.topup_lain,
        } += sold.paid;
    }
    for (day, difference) in figures::cash_differences(tx, days).await? {
        rows[day].selisih_kas += difference;
    }
    for coins in coins::by_machine(tx, days).await? {
        rows[coins.day].koin += coins.count;
        rows[coins.day].rupiah_koin += coins.amount;
    }
    let machines = machines(tx, asked.outlet.idoutlet).await?;
    let down = down(tx, asked, &machines, now).await?;
    for (day, row) in rows.iter_mut().enumerate() {
        row.menit_mati = minutes(down.iter().filter_map(|(_, days)| days.get(day)).sum());
    }
    Ok(rows)
}

pub async fn mesin(tx: &Transaction<'_>, asked: &Asked, now: Timestamp) -> Result<Vec<LaporanMesin>, AppError> {
    let machines = machines(tx, asked.outlet.idoutlet).await?;
    let down: HashMap<MachineId, i64> =
        down(tx, asked, &machines, now).await?.into_iter().map(|(id, days)| (id, minutes(days.iter().sum()))).collect();
    let (mut cycles, mut revenue, mut refunded) = (HashMap::new(), HashMap::new(), HashMap::new());
    for post in cycles::posts(tx, asked.days()).await? {
        *cycles.entry(post.idmesin).or_insert(0) += post.count;
        *revenue.entry(post.idmesin).or_insert(0) += post.amount;
    }
    for refund in figures::refunds(tx, asked.days()).await? {
        *refunded.entry(refund.idmesin).or_insert(0) += refund.amount;
        *revenue.entry(refund.idmesin).or_insert(0) -= refund.amount;
    }
    let (mut coins, mut coins_worth) = (HashMap::new(), HashMap::new());
    for counted in coins::by_machine(tx, asked.days()).await? {
        *coins.entry(counted.idmesin).or_insert(0) += counted.count;
        *coins_worth.entry(counted.idmesin).or_insert(0) += counted.amount;
    }
    let mut tested = HashMap::new();
    for test in figures::tested_pulses(tx, asked.days()).await? {
        *tested.entry(test.idmesin).or_insert(0) += test.count;
    }
    let has_figures = |id: &MachineId| [&revenue, &coins, &tested].iter().any(|counts| counts.contains_key(id));
    let rows = machines.into_iter().filter(|machine| machine.active || has_figures(&machine.idmesin));
    let of = |counts: &HashMap<MachineId, i64>, id| counts.get(&id).copied().unwrap_or_default();
    Ok(rows
        .map(|machine| LaporanMesin {
            idmesin: machine.idmesin,
            mesin: machine.name,
            jenis: machine.kind,
            siklus: of(&cycles, machine.idmesin),
            pendapatan: of(&revenue, machine.idmesin),
            refund: of(&refunded, machine.idmesin),
            menit_mati: of(&down, machine.idmesin),
            koin: of(&coins, machine.idmesin),
            rupiah_koin: of(&coins_worth, machine.idmesin),
            tes_pulsa: of(&tested, machine.idmesin),
        })
        .collect())
}

pub async fn shift(tx: &Transaction<'_>, asked: &Asked, _: Timestamp) -> Result<Vec<LaporanShift>, AppError> {
    const SHIFTS: &str = "
        SELECT s.id, p.nama, s.dibuka_at, o.nama, s.ditutup_at, c.nama, s.modal, s.diharapkan, s.dihitung, s.selisih, s.catatan,
            COALESCE(k.jumlah, 0), COALESCE(k.nilai, 0)
        FROM shift s JOIN perangkat p ON p.id = s.id_perangkat JOIN kunci_operator o ON o.id = s.dibuka_oleh
        LEFT JOIN kunci_operator c ON c.id = s.ditutup_oleh
        LEFT JOIN LATERAL (
            SELECT SUM(h.jumlah)::BIGINT AS jumlah, SUM(h.nilai)::BIGINT AS nilai FROM koin_hitung h
            WHERE h.idoutlet = s.idoutlet AND h.dihitung_at >= s.dibuka_at AND (s.ditutup_at IS NULL OR h.dihitung_at < s.ditutup_at)) k ON TRUE
        WHERE s.idoutlet = $1 AND s.dibuka_at < $3 AND (s.ditutup_at IS NULL OR s.ditutup_at >= $2 AND s.ditutup_at < $3) ORDER BY s.dibuka_at, s.id";
    let (from, until) = asked.span();
    let stmt = tx.prepare_cached(SHIFTS).await?;
    let rows = tx.query(&stmt, &[&asked.outlet.idoutlet, &from, &until]).await?;
    rows.iter().map(shift_row).collect()
}

fn shift_row(row: &Row) -> Result<LaporanShift, AppError> {
    Ok(LaporanShift {
        idshift: row.try_get(0)?,
        perangkat: row.try_get(1)?,
        dibuka_at: row.try_get(2)?,
        dibuka_oleh: row.try_get(3)?,
        ditutup_at: row.try_get(4)?,
        ditutup_oleh: row.try_get(5)?,
        modal: row.try_get(6)?,
        diharapkan: row.try_get(7)?,
        dihitung: row.try_get(8)?,
        selisih: row.try_get(9)?,
        catatan: row.try_get(10)?,
        koin: row.try_get(11)?,
        rupiah_koin: row.try_get(12)?,
    })
}

pub async fn qris(tx: &Transaction<'_>, asked: &Asked, _: Timestamp) -> Result<Vec<LaporanQris>, AppError> {
    const BILLS: &str = "
        SELECT id, created_at, dibayar_at, status, nominal, jumlah_dibayar, ref_penyedia, idpembelian_emoney FROM tagihan
        WHERE idoutlet = $1 AND created_at >= $2 AND created_at < $3 ORDER BY created_at, id";
    let (from, until) = asked.span();
    let stmt = tx.prepare_cached(BILLS).await?;
    let rows = tx.query(&stmt, &[&asked.outlet.idoutlet, &from, &until]).await?;
    let read = |row: &Row| {
        Ok(LaporanQris {
            idtagihan: row.try_get(0)?,
            dibuat_at: row.try_get(1)?,
            dibayar_at: row.try_get(2)?,
            status: row.try_get(3)?,
            nominal: row.try_get(4)?,
            jumlah_penyedia: row.try_get(5)?,
            ref_penyedia: row.try_get(6)?,
            idpembelian_emoney: row.try_get::<_, Option<TopUpId>>(7)?.map(|id| id.to_string()),
        })
    };
    rows.iter().map(read).collect()
}

pub async fn saldo(tx: &Transaction<'_>, asked: &Asked, _: Timestamp) -> Result<Vec<LaporanSaldo>, AppError> {
    let outlet = &asked.outlet;
    let outlets = balances::outlets_of(tx, outlet.idowner).await?;
    let changes = balances::changed(tx, (asked.period.first, &asked.bounds), &[outlet.idoutlet], &outlets).await?;
    let mut balance = balances::owed(tx, &[outlet.idoutlet]).await?.first().map_or(0, |(_, owed)| *owed);
    let row = |(tanggal, change): (Day, &Changes)| LaporanSaldo {
        tanggal,
        topup: change.topup,
        batal: change.reversed,
        terpakai: change.used,
        dikembalikan: change.refunded,
        saldo_akhir: 0,
        penarikan: change.paid_out,
        hangus: change.forfeited,
        saldo_awal: change.opening,
    };
    let mut rows: Vec<LaporanSaldo> = asked.period.days().zip(&changes).map(row).collect();
    // Back from now: a day ended with what the later ones have changed since.
    for (row, later) in rows.iter_mut().zip(&changes[1..]).rev() {
        balance -= later.sum();
        row.saldo_akhir = balance;
    }
    Ok(rows)
}
