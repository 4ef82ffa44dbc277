//! Everything a purchase's rules need, read in one round trip.

use tokio_postgres::Row;
use uuid::Uuid;

use super::keadaan::Keadaan;
use super::step::{Obrolan, Pembelian};
use crate::db::pool::Client;
use crate::domain::no_nota::NoNota;
use crate::domain::waktu::Waktu;
use crate::http::error::AppError;

/// What the customer asks for: the body of `create_snap_transaksi` (product §3) and who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pesanan {
    pub id_customer_global: i64,
    pub no_nota: NoNota,
    pub idcustomer: i64,
    pub idmesin: i64,
    pub idoutlet: i64,
    pub idlayanan: i64,
    pub total: i64,
    pub grandtotal: i64,
}

impl Pesanan {
    /// The same number and body is the same purchase (contract §2); this is the body, canonically.
    pub fn body_hash(&self) -> Vec<u8> {
        use sha2::{Digest, Sha256};
        let text = format!(
            "{}|{}|{}|{}|{}|{}",
            self.idcustomer, self.idmesin, self.idoutlet, self.idlayanan, self.total, self.grandtotal
        );
        Sha256::digest(text.as_bytes()).to_vec()
    }
}

/// A receipt number that was used before.
#[derive(Debug, Clone)]
pub struct NotaLama {
    pub body_hash: Vec<u8>,
    /// A remembered refusal (`aturan::Tolakan::as_str`).
    pub tolak: Option<String>,
    /// The purchase it became.
    pub pembelian: Option<(i64, Keadaan)>,
}

#[derive(Debug, Clone)]
pub struct Epay {
    pub idowner: i64,
    /// `None`: the account was never topped up.
    pub dompet: Option<Dompet>,
}

#[derive(Debug, Clone)]
pub struct Dompet {
    pub saldo: i64,
    pub jenis_emoney: i16,
    pub masa_aktif: Option<Waktu>,
}

#[derive(Debug, Clone)]
pub struct MesinFakta {
    pub idoutlet: i64,
    pub idowner: i64,
    pub nama: String,
    pub driver: String,
    pub online: bool,
    pub busy: bool,
}

#[derive(Debug, Clone)]
pub struct LayananFakta {
    pub idoutlet: i64,
    pub nama: String,
    pub durasi_s: i32,
    pub harga: i64,
}

#[derive(Debug, Clone)]
pub struct Fakta {
    pub nota: Option<NotaLama>,
    pub epay: Option<Epay>,
    pub mesin: Option<MesinFakta>,
    pub layanan: Option<LayananFakta>,
}

const BACA: &str = "
SELECT n.body_hash, n.tolak, t.id AS idtransaksi, t.state,
       c.owner_idowner, q.saldo, q.jenis_emoney, q.masa_aktif,
       m.idoutlet AS mesin_outlet, m.idowner AS mesin_owner, m.nama AS mesin_nama, m.driver,
       m.online AND NOT m.perlu_petugas AS online, p.id IS NOT NULL AS busy,
       l.idoutlet AS layanan_outlet, l.nama AS layanan_nama, l.durasi_s, l.harga
FROM (SELECT 1) satu
LEFT JOIN nota n ON n.id_customer_global = $1 AND n.no_nota = $2
LEFT JOIN snap_transaksi t ON t.id_customer_global = $1 AND t.no_nota = $2
LEFT JOIN customer c ON c.idcustomer = $3 AND c.id_customer_global = $1
LEFT JOIN quota_emoney q ON q.idcustomer = c.idcustomer
LEFT JOIN mesin m ON m.idmesin = $4 AND m.aktif
LEFT JOIN snap_transaksi p ON p.idmesin = $4 AND p.state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING')
LEFT JOIN layanan l ON l.idlayanan = $5 AND l.aktif";

pub async fn baca(client: &Client, p: &Pesanan) -> Result<Fakta, AppError> {
    let stmt = client.prepare_cached(BACA).await?;
    let row =
        client.query_one(&stmt, &[&p.id_customer_global, &p.no_nota.as_str(), &p.idcustomer, &p.idmesin, &p.idlayanan]).await?;
    Ok(Fakta { nota: nota(&row)?, epay: epay(&row)?, mesin: mesin(&row)?, layanan: layanan(&row)? })
}

fn nota(row: &Row) -> Result<Option<NotaLama>, AppError> {
    let Some(body_hash) = row.try_get("body_hash")? else { return Ok(None) };
    let id: Option<i64> = row.try_get("idtransaksi")?;
    let state: Option<&str> = row.try_get("state")?;
    Ok(Some(NotaLama { body_hash, tolak: row.try_get("tolak")?, pembelian: id.zip(state.and_then(Keadaan::from_stored)) }))
}

fn epay(row: &Row) -> Result<Option<Epay>, AppError> {
    let Some(idowner) = row.try_get("owner_idowner")? else { return Ok(None) };
    let saldo: Option<i64> = row.try_get("saldo")?;
    let dompet = match saldo {
        Some(saldo) => Some(Dompet { saldo, jenis_emoney: row.try_get("jenis_emoney")?, masa_aktif: row.try_get("masa_aktif")? }),
        None => None,
    };
    Ok(Some(Epay { idowner, dompet }))
}

fn mesin(row: &Row) -> Result<Option<MesinFakta>, AppError> {
    let Some(idoutlet) = row.try_get("mesin_outlet")? else { return Ok(None) };
    Ok(Some(MesinFakta {
        idoutlet,
        idowner: row.try_get("mesin_owner")?,
        nama: row.try_get("mesin_nama")?,
        driver: row.try_get("driver")?,
        online: row.try_get("online")?,
        busy: row.try_get("busy")?,
    }))
}

fn layanan(row: &Row) -> Result<Option<LayananFakta>, AppError> {
    let Some(idoutlet) = row.try_get("layanan_outlet")? else { return Ok(None) };
    Ok(Some(LayananFakta {
        idoutlet,
        nama: row.try_get("layanan_nama")?,
        durasi_s: row.try_get("durasi_s")?,
        harga: row.try_get("harga")?,
    }))
}

/// A machine with an open purchase, as an actor needs it.
#[derive(Debug, Clone)]
pub struct Terbuka {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub driver: String,
    pub pembelian: Pembelian,
}

const TERBUKA: &str = "
SELECT t.id, t.idmesin, t.idoutlet, m.driver, t.cmd_id, t.cmd_epoch, t.durasi_s, t.created_at, t.state, t.ends_at,
       EXISTS (SELECT FROM outbox o WHERE o.idtransaksi = t.id AND o.op = 'stop') AS stop_requested
FROM snap_transaksi t JOIN mesin m USING (idmesin)
WHERE t.state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING')";

/// Every open purchase there is: what a start resumes.
pub async fn semua_terbuka(client: &Client) -> Result<Vec<Terbuka>, AppError> {
    client.query(TERBUKA, &[]).await?.iter().map(terbuka).collect()
}

/// The open purchase of one machine.
pub async fn terbuka_di(client: &Client, idmesin: i64) -> Result<Option<Pembelian>, AppError> {
    let stmt = client.prepare_cached(&format!("{TERBUKA} AND t.idmesin = $1")).await?;
    let row = client.query_opt(&stmt, &[&idmesin]).await?;
    row.as_ref().map(terbuka).transpose().map(|t| t.map(|t| t.pembelian))
}

fn terbuka(row: &Row) -> Result<Terbuka, AppError> {
    let state: &str = row.try_get("state")?;
    let keadaan = Keadaan::from_stored(state).ok_or_else(|| AppError::internal(format!("unknown state {state}")))?;
    let ends_at: Option<Waktu> = row.try_get("ends_at")?;
    let cmd_id: Uuid = row.try_get("cmd_id")?;
    Ok(Terbuka {
        idmesin: row.try_get("idmesin")?,
        idoutlet: row.try_get("idoutlet")?,
        driver: row.try_get("driver")?,
        pembelian: Pembelian {
            id: row.try_get("id")?,
            cmd_id,
            epoch: row.try_get("cmd_epoch")?,
            durasi_s: i64::from(row.try_get::<_, i32>("durasi_s")?),
            created_at: row.try_get("created_at")?,
            keadaan,
            ends_at: ends_at.unwrap_or_default(),
            obrolan: Obrolan { stop_requested: row.try_get("stop_requested")?, ..Obrolan::default() },
        },
    })
}
