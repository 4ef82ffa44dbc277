//! A use that an operator names by its receipt number, locked for the transaction that gives money back.

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use crate::domain::no_nota::NoNota;
use crate::domain::waktu::Waktu;
use crate::http::error::AppError;
use crate::pembelian::keadaan::Keadaan;

/// Which uses the caller may see; `None` is no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Batas {
    pub idowner: Option<i64>,
    pub idoutlet: Option<i64>,
    pub idcustomer: Option<i64>,
}

/// A use whose row is locked. Amounts in rupiah.
#[derive(Debug)]
pub struct Pemakaian {
    id: i64,
    /// What refunds have left of the price.
    pub sisa: i64,
    pub dihapus: bool,
    keadaan: Keadaan,
}

/// $1 receipt, $2 owner, $3 outlet, $4 account.
const LOCK: &str = "
    SELECT id, grandtotal - dikembalikan, dihapus_at IS NOT NULL, state FROM snap_transaksi
    WHERE no_nota = $1 AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3)
        AND ($4::BIGINT IS NULL OR idcustomer = $4)
    ORDER BY id LIMIT 2 FOR UPDATE";

/// Finds and locks the use. 404 when there is none within `batas`, 409 when two customers share the number, 422 before it
/// runs (detail status below 3) or when it never did.
pub async fn lock(tx: &Transaction<'_>, nota: &NoNota, batas: Batas) -> Result<Pemakaian, AppError> {
    let stmt = tx.prepare_cached(LOCK).await?;
    let rows = tx.query(&stmt, &[&nota.as_str(), &batas.idowner, &batas.idoutlet, &batas.idcustomer]).await?;
    let pemakaian = match rows.as_slice() {
        [] => return Err(AppError::NotFound("transaksi tidak ditemukan")),
        [row] => read(row)?,
        _ => return Err(AppError::Conflict("nomor nota ini dipakai lebih dari satu pelanggan, sertakan idcustomer")),
    };
    match pemakaian.keadaan {
        Keadaan::Running | Keadaan::Finished | Keadaan::Stopped => Ok(pemakaian),
        Keadaan::Refused | Keadaan::Expired => {
            Err(AppError::Unprocessable("mesin tidak pernah menyala, saldo sudah dikembalikan"))
        }
        Keadaan::Held | Keadaan::Sent | Keadaan::Unsure => {
            Err(AppError::Unprocessable("mesin belum menyala, tunggu sampai berjalan"))
        }
    }
}

fn read(row: &Row) -> Result<Pemakaian, AppError> {
    let state: &str = row.get(3);
    let keadaan = Keadaan::from_stored(state).ok_or_else(|| AppError::internal(format!("unknown state {state}")))?;
    Ok(Pemakaian { id: row.get(0), sisa: row.get(1), dihapus: row.get(2), keadaan })
}

/// Money that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kembali {
    /// The row of `ledger_transfer`.
    pub entri: i64,
    pub idcustomer: i64,
    pub jumlah: i64,
    pub saldo_akhir: i64,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Cara {
    Hapus,
    Refund,
}

/// Who gives back, and why.
#[derive(Debug, Clone, Copy)]
pub struct Keputusan<'a> {
    pub aktor: &'a str,
    pub alasan: &'a str,
    pub now: Waktu,
}

/// The money goes back the way it came: from where the post put it into the wallet that paid.
/// $1 use, $2 amount, $3 kind, $4 actor, $5 reason, $6 now.
const GIVE_BACK: &str = "
    WITH pakai AS (
        UPDATE snap_transaksi SET dikembalikan = dikembalikan + $2::BIGINT,
            dihapus_at = CASE WHEN $3::TEXT = 'hapus' THEN $6::TIMESTAMPTZ ELSE dihapus_at END
        WHERE id = $1 RETURNING id, id_customer_global, idcustomer, idoutlet
    ), dompet AS (
        UPDATE quota_emoney q SET credits_posted = q.credits_posted + $2, updated_at = $6
        FROM pakai p WHERE q.idcustomer = p.idcustomer RETURNING q.idcustomer, q.saldo
    ), gerak AS (
        INSERT INTO ledger_transfer
            (kind, debit_akun, credit_akun, jumlah, idtransaksi, id_customer_global, idcustomer, idoutlet, aktor, alasan, created_at)
        SELECT $3, bayar.credit_akun, bayar.debit_akun, $2, p.id, p.id_customer_global, p.idcustomer, p.idoutlet, $4::TEXT, $5::TEXT, $6
        FROM pakai p JOIN ledger_transfer bayar ON bayar.idtransaksi = p.id AND bayar.kind = 'post'
        RETURNING id, idcustomer
    )
    SELECT g.id, d.idcustomer, d.saldo FROM gerak g JOIN dompet d USING (idcustomer)";

pub(super) async fn give_back(
    tx: &Transaction<'_>,
    pemakaian: &Pemakaian,
    cara: Cara,
    jumlah: i64,
    keputusan: Keputusan<'_>,
) -> Result<Kembali, AppError> {
    let kind = match cara {
        Cara::Hapus => "hapus",
        Cara::Refund => "refund",
    };
    let stmt = tx.prepare_cached(GIVE_BACK).await?;
    let row = tx
        .query_opt(&stmt, &[&pemakaian.id, &jumlah, &kind, &keputusan.aktor, &keputusan.alasan, &keputusan.now])
        .await?
        .ok_or_else(|| AppError::internal(format!("use {} runs but was never paid", pemakaian.id)))?;
    Ok(Kembali { entri: row.get(0), idcustomer: row.get(1), jumlah, saldo_akhir: row.get(2) })
}
