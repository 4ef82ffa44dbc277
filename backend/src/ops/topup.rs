//! `POST /ops/v1/topup`: the cashier sells balance (every role).

use actix_web::{HttpResponse, web};
use deadpool_postgres::{GenericClient, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::idempotensi::{IdempotencyKey, Panggilan};
use super::kunci::Operator;
use super::lingkup;
use crate::app::AppState;
use crate::db::audit::{self, Catatan};
use crate::domain::id::Id;
use crate::domain::rupiah::Rupiah;
use crate::domain::telp::Telp;
use crate::domain::waktu::Waktu;
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::ledger::topup::{self, JenisEmoney, Paket, Rekening, ToppedUp};
use crate::qr::pelanggan::{self, QrError};

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct TopUp {
    /// The customer's number in any form; this or `qr`.
    #[schema(value_type = Option<String>)]
    telp: Option<Telp>,
    /// The text of the customer's QR, not older than 5 minutes; this or `telp`.
    qr: Option<String>,
    #[schema(value_type = i64)]
    idoutlet: Id,
    /// Rupiah paid, 1 to 20,000,000.
    #[schema(value_type = i64)]
    nominal: Rupiah,
    /// Rupiah added, 1 to 20,000,000; `nominal` when left out.
    #[schema(value_type = Option<i64>)]
    quota: Option<Rupiah>,
    /// 1 to 100 characters; `Top-Up` when left out.
    nama_paket: Option<String>,
    /// 2 (default) never expires; 1 needs `masa_aktif`.
    jenis_emoney: Option<i64>,
    /// Epoch milliseconds.
    masa_aktif: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TopUpMade {
    /// A decimal string, as in the history.
    idpembelian_emoney: String,
    idcustomer: i64,
    saldo_akhir: i64,
}

impl From<ToppedUp> for TopUpMade {
    fn from(t: ToppedUp) -> Self {
        Self { idpembelian_emoney: t.idpembelian_emoney.to_string(), idcustomer: t.idcustomer, saldo_akhir: t.saldo_akhir }
    }
}

/// Who is topped up.
enum Siapa<'a> {
    Telp(&'a Telp),
    Qr(&'a str),
}

/// Tops up a customer's account at an outlet; the first top-up opens it.
#[utoipa::path(
    post, path = "/ops/v1/topup", tag = "operator", security(("operator" = [])), request_body = TopUp,
    params(("Idempotency-Key" = String, Header, description = "1 to 200 visible ASCII characters; a repeat gets the same answer")),
    responses(
        (status = 200, body = Answer<TopUpMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 404, body = Empty), (status = 409, body = Empty),
        (status = 422, body = Empty),
    )
)]
pub async fn topup(
    operator: Operator,
    kunci: IdempotencyKey,
    state: web::Data<AppState>,
    body: Json<TopUp>,
) -> Result<HttpResponse, AppError> {
    let siapa = match (&body.telp, &body.qr) {
        (Some(telp), None) => Siapa::Telp(telp),
        (None, Some(qr)) => Siapa::Qr(qr),
        _ => return Err(AppError::bad_input("isi salah satu: telp atau qr")),
    };
    let jenis = JenisEmoney::parse(body.jenis_emoney, body.masa_aktif)?;
    let paket = Paket::parse(body.nominal, body.quota, body.nama_paket.as_deref(), jenis)?;
    let now = state.jam.now();
    let panggilan = Panggilan::new(&operator, kunci, "topup", &*body, now)?;
    let mut client = state.db.get().await?;
    panggilan
        .once(&mut client, async |tx| {
            let outlet = lingkup::outlet(tx, &operator, body.idoutlet).await?;
            let id_customer_global = match siapa {
                Siapa::Telp(telp) => by_telp(tx, telp).await?,
                Siapa::Qr(text) => by_qr(&state, text, now)?,
            };
            let rekening = Rekening { id_customer_global, idoutlet: outlet.idoutlet, idowner: outlet.idowner };
            Ok(TopUpMade::from(sell(tx, rekening, &paket, &operator.aktor(), now).await?))
        })
        .await
}

/// The customer of a number; 404 `nomor belum terdaftar`.
pub async fn by_telp(client: &impl GenericClient, telp: &Telp) -> Result<i64, AppError> {
    let stmt = client.prepare_cached("SELECT id FROM customer_global WHERE telp = $1").await?;
    client.query_opt(&stmt, &[&telp.as_str()]).await?.map(|r| r.get(0)).ok_or(AppError::TelpUnknown)
}

fn by_qr(state: &AppState, text: &str, now: Waktu) -> Result<i64, AppError> {
    pelanggan::parse(text, &state.secrets, now).map_err(|e| match e {
        QrError::Foreign => AppError::Unprocessable("itu bukan kode QR pelanggan Nyala"),
        QrError::Expired => {
            AppError::Unprocessable("kode QR pelanggan sudah kedaluwarsa, minta pelanggan membuka ulang halaman Top Up")
        }
    })
}

/// The top-up and its line in the audit log.
pub async fn sell(
    tx: &Transaction<'_>,
    rekening: Rekening,
    paket: &Paket,
    aktor: &str,
    now: Waktu,
) -> Result<ToppedUp, AppError> {
    let done = topup::topup(tx, rekening, paket, aktor, now).await?;
    let isi = json!({
        "idcustomer": done.idcustomer, "idoutlet": rekening.idoutlet, "nominal": paket.nominal, "quota": paket.quota,
        "nama_paket": paket.nama, "jenis_emoney": paket.jenis.nomor(), "masa_aktif": paket.jenis.masa_aktif().map(Waktu::ms),
        "saldo_akhir": done.saldo_akhir,
    });
    let objek = format!("pembelian_emoney:{}", done.idpembelian_emoney);
    audit::write(tx, &Catatan { aktor, aksi: "topup", objek, isi }, now).await?;
    Ok(done)
}
