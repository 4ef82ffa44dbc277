//! `POST /scan/v1/transaksi/create_snap_transaksi`: hold the money, start the machine, answer with the truth.

use std::time::Duration;

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use utoipa::ToSchema;

use crate::app::AppState;
use crate::auth::pelanggan::Pelanggan;
use crate::domain::id::Id;
use crate::domain::no_nota::NoNota;
use crate::domain::rupiah::Rupiah;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::ledger::pembelian::remember_refusal;
use crate::mesin::messages::{Hasil, Start, Tunggu};
use crate::mesin::registry::Alamat;
use crate::pembelian::aturan::{Putusan, Tolakan, putuskan};
use crate::pembelian::batas::ANSWER_WAIT_MS;
use crate::pembelian::fakta::{self, Pesanan};
use crate::pembelian::keadaan::Keadaan;

/// How often the facts may change under one request before it is told to try later.
const TRIES: usize = 4;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateSnapTransaksi)]
pub struct Request {
    /// Made by the app.
    id: NoNota,
    idcustomer: Id,
    idmesin: Id,
    idoutlet: Id,
    idsnap_layanan: Id,
    /// Whole rupiah.
    #[schema(example = 2000, value_type = i64, minimum = 0, maximum = 20000000)]
    total: Rupiah,
    /// The same again.
    #[schema(example = 2000, value_type = i64, minimum = 0, maximum = 20000000)]
    grandtotal: Rupiah,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Started {
    /// The receipt number.
    id: String,
    message: &'static str,
}

/// Pays and starts the machine; answers when the device has, or after 8 s.
#[utoipa::path(
    post, path = "/scan/v1/transaksi/create_snap_transaksi", tag = "transaksi", security(("pelanggan" = [])),
    request_body = Request,
    responses(
        (status = 200, body = Answer<Started>, description = "The machine runs, or has run"),
        (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, body = Empty, description = "E-Pay, machine or service unknown"),
        (status = 409, body = Empty, description = "Price changed, machine offline or in use, or the device refused; the money is back"),
        (status = 422, body = Empty, description = "Receipt number used for another body, or balance too low"),
        (status = 429, body = Empty, description = "More purchases in a minute than a customer may ask for; `Retry-After` in seconds"),
        (status = 503, body = Empty, description = "Cannot be taken now, nothing was decided; `Retry-After` in seconds"),
        (status = 504, body = Empty, description = "No answer from the device in 8 s; a repeat tells how it ended"),
    )
)]
pub async fn create_snap_transaksi(
    state: web::Data<AppState>,
    me: Pelanggan,
    body: Json<Request>,
) -> Result<HttpResponse, AppError> {
    let body = body.into_inner();
    let pesanan = Pesanan {
        id_customer_global: me.id,
        no_nota: body.id,
        idcustomer: body.idcustomer.get(),
        idmesin: body.idmesin.get(),
        idoutlet: body.idoutlet.get(),
        idlayanan: body.idsnap_layanan.get(),
        total: body.total.within("total", 0)?,
        grandtotal: body.grandtotal.within("grandtotal", 0)?,
    };
    tracing::Span::current().record("nota", pesanan.no_nota.as_str());
    let wait = Duration::from_millis(ANSWER_WAIT_MS.unsigned_abs());
    match tokio::time::timeout(wait, buy(&state, &pesanan)).await {
        Ok(done) => done?,
        Err(_) => return Err(AppError::MesinSilent),
    }
    let message = "Mesin Berhasil dinyalakan";
    Ok(answer::ok_with(message, Started { id: pesanan.no_nota.as_str().to_owned(), message }))
}

/// Comes back when the outcome of `pesanan` is known, as a success or as the refusal to answer with.
async fn buy(state: &AppState, pesanan: &Pesanan) -> Result<(), AppError> {
    if !state.is_ready() {
        return Err(AppError::Unavailable);
    }
    for _ in 0..TRIES {
        let putusan = {
            let client = state.db.get().await?;
            putuskan(pesanan, fakta::baca(&client, pesanan).await?, state.jam.now())
        };
        if putusan.is_new() {
            state.purchase_rate.admit(pesanan.id_customer_global, pesanan.no_nota.digits(), state.jam.now())?;
        }
        let hasil = match putusan {
            Putusan::NotaBeda => return Err(AppError::NotaTaken),
            Putusan::SudahDitolak(why) => return Err(why.into()),
            Putusan::Tolak(why) => Hasil::Ditolak(why),
            Putusan::Ada { keadaan: Keadaan::Refused | Keadaan::Expired, .. } => Hasil::TidakMenyala,
            Putusan::Ada { keadaan: Keadaan::Running | Keadaan::Finished | Keadaan::Stopped, .. } => Hasil::Menyala,
            Putusan::Ada { idtransaksi, .. } => {
                let alamat = Alamat::find(state, pesanan.idmesin).await?;
                ask(|balas| state.mesin.tell(state, &alamat, Tunggu { idtransaksi, balas })).await?
            }
            Putusan::Boleh { mesin, layanan } => {
                let alamat = Alamat { idmesin: pesanan.idmesin, idoutlet: mesin.idoutlet, driver: mesin.driver.clone() };
                let pesanan = pesanan.clone();
                ask(|balas| state.mesin.tell(state, &alamat, Start { pesanan, mesin, layanan, balas: vec![balas] })).await?
            }
        };
        match hasil {
            Hasil::Menyala => return Ok(()),
            Hasil::TidakMenyala => return Err(AppError::MesinRefused),
            Hasil::Sibuk => return Err(AppError::Unavailable),
            Hasil::BacaLagi => {}
            Hasil::Ditolak(why) => {
                if refuse(state, pesanan, why).await? {
                    return Err(why.into());
                }
            }
        }
    }
    Err(AppError::Unavailable)
}

/// Remembers the refusal; `false` when the receipt was claimed meanwhile and the facts must be read again.
async fn refuse(state: &AppState, pesanan: &Pesanan, why: Tolakan) -> Result<bool, AppError> {
    let client = state.db.get().await?;
    remember_refusal(&client, pesanan, why, state.jam.now()).await
}

/// Asks an actor; one that went away before answering means that the facts must be read again.
async fn ask(tell: impl FnOnce(oneshot::Sender<Hasil>) -> Result<(), AppError>) -> Result<Hasil, AppError> {
    let (balas, answer) = oneshot::channel();
    tell(balas)?;
    Ok(answer.await.unwrap_or(Hasil::BacaLagi))
}
