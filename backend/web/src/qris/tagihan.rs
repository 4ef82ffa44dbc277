//! A bill, as answers have it.

use nyala_core::bill::BillStatus;
use nyala_core::domain::id::{OutletId, TopUpId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::qr::png;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::http::error::AppError;

#[derive(Debug, Serialize, ToSchema)]
pub struct Tagihan {
    #[schema(pattern = "^NYL[0-9A-Z]{20}$")]
    idtagihan: String,
    status: BillStatus,
    /// Rupiah to be paid.
    nominal: i64,
    /// Rupiah added to the balance.
    quota: i64,
    nama_paket: String,
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    /// Name of the outlet.
    outlet: String,
    /// Text of the QR code; null until the provider has made it.
    #[schema(required)]
    qr: Option<String>,
    /// The QR code as a PNG in base64, without a `data:` prefix, while `status` is `menunggu`.
    #[schema(required)]
    png: Option<String>,
    /// Opens a payment app on this phone, when the provider has one.
    #[schema(required)]
    deeplink: Option<String>,
    /// RFC 3339.
    kedaluwarsa_at: Timestamp,
    /// Epoch milliseconds.
    server_time: i64,
    /// A decimal string, as in the history; null until it is credited.
    #[schema(required)]
    idpembelian_emoney: Option<String>,
    /// The balance after it was credited.
    #[schema(required)]
    saldo_akhir: Option<i64>,
}

/// Statement, as a literal, whose rows [`Tagihan::of`] reads.
macro_rules! select_bill {
    ($condition:literal) => {
        concat!(
            "SELECT t.id, t.status, t.nominal, t.quota, t.nama_paket, t.idoutlet, o.nama, t.qr, t.deeplink, t.kedaluwarsa_at,
                t.idpembelian_emoney, p.saldo_akhir
            FROM tagihan t JOIN outlet o USING (idoutlet) LEFT JOIN pembelian_emoney p ON p.id = t.idpembelian_emoney WHERE ",
            $condition
        )
    };
}
pub(crate) use select_bill;

impl Tagihan {
    /// Of a row of [`select_bill`].
    pub fn of(row: &Row, now: Timestamp) -> Result<Self, AppError> {
        let status = BillStatus::from_stored(row.try_get(1)?).ok_or_else(|| AppError::internal("unknown status of a bill"))?;
        let qr: Option<String> = row.try_get(7)?;
        let shown = qr.as_deref().filter(|_| status == BillStatus::Pending);
        Ok(Self {
            idtagihan: row.try_get(0)?,
            status,
            nominal: row.try_get(2)?,
            quota: row.try_get(3)?,
            nama_paket: row.try_get(4)?,
            idoutlet: row.try_get(5)?,
            outlet: row.try_get(6)?,
            png: shown.map(png::base64).transpose().map_err(AppError::internal)?,
            qr,
            deeplink: row.try_get(8)?,
            kedaluwarsa_at: row.try_get(9)?,
            server_time: now.ms(),
            idpembelian_emoney: row.try_get::<_, Option<TopUpId>>(10)?.map(|id| id.to_string()),
            saldo_akhir: row.try_get(11)?,
        })
    }
}
