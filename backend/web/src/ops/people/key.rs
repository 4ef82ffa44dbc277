//! Authentication of operators' calls: an API key, or a till session (docs/contract.md §4, docs/till.md).

use std::future::{Ready, ready};

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap};
use actix_web::middleware::Next;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest, ResponseError, web};
use nyala_core::domain::role::Role;
use nyala_identity::staff::operator::{self, AtTill, Operator};
use nyala_identity::staff::session;
use nyala_store::db::Store;

use crate::http::error::AppError;

/// The caller of `/ops/v1`, with any role but that of a technician (403); 401 without a valid key or session.
#[derive(Debug, Clone, Copy)]
pub struct Caller(pub Operator);

impl Caller {
    pub fn of(req: &HttpRequest) -> Result<Operator, AppError> {
        anybody(req).and_then(|operator| match operator.role {
            Role::Technician => Err(AppError::Forbidden),
            _ => Ok(operator),
        })
    }
}

fn anybody(req: &HttpRequest) -> Result<Operator, AppError> {
    req.extensions().get::<Operator>().copied().ok_or(AppError::OperatorUnauthorized)
}

impl FromRequest for Caller {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Self::of(req).map(Self))
    }
}

pub const ROOT: u8 = Role::Root as u8;

/// An [`Operator`] whose role has the rights of the number `MIN` ([`Role::has`]), else 403. Must be a handler's first argument, so that it
/// responds before the body is read.
#[derive(Debug, Clone, Copy)]
pub struct Minimal<const MIN: u8>(pub Operator);

impl<const MIN: u8> FromRequest for Minimal<MIN> {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(anybody(req).and_then(|o| if o.role.has(MIN) { Ok(Self(o)) } else { Err(AppError::Forbidden) }))
    }
}

/// A caller with a till session, but no technician; an API key is refused (403).
#[derive(Debug, Clone, Copy)]
pub struct Seller {
    pub operator: Operator,
    pub till: AtTill,
}

impl FromRequest for Seller {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Caller::of(req).and_then(|operator| Ok(Self { till: at_till(&operator)?, operator })))
    }
}

/// The till session of a caller; 403 for an API key.
pub fn at_till(operator: &Operator) -> Result<AtTill, AppError> {
    operator.at.ok_or(AppError::NotAllowed(NEEDS_TILL))
}

/// A caller with only a paired browser's cookie; an API key is refused (403).
#[derive(Debug, Clone, Copy)]
pub struct ByCookie;

impl FromRequest for ByCookie {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let has_key = bearer(req.headers()).is_some_and(|bearer| !bearer.starts_with(SESSION));
        ready(if has_key { Err(AppError::NotAllowed(NEEDS_TILL)) } else { Ok(Self) })
    }
}

pub(in crate::ops) const NEEDS_TILL: &str = "hanya dari perangkat kasir, bukan dengan kunci operator";

/// Wraps the operators' routes: 401 before anything else is checked.
pub async fn middleware<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    if is_open(req.path()) || (may_be_open(req.path()) && bearer(req.headers()).is_none()) {
        return Ok(next.call(req).await?.map_into_left_body());
    }
    match authenticate(&req).await {
        Ok(operator) => {
            req.extensions_mut().insert(operator);
            Ok(next.call(req).await?.map_into_left_body())
        }
        Err(e) => Ok(req.into_response(e.error_response()).map_into_right_body()),
    }
}

/// Prefix of a session's token.
const SESSION: &str = "nys_";

/// Whether a call needs no session: it sends a pairing code, or the cookie of a paired browser.
fn is_open(path: &str) -> bool {
    path.strip_prefix("/ops/v1/").is_some_and(|call| matches!(call, "pasang" | "perangkat/saya" | "masuk" | "soket/papan"))
}

/// Whether a call takes the secret of an alert in place of a session.
fn may_be_open(path: &str) -> bool {
    path == "/ops/v1/perhatian/tangani"
}

async fn authenticate(req: &ServiceRequest) -> Result<Operator, AppError> {
    let store = req.app_data::<web::Data<Store>>().ok_or_else(|| AppError::internal("no store"))?;
    let bearer = bearer(req.headers()).ok_or(AppError::OperatorUnauthorized)?;
    let client = store.get().await?;
    Ok(if bearer.starts_with(SESSION) {
        session::by_token(&*client, bearer, req.headers(), store.now()).await?
    } else {
        operator::by_key(&*client, bearer).await?
    })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, key) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}
