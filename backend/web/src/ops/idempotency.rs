//! `Idempotency-Key`: the same key and body get the same response, and move money once (docs/contract.md §4).
//!
//! A call claims its key by inserting a row. A concurrent call waits there until the first one commits, then reads its response. The
//! response is stored in the transaction of the change. Refusals (404, 409, 422) are stored like successes: otherwise a late repeat
//! could move money after its caller was informed that none had moved.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest, HttpResponse};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::StaffId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::operator::Operator;
use nyala_store::db::pool::DbClient;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tokio_postgres::types::Json;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::http::answer::{self, Answer};
use crate::http::error::AppError;

const HEADER: &str = "Idempotency-Key";
const MAX_BYTES: usize = 200;

/// The header's value: 1 to 200 visible ASCII characters, else 400.
#[derive(Debug, Clone)]
pub struct IdempotencyKey(String);

impl IntoParams for IdempotencyKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let value = ObjectBuilder::new().schema_type(Type::String).pattern(Some(format!("^[!-~]{{1,{MAX_BYTES}}}$")));
        let text = format!("1 to {MAX_BYTES} visible ASCII characters; a repeat gets the same answer");
        let header = ParameterBuilder::new().name(HEADER).parameter_in(ParameterIn::Header).required(Required::True);
        vec![header.description(Some(text)).schema(Some(value)).build()]
    }
}

impl FromRequest for IdempotencyKey {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let value = req.headers().get(HEADER).and_then(|v| v.to_str().ok()).map(str::trim);
        let sane = value.filter(|v| (1..=MAX_BYTES).contains(&v.len()) && v.bytes().all(|b| b.is_ascii_graphic()));
        ready(sane.map(|v| Self(v.to_owned())).ok_or_else(|| {
            AppError::bad_input(format!("header {HEADER} wajib diisi: 1 sampai {MAX_BYTES} karakter ASCII tanpa spasi"))
        }))
    }
}

/// The header of a call that may go without: absent, or as [`IdempotencyKey`].
#[derive(Debug, Clone)]
pub struct OptionalKey(Option<IdempotencyKey>);

impl IntoParams for OptionalKey {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut header = IdempotencyKey::into_params(place);
        header.iter_mut().for_each(|header| header.required = Required::False);
        header
    }
}

impl FromRequest for OptionalKey {
    type Error = AppError;
    type Future = Ready<Result<Self, AppError>>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        if !req.headers().contains_key(HEADER) {
            return ready(Ok(Self(None)));
        }
        ready(IdempotencyKey::from_request(req, payload).into_inner().map(|key| Self(Some(key))))
    }
}

impl OptionalKey {
    pub fn call(self, operator: &Operator, route: &str, body: &impl Serialize, now: Timestamp) -> Result<OptionalCall, AppError> {
        let call = self.0.map(|key| IdempotentCall::new(operator, key, route, body, now)).transpose()?;
        Ok(OptionalCall(call))
    }
}

/// A call that is done once when it has a key, and each time when it has none.
pub struct OptionalCall(Option<IdempotentCall>);

impl OptionalCall {
    /// As [`IdempotentCall::once`].
    pub async fn once<T, F>(&self, client: &mut DbClient, work: F) -> Result<HttpResponse, AppError>
    where
        T: Serialize,
        F: AsyncFnOnce(&Transaction<'_>) -> Result<T, AppError>,
    {
        if let Some(call) = &self.0 {
            return call.once(client, work).await;
        }
        let tx = client.transaction().await?;
        let done = work(&tx).await?;
        tx.commit().await?;
        Ok(answer::ok(done))
    }
}

/// The data of a stored answer.
#[derive(Deserialize)]
struct StoredData<T> {
    data: T,
}

/// One call: its key, and the hash of its route and its parsed body (so sending an id as text changes nothing).
pub struct IdempotentCall {
    key: IdempotencyKey,
    body_hash: Vec<u8>,
    key_id: StaffId,
    now: Timestamp,
}

impl IdempotentCall {
    pub fn new(
        operator: &Operator,
        key: IdempotencyKey,
        route: &str,
        body: &impl Serialize,
        now: Timestamp,
    ) -> Result<Self, AppError> {
        let body = serde_json::to_vec(&(route, body)).map_err(AppError::internal)?;
        Ok(Self { key, body_hash: Sha256::digest(body).to_vec(), key_id: operator.id, now })
    }

    /// Runs `work` in a transaction, once; a repeat gets the stored response. Changes that `work` made before it refused are undone.
    pub async fn once<T, F>(&self, client: &mut DbClient, work: F) -> Result<HttpResponse, AppError>
    where
        T: Serialize,
        F: AsyncFnOnce(&Transaction<'_>) -> Result<T, AppError>,
    {
        self.once_with_secret(client, async |tx| work(tx).await.map(|data| (data, None))).await
    }

    /// As [`Self::once`], for a response with a secret. `work` returns the data to store, and the data to send once instead.
    pub async fn once_with_secret<T, F>(&self, client: &mut DbClient, work: F) -> Result<HttpResponse, AppError>
    where
        T: Serialize,
        F: AsyncFnOnce(&Transaction<'_>) -> Result<(T, Option<T>), AppError>,
    {
        let mut tx = client.transaction().await?;
        if !self.claim(&tx).await? {
            return self.stored_answer(&tx).await;
        }
        let savepoint = tx.transaction().await?;
        let (status, stored, once) = match work(&savepoint).await {
            Ok((data, once)) => {
                savepoint.commit().await?;
                let envelope = |data| envelope(StatusCode::OK, "OK", Some(data));
                (StatusCode::OK, envelope(data)?, once.map(envelope).transpose()?)
            }
            Err(refusal) if is_remembered(&refusal) => {
                savepoint.rollback().await?;
                refusal.log_refusal();
                (refusal.status(), envelope(refusal.status(), &refusal.to_string(), None::<T>)?, None)
            }
            Err(e) => return Err(e),
        };
        self.store(&tx, &stored).await?;
        tx.commit().await?;
        Ok(respond(status, &once.unwrap_or(stored)))
    }

    /// Runs `work` once and returns its result; a repeat returns the stored one. For a call whose answer takes longer than a transaction: its
    /// result is what a repeat needs to find the answer. A refusal is not stored.
    pub async fn begin<T, F>(&self, client: &mut DbClient, work: F) -> Result<T, AppError>
    where
        T: Serialize + DeserializeOwned,
        F: AsyncFnOnce(&Transaction<'_>) -> Result<T, AppError>,
    {
        let tx = client.transaction().await?;
        if !self.claim(&tx).await? {
            let (_, stored) = self.stored(&tx).await?;
            let StoredData { data } = serde_json::from_str(stored.get()).map_err(AppError::internal)?;
            return Ok(data);
        }
        let done = work(&tx).await?;
        self.store(&tx, &envelope(StatusCode::OK, "OK", Some(&done))?).await?;
        tx.commit().await?;
        Ok(done)
    }

    async fn claim(&self, tx: &Transaction<'_>) -> Result<bool, AppError> {
        const CLAIM: &str =
            "INSERT INTO idempotensi (id_kunci, kunci, body_hash, jawaban, created_at) VALUES ($1, $2, $3, 'null', $4)
            ON CONFLICT (id_kunci, kunci) DO NOTHING";
        let stmt = tx.prepare_cached(CLAIM).await?;
        Ok(tx.execute(&stmt, &[&self.key_id, &self.key.0, &self.body_hash, &self.now]).await? == 1)
    }

    async fn stored_answer(&self, tx: &Transaction<'_>) -> Result<HttpResponse, AppError> {
        let (status, answer) = self.stored(tx).await?;
        let status = u16::try_from(status).ok().and_then(|s| StatusCode::from_u16(s).ok());
        Ok(respond(status.ok_or_else(|| AppError::internal("stored answer without a status"))?, &answer))
    }

    /// The status and the answer of the first call with this key.
    async fn stored(&self, tx: &Transaction<'_>) -> Result<(i32, Box<RawValue>), AppError> {
        const READ: &str =
            "SELECT body_hash, jawaban, (jawaban->>'status')::INT FROM idempotensi WHERE id_kunci = $1 AND kunci = $2";
        let stmt = tx.prepare_cached(READ).await?;
        let row = tx.query_one(&stmt, &[&self.key_id, &self.key.0]).await?;
        if row.get::<_, Vec<u8>>(0) != self.body_hash {
            return Err(AppError::Unprocessable("Idempotency-Key sudah dipakai untuk permintaan lain"));
        }
        let Json(answer): Json<Box<RawValue>> = row.get(1);
        Ok((row.get(2), answer))
    }

    async fn store(&self, tx: &Transaction<'_>, answer: &RawValue) -> Result<(), AppError> {
        const STORE: &str = "UPDATE idempotensi SET jawaban = $3 WHERE id_kunci = $1 AND kunci = $2";
        let stmt = tx.prepare_cached(STORE).await?;
        tx.execute(&stmt, &[&self.key_id, &self.key.0, &Json(answer)]).await?;
        Ok(())
    }
}

/// Whether a refusal is stored. After a 400 or a 5xx the call may be retried with the same key.
fn is_remembered(e: &AppError) -> bool {
    matches!(e.status(), StatusCode::NOT_FOUND | StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY)
}

fn envelope<T: Serialize>(status: StatusCode, message: &str, data: Option<T>) -> Result<Box<RawValue>, AppError> {
    serde_json::value::to_raw_value(&Answer { status: status.as_u16(), message: message.to_owned(), data })
        .map_err(AppError::internal)
}

fn respond(status: StatusCode, answer: &RawValue) -> HttpResponse {
    HttpResponse::build(status).json(answer)
}
