//! `X-Izin`: a supervisor's approval that comes with the call that it allows (docs/till.md).

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::StaffId;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::approval::{self, Act};
use nyala_identity::staff::operator::{self, Operator};
use serde_json::Value;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::http::error::AppError;
use crate::ops::people::key::Caller;
use crate::ops::till::approve::HEADER;

pub(super) const NEEDED: AppError = AppError::NotAllowed("perlu persetujuan supervisor");

/// The header's text, when there is one.
#[derive(Debug, Clone)]
pub struct Approval(Option<String>);

impl FromRequest for Approval {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let text = req.headers().get(HEADER).and_then(|value| value.to_str().ok());
        ready(Ok(Self(text.map(|text| text.trim().to_owned()))))
    }
}

impl IntoParams for Approval {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let header = ParameterBuilder::new().name(HEADER).parameter_in(ParameterIn::Header).required(Required::False);
        let description_text = "A supervisor's approval from `POST /ops/v1/izin`, where a kasir needs one";
        vec![header.description(Some(description_text)).schema(Some(ObjectBuilder::new().schema_type(Type::String))).build()]
    }
}

impl Approval {
    pub const fn is_missing(&self) -> bool {
        self.0.is_none()
    }

    /// Uses up the approval in the transaction that it allows. Returns the approver; `without` when there is no approval.
    pub async fn use_up(
        &self,
        tx: &Transaction<'_>,
        operator: &Operator,
        act: &Act,
        without: AppError,
        now: Timestamp,
    ) -> Result<StaffId, AppError> {
        let (Some(text), Some(till)) = (&self.0, operator.at) else { return Err(without) };
        Ok(approval::use_up(tx, text, till, act, now).await?)
    }
}

/// A caller of an action that a kasir may do only with an approval: a supervisor or higher, or a kasir's session. Whether a kasir sent
/// an approval is checked when it is used up, because a repeat of a decided call needs none.
#[derive(Debug)]
pub struct Approved {
    pub operator: Operator,
    approval: Approval,
}

impl FromRequest for Approved {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let both = Caller::of(req).and_then(|operator| {
            let approval = Approval::from_request(req, payload).into_inner()?;
            match (operator.role, operator.at) {
                (Role::Kasir, None) => Err(AppError::Forbidden),
                _ => Ok(Self { operator, approval }),
            }
        });
        ready(both)
    }
}

impl Approved {
    /// Uses up a kasir's approval of `act`. Returns the approver, `None` when no approval was needed.
    pub async fn check(&self, tx: &Transaction<'_>, act: Option<&Act>, now: Timestamp) -> Result<Option<StaffId>, AppError> {
        match act {
            _ if self.operator.role > Role::Kasir => Ok(None),
            Some(act) => self.approval.use_up(tx, &self.operator, act, NEEDED, now).await.map(Some),
            None => Err(NEEDED),
        }
    }
}

/// Content of the audit log for a change, with its approver.
pub fn with_approver(mut content: Value, approver: Option<StaffId>) -> Value {
    if let Some(approver) = approver {
        content["disetujui"] = operator::principal(approver).into();
    }
    content
}
