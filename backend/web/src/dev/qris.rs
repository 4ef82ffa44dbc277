//! `GET /dev/qris` and `POST /dev/qris/{order_id}`: orders of the simulated payment provider, and paying them (docs/qris.md).

use actix_web::http::header;
use actix_web::{Either, HttpRequest, HttpResponse, web};
use futures_util::future::join_all;
use nyala_core::bill::{MAX_BILL, ProviderKind};
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::Whole;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{page, wants_page};
use crate::http::answer::{Answer, Empty, done, ok};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::live::balances::Balances;
use crate::qris::Qris;
use crate::qris::simulated::{SimulatedAct, SimulatedOrder};

const NOT_SIMULATED: AppError = AppError::NotFound("pembayaran lewat penyedia sungguhan");
const UNKNOWN: AppError = AppError::NotFound("pesanan tidak ditemukan");
/// Notifications of one act.
const MAX_TIMES: i64 = 20;

#[derive(Debug, Serialize, ToSchema)]
pub struct QrisOrder {
    order_id: String,
    /// Rupiah.
    jumlah: i64,
    /// `menunggu`, `dibayar`, `kedaluwarsa` or `batal`.
    status: String,
    kedaluwarsa_at: Timestamp,
}

impl From<SimulatedOrder> for QrisOrder {
    fn from(order: SimulatedOrder) -> Self {
        Self { order_id: order.order_id, jumlah: order.amount, status: order.status, kedaluwarsa_at: order.expires_at }
    }
}

/// The orders, newest first; a page for a browser.
#[utoipa::path(
    get, path = "/dev/qris", operation_id = "dev_qris", tag = "development",
    responses((status = 200, body = Answer<Vec<QrisOrder>>), (status = 403, description = "Through a proxy, or by a name", body = Empty),
        (status = 404, body = Empty))
)]
pub async fn orders(req: HttpRequest, qris: web::Data<Qris>) -> Result<HttpResponse, AppError> {
    let simulated = qris.simulated.as_ref().ok_or(NOT_SIMULATED)?;
    let orders: Vec<_> = simulated.orders().await?.into_iter().map(QrisOrder::from).collect();
    Ok(if wants_page(&req) { page("QRIS", "Belum ada tagihan.", &items(&orders)) } else { ok(orders) })
}

/// Only ids, numbers and statuses, so nothing needs escaping.
fn items(orders: &[QrisOrder]) -> String {
    let button = |id: &str, act: &str, text: &str| {
        format!("<form method=\"post\" action=\"/dev/qris/{id}\"><button name=\"aksi\" value=\"{act}\">{text}</button></form> ")
    };
    let item = |order: &QrisOrder| {
        let id = &order.order_id;
        let buttons = match order.status.as_str() {
            "dibayar" => String::new(),
            "menunggu" => {
                button(id, "bayar", "Bayar") + &button(id, "kedaluwarsa", "Kedaluwarsa") + &button(id, "terlambat", "Terlambat")
            }
            _ => button(id, "terlambat", "Terlambat"),
        };
        let (amount, status, until) = (order.jumlah, &order.status, order.kedaluwarsa_at.rfc3339());
        format!("<li><b>{amount}</b> <span>{id} · {status} · {until}</span><p>{buttons}</p></li>")
    };
    orders.iter().map(item).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aksi {
    Bayar,
    Kedaluwarsa,
    /// It expires, and is paid after that.
    Terlambat,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct PayQris {
    aksi: Aksi,
    /// Rupiah that are paid; those of the order when left out.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 10000000)]
    jumlah: Option<Rupiah>,
    /// How many notifications come at once; one when left out.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20)]
    kali: Option<Whole>,
    /// True: no notification comes, and only a question finds it.
    diam: Option<bool>,
}

/// The button of the page.
#[derive(Debug, Deserialize)]
pub struct Button {
    aksi: Aksi,
}

/// Pays an order, or has it expire. The answer comes when the notifications are handled.
#[utoipa::path(
    post, path = "/dev/qris/{order_id}", operation_id = "dev_qris_pay", tag = "development", request_body = PayQris,
    params(("order_id" = String, Path, description = "Of `GET /dev/qris`")),
    responses((status = 200, body = Empty), (status = 400, body = Empty),
        (status = 403, description = "Sent by a page of another site, through a proxy or by a name", body = Empty), (status = 404, body = Empty))
)]
pub async fn act(
    qris: web::Data<Qris>,
    balances: web::Data<Balances>,
    order_id: web::Path<String>,
    body: Either<Json<PayQris>, web::Form<Button>>,
) -> Result<HttpResponse, AppError> {
    let is_button = matches!(body, Either::Right(_));
    let body = match body {
        Either::Left(body) => body.into_inner(),
        Either::Right(button) => PayQris { aksi: button.aksi, jumlah: None, kali: None, diam: None },
    };
    let amount = body.jumlah.map(|amount| amount.between("jumlah", (1, MAX_BILL))).transpose()?;
    let times = body.kali.map_or(1, Whole::get);
    if !(1..=MAX_TIMES).contains(&times) {
        return Err(AppError::bad_input(format!("kali harus 1 sampai {MAX_TIMES}")));
    }
    let simulated = qris.simulated.as_ref().ok_or(NOT_SIMULATED)?;
    let acts = match body.aksi {
        Aksi::Bayar => vec![SimulatedAct::Pay(amount)],
        Aksi::Kedaluwarsa => vec![SimulatedAct::Expire],
        Aksi::Terlambat => vec![SimulatedAct::Expire, SimulatedAct::Pay(amount)],
    };
    for act in acts {
        let order = simulated.act(&order_id, act).await?.ok_or(UNKNOWN)?;
        let notification = serde_json::to_vec(&order.notification()).map_err(AppError::internal)?;
        if body.diam != Some(true) {
            let notify = (0..times).map(|_| qris.notified(&balances, ProviderKind::Simulated, &notification));
            join_all(notify).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        }
    }
    if is_button {
        return Ok(HttpResponse::SeeOther().insert_header((header::LOCATION, "/dev/qris")).finish());
    }
    Ok(done("OK"))
}
