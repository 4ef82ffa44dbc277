//! `/scan/v1/akun/pindah`: the customer moves to a new number in the app, sees a move that a till has asked for, and says no to it (docs/money.md).

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::id::MoveId;
use nyala_core::domain::secret::Secret;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::auth::Auth;
use nyala_identity::auth::account::registered;
use nyala_identity::auth::code::{self, CodeRequest};
use nyala_identity::auth::code_purpose::{Asker, CodePurpose};
use nyala_identity::auth::code_try;
use nyala_identity::auth::lane::Lane;
use nyala_identity::auth::number_move::{self, MoveState, Moved, MovedCustomer, NumberMove, Objection};
use nyala_identity::auth::password::{self, Compared};
use nyala_ledger::newer_kinds;
use nyala_store::config::{HttpSettings, ServerSettings};
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::credentials;
use crate::api::auth::customer::Customer;
use crate::api::auth::request_otp::SENT;
use crate::api::auth::{TokenData, logged_in, requester};
use crate::http::answer::{Answer, Empty, done, ok};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::SixDigits;

#[derive(Debug, Deserialize, ToSchema)]
pub struct PindahKode {
    /// The new number, which is registered.
    telp: Telp,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct PindahAkun {
    /// The new number.
    telp: Telp,
    /// The code that was sent to the old number.
    #[schema(value_type = SixDigits)]
    otp_lama: Secret,
    /// The code that was sent to the new number.
    #[schema(value_type = SixDigits)]
    otp_baru: Secret,
    /// Of this account.
    #[schema(value_type = String, format = Password)]
    password: Secret,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PindahMenunggu {
    #[schema(value_type = i64)]
    idpindah: MoveId,
    /// The new number; the middle digits are hidden.
    #[schema(example = "0812••••7890")]
    ke: String,
    /// RFC 3339.
    terjadi_at: Timestamp,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct PindahTolak {
    idpindah: MoveId,
}

const SAME: AppError = AppError::Conflict("nomor lama dan baru sama");

/// Sends a code to the customer's own number and one to the new number.
#[utoipa::path(
    post, path = "/scan/v1/akun/pindah/kode", operation_id = "pindah_kode", tag = "akun", security(("pelanggan" = [])), request_body = PindahKode,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, description = "`nomor belum terdaftar`", body = Empty),
        (status = 409, description = "`nomor lama dan baru sama`", body = Empty),
        (status = 429, description = "Within 60 s or over a limit; `Retry-After` in seconds", body = Empty),
        (status = 503, description = "`kode gagal dikirim, coba lagi`; while a server of an older release is alive", body = Empty),
    )
)]
pub async fn send_codes(
    req: HttpRequest,
    auth: web::Data<Auth>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    customer: Customer,
    body: Json<PindahKode>,
) -> Result<HttpResponse, AppError> {
    let client = store.get().await?;
    newer_kinds::check(&client).await?;
    drop(client);
    let (own, _) = credentials(&store, customer.id).await?;
    if own == body.telp {
        return Err(SAME);
    }
    let address = requester(&req, &auth, &http).address;
    let request = CodeRequest { purpose: CodePurpose::Move, by: Asker::Address(address), alarm_since: None };
    code::admit(&auth, request).await?;
    if !registered(&auth, &body.telp, address, false).await? {
        return Err(AppError::TelpUnknown);
    }
    for telp in [own, body.into_inner().telp] {
        code::send(&auth, request, telp).await?;
    }
    Ok(done(SENT))
}

/// Moves all accounts to the new number at once. Both numbers' phones are logged out; the answer's token keeps this one logged in.
#[utoipa::path(
    post, path = "/scan/v1/akun/pindah", operation_id = "pindah", tag = "akun", security(("pelanggan" = [])), request_body = PindahAkun,
    responses(
        (status = 200, body = Answer<TokenData>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, description = "`nomor belum terdaftar`", body = Empty),
        (status = 409, description = "`nomor lama dan baru sama`; `pindah sudah diminta`; `nomor baru masih punya mesin yang belum selesai`", body = Empty),
        (status = 422, description = "`your otp is invalid`, `hashedPassword is not the hash of the given password`", body = Empty),
        (status = 429, description = "Too many failed tries, or passwords at once; `Retry-After` in seconds", body = Empty),
        (status = 503, description = "While a server of an older release is alive", body = Empty),
    )
)]
pub async fn pindah(
    req: HttpRequest,
    (auth, store, settings): (web::Data<Auth>, web::Data<Store>, web::Data<ServerSettings>),
    http: web::Data<HttpSettings>,
    customer: Customer,
    body: Json<PindahAkun>,
) -> Result<HttpResponse, AppError> {
    let PindahAkun { telp, otp_lama, otp_baru, password } = body.into_inner();
    let client = store.get().await?;
    newer_kinds::check(&client).await?;
    drop(client);
    let (own, hash) = credentials(&store, customer.id).await?;
    if own == telp {
        return Err(SAME);
    }
    let requester = requester(&req, &auth, &http);
    let place = password::reserve(&auth, Lane::Customer(customer.id, requester.address))?;
    let known_as = requester.known_by_number(&auth, &own).await?;
    let old = code_try::take_try(&auth, &requester, known_as, CodePurpose::Move, &own, &otp_lama).await?;
    let new = code_try::take_try(&auth, &requester, None, CodePurpose::Move, &telp, &otp_baru).await?;
    let codes = [old.ok_or(AppError::OtpInvalid)?, new.ok_or(AppError::OtpInvalid)?];
    if place.compare(&password, &hash).await? == Compared::Wrong {
        return Err(AppError::OldPasswordWrong);
    }
    let of = NumberMove {
        old: MovedCustomer { id: customer.id, telp: own },
        new: MovedCustomer { id: crate::ops::people::payee::by_telp(&*store.get().await?, &telp).await?.id, telp },
        principal: format!("pelanggan:{}", customer.id),
    };
    match number_move::happen_now(&auth, of, codes, settings.dev.fault_point.clone()).await? {
        Moved::Done(id, version) => logged_in(&auth, &http, &req, "Nomor berhasil dipindah", id, version),
        Moved::NotNow => Err(AppError::TelpUnknown),
    }
}

/// The move that a till has asked for, of this number to another one; null without one.
#[utoipa::path(
    get, path = "/scan/v1/akun/pindah", operation_id = "pindah_menunggu", tag = "akun", security(("pelanggan" = [])),
    responses((status = 200, body = Answer<Option<PindahMenunggu>>), (status = 401, body = Empty))
)]
pub async fn waits(store: web::Data<Store>, customer: Customer) -> Result<HttpResponse, AppError> {
    let pending = number_move::pending(&store.get().await?, customer.id).await?;
    Ok(ok(pending.map(|of| PindahMenunggu { idpindah: of.id, ke: of.to, terjadi_at: of.happens_at })))
}

/// 'Bukan saya': the move does not happen, and no till asks for one for 30 days. A second no is 200, too.
#[utoipa::path(
    post, path = "/scan/v1/akun/pindah/tolak", operation_id = "pindah_tolak", tag = "akun", security(("pelanggan" = [])), request_body = PindahTolak,
    responses(
        (status = 200, body = Empty), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, description = "`pindah tidak ditemukan`", body = Empty)
    )
)]
pub async fn refuse(store: web::Data<Store>, customer: Customer, body: Json<PindahTolak>) -> Result<HttpResponse, AppError> {
    let mut client = store.get().await?;
    match number_move::refuse(&mut client, Objection::LoggedIn(customer.id, body.idpindah), store.now()).await? {
        Some(MoveState::Refused) => Ok(done("OK")),
        // One that has happened has ended this login.
        _ => Err(AppError::NotFound("pindah tidak ditemukan")),
    }
}
