//! `POST /ops/v1/soket`: issues a ticket for the socket of this session: `auth: {tiket}`, once, within a minute.

use actix_web::{HttpResponse, web};
use nyala_identity::staff::Staff;
use nyala_identity::staff::ticket::TicketOf;
use nyala_store::db::Store;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Seller;

#[derive(Debug, Serialize, ToSchema)]
pub struct Ticket {
    tiket: String,
}

/// Creates a ticket for a socket.
#[utoipa::path(
    post, path = "/ops/v1/soket", tag = "kasir", security(("session" = [])),
    responses((status = 200, body = Answer<Ticket>), (status = 401, body = Empty), (status = 403, body = Empty))
)]
pub async fn soket(seller: Seller, staff: web::Data<Staff>, store: web::Data<Store>) -> Result<HttpResponse, AppError> {
    let of = TicketOf { person: seller.operator.id, till: seller.till };
    Ok(answer::ok(Ticket { tiket: staff.tickets.issue(of, store.now()) }))
}
