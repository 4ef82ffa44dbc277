//! `POST /ops/v1/soket`: issues a ticket for the socket of this session: `auth: {tiket}`, once, within a minute.
//! `POST /ops/v1/soket/papan`: the same for a tablet without a session, for the board of its outlet and nothing else.

use actix_web::{HttpRequest, HttpResponse, web};
use nyala_core::domain::role::ANYBODY;
use nyala_identity::staff::ticket::{BoardTicket, SessionTicket, TicketOf};
use nyala_identity::staff::{Staff, browser};
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::{ByCookie, Minimal, at_till};

#[derive(Debug, Serialize, ToSchema)]
pub struct Ticket {
    tiket: String,
}

/// Creates a ticket for a socket.
#[utoipa::path(
    post, path = "/ops/v1/soket", tag = "kasir", security(("session" = [])),
    responses((status = 200, body = Answer<Ticket>), (status = 401, body = Empty), (status = 403, body = Empty))
)]
pub async fn soket(by: Minimal<ANYBODY>, staff: web::Data<Staff>, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let of = TicketOf::Session(SessionTicket { person: operator.id, till: at_till(&operator)? });
    Ok(answer::ok(Ticket { tiket: staff.tickets.issue(of, store.now()) }))
}

/// Creates a ticket for the board of a tablet's outlet, by the tablet's cookie alone.
#[utoipa::path(
    post, path = "/ops/v1/soket/papan", operation_id = "soket_papan", tag = "papan", security(("browser" = [])),
    responses(
        (status = 200, body = Answer<Ticket>), (status = 401, description = "`perangkat belum dipasang`", body = Empty),
        (status = 403, description = "A person's own browser, or an API key", body = Empty),
    )
)]
pub async fn papan(
    _: ByCookie,
    req: HttpRequest,
    staff: web::Data<Staff>,
    store: web::Data<Store>,
) -> Result<HttpResponse, AppError> {
    let (client, now) = (store.get().await?, store.now());
    let here = browser::of_headers(&*client, req.headers(), now).await?;
    let outlet = here.outlet.ok_or(AppError::NotAllowed("hanya di tablet outlet"))?;
    let paired = browser::paired(&*client, &[here.id], now).await?.pop();
    let paired = paired.ok_or(AppError::NotLoggedIn("perangkat belum dipasang".into()))?;
    let of = TicketOf::Board(BoardTicket { paired, idoutlet: outlet.idoutlet });
    Ok(answer::ok(Ticket { tiket: staff.tickets.issue(of, now) }))
}
