//! `POST /ops/v1/shift/kas`: cash that is put into the drawer or taken out of it by hand (docs/till.md).

use actix_web::{HttpRequest, HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::idempotency::{IdempotencyKey, IdempotentCall};
use super::key::Seller;
use super::{izin, shift as call};
use crate::db::Store;
use crate::domain::role::Role;
use crate::domain::{text, whole};
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::Reason;
use crate::ledger::cash::{self, CashKind};
use crate::ledger::shift;
use crate::staff::approval::{self, Act};
use crate::staff::operator::principal;

const NEEDED: AppError = AppError::NotAllowed("perlu persetujuan supervisor");

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

/// Puts cash into the drawer or takes it out. For a `kasir` taking it out needs an approval of `kas`, `<jenis>:<nominal>`.
#[utoipa::path(
    post, path = "/ops/v1/shift/kas", tag = "kasir", security(("session" = [])), request_body = Cash,
    params(IdempotencyKey, ("X-Izin" = Option<String>, Header, description = "An approval")),
    responses(
        (status = 200, body = Answer<CashMoved>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "`perlu persetujuan supervisor`; `persetujuan tidak berlaku`; an API key", body = Empty),
        (status = 409, description = "`shift belum dibuka`; `shift hanya di perangkat outlet`", body = Empty),
        (status = 422, description = "`uang di laci tidak cukup`", body = Empty),
    )
)]
pub async fn move_cash(
    req: HttpRequest,
    seller: Seller,
    key: IdempotencyKey,
    store: web::Data<Store>,
    body: Json<Cash>,
) -> Result<HttpResponse, AppError> {
    let own = seller.operator.principal();
    let by = call::keeper(&seller, &own)?;
    let reason = text::parse("alasan", &body.alasan, text::MAX_REASON_CHARS)?;
    let nominal = call::in_drawer("nominal", body.nominal, 1)?;
    let needs_approval = body.jenis != Direction::Masuk && seller.operator.role < Role::Supervisor;
    let given = req.headers().get(izin::HEADER).and_then(|v| v.to_str().ok());
    let (kind, now) = (body.jenis.kind(&reason), store.now());
    let once = IdempotentCall::new(&seller.operator, key, "shift/kas", &*body, now)?;
    let mut client = store.get().await?;
    once.once(&mut client, async |tx| {
        let mut content = json!({ "jenis": kind.as_str(), "nominal": nominal, "alasan": reason });
        if needs_approval {
            let act = Act::cash(kind.as_str(), nominal);
            let approver = approval::use_up(tx, given.ok_or(NEEDED)?, seller.till, &act, now).await?;
            content["disetujui"] = principal(approver).into();
        }
        let (shift, id) = if body.jenis == Direction::Masuk {
            let shift = shift::hold_open(tx, by.browser).await?;
            (shift, cash::record(tx, shift, kind, nominal, by.principal, now).await?)
        } else {
            shift::pay_out(tx, by.browser, (kind, nominal), by.principal, now).await?
        };
        content["kas_gerak"] = id.into();
        call::record(tx, by, ("shift.kas", shift), content, now).await?;
        Ok(CashMoved { id })
    })
    .await
}
