//! `POST /ops/v1/masuk`: exchanges a PIN for a session in this browser (docs/till.md).

use actix_web::http::header::{HeaderValue, SET_COOKIE};
use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::id::StaffId;
use nyala_core::domain::pin::Pin;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::Staff;
use nyala_identity::staff::browser::{Browser, Listed};
use nyala_ledger::shift::{self, Shift};
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::client_ip;
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::SixDigits;
use crate::ops::people::key::ByCookie;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Masuk {
    idpetugas: StaffId,
    #[schema(value_type = SixDigits)]
    pin: Pin,
    /// The new PIN. Needed with a first PIN.
    #[schema(value_type = Option<SixDigits>)]
    pin_baru: Option<Pin>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LoggedIn {
    /// `nys_…`, for `Authorization: Bearer`. Valid only together with this browser's cookie.
    token: String,
    /// The latest end of the session. It ends earlier after 30 minutes without use.
    sampai: Timestamp,
    petugas: WhoIs,
    /// The till's open shift; null for a technician.
    shift: Option<Shift>,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WhoIs {
    #[schema(value_type = i64)]
    id: StaffId,
    nama: String,
    role: &'static str,
}

impl From<Listed> for WhoIs {
    fn from(person: Listed) -> Self {
        Self { id: person.id, nama: person.name, role: person.role.as_str() }
    }
}

/// Exchanges a PIN for a session.
#[utoipa::path(
    post, path = "/ops/v1/masuk", tag = "kasir", security(("browser" = [])), request_body = Masuk,
    responses(
        (status = 200, body = Answer<LoggedIn>), (status = 400, body = Empty),
        (status = 401, description = "`perangkat belum dipasang`, or `PIN salah, sisa 4 percobaan`", body = Empty),
        (status = 403, description = "`petugas dikunci, minta supervisor membukanya`", body = Empty),
        (status = 404, body = Empty),
        (status = 409, description = "`buat PIN baru`: a first PIN without `pin_baru`", body = Empty),
        (status = 422, description = "`PIN terlalu mudah`", body = Empty), (status = 429, body = Empty),
    )
)]
pub async fn masuk(
    _: ByCookie,
    req: HttpRequest,
    staff: web::Data<Staff>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    body: Json<Masuk>,
) -> Result<HttpResponse, AppError> {
    let address = client_ip::counted(&req, &http.trusted_proxies);
    let known = staff.check_pin(req.headers(), address, body.idpetugas, &body.pin, body.pin_baru.as_ref()).await?;
    let begun = staff.begin(&known).await?;
    let shift = shift::open_at(&*store.get().await?, known.browser.id).await?;
    let shift = match known.person.role {
        Role::Technician => None,
        Role::Kasir => shift.map(Shift::without_float),
        _ => shift,
    };
    let cookies = renewed_cookies(&req, &staff, &http, &known.browser)?;
    let petugas = WhoIs::from(known.person);
    let mut answer = answer::ok(LoggedIn { token: begun.token, sampai: begun.until, petugas, shift });
    for cookie in cookies {
        answer.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(answer)
}

/// The browser's cookie, renewed with each session.
pub(in crate::ops) fn renewed_cookies(
    req: &HttpRequest,
    staff: &Staff,
    http: &HttpSettings,
    browser: &Browser,
) -> Result<Vec<HeaderValue>, AppError> {
    Ok(staff.renewed_cookies(browser, req.headers(), client_ip::over_tls(req, http))?)
}
