//! An E-Pay account as the customer sees it (docs/product.md §3, customer global; docs/contract.md §2).

use nyala_core::domain::id::{OutletId, OwnerId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::http::error::AppError;

/// The query whose rows `AkunEpay::from_rows` reads; the tail selects and orders them.
macro_rules! epay_sql {
    ($($tail:tt)+) => {
        concat!(
            "SELECT c.idcustomer, g.nama_awal || ' ' || g.nama_akhir, c.owner_idowner, o.idoutlet, o.nama, o.kota, o.latitude, \
             o.longitude, c.created_at, q.saldo, q.jenis_emoney, q.masa_aktif, q.updated_at \
             FROM customer c JOIN customer_global g ON g.id = c.id_customer_global LEFT JOIN outlet o ON o.idoutlet = c.idoutlet \
             LEFT JOIN quota_emoney q ON q.idcustomer = c.idcustomer ",
            $($tail)+
        )
    };
}
pub(crate) use epay_sql;

/// An E-Pay account: one per customer and outlet.
#[derive(Debug, Serialize, ToSchema)]
pub struct AkunEpay {
    #[schema(value_type = i64)]
    pub idcustomer: WalletId,
    /// The customer's present full name.
    pub nama: String,
    #[schema(value_type = i64)]
    pub owner_idowner: OwnerId,
    #[schema(required)]
    pub outlet: Option<OutletEpay>,
    #[schema(required)]
    pub quota_emoney: Option<QuotaEmoney>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OutletEpay {
    #[schema(value_type = i64)]
    pub idoutlet: OutletId,
    pub nama: String,
    pub kota: String,
    pub latitude: f64,
    pub longitude: f64,
    /// When the account at this outlet was opened.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct QuotaEmoney {
    /// Whole rupiah that can be spent now.
    pub saldo: i64,
    /// 2 never expires, 1 expires at `masa_aktif`.
    #[schema(minimum = 1, maximum = 2)]
    pub jenis_emoney: i16,
    /// Epoch milliseconds.
    #[schema(required)]
    pub masa_aktif: Option<i64>,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl AkunEpay {
    pub fn from_rows(rows: &[Row]) -> Result<Vec<Self>, AppError> {
        rows.iter().map(|row| Self::from_row(row).map_err(AppError::from)).collect()
    }

    fn from_row(row: &Row) -> Result<Self, tokio_postgres::Error> {
        let outlet = match row.try_get(3)? {
            None => None,
            Some(idoutlet) => Some(OutletEpay {
                idoutlet,
                nama: row.try_get(4)?,
                kota: row.try_get(5)?,
                latitude: row.try_get(6)?,
                longitude: row.try_get(7)?,
                created_at: row.try_get(8)?,
            }),
        };
        let quota_emoney = match row.try_get(9)? {
            None => None,
            Some(saldo) => Some(QuotaEmoney {
                saldo,
                jenis_emoney: row.try_get(10)?,
                masa_aktif: row.try_get::<_, Option<Timestamp>>(11)?.map(Timestamp::ms),
                updated_at: row.try_get(12)?,
            }),
        };
        Ok(Self { idcustomer: row.try_get(0)?, nama: row.try_get(1)?, owner_idowner: row.try_get(2)?, outlet, quota_emoney })
    }
}
