//! All refusals, with their status and exact message (docs/contract.md §1, table).

use std::borrow::Cow;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use nyala_core::domain::error::DomainError;
use nyala_core::domain::id::ServiceId;
use nyala_core::domain::rupiah::{self, MaxBalance};
use nyala_core::domain::timestamp::seconds_up;
use nyala_core::purchase::rules::Refusal;
use nyala_core::rate_limit::purchases::TooSoon;
use nyala_identity::auth::error::AuthError;
use nyala_identity::staff::error::StaffError;
use nyala_ledger::error::LedgerError;
use nyala_machines::device::mqtt::keys::KeyError;
use nyala_machines::error::MachineError;
use nyala_store::admission::Overloaded;
use nyala_store::db::error::DbError;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::{Answer, Empty};

/// Seconds after which a retry at a busy server is useful: requests that waited for a lock have ended by then (`database.lock_ms`).
const BUSY_RETRY_S: u32 = 3;

/// What a service costs now.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct HargaSekarang {
    #[schema(value_type = i64)]
    pub idlayanan: ServiceId,
    /// Rupiah.
    pub harga: i64,
    /// Epoch milliseconds at which the price changes next; null: never.
    #[schema(required)]
    pub harga_sampai: Option<i64>,
}

#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// 400: malformed, of a wrong type, missing or out of range. The text names the field and the expected value.
    #[error("{0}")]
    BadInput(Cow<'static, str>),
    #[error("sesi tidak berlaku, silakan masuk lagi")]
    Unauthorized,
    #[error("kunci operator tidak berlaku")]
    OperatorUnauthorized,
    /// 401: no paired browser, no session, or a wrong PIN; the text names the reason.
    #[error("{0}")]
    NotLoggedIn(Cow<'static, str>),
    #[error("kunci operator ini tidak berhak melakukan itu")]
    Forbidden,
    /// 403: the call exists, but not for this key or in this way. The text names what is not allowed.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// 403: sent by a page of a site that is neither ours nor listed.
    #[error("permintaan dari halaman situs lain ditolak; buka aplikasi di alamatnya sendiri")]
    CrossSite,
    #[error("password is incorrect")]
    PasswordIncorrect,
    #[error("record not found")]
    RecordNotFound,
    #[error("terlalu banyak percobaan, coba lagi dalam {retry_s} detik")]
    TooMany { retry_s: u32 },
    #[error("nomor sudah terdaftar")]
    TelpTaken,
    #[error("nomor belum terdaftar")]
    TelpUnknown,
    #[error("kode gagal dikirim, coba lagi")]
    CodeNotSent,
    #[error("your otp is invalid")]
    OtpInvalid,
    #[error("hashedPassword is not the hash of the given password")]
    OldPasswordWrong,
    #[error(transparent)]
    Value(#[from] DomainError),
    #[error("Mesin Not found")]
    MachineNotFound,
    #[error("nomor nota sudah dipakai")]
    ReceiptTaken,
    #[error("E-Pay tidak ditemukan")]
    EpayNotFound,
    #[error("layanan tidak ditemukan")]
    ServiceNotFound,
    /// 409: with what the service costs now; `None` when it is no longer sold.
    #[error("harga layanan berubah")]
    PriceChanged(Option<HargaSekarang>),
    #[error("mesin sedang offline")]
    MachineOffline,
    #[error("mesin sedang digunakan")]
    MachineBusy,
    #[error("saldo epay tidak cukup")]
    BalanceTooLow,
    #[error("mesin gagal dinyalakan, saldo dikembalikan")]
    MachineRefused,
    /// The same, for an account that had expired in the meantime: the time until which it is valid.
    #[error("mesin gagal dinyalakan, saldo dikembalikan dan berlaku sampai {0}")]
    MachineRefusedUsable(String),
    #[error("mesin belum menjawab, saldo otomatis kembali bila mesin tidak menyala")]
    MachineSilent,
    #[error("mesin belum menjawab, perintah berhenti terus dicoba")]
    StopSilent,
    #[error("mesin belum menjawab")]
    DeviceSilent,
    /// 404, for another customer's id as for an unknown one.
    #[error("{0}")]
    NotFound(&'static str),
    /// 409: the current state forbids it.
    #[error("{0}")]
    Conflict(&'static str),
    /// 422: understood, but refused for its content.
    #[error("{0}")]
    Unprocessable(&'static str),
    #[error("saldo paling banyak {}", rupiah::text(.0.get()))]
    OverMaxBalance(MaxBalance),
    /// 409: a customer who is to be deleted has this balance.
    #[error("masih ada saldo {}", rupiah::text(*.0))]
    BalanceLeft(i64),
    /// 413.
    #[error("isi permintaan lebih dari {max} byte")]
    TooLarge { max: usize },
    /// 503: the payment provider does not answer, or does not confirm.
    #[error("QRIS sedang tidak bisa dipakai, coba lagi")]
    QrisSilent,
    /// 503: the database, a queue or the room for unfinished bodies has no capacity now.
    #[error("layanan sedang sibuk, coba lagi")]
    Unavailable,
    /// 503: more requests than can be served. Nothing was done.
    #[error("sedang ramai, mencoba lagi")]
    Overloaded(Overloaded),
    /// 500; the source is logged, never sent to the caller.
    #[error("terjadi kesalahan sistem, coba lagi")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// 409 of what is done at closed machines only.
pub const NOT_CLOSED: &str = "mesin harus ditutup dulu";

impl AppError {
    pub fn bad_input(text: impl Into<Cow<'static, str>>) -> Self {
        Self::BadInput(text.into())
    }

    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }

    /// Logs one line for a refusal that names the expected value, so that an operator finds it by its text (docs/operations.md, "Before
    /// you upgrade"). Wrong passwords, unknown ids, full limits and busy machines are common and are not logged. The same text is logged
    /// once a minute.
    pub fn log_refusal(&self) {
        if matches!(
            self,
            Self::BadInput(_)
                | Self::Value(_)
                | Self::NotAllowed(_)
                | Self::CrossSite
                | Self::Conflict(_)
                | Self::Unprocessable(_)
                | Self::OverMaxBalance(_)
        ) {
            tracing::info!(error = %self, status = self.status().as_u16(), "request refused");
        }
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Self::BadInput(_) | Self::Value(DomainError::Malformed(_)) => StatusCode::BAD_REQUEST,
            Self::Unauthorized | Self::OperatorUnauthorized | Self::NotLoggedIn(_) | Self::PasswordIncorrect => {
                StatusCode::UNAUTHORIZED
            }
            Self::Forbidden | Self::NotAllowed(_) | Self::CrossSite => StatusCode::FORBIDDEN,
            Self::RecordNotFound
            | Self::TelpUnknown
            | Self::MachineNotFound
            | Self::EpayNotFound
            | Self::ServiceNotFound
            | Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::TelpTaken
            | Self::PriceChanged(_)
            | Self::MachineOffline
            | Self::MachineBusy
            | Self::MachineRefused
            | Self::MachineRefusedUsable(_)
            | Self::Conflict(_)
            | Self::BalanceLeft(_) => StatusCode::CONFLICT,
            Self::OtpInvalid
            | Self::OldPasswordWrong
            | Self::Value(DomainError::NameTooShort | DomainError::PasswordTooShort)
            | Self::ReceiptTaken
            | Self::BalanceTooLow
            | Self::Unprocessable(_)
            | Self::OverMaxBalance(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::MachineSilent | Self::StopSilent | Self::DeviceSilent => StatusCode::GATEWAY_TIMEOUT,
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::CodeNotSent | Self::QrisSilent | Self::Unavailable | Self::Overloaded(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl ResponseError for AppError {
    fn status_code(&self) -> StatusCode {
        self.status()
    }

    fn error_response(&self) -> HttpResponse {
        if let Self::Internal(source) = self {
            tracing::error!(error = source.as_ref() as &dyn std::error::Error, "request failed");
        }
        self.log_refusal();
        let status = self.status();
        let mut answer = HttpResponse::build(status);
        match self {
            Self::TooMany { retry_s } => _ = answer.insert_header((header::RETRY_AFTER, retry_s.to_string())),
            Self::Unavailable => _ = answer.insert_header((header::RETRY_AFTER, BUSY_RETRY_S)),
            Self::Overloaded(overloaded) => {
                answer.insert_header((header::RETRY_AFTER, overloaded.retry_s));
                // One line for each would be an overload of the log (`request_id`).
                answer.extensions_mut().insert(*overloaded);
            }
            _ => {}
        }
        if let Self::PriceChanged(Some(price)) = self {
            return answer.json(Answer { status: status.as_u16(), message: self.to_string(), data: Some(price) });
        }
        answer.json(Empty { status: status.as_u16(), message: self.to_string(), data: None })
    }
}

impl From<Refusal> for AppError {
    fn from(t: Refusal) -> Self {
        match t {
            Refusal::EpayNotFound => Self::EpayNotFound,
            Refusal::MachineNotFound => Self::MachineNotFound,
            Refusal::ServiceNotFound => Self::ServiceNotFound,
            Refusal::PriceChanged => Self::PriceChanged(None),
            Refusal::MachineOffline => Self::MachineOffline,
            Refusal::MachineBusy => Self::MachineBusy,
            Refusal::BalanceTooLow => Self::BalanceTooLow,
            Refusal::NeedsStaff => Self::Conflict("mesin perlu petugas"),
            Refusal::TestedByPulses => Self::Conflict("mesin pulsa dites dengan pulsa"),
            Refusal::TestedByRelay => Self::Conflict("mesin relai dites dengan durasi"),
            Refusal::NotClosed => Self::Conflict(NOT_CLOSED),
            Refusal::TestsUsedUp => Self::Conflict("paling banyak 10 pulsa tes sehari"),
        }
    }
}

impl From<TooSoon> for AppError {
    fn from(soon: TooSoon) -> Self {
        Self::TooMany { retry_s: seconds_up(soon.wait_ms) }
    }
}

impl From<Overloaded> for AppError {
    fn from(overloaded: Overloaded) -> Self {
        Self::Overloaded(overloaded)
    }
}

impl From<DbError> for AppError {
    fn from(e: DbError) -> Self {
        match e {
            DbError::Busy => Self::Unavailable,
            DbError::Overloaded(overloaded) => overloaded.into(),
            DbError::Unstorable => Self::BadInput("teks memuat karakter yang tidak dapat disimpan basis data ini".into()),
            DbError::Broken(source) => Self::Internal(source),
        }
    }
}

impl From<tokio_postgres::Error> for AppError {
    fn from(e: tokio_postgres::Error) -> Self {
        DbError::from(e).into()
    }
}

impl From<AuthError> for AppError {
    fn from(e: AuthError) -> Self {
        match e {
            AuthError::Unauthorized => Self::Unauthorized,
            AuthError::TooMany { retry_s } => Self::TooMany { retry_s },
            AuthError::CodeNotSent => Self::CodeNotSent,
            AuthError::OtpInvalid => Self::OtpInvalid,
            AuthError::Db(e) => e.into(),
            AuthError::Broken(source) => Self::Internal(source),
        }
    }
}

impl From<StaffError> for AppError {
    fn from(e: StaffError) -> Self {
        match e {
            StaffError::KeyUnauthorized => Self::OperatorUnauthorized,
            StaffError::NotPaired | StaffError::SessionOver | StaffError::PinWrong { .. } | StaffError::FirstPinOver => {
                Self::NotLoggedIn(e.to_string().into())
            }
            StaffError::CodeWrong => Self::Unprocessable("kode pasang salah atau kedaluwarsa"),
            StaffError::Unknown => Self::NotFound("petugas tidak ditemukan"),
            StaffError::Locked => Self::NotAllowed("petugas dikunci, minta supervisor membukanya"),
            StaffError::MakePin => Self::Conflict("buat PIN baru"),
            StaffError::PinTooEasy => Self::Unprocessable("PIN terlalu mudah"),
            StaffError::SamePin => Self::Unprocessable("PIN baru harus lain dari yang lama"),
            StaffError::TooMany { retry_s } => Self::TooMany { retry_s },
            StaffError::NotApproved => Self::NotAllowed("persetujuan tidak berlaku"),
            StaffError::Auth(e) => e.into(),
            StaffError::Db(e) => e.into(),
        }
    }
}

impl From<LedgerError> for AppError {
    fn from(e: LedgerError) -> Self {
        match e {
            LedgerError::Value(value) => value.into(),
            LedgerError::NotFound(what) => Self::NotFound(what),
            LedgerError::Conflict(why) => Self::Conflict(why),
            LedgerError::Unprocessable(why) => Self::Unprocessable(why),
            LedgerError::OverMaxBalance(max) => Self::OverMaxBalance(max),
            LedgerError::Db(e) => e.into(),
        }
    }
}

impl From<KeyError> for AppError {
    fn from(e: KeyError) -> Self {
        match e {
            KeyError::NoMachine(_) => Self::MachineNotFound,
            KeyError::NoOutlet(_) => Self::NotFound("outlet tidak ditemukan"),
            KeyError::OtherDriver { .. } => Self::Conflict("mesin ini bukan mesin mqtt, perangkatnya tidak memakai kunci"),
            KeyError::HasKey(_) => Self::Conflict("mesin ini sudah punya kunci"),
            KeyError::NoKey(_) => Self::Conflict("mesin ini belum punya kunci"),
            KeyError::NoHost => Self::Unprocessable("alamat server untuk perangkat belum diatur (mqtt.public_host)"),
            KeyError::Db(e) => e.into(),
        }
    }
}

impl From<MachineError> for AppError {
    fn from(e: MachineError) -> Self {
        match e {
            MachineError::NotFound => Self::MachineNotFound,
            MachineError::Busy => Self::Unavailable,
            MachineError::Db(e) => e.into(),
        }
    }
}
