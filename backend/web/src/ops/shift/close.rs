//! `POST /ops/v1/shift/tutup`: the count that closes a shift and, at a handover, begins the next one (docs/till.md).

use actix_web::http::header::SET_COOKIE;
use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::id::{ShiftId, StaffId};
use nyala_core::domain::pin::Pin;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole;
use nyala_identity::staff::Staff;
use nyala_identity::staff::ended::SessionEnded;
use nyala_identity::staff::operator::principal;
use nyala_identity::staff::session;
use nyala_ledger::figures::coins::{self, Koin};
use nyala_ledger::shift::{self, Keeper, MAX_IN_DRAWER, Shift, SoldByMeans};
use nyala_store::config::HttpSettings;
use nyala_store::db::Store;
use nyala_store::db::pool::DbClient;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{Answer, Empty};
use crate::http::client_ip;
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::SixDigits;
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};
use crate::ops::people::key::Seller;
use crate::ops::shift::open as call;
use crate::ops::till::log_in as masuk;
use crate::ops::till::log_in::WhoIs;

#[derive(Debug, Deserialize, ToSchema)]
pub struct Count {
    /// Rupiah counted in the drawer. The first count is final.
    #[schema(minimum = 0, maximum = 1000000000)]
    #[serde(deserialize_with = "whole::deserialize")]
    dihitung: i64,
    /// The count by denomination, when it was made note by note.
    pecahan: Option<Notes>,
    /// Who opens the next shift with that cash.
    lanjut: Option<Next>,
    /// False: the cash was counted once. A count of zero, or one that is off by half, is then refused with 409 `hitung sekali lagi`, once
    /// per shift.
    yakin: Option<bool>,
}

/// How many notes of each kind, and rupiah in coins.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Notes {
    #[schema(maximum = 1000000000)]
    #[serde(rename = "100000", default, deserialize_with = "whole::deserialize")]
    of_100000: u32,
    #[schema(maximum = 1000000000)]
    #[serde(rename = "50000", default, deserialize_with = "whole::deserialize")]
    of_50000: u32,
    #[schema(maximum = 1000000000)]
    #[serde(rename = "20000", default, deserialize_with = "whole::deserialize")]
    of_20000: u32,
    #[schema(maximum = 1000000000)]
    #[serde(rename = "10000", default, deserialize_with = "whole::deserialize")]
    of_10000: u32,
    #[schema(maximum = 1000000000)]
    #[serde(rename = "5000", default, deserialize_with = "whole::deserialize")]
    of_5000: u32,
    #[schema(maximum = 1000000000)]
    #[serde(rename = "2000", default, deserialize_with = "whole::deserialize")]
    of_2000: u32,
    #[schema(maximum = 1000000000)]
    #[serde(rename = "1000", default, deserialize_with = "whole::deserialize")]
    of_1000: u32,
    #[schema(maximum = 1000000000)]
    #[serde(default, deserialize_with = "whole::deserialize")]
    koin: u32,
}

impl Notes {
    fn sum(&self) -> i64 {
        let notes = [
            (100_000, self.of_100000),
            (50_000, self.of_50000),
            (20_000, self.of_20000),
            (10_000, self.of_10000),
            (5_000, self.of_5000),
            (2_000, self.of_2000),
            (1_000, self.of_1000),
            (1, self.koin),
        ];
        notes.into_iter().map(|(worth, number)| worth * i64::from(number)).sum()
    }
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct Next {
    idpetugas: StaffId,
    #[schema(value_type = SixDigits)]
    pin: Pin,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Counted {
    #[schema(value_type = i64)]
    id: ShiftId,
    /// Rupiah that should have been in the drawer.
    diharapkan: i64,
    dihitung: i64,
    /// Rupiah counted minus rupiah expected.
    selisih: i64,
    /// The next person's shift.
    baru: Option<Shift>,
    /// How often in this shift a kasir learned whether the drawer holds an amount or has room for it.
    laci_ditanya: i16,
    /// How many older sales a kasir has opened in this shift.
    topup_dilihat: i32,
    /// Rupiah of the shift's sales without reversed ones, by means of payment.
    cara_bayar: SoldByMeans,
    /// Coins that fell into the outlet's machines during the shift, none of which is in the drawer; null: none of its boards counts them.
    #[schema(required)]
    koin: Option<Koin>,
    /// Token of the next person's session, which begins when this one ends. Shown once, so a repeat of the call has none.
    token: Option<String>,
    /// RFC 3339.
    sampai: Option<Timestamp>,
    petugas: Option<WhoIs>,
}

/// Counts the drawer and closes the shift. With `lanjut` the next person's shift begins with that cash.
#[utoipa::path(
    operation_id = "shift_tutup",
    post, path = "/ops/v1/shift/tutup", tag = "kasir", security(("session" = [])), request_body = Count, params(IdempotencyKey),
    responses(
        (status = 200, body = Answer<Counted>), (status = 400, body = Empty),
        (status = 401, description = "`sesi berakhir`, or `PIN salah, sisa 4 percobaan`", body = Empty),
        (status = 403, description = "`petugas dikunci, minta supervisor membukanya`; an API key", body = Empty),
        (status = 404, description = "`petugas tidak ditemukan`", body = Empty),
        (status = 409, description = "`shift belum dibuka`; `shift hanya di perangkat outlet`; `buat PIN baru`; \
            `hitung sekali lagi` with `yakin: false`", body = Empty),
        (status = 422, description = "`pecahan tidak sama dengan uang yang dihitung`", body = Empty), (status = 429, body = Empty),
    )
)]
pub async fn close(
    req: HttpRequest,
    seller: Seller,
    key: IdempotencyKey,
    staff: web::Data<Staff>,
    store: web::Data<Store>,
    http: web::Data<HttpSettings>,
    body: Json<Count>,
) -> Result<HttpResponse, AppError> {
    let own = seller.operator.principal();
    let by = call::keeper(&seller, &own)?;
    let counted = call::in_drawer("dihitung", body.dihitung, &(0..=MAX_IN_DRAWER))?;
    if body.pecahan.as_ref().is_some_and(|notes| notes.sum() != counted) {
        return Err(AppError::Unprocessable("pecahan tidak sama dengan uang yang dihitung"));
    }
    let notes = body.pecahan.as_ref().map(serde_json::to_value).transpose().map_err(AppError::internal)?;
    let next = match &body.lanjut {
        Some(next) => {
            let address = client_ip::counted(&req, &http.trusted_proxies);
            let known = staff.check_pin(req.headers(), address, next.idpetugas, &next.pin, None).await?;
            if known.person.role == Role::Technician {
                return Err(AppError::Forbidden);
            }
            if known.browser.id != by.browser {
                return Err(AppError::NotAllowed("serah terima hanya di perangkat ini"));
            }
            Some(known)
        }
        None => None,
    };
    // Without the PIN: an attacker can try all million PINs against this hash in a moment.
    let asked = (counted, &body.pecahan, body.lanjut.as_ref().map(|next| next.idpetugas));
    let unsure = body.yakin == Some(false);
    let route = if unsure { "shift/tutup?yakin=false" } else { "shift/tutup" };
    let once = IdempotentCall::new(&seller.operator, key, route, &asked, store.now())?;
    let mut client = store.get().await?;
    let doubtful = unsure && ask_again(&mut client, by, counted, store.now()).await?;
    let cookies =
        next.as_ref().map(|known| masuk::renewed_cookies(&req, &staff, &http, &known.browser)).transpose()?.unwrap_or_default();
    let mut handed_over = false;
    let answer = once.once_with_secret(&mut client, async |tx| {
        let shift = shift::hold_alone(tx, by.browser).await?;
        if doubtful {
            return Err(AppError::Conflict("hitung sekali lagi"));
        }
        // Later than everything that was sold in the shift.
        let now = store.now();
        let closed = shift::close(tx, shift, by.person, (counted, notes.as_ref()), now).await?;
        let cara_bayar = shift::sold(tx, shift).await?;
        let koin = coins::since_opening(tx, shift, now).await?;
        let content = json!({
            "diharapkan": closed.expected, "dihitung": counted, "pecahan": notes, "lanjut": next.as_ref().map(|known| known.person.id),
            "laci_ditanya": closed.questions, "topup_dilihat": closed.looks, "cara_bayar": cara_bayar,
        });
        call::record(tx, by, ("shift.tutup", shift), content, now).await?;
        let mut close_result = Counted {
            id: closed.id,
            diharapkan: closed.expected,
            dihitung: counted,
            selisih: counted - closed.expected,
            baru: None,
            laci_ditanya: closed.questions,
            topup_dilihat: closed.looks,
            cara_bayar,
            koin,
            token: None,
            sampai: None,
            petugas: None,
        };
        let Some(known) = next else { return Ok((close_result, None)) };
        let principal = principal(known.person.id);
        let theirs = Keeper { person: known.person.id, principal: &principal, ..by };
        let opened = shift::open(tx, theirs, counted, now).await?;
        call::record(tx, theirs, ("shift.buka", opened.id), json!({ "modal": counted, "dari": shift }), now).await?;
        // Ends every session at this till, so that no sale goes into the next person's drawer.
        session::end_at(tx, by.browser, now).await?;
        let begun = session::begin(tx, &known, now).await?;
        (close_result.baru, close_result.sampai, close_result.petugas) = (Some(opened), Some(begun.until), Some(WhoIs::from(known.person)));
        handed_over = true;
        Ok((close_result.clone(), Some(Counted { token: Some(begun.token), ..close_result })))
    });
    let mut answer = answer.await?;
    if handed_over {
        staff.notify(SessionEnded::Browser(by.browser));
        for cookie in cookies {
            answer.headers_mut().append(SET_COOKIE, cookie);
        }
    }
    Ok(answer)
}

/// Whether the kasir must count again. The request to do so is committed to the audit log even if the call fails later, so that it is
/// made only once: it reveals a little of the sum.
async fn ask_again(client: &mut DbClient, by: Keeper<'_>, counted: i64, now: Timestamp) -> Result<bool, AppError> {
    let tx = client.transaction().await?;
    let shift = shift::hold_alone(&tx, by.browser).await?;
    if !shift::is_doubtful(&tx, shift, counted).await? {
        return Ok(false);
    }
    call::record(&tx, by, ("shift.hitung_ulang", shift), json!({ "dihitung": counted }), now).await?;
    tx.commit().await?;
    Ok(true)
}
