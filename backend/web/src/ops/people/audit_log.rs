//! `GET /ops/v1/audit`: who changed what at an outlet, newest first (supervisor and above).

use actix_web::{HttpResponse, web};
use nyala_core::domain::right::Right;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::schema::{AuditWord, MAX_AUDIT_WORD_BYTES};
use crate::ops::people::key::Minimal;
use crate::ops::rows::{Page, Rows};
use crate::ops::scope::AtOutlet;

/// Which changes.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Changes {
    /// Those of this action only, such as `mesin.tutup`.
    #[param(value_type = AuditWord, required = false, inline)]
    aksi: Option<String>,
    /// Those of this object only, such as `mesin:12`.
    #[param(value_type = AuditWord, required = false, inline)]
    objek: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditRow {
    id: i64,
    /// RFC 3339.
    created_at: Timestamp,
    /// `operator:<id>` is a person or a key, `cli` the command line.
    aktor: String,
    /// Name of the person or the key; null for anyone else.
    #[schema(required)]
    nama: Option<String>,
    aksi: String,
    objek: String,
    /// What was asked for.
    #[schema(value_type = Object)]
    isi: Value,
}

const LIST: &str = "
    SELECT a.id, a.created_at, a.aktor, k.nama, a.aksi, a.objek, a.isi
    FROM audit_log a
    LEFT JOIN kunci_operator k ON k.id = CASE WHEN a.aktor LIKE 'operator:%' THEN split_part(a.aktor, ':', 2)::BIGINT END
    WHERE a.idoutlet = $1 AND ($2::TEXT IS NULL OR a.aksi = $2) AND ($3::TEXT IS NULL OR a.objek = $3) AND a.id < $4
    ORDER BY a.id DESC LIMIT $5";

/// A page of an outlet's audit log.
#[utoipa::path(
    get, path = "/ops/v1/audit", tag = "operator", security(("operator" = []), ("session" = [])), params(AtOutlet, Page, Changes),
    responses(
        (status = 200, body = Answer<Rows<AuditRow>>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty), (status = 422, description = "`idoutlet wajib diisi`: several outlets are in sight", body = Empty),
    )
)]
pub async fn audit(
    by: Minimal<{ Right::AuditLihat.rank() }>,
    store: web::Data<Store>,
    at: web::Query<AtOutlet>,
    page: web::Query<Page>,
    changes: web::Query<Changes>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let (limit, Changes { aksi, objek }) = (page.limit()?, changes.into_inner());
    for (field, word) in [("aksi", &aksi), ("objek", &objek)] {
        if word.as_deref().is_some_and(|word| !is_word(word)) {
            return Err(AppError::bad_input(format!("{field} harus 1 sampai {MAX_AUDIT_WORD_BYTES} karakter ASCII tanpa spasi")));
        }
    }
    let client = store.get().await?;
    let idoutlet = at.of(&*client, &operator).await?.idoutlet;
    let stmt = client.prepare_cached(LIST).await?;
    let rows = client.query(&stmt, &[&idoutlet, &aksi, &objek, &page.before(), &(limit + 1)]).await?;
    let read = rows.iter().map(|row| {
        let id = row.try_get(0)?;
        let change = AuditRow {
            id,
            created_at: row.try_get(1)?,
            aktor: row.try_get(2)?,
            nama: row.try_get(3)?,
            aksi: row.try_get(4)?,
            objek: row.try_get(5)?,
            isi: row.try_get(6)?,
        };
        Ok((id, change))
    });
    Ok(answer::ok(Rows::of(read.collect::<Result<Vec<_>, AppError>>()?, limit)))
}

pub(crate) fn is_word(text: &str) -> bool {
    (1..=MAX_AUDIT_WORD_BYTES).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
