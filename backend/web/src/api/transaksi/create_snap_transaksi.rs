//! `POST /scan/v1/transaksi/create_snap_transaksi`: holds the money, starts the machine, and reports the outcome.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::{MachineId, OutletId, ServiceId, WalletId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Input, Outcome, Start};
use nyala_core::purchase::facts::Order;
use nyala_core::purchase::rules::{Decision, Refusal, decide};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::times::ANSWER_WAIT_MS;
use nyala_core::rate_limit::purchases::PurchaseRate;
use nyala_ledger::came_back;
use nyala_ledger::facts;
use nyala_ledger::purchase::remember_refusal;
use nyala_ledger::tariff::{self, tariff};
use nyala_machines::device;
use nyala_machines::machines::{Location, Machines};
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use utoipa::ToSchema;

use crate::api::auth::customer::Customer;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::{AppError, HargaSekarang};
use crate::http::json::Json;

/// How often the facts may change during one request before it is refused as busy.
const MAX_ATTEMPTS: usize = 4;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateSnapTransaksi)]
pub struct Request {
    /// The receipt number, created by the app.
    id: ReceiptNumber,
    idcustomer: WalletId,
    idmesin: MachineId,
    idoutlet: OutletId,
    idsnap_layanan: ServiceId,
    /// Whole rupiah.
    #[schema(example = 2000, value_type = i64, minimum = 0, maximum = 20000000)]
    total: Rupiah,
    /// Equal to `total`.
    #[schema(example = 2000, value_type = i64, minimum = 0, maximum = 20000000)]
    grandtotal: Rupiah,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Started {
    /// The receipt number.
    id: String,
    message: &'static str,
}

/// Pays and starts the machine. Answers when the device has answered, or after 8 s.
#[utoipa::path(
    post, path = "/scan/v1/transaksi/create_snap_transaksi", tag = "transaksi", security(("pelanggan" = [])),
    request_body = Request,
    responses(
        (status = 200, body = Answer<Started>, description = "The machine runs, or has run"),
        (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, body = Empty, description = "E-Pay, machine or service unknown"),
        (status = 409, body = Answer<Option<HargaSekarang>>, description = "Price changed (`data` has the present one, otherwise it is null), machine offline or in use, or the device refused; the money is back"),
        (status = 422, body = Empty, description = "Receipt number used for another body, or balance too low"),
        (status = 429, body = Empty, description = "More purchases in a minute than a customer may ask for; `Retry-After` in seconds"),
        (status = 503, body = Empty, description = "Cannot be taken now, nothing was decided; `Retry-After` in seconds"),
        (status = 504, body = Empty, description = "No answer from the device in 8 s; a repeat tells how it ended"),
    )
)]
pub async fn create_snap_transaksi(
    store: web::Data<Store>,
    machines: web::Data<Machines>,
    rate: web::Data<PurchaseRate>,
    me: Customer,
    body: Json<Request>,
) -> Result<HttpResponse, AppError> {
    let body = body.into_inner();
    let order = Order {
        id_customer_global: me.id,
        receipt_number: body.id,
        idcustomer: body.idcustomer,
        idmesin: body.idmesin,
        idoutlet: body.idoutlet,
        idlayanan: body.idsnap_layanan,
        total: body.total.within("total", 0)?,
        grandtotal: body.grandtotal.within("grandtotal", 0)?,
        test: None,
    };
    tracing::Span::current().record("nota", order.receipt_number.as_str());
    buy(&store, &machines, Some(&rate), &order).await?;
    let message = "Mesin Berhasil dinyalakan";
    Ok(answer::ok_with(message, Started { id: order.receipt_number.as_str().to_owned(), message }))
}

/// Returns when the outcome of `order` is known, as a success or as the refusal to respond with; with 504 when the device does not answer.
/// A test start has no `rate`.
pub async fn buy(store: &Store, machines: &Machines, rate: Option<&PurchaseRate>, order: &Order) -> Result<(), AppError> {
    let wait = Duration::from_millis(ANSWER_WAIT_MS.unsigned_abs());
    tokio::time::timeout(wait, decided(store, machines, rate, order)).await.unwrap_or(Err(AppError::MachineSilent))
}

async fn decided(store: &Store, machines: &Machines, rate: Option<&PurchaseRate>, order: &Order) -> Result<(), AppError> {
    if !machines.are_open() {
        return Err(AppError::Unavailable);
    }
    for _ in 0..MAX_ATTEMPTS {
        let decision = {
            let client = store.get().await?;
            let now = store.now();
            decide(order, facts::read(&client, order, now).await?, now)
        };
        if let Some(rate) = rate.filter(|_| decision.is_new()) {
            rate.admit(order.id_customer_global, order.receipt_number.digits(), store.now())?;
        }
        let outcome = match decision {
            Decision::ReceiptTaken => return Err(AppError::ReceiptTaken),
            Decision::RefusedBefore(why) => return Err(refusal(store, order, why).await?),
            Decision::Refused(why) => Outcome::Refused(why),
            Decision::Purchased { state: PurchaseState::Refused | PurchaseState::Expired, .. } => Outcome::NotStarted,
            Decision::Purchased { state: PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped, .. } => {
                Outcome::Started
            }
            Decision::Purchased { purchase_id, .. } => {
                let location = machines.find(order.idmesin).await?;
                outcome(machines.ask(&location, |buyer| Input::Await { purchase_id, buyer })?).await
            }
            Decision::Allowed { machine, service } => {
                let location = Location { idmesin: order.idmesin, idoutlet: machine.idoutlet, driver: machine.driver };
                // Checked before the money is held: a device that has just gone offline cannot start.
                if device::is_ready(machines, location).await == Some(false) {
                    Outcome::Refused(Refusal::MachineOffline)
                } else {
                    let order = order.clone();
                    let start = |buyer| Input::Start(Start { order, machine, service, buyers: vec![buyer] });
                    outcome(machines.ask(&location, start)?).await
                }
            }
        };
        match outcome {
            Outcome::Started => return Ok(()),
            Outcome::NotStarted => return Err(not_started(store, order).await?),
            Outcome::Busy => return Err(AppError::Unavailable),
            Outcome::ReadAgain | Outcome::Ended => {}
            Outcome::Refused(why) => {
                if refuse(store, order, why).await? {
                    return Err(refusal(store, order, why).await?);
                }
            }
        }
    }
    Err(AppError::Unavailable)
}

/// The answer to a refused order. For a changed price it contains the present one, for a repeat too.
async fn refusal(store: &Store, order: &Order, why: Refusal) -> Result<AppError, AppError> {
    const TARIFF: &str = concat!(
        "SELECT ",
        tariff!(),
        " FROM layanan l JOIN outlet o USING (idoutlet) WHERE l.idlayanan = $1 AND l.idoutlet = $2 AND l.aktif"
    );
    if why != Refusal::PriceChanged {
        return Ok(why.into());
    }
    let client = store.get().await?;
    let stmt = client.prepare_cached(TARIFF).await?;
    let Some(row) = client.query_opt(&stmt, &[&order.idlayanan, &order.idoutlet]).await? else { return Ok(why.into()) };
    let price = tariff::of(&row)?.at(store.now());
    Ok(AppError::PriceChanged(Some(HargaSekarang {
        idlayanan: order.idlayanan,
        harga: price.price,
        harga_sampai: price.until.map(Timestamp::ms),
    })))
}

/// The message for a customer whose money is back. It includes until when the money is usable, if the account had expired in the
/// meantime.
async fn not_started(store: &Store, order: &Order) -> Result<AppError, AppError> {
    const SINCE: &str = "SELECT created_at FROM snap_transaksi WHERE id_customer_global = $1 AND no_nota = $2";
    let client = store.get().await?;
    let stmt = client.prepare_cached(SINCE).await?;
    let row = client.query_opt(&stmt, &[&order.id_customer_global, &order.receipt_number.as_str()]).await?;
    let Some(row) = row else { return Ok(AppError::MachineRefused) };
    let until = came_back::usable_until(&*client, order.idcustomer, row.get(0)).await?;
    Ok(until.map_or(AppError::MachineRefused, |(_, until)| AppError::MachineRefusedUsable(until)))
}

/// Stores the refusal; `false` when the receipt was claimed concurrently and the facts must be read again.
async fn refuse(store: &Store, order: &Order, why: Refusal) -> Result<bool, AppError> {
    let client = store.get().await?;
    Ok(remember_refusal(&client, order, why, store.now()).await?)
}

/// Awaits a request's outcome. If the actor ends before it responds, the facts must be read again.
async fn outcome(answer: oneshot::Receiver<Outcome>) -> Outcome {
    answer.await.unwrap_or(Outcome::ReadAgain)
}
