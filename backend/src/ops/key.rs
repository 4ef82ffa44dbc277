//! Operators' API keys, `nyk_<id>_<random>`: who calls, and what that key may do and see (docs/contract.md §4).

use std::fmt;
use std::future::{Ready, ready};
use std::str::FromStr;

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header;
use actix_web::middleware::Next;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest, ResponseError, web};
use rand::RngCore;
use sha2::{Digest, Sha256};

use crate::db::Store;
use crate::http::error::AppError;

const PREFIX: &str = "nyk_";
const SECRET_BYTES: usize = 32;

/// What a key may do; each role may do what the one before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Tops up and reads at one outlet, no more.
    Kasir,
    /// Everything at one outlet.
    Supervisor,
    /// Everything at one owner's outlets.
    Owner,
    Root,
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kasir => "kasir",
            Self::Supervisor => "supervisor",
            Self::Owner => "owner",
            Self::Root => "root",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Kasir, Self::Supervisor, Self::Owner, Self::Root]
            .into_iter()
            .find(|r| r.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no role; take root, owner, supervisor or kasir"))
    }
}

/// The key that a request carries, with the limits of what it sees; `None` is no limit.
#[derive(Debug, Clone, Copy)]
pub struct Operator {
    pub id: i64,
    pub role: Role,
    pub idowner: Option<i64>,
    pub idoutlet: Option<i64>,
}

impl Operator {
    /// How the ledger and the audit log name this key.
    pub fn principal(&self) -> String {
        format!("operator:{}", self.id)
    }
}

impl FromRequest for Operator {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(req.extensions().get::<Self>().copied().ok_or(AppError::OperatorUnauthorized))
    }
}

pub const SUPERVISOR: u8 = Role::Supervisor as u8;
pub const OWNER: u8 = Role::Owner as u8;
pub const ROOT: u8 = Role::Root as u8;

/// An [`Operator`] whose role is at least `MIN`, else 403. First among a handler's arguments, so that it answers before the
/// body is read.
#[derive(Debug, Clone, Copy)]
pub struct Minimal<const MIN: u8>(pub Operator);

impl<const MIN: u8> FromRequest for Minimal<MIN> {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let operator = Operator::from_request(req, payload).into_inner();
        ready(operator.and_then(|o| if o.role as u8 >= MIN { Ok(Self(o)) } else { Err(AppError::Forbidden) }))
    }
}

/// Wraps the operators' routes: 401 before anything else is looked at.
pub async fn middleware<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    match authenticate(&req).await {
        Ok(operator) => {
            req.extensions_mut().insert(operator);
            Ok(next.call(req).await?.map_into_left_body())
        }
        Err(e) => Ok(req.into_response(e.error_response()).map_into_right_body()),
    }
}

const FIND: &str = "SELECT role, idowner, idoutlet FROM kunci_operator WHERE id = $1 AND hash = $2 AND revoked_at IS NULL";

async fn authenticate(req: &ServiceRequest) -> Result<Operator, AppError> {
    let store = req.app_data::<web::Data<Store>>().ok_or_else(|| AppError::internal("no store"))?;
    let bearer = req.headers().get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).and_then(|v| v.split_once(' '));
    let (id, secret) = bearer
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .and_then(|(_, key)| split(key.trim()))
        .ok_or(AppError::OperatorUnauthorized)?;
    let client = store.get().await?;
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_opt(&stmt, &[&id, &hash(secret)]).await?.ok_or(AppError::OperatorUnauthorized)?;
    let role = row.get::<_, &str>(0).parse().map_err(|e: String| AppError::internal(e))?;
    Ok(Operator { id, role, idowner: row.get(1), idoutlet: row.get(2) })
}

fn split(key: &str) -> Option<(i64, &str)> {
    let (id, secret) = key.strip_prefix(PREFIX)?.split_once('_')?;
    let plain = secret.len() == SECRET_BYTES * 2 && secret.bytes().all(|b| b.is_ascii_hexdigit());
    id.parse().ok().filter(|_| plain).map(|id| (id, secret))
}

fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

/// The random part of a new key and what is stored of it.
pub fn generate() -> (String, Vec<u8>) {
    let mut bytes = [0; SECRET_BYTES];
    rand::rng().fill_bytes(&mut bytes);
    let secret: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let stored = hash(&secret);
    (secret, stored)
}

/// The whole key, as its holder sends it.
pub fn text(id: i64, secret: &str) -> String {
    format!("{PREFIX}{id}_{secret}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_shape() {
        let (secret, stored) = generate();
        assert_eq!(split(&text(12, &secret)), Some((12, secret.as_str())));
        assert_eq!(stored, hash(&secret));
        let long = "f".repeat(65);
        for bad in [
            "",
            "nyk_",
            "nyk_1_",
            "nyk_1_abc",
            &format!("nyx_1_{secret}"),
            &format!("nyk_x_{secret}"),
            &format!("nyk_1_{long}"),
            &secret,
        ] {
            assert_eq!(split(bad), None, "{bad}");
        }
    }

    #[test]
    fn roles_are_ordered() {
        assert!(Role::Kasir < Role::Supervisor && Role::Supervisor < Role::Owner && Role::Owner < Role::Root);
        assert_eq!("owner".parse(), Ok(Role::Owner));
        assert!("Owner".parse::<Role>().unwrap_err().contains("Owner"));
    }
}
