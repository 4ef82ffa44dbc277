//! `GET` and `POST /ops/v1/alarm`: which alerts a person wants, and when (a session, every role).

use std::collections::BTreeSet;

use actix_web::{HttpResponse, web};
use nyala_core::board::attention::Kind;
use nyala_core::domain::id::OutletId;
use nyala_core::prices::ClockTime;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::error::DbError;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::alerts::queue::{QUIET_FROM, QUIET_TO};
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{AttentionKind, PlainId};
use crate::ops::people::key::Seller;
use crate::ops::scope;

/// The most outlets that are named.
const MAX_OUTLETS: usize = 1_000;

/// Which alerts a person wants.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct Alarm {
    /// `perlu_petugas`, `ditutup_sistem`, `tanpa_bayar`, `outlet_putus`, `belum_pasti`, `ditolak`, `tidak_jalan`, `jalan_sendiri`, `pindah`, `keluhan`,
    /// `qris`, `offline`, `shift`, `cadangan`, `papan_lama`.
    #[schema(max_items = 15, value_type = Vec<AttentionKind>)]
    jenis: Vec<String>,
    /// Null: all in sight.
    #[schema(required, max_items = 1000, value_type = Option<Vec<PlainId>>)]
    #[serde(deserialize_with = "Option::deserialize")]
    idoutlet: Option<Vec<OutletId>>,
    /// On the outlet's clock, only red alerts are sent then. Null: no quiet hours.
    #[schema(required)]
    #[serde(deserialize_with = "Option::deserialize")]
    senyap: Option<Senyap>,
    /// The figures of the day before, at the hour at which an outlet opens.
    ringkasan: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct Senyap {
    #[schema(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    dari: String,
    #[schema(pattern = "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")]
    sampai: String,
}

/// The caller's choice.
#[utoipa::path(
    get, path = "/ops/v1/alarm", operation_id = "get_alarm", tag = "papan", security(("session" = [])),
    responses((status = 200, body = Answer<Alarm>), (status = 401, body = Empty), (status = 403, body = Empty))
)]
pub async fn get(seller: Seller, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    const FIND: &str = "SELECT jenis, idoutlet, senyap_dari, senyap_sampai, ringkasan FROM alarm_petugas WHERE id_kunci = $1";
    let client = store.get().await?;
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&seller.operator.id]).await?;
    Ok(answer::ok(row.as_ref().map_or_else(|| Ok(Alarm::default()), Alarm::stored)?))
}

/// Chooses alerts.
#[utoipa::path(
    post, path = "/ops/v1/alarm", operation_id = "set_alarm", tag = "papan", security(("session" = [])), request_body = Alarm,
    responses(
        (status = 200, body = Answer<Alarm>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty, description = "`outlet tidak ditemukan`"),
    )
)]
pub async fn set(seller: Seller, store: web::Data<Store>, body: Json<Alarm>) -> Result<HttpResponse, AppError> {
    const SET: &str = "
        INSERT INTO alarm_petugas (id_kunci, jenis, idoutlet, senyap_dari, senyap_sampai, ringkasan) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id_kunci) DO UPDATE SET jenis = EXCLUDED.jenis, idoutlet = EXCLUDED.idoutlet, senyap_dari = EXCLUDED.senyap_dari,
            senyap_sampai = EXCLUDED.senyap_sampai, ringkasan = EXCLUDED.ringkasan";
    let (chosen, quiet) = body.into_inner().checked()?;
    let mut client = store.get().await?;
    let seen = scope::in_sight(&*client, &seller.operator).await?;
    if chosen.idoutlet.iter().flatten().any(|id| !seen.contains(id)) {
        return Err(AppError::NotFound("outlet tidak ditemukan"));
    }
    let (from, to) = quiet.unzip();
    let tx = client.transaction().await?;
    let stmt = tx.prepare_cached(SET).await?;
    tx.execute(&stmt, &[&seller.operator.id, &chosen.jenis, &chosen.idoutlet, &from, &to, &chosen.ringkasan]).await?;
    let (principal, object) = (seller.operator.principal(), format!("petugas:{}", seller.operator.id));
    let record = AuditEntry { principal: &principal, action: "alarm.ubah", object, content: json!(chosen) };
    audit::write_at(&tx, seller.operator.scope.outlet, &record, store.now()).await?;
    tx.commit().await?;
    Ok(answer::ok(chosen))
}

impl Default for Alarm {
    fn default() -> Self {
        let jenis = Kind::ALL.map(|kind| kind.as_str().to_owned()).to_vec();
        Self { jenis, idoutlet: None, senyap: Senyap::of(QUIET_FROM, QUIET_TO), ringkasan: false }
    }
}

impl Alarm {
    fn stored(row: &Row) -> Result<Self, DbError> {
        let quiet: (Option<i16>, Option<i16>) = (row.try_get(2)?, row.try_get(3)?);
        Ok(Self {
            jenis: row.try_get(0)?,
            idoutlet: row.try_get(1)?,
            senyap: quiet.0.zip(quiet.1).and_then(|(from, to)| Senyap::of(from, to)),
            ringkasan: row.try_get(4)?,
        })
    }

    /// Kinds and outlets once each, in order, and the quiet hours in minutes.
    fn checked(self) -> Result<(Self, Option<(i16, i16)>), AppError> {
        if self.jenis.len() > Kind::ALL.len() {
            return Err(AppError::bad_input(format!("jenis paling banyak {}", Kind::ALL.len())));
        }
        let jenis: BTreeSet<Kind> = self
            .jenis
            .iter()
            .map(|text| Kind::parse(text))
            .collect::<Option<_>>()
            .ok_or_else(|| AppError::bad_input("jenis tidak dikenal"))?;
        let idoutlet = self.idoutlet.map(|ids| ids.into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
        if idoutlet.as_ref().is_some_and(|ids| ids.len() > MAX_OUTLETS) {
            return Err(AppError::bad_input("idoutlet paling banyak 1000"));
        }
        let quiet = self.senyap.as_ref().map(Senyap::minutes).transpose()?;
        let jenis = jenis.into_iter().map(|kind| kind.as_str().to_owned()).collect();
        Ok((Self { jenis, idoutlet, ..self }, quiet))
    }
}

impl Senyap {
    /// Of minutes of the day.
    fn of(from: i16, to: i16) -> Option<Self> {
        let text = |minute: i16| ClockTime::from_minute(minute.into()).map(|time| time.to_string());
        Some(Self { dari: text(from)?, sampai: text(to)? })
    }

    fn minutes(&self) -> Result<(i16, i16), AppError> {
        let minute = |time: ClockTime| i16::try_from(time.minute()).unwrap_or_default();
        match (ClockTime::parse(&self.dari), ClockTime::parse(&self.sampai)) {
            (Some(from), Some(to)) if from != ClockTime::DAY_END && from != to => Ok((minute(from), minute(to))),
            _ => Err(AppError::bad_input("senyap harus dari 00:00 sampai 24:00, dengan dua jam yang berbeda")),
        }
    }
}
