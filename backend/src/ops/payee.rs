//! Whom somebody at a counter means: by number, by the customer's code, or by the id that a search gave.

use deadpool_postgres::GenericClient;

use crate::domain::id::Id;
use crate::domain::name;
use crate::domain::telp::Telp;
use crate::domain::timestamp::Timestamp;
use crate::http::error::AppError;
use crate::qr::customer::{self, QrError};
use crate::secrets::Secrets;
use crate::staff::Staff;
use crate::staff::operator::AtTill;

/// As a request names them.
#[derive(Debug, Clone, Copy)]
pub enum Named<'a> {
    Id(Id),
    Telp(&'a Telp),
    Qr(&'a str),
}

/// A customer, as staff may see one.
#[derive(Debug)]
pub struct Payee {
    /// `id_customer_global`.
    pub id: i64,
    /// `Siti R.`
    pub name: String,
    pub telp: Telp,
}

impl Named<'_> {
    /// Who it is. A number counts at the till where it is typed, which is no telephone directory.
    pub async fn find(
        self,
        client: &impl GenericClient,
        (staff, till): (&Staff, Option<AtTill>),
        secrets: &Secrets,
        now: Timestamp,
    ) -> Result<Payee, AppError> {
        match self {
            Self::Id(id) => by_id(client, id.get()).await,
            Self::Qr(text) => by_id(client, read_qr(secrets, text, now)?).await,
            Self::Telp(telp) => {
                till.map_or(Ok(()), |till| staff.look_up(till.browser))?;
                by_telp(client, telp).await
            }
        }
    }
}

/// The customer of a number; 404 `nomor belum terdaftar`.
pub async fn by_telp(client: &impl GenericClient, telp: &Telp) -> Result<Payee, AppError> {
    const FIND: &str = "SELECT id, nama_awal, nama_akhir FROM customer_global WHERE telp = $1";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&telp.as_str()]).await?.ok_or(AppError::TelpUnknown)?;
    Ok(Payee { id: row.get(0), name: name::short(row.get(1), row.get(2)), telp: telp.clone() })
}

async fn by_id(client: &impl GenericClient, id: i64) -> Result<Payee, AppError> {
    const FIND: &str = "SELECT nama_awal, nama_akhir, telp FROM customer_global WHERE id = $1";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&id]).await?.ok_or(AppError::NotFound("pelanggan tidak ditemukan"))?;
    Ok(Payee { id, name: name::short(row.get(0), row.get(1)), telp: Telp::from_stored(row.get(2)) })
}

fn read_qr(secrets: &Secrets, text: &str, now: Timestamp) -> Result<i64, AppError> {
    customer::parse(text, secrets, now).map_err(|e| match e {
        QrError::Foreign => AppError::Unprocessable("itu bukan kode QR pelanggan Nyala"),
        QrError::Expired => {
            AppError::Unprocessable("kode QR pelanggan sudah kedaluwarsa, minta pelanggan membuka ulang halaman Top Up")
        }
    })
}
