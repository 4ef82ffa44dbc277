//! `POST /ops/v1/outlet`: adds an outlet with its accounts R and K (root, or its owner).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{OutletId, OwnerId};
use nyala_core::domain::text;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::Whole;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::ShortText;
use crate::ops::days;
use crate::ops::people::key::{Minimal, OWNER};

#[derive(Debug, Deserialize, ToSchema)]
pub struct NewOutlet {
    idowner: OwnerId,
    #[schema(value_type = ShortText)]
    nama: String,
    #[schema(value_type = ShortText)]
    kota: String,
    /// Degrees.
    #[schema(minimum = -90, maximum = 90)]
    latitude: f64,
    /// Degrees.
    #[schema(minimum = -180, maximum = 180)]
    longitude: f64,
    /// Days for which a top-up without a package extends an account; null: it never expires.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3650)]
    berlaku_hari: Option<Whole>,
    /// Days for which a refund extends an expired account; 7 when left out.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3650)]
    kembali_hari: Option<Whole>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OutletMade {
    #[schema(value_type = i64)]
    idoutlet: OutletId,
}

/// The checked data of an outlet.
pub struct Premises {
    pub name: String,
    pub city: String,
    pub latitude: f64,
    pub longitude: f64,
    /// Days of validity that a top-up without a package gives an account.
    pub days: Option<i32>,
    /// Days of validity that returned money gives an expired account, if not the default.
    pub return_days: Option<i32>,
}

impl Premises {
    fn parse(body: &NewOutlet) -> Result<Self, AppError> {
        if !(-90.0..=90.0).contains(&body.latitude) {
            return Err(AppError::bad_input("latitude harus -90 sampai 90"));
        }
        if !(-180.0..=180.0).contains(&body.longitude) {
            return Err(AppError::bad_input("longitude harus -180 sampai 180"));
        }
        Ok(Self {
            name: text::parse("nama", &body.nama, text::MAX_NAME_CHARS)?,
            city: text::parse("kota", &body.kota, text::MAX_NAME_CHARS)?,
            latitude: body.latitude,
            longitude: body.longitude,
            days: days::within("berlaku_hari", body.berlaku_hari)?,
            return_days: days::within("kembali_hari", body.kembali_hari)?,
        })
    }
}

/// Adds an outlet to an owner.
#[utoipa::path(
    post, path = "/ops/v1/outlet", tag = "operator", security(("operator" = [])), request_body = NewOutlet,
    responses(
        (status = 200, body = Answer<OutletMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
    )
)]
pub async fn outlet(by: Minimal<OWNER>, store: web::Data<Store>, body: Json<NewOutlet>) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let premises = Premises::parse(&body)?;
    let unknown = AppError::NotFound("owner tidak ditemukan");
    if operator.scope.owner.is_some_and(|own| own != body.idowner) {
        return Err(unknown);
    }
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let idoutlet = open(&tx, body.idowner, &premises, now).await?.ok_or(unknown)?;
    let content = json!({
        "idowner": body.idowner, "nama": premises.name, "kota": premises.city, "latitude": premises.latitude, "longitude": premises.longitude,
        "berlaku_hari": premises.days, "kembali_hari": premises.return_days,
    });
    audit::write_at(
        &tx,
        Some(idoutlet),
        &AuditEntry { principal: &operator.principal(), action: "outlet.buat", object: format!("outlet:{idoutlet}"), content },
        now,
    )
    .await?;
    tx.commit().await?;
    Ok(answer::ok(OutletMade { idoutlet }))
}

/// $1 owner, $2 name, $3 city, $4 latitude, $5 longitude, $6 now, $7 days, $8 days after a refund. No row when the owner does not exist.
const OPEN: &str = "
    WITH made AS (
        INSERT INTO outlet (idowner, nama, kota, latitude, longitude, created_at, berlaku_hari, kembali_hari)
        SELECT idowner, $2::TEXT, $3::TEXT, $4::DOUBLE PRECISION, $5::DOUBLE PRECISION, $6::TIMESTAMPTZ, $7::INTEGER, COALESCE($8::INTEGER, 7) FROM owner_usaha WHERE idowner = $1
        RETURNING idoutlet
    ), books AS (
        INSERT INTO akun (jenis, idoutlet) SELECT jenis, idoutlet FROM made, unnest(ARRAY['R', 'K']) AS jenis
    )
    SELECT idoutlet FROM made";

/// Opens an outlet of `idowner` with its accounts R and K; `None` when the owner does not exist.
pub async fn open(
    tx: &Transaction<'_>,
    idowner: OwnerId,
    premises: &Premises,
    now: Timestamp,
) -> Result<Option<OutletId>, AppError> {
    let stmt = tx.prepare_cached(OPEN).await?;
    let Premises { name, city, latitude, longitude, days, return_days } = premises;
    let row = tx.query_opt(&stmt, &[&idowner, name, city, latitude, longitude, &now, days, return_days]).await?;
    Ok(row.map(|r| r.get(0)))
}
