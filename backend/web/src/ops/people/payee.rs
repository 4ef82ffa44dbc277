//! The customer at a counter, given by number, by the customer's QR code, or by the id that a search returned.

use deadpool_postgres::GenericClient;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::name;
use nyala_core::domain::role::Role;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::auth::session;
use nyala_identity::qr::customer::{self, QrError};
use nyala_identity::staff::Staff;
use nyala_identity::staff::operator::Operator;
use nyala_store::secrets::Secrets;
use utoipa::openapi::schema::{Object, OneOf, Type};

use crate::http::error::AppError;
use crate::http::schema::{id, null, with};

/// An id that does not exist, or that was not found at this till.
const UNKNOWN: AppError = AppError::NotFound("pelanggan tidak ditemukan");

/// The customer as given in a request.
#[derive(Debug, Clone, Copy)]
pub enum Named<'a> {
    Id(CustomerId),
    Telp(&'a Telp),
    Qr(&'a str),
}

impl<'a> Named<'a> {
    /// Exactly one of the three, else a 400.
    pub fn one(id: Option<CustomerId>, telp: Option<&'a Telp>, qr: Option<&'a str>) -> Result<Self, AppError> {
        match (id, telp, qr) {
            (Some(id), None, None) => Ok(Self::Id(id)),
            (None, Some(telp), None) => Ok(Self::Telp(telp)),
            (None, None, Some(qr)) => Ok(Self::Qr(qr)),
            _ => Err(AppError::bad_input("isi salah satu: telp, qr atau id_customer_global")),
        }
    }
}

/// The same rule, for the schema of a body.
pub fn one_of() -> OneOf {
    let text = || Object::with_type(Type::String);
    let named = |this: &str, what: Object, [a, b]: [&str; 2]| with(this, what).property(a, null()).property(b, null());
    OneOf::builder()
        .item(named("telp", text(), ["qr", "id_customer_global"]))
        .item(named("qr", text(), ["telp", "id_customer_global"]))
        .item(named("id_customer_global", id(), ["telp", "qr"]))
        .build()
}

/// A customer's data that staff may see.
#[derive(Debug)]
pub struct Payee {
    pub id: CustomerId,
    /// `Siti R.`
    pub name: String,
    pub telp: Telp,
}

/// How long, in milliseconds, a customer who was found by number or code may be given by id.
pub const FOUND_FOR_MS: i64 = 3_600_000;

/// Who searches for customers and may not guess ids: a till, or a kasir's key. `None`: a caller that may see all customers.
fn finder(operator: &Operator) -> Option<String> {
    match operator.at {
        Some(till) => Some(format!("perangkat:{}", till.browser)),
        None if operator.role == Role::Kasir => Some(format!("kunci:{}", operator.id)),
        None => None,
    }
}

impl Named<'_> {
    /// Finds the customer. A number counts against the limit of the till where it is typed, so that the till does not serve as a
    /// telephone directory. An id is accepted only if the same till, or the same kasir's key, has found it within the hour. This is
    /// stored in a row, so that every server sees it. Otherwise the response is the same as for an id that does not exist.
    pub async fn find(
        self,
        client: &impl GenericClient,
        (staff, operator): (&Staff, &Operator),
        secrets: &Secrets,
        now: Timestamp,
    ) -> Result<Payee, AppError> {
        let by = finder(operator);
        let payee = match self {
            Self::Id(id) => {
                if let Some(by) = &by {
                    was_found(client, by, id, now).await?;
                }
                return by_id(client, id).await;
            }
            Self::Qr(text) => by_qr(client, secrets, text, now).await?,
            Self::Telp(telp) => {
                operator.at.map_or(Ok(()), |till| staff.look_up(till.browser))?;
                by_telp(client, telp).await?
            }
        };
        if let Some(by) = by {
            remember(client, &by, payee.id, now).await?;
        }
        Ok(payee)
    }
}

async fn remember(client: &impl GenericClient, by: &str, customer: CustomerId, now: Timestamp) -> Result<(), AppError> {
    const REMEMBER: &str = "
        INSERT INTO pelanggan_ditemukan (oleh, id_customer_global, created_at) VALUES ($1, $2, $3)
        ON CONFLICT (oleh, id_customer_global) DO UPDATE SET created_at = excluded.created_at";
    let stmt = client.prepare_cached(REMEMBER).await?;
    client.execute(&stmt, &[&by, &customer, &now]).await?;
    Ok(())
}

async fn was_found(client: &impl GenericClient, by: &str, customer: CustomerId, now: Timestamp) -> Result<(), AppError> {
    const FOUND: &str = "SELECT FROM pelanggan_ditemukan WHERE oleh = $1 AND id_customer_global = $2 AND created_at > $3";
    let stmt = client.prepare_cached(FOUND).await?;
    let found = client.query_opt(&stmt, &[&by, &customer, &now.plus_ms(-FOUND_FOR_MS)]).await?;
    if found.is_none() {
        tracing::info!(
            error = "an id_customer_global is refused",
            "a till or a kasir's key sells to an id only within an hour of having found its customer by number or code"
        );
    }
    found.map(drop).ok_or(UNKNOWN)
}

/// The customer of a number; 404 `nomor belum terdaftar`.
pub async fn by_telp(client: &impl GenericClient, telp: &Telp) -> Result<Payee, AppError> {
    const FIND: &str = "SELECT id, nama_awal, nama_akhir FROM customer_global WHERE telp = $1";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&telp.as_str()]).await?.ok_or(AppError::TelpUnknown)?;
    Ok(Payee { id: row.get(0), name: name::short(row.get(1), row.get(2)), telp: telp.clone() })
}

async fn by_id(client: &impl GenericClient, id: CustomerId) -> Result<Payee, AppError> {
    const FIND: &str =
        "SELECT nama_awal, nama_akhir, telp, pindah_ke IS NOT NULL FROM customer_global WHERE id = $1 AND NOT internal";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&id]).await?.ok_or(UNKNOWN)?;
    if row.try_get(3)? {
        return Err(AppError::TelpUnknown);
    }
    Ok(Payee { id, name: name::short(row.get(0), row.get(1)), telp: Telp::from_stored(row.get(2)) })
}

async fn by_qr(client: &impl GenericClient, secrets: &Secrets, text: &str, now: Timestamp) -> Result<Payee, AppError> {
    const FOREIGN: AppError = AppError::Unprocessable("itu bukan kode QR pelanggan Nyala");
    let code = customer::parse(text, secrets, now).map_err(|e| match e {
        QrError::Foreign => FOREIGN,
        QrError::Expired => {
            AppError::Unprocessable("kode QR pelanggan sudah kedaluwarsa, minta pelanggan membuka ulang halaman Top Up")
        }
    })?;
    if session::is_of_another(client, code.id_customer_global, code.made_at).await? {
        return Err(FOREIGN);
    }
    by_id(client, code.id_customer_global).await
}
