//! Why a call at a till is refused.

use nyala_store::db::error::DbError;

use crate::auth::error::AuthError;

#[derive(Debug, thiserror::Error)]
pub enum StaffError {
    /// The key is missing, wrong or revoked.
    #[error("the operator's key is no good")]
    KeyUnauthorized,
    /// No cookie, or the cookie of a browser that is no longer paired.
    #[error("perangkat belum dipasang")]
    NotPaired,
    /// Idle for half an hour, older than twelve hours, ended, or of another browser.
    #[error("sesi berakhir")]
    SessionOver,
    #[error("kode pasang salah atau kedaluwarsa")]
    CodeWrong,
    #[error("petugas tidak ditemukan")]
    Unknown,
    #[error("PIN salah, sisa {left} percobaan")]
    PinWrong { left: u32 },
    #[error("petugas dikunci, minta supervisor membukanya")]
    Locked,
    #[error("PIN awal kedaluwarsa, minta supervisor membuat yang baru")]
    FirstPinOver,
    #[error("buat PIN baru")]
    MakePin,
    #[error("PIN terlalu mudah")]
    PinTooEasy,
    #[error("PIN baru harus lain dari yang lama")]
    SamePin,
    #[error("too many tries, the next one in {retry_s} s")]
    TooMany { retry_s: u32 },
    #[error("persetujuan tidak berlaku")]
    NotApproved,
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error(transparent)]
    Db(#[from] DbError),
}

impl StaffError {
    pub fn broken(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Db(DbError::broken(source))
    }
}

impl From<tokio_postgres::Error> for StaffError {
    fn from(e: tokio_postgres::Error) -> Self {
        Self::Db(e.into())
    }
}
