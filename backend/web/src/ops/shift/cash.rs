//! `POST /ops/v1/shift/kas`: cash that is put into the drawer or taken out of it by hand (docs/till.md).

use actix_web::{HttpResponse, web};
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::{text, whole};
use nyala_identity::staff::approval::Act;
use nyala_ledger::cash::CashKind;
use nyala_ledger::shift::{self, Keeper, MAX_IN_DRAWER};
use nyala_store::db::Store;
use nyala_store::db::pool::DbClient;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::ops::approval::{Approval, NEEDED, with_approver};
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};
use crate::ops::people::key::Seller;
use crate::ops::shift::open as call;

/// Rupiah that a kasir may put in without a check of the drawer's room: as much as one sale.
const MAX_IN_ALONE: i64 = 20_000_000;

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Cash {
    /// `masuk`, `keluar` for a purchase, `setor` to the owner or the bank.
    jenis: Direction,
    #[schema(minimum = 1, maximum = 1000000000)]
    #[serde(deserialize_with = "whole::deserialize")]
    nominal: i64,
    #[schema(value_type = Reason)]
    alasan: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Masuk,
    Keluar,
    Setor,
}

impl Direction {
    const fn kind(self, reason: &str) -> CashKind<'_> {
        match self {
            Self::Masuk => CashKind::In { reason },
            Self::Keluar => CashKind::Out { reason },
            Self::Setor => CashKind::Deposit { reason },
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CashMoved {
    id: i64,
}

/// Puts cash into the drawer or takes it out. For a `kasir` taking it out needs an approval of `kas`, `<jenis>:<nominal>`. Three calls per
/// shift without one are first told when the drawer holds too little.
#[utoipa::path(
    operation_id = "shift_kas",
    post, path = "/ops/v1/shift/kas", tag = "kasir", security(("session" = [])), request_body = Cash,
    params(IdempotencyKey, Approval),
    responses(
        (status = 200, body = Answer<CashMoved>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "`perlu persetujuan supervisor`; `persetujuan tidak berlaku`; an API key", body = Empty),
        (status = 409, description = "`shift belum dibuka`; `shift hanya di perangkat outlet`", body = Empty),
        (status = 422, description = "`uang di laci tidak cukup`, `laci tidak boleh berisi lebih dari Rp 1.000.000.000`", body = Empty),
    )
)]
pub async fn move_cash(
    seller: Seller,
    key: IdempotencyKey,
    approval: Approval,
    store: web::Data<Store>,
    body: Json<Cash>,
) -> Result<HttpResponse, AppError> {
    let own = seller.operator.principal();
    let by = call::keeper(&seller, &own)?;
    let reason = text::parse("alasan", &body.alasan, text::MAX_REASON_CHARS)?;
    let nominal = call::in_drawer("nominal", body.nominal, &(1..=MAX_IN_DRAWER))?;
    let needs_approval = body.jenis != Direction::Masuk && seller.operator.role < Role::Supervisor;
    let (kind, now) = (body.jenis.kind(&reason), store.now());
    let once = IdempotentCall::new(&seller.operator, key, "shift/kas", &*body, now)?;
    let mut client = store.get().await?;
    // Putting cash in is checked, too: amounts that are refused for lack of room would reveal the sum.
    let fills = body.jenis == Direction::Masuk && seller.operator.role < Role::Supervisor && nominal > MAX_IN_ALONE;
    let asked = if (needs_approval || fills) && approval.is_missing() {
        ask_drawer(&mut client, by, kind, nominal, now).await?
    } else {
        None
    };
    let needs_approval = needs_approval || (fills && asked.is_none());
    once.once(&mut client, async |tx| {
        let takes_out = body.jenis != Direction::Masuk;
        let shift = shift::hold_alone(tx, by.browser).await?;
        if asked == Some(false) {
            return Err(if takes_out { shift::NOT_ENOUGH } else { shift::NO_ROOM }.into());
        }
        let act = Act::cash(kind.as_str(), nominal);
        let approver = match needs_approval {
            true => Some(approval.use_up(tx, &seller.operator, &act, NEEDED, now).await?),
            false => None,
        };
        let id = match takes_out {
            true => shift::take_out(tx, shift, (kind, nominal), by.principal, now).await?,
            false => shift::put_in(tx, shift, (kind, nominal), by.principal, now).await?,
        };
        let content = json!({ "jenis": kind.as_str(), "nominal": nominal, "alasan": reason, "kas_gerak": id });
        call::record(tx, by, ("shift.kas", shift), with_approver(content, approver), now).await?;
        Ok(CashMoved { id })
    })
    .await
}

/// Checks the drawer for a kasir who has no approval yet, so that no supervisor types a PIN for a movement that will be refused. The
/// result is committed to the audit log and counted, even if the call fails later. `None`: no more checks are allowed.
async fn ask_drawer(
    client: &mut DbClient,
    by: Keeper<'_>,
    kind: CashKind<'_>,
    nominal: i64,
    now: Timestamp,
) -> Result<Option<bool>, AppError> {
    let tx = client.transaction().await?;
    let Some(asked) = shift::ask_drawer(&tx, by.browser, kind, nominal).await? else { return Ok(None) };
    let content = json!({ "jenis": kind.as_str(), "nominal": nominal, "cukup": asked.enough });
    call::record(&tx, by, ("shift.laci_ditanya", asked.shift), content, now).await?;
    tx.commit().await?;
    Ok(Some(asked.enough))
}
