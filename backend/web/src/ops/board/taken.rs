//! `POST /ops/v1/perhatian/tangani`: a person takes what needs one (every role). It is theirs until its cause ends, or for some time.

use actix_web::{HttpRequest, HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::board::attention::{About, Kind};
use nyala_core::domain::id::{AlertMessageId, MachineId, OutletId, ShiftId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::browser;
use nyala_identity::staff::operator::{self, Operator};
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::pool::DbClient;
use nyala_store::secrets::Keyring;
use serde::Deserialize;
use serde_json::json;
use tokio_postgres::types::ToSql;
use utoipa::ToSchema;

use super::snapshot::seen_by;
use crate::alerts;
use crate::board::entry::{Ditangani, Perhatian, about};
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::AttentionKind;
use crate::live::staff_board::StaffBoards;
use crate::metrics::ServerMetrics;
use crate::ops::people::key::Caller;
use crate::ops::scope::AtOutlet;

/// Which entry, as `perhatian` has it, or the secret of an alert.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Tangani {
    #[schema(value_type = Option<AttentionKind>)]
    jenis: Option<String>,
    /// Of an entry about the outlet itself; may be left out by who sees one outlet.
    idoutlet: Option<OutletId>,
    /// Of an entry about a machine, or about a complaint.
    idmesin: Option<MachineId>,
    /// Of an entry about a shift.
    idshift: Option<ShiftId>,
    #[schema(value_type = Option<Timestamp>)]
    sejak: Option<String>,
    /// The secret of an alert, alone: with the cookie of the browser that it was sent to, no session is needed.
    tangani: Option<String>,
}

/// An entry that is to be taken.
struct Wanted {
    kind: Kind,
    about: Named,
    since: Timestamp,
}

/// What the entry is about: as an alert says it, or as a page does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Stored(About),
    Shown(Option<MachineId>, Option<ShiftId>),
}

/// Takes an entry. Taking one's own again gives the same answer.
#[utoipa::path(
    post, path = "/ops/v1/perhatian/tangani", operation_id = "tangani", tag = "papan", security(("operator" = []), ("session" = []), ("browser" = [])),
    request_body = Tangani,
    responses(
        (status = 200, body = Answer<Ditangani>), (status = 400, body = Empty),
        (status = 401, body = Empty, description = "Also: the secret is used, older than 30 minutes or of another browser"),
        (status = 404, body = Empty, description = "`perhatian sudah selesai`"),
        (status = 409, body = Empty, description = "`sudah ditangani orang lain`"),
        (status = 422, body = Empty, description = "`idoutlet wajib diisi`, of an entry about an outlet"),
    )
)]
pub async fn take(
    req: HttpRequest,
    store: web::Data<Store>,
    boards: web::Data<StaffBoards>,
    metrics: web::Data<ServerMetrics>,
    settings: web::Data<ServerSettings>,
    keyring: web::Data<Keyring>,
    body: Json<Tangani>,
) -> Result<HttpResponse, AppError> {
    let now = store.now();
    let (operator, idoutlet, wanted, message) = match &body.tangani {
        Some(secret) => {
            let message = alerts::secret::read(&keyring.get(), secret, now).ok_or(AppError::OperatorUnauthorized)?;
            let client = store.get().await?;
            let (operator, idoutlet, wanted) = recipient(&client, &req, message, now).await?;
            (operator, Some(idoutlet), wanted, Some(message))
        }
        None => {
            let (operator, wanted) = (Caller::of(&req)?, body.wanted()?);
            (operator, body.outlet(&store, &operator, &wanted).await?, wanted, None)
        }
    };
    let entries = seen_by(&operator, &store, &boards, &metrics.backup.health, idoutlet).await?;
    let entry = entries.into_iter().find(|entry| wanted.is(entry)).ok_or(AppError::NotFound("perhatian sudah selesai"))?;
    let until = now.plus_ms(i64::from(settings.attention.taken_min) * 60_000);
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    if let Some(message) = message
        && !alerts::queue::use_secret(&tx, message, now).await?
    {
        return Err(AppError::OperatorUnauthorized);
    }
    let taken = store_taken(&tx, &operator, &entry, (now, until)).await?;
    tx.commit().await?;
    boards.changed(entry.idoutlet);
    Ok(answer::ok(taken))
}

/// The person to whom a message was sent in this browser, and its entry.
async fn recipient(
    client: &DbClient,
    req: &HttpRequest,
    message: AlertMessageId,
    now: Timestamp,
) -> Result<(Operator, OutletId, Wanted), AppError> {
    let browser = browser::of_headers(&**client, req.headers(), now).await?;
    let sent = alerts::queue::sent_alert(client, message, browser.id, now).await?.ok_or(AppError::OperatorUnauthorized)?;
    let wanted = Wanted { kind: sent.kind, about: Named::Stored(sent.about), since: sent.since };
    Ok((operator::by_id(&**client, sent.person).await?, sent.idoutlet, wanted))
}

async fn store_taken(
    tx: &Transaction<'_>,
    operator: &Operator,
    entry: &Perhatian,
    (now, until): (Timestamp, Timestamp),
) -> Result<Ditangani, AppError> {
    // An entry that was taken too long ago may be taken again.
    const TAKE: &str = "
        INSERT INTO perhatian_ditangani AS d (idoutlet, jenis, tentang, sejak, id_kunci, ditangani_at, sampai)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (idoutlet, jenis, tentang, sejak) DO UPDATE SET id_kunci = $5, ditangani_at = $6, sampai = $7 WHERE d.sampai <= $6";
    const BY: &str = "
        SELECT k.nama, d.ditangani_at, d.sampai, d.id_kunci = $5 FROM perhatian_ditangani d JOIN kunci_operator k ON k.id = d.id_kunci
        WHERE d.idoutlet = $1 AND d.jenis = $2 AND d.tentang = $3 AND d.sejak = $4";
    let about = about(entry.about);
    let params: [&(dyn ToSql + Sync); 7] = [&entry.idoutlet, &entry.jenis, &about, &entry.sejak, &operator.id, &now, &until];
    let is_new = tx.execute(TAKE, &params).await? == 1;
    let row = tx.query_one(BY, &params[..5]).await?;
    if !row.try_get::<_, bool>(3)? {
        return Err(AppError::Conflict("sudah ditangani orang lain"));
    }
    if is_new {
        let content = json!({ "jenis": entry.jenis, "idmesin": entry.idmesin, "idshift": entry.idshift, "sejak": entry.sejak });
        let object = format!("outlet:{}", entry.idoutlet);
        let record = AuditEntry { principal: &operator.principal(), action: "perhatian.tangani", object, content };
        audit::write_at(tx, Some(entry.idoutlet), &record, now).await?;
    }
    Ok(Ditangani { nama: row.try_get(0)?, sejak: row.try_get(1)?, sampai: row.try_get(2)? })
}

impl Tangani {
    /// The outlet of the entry. Of an entry about the outlet itself it may be left out by who sees one.
    async fn outlet(&self, store: &Store, operator: &Operator, wanted: &Wanted) -> Result<Option<OutletId>, AppError> {
        if self.idoutlet.is_none() && wanted.about == Named::Shown(None, None) {
            let client = store.get().await?;
            return Ok(Some(AtOutlet::default().of(&*client, operator).await?.idoutlet));
        }
        Ok(self.idoutlet)
    }

    fn wanted(&self) -> Result<Wanted, AppError> {
        let kind = self.jenis.as_deref().and_then(Kind::parse).ok_or_else(|| AppError::bad_input("jenis tidak dikenal"))?;
        let since = self.sejak.as_deref().and_then(Timestamp::parse_rfc3339);
        let since = since.ok_or_else(|| AppError::bad_input("sejak harus waktu RFC 3339 dengan zona"))?;
        Ok(Wanted { kind, about: Named::Shown(self.idmesin, self.idshift), since })
    }
}

impl Wanted {
    fn is(&self, entry: &Perhatian) -> bool {
        let is_about = match self.about {
            Named::Stored(about) => entry.about == about,
            Named::Shown(idmesin, idshift) => (entry.idmesin, entry.idshift) == (idmesin, idshift),
        };
        is_about && (entry.jenis, entry.sejak) == (self.kind.as_str(), self.since)
    }
}
