//! `GET /ops/v1/perangkat/saya`: what a paired browser shows before a login: its outlet, and who works there.

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::id::{OutletId, StaffId, TillId};
use nyala_core::domain::timestamp::seconds_up;
use nyala_identity::staff::browser::{self, Listed, OutletName};
use nyala_ledger::shift::{self, Shift};
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::ByCookie;

#[derive(Debug, Serialize, ToSchema)]
pub struct ThisBrowser {
    perangkat: NamedBrowser,
    /// Null in a person's own browser.
    outlet: Option<OutletOf>,
    petugas: Vec<Person>,
    /// The till's open shift.
    shift: Option<Shift>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct NamedBrowser {
    #[schema(value_type = i64)]
    id: TillId,
    nama: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OutletOf {
    #[schema(value_type = i64)]
    idoutlet: OutletId,
    nama: String,
    kota: String,
}

/// A person who may log in here.
#[derive(Debug, Serialize, ToSchema)]
pub struct Person {
    #[schema(value_type = i64)]
    id: StaffId,
    nama: String,
    role: &'static str,
    /// Seconds until the next PIN, 0 for at once.
    tunggu_s: u32,
    /// Locked until a supervisor unlocks it.
    dikunci: bool,
}

impl From<OutletName> for OutletOf {
    fn from(outlet: OutletName) -> Self {
        Self { idoutlet: outlet.idoutlet, nama: outlet.name, kota: outlet.city }
    }
}

impl NamedBrowser {
    pub fn new(id: TillId, nama: String) -> Self {
        Self { id, nama }
    }
}

impl From<Listed> for Person {
    fn from(person: Listed) -> Self {
        let tunggu_s = if person.wait_ms == 0 { 0 } else { seconds_up(person.wait_ms) };
        Self { id: person.id, nama: person.name, role: person.role.as_str(), tunggu_s, dikunci: person.locked }
    }
}

/// Who works here, by the browser's cookie alone.
#[utoipa::path(
    get, path = "/ops/v1/perangkat/saya", tag = "kasir", security(("browser" = [])),
    responses(
        (status = 200, body = Answer<ThisBrowser>),
        (status = 401, description = "`perangkat belum dipasang`", body = Empty), (status = 403, body = Empty),
    )
)]
pub async fn perangkat_saya(_: ByCookie, req: HttpRequest, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    let (client, now) = (store.get().await?, store.now());
    let here = browser::of_headers(&*client, req.headers(), now).await?;
    let petugas = browser::listed(&*client, &here, now).await?.into_iter().map(Person::from).collect();
    // The cookie alone does not authorise the caller to know the drawer's float.
    let shift = shift::open_at(&*client, here.id).await?.map(Shift::without_float);
    let perangkat = NamedBrowser::new(here.id, here.name);
    Ok(answer::ok(ThisBrowser { perangkat, outlet: here.outlet.map(OutletOf::from), petugas, shift }))
}
