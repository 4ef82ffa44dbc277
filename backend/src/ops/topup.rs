//! `POST /ops/v1/topup`: the cashier sells balance (every role).

use actix_web::{HttpResponse, web};
use deadpool_postgres::{GenericClient, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, OneOf, SchemaType, Type};

use super::idempotensi::{IdempotencyKey, Panggilan};
use super::kunci::{Operator, Role};
use super::lingkup;
use crate::app::AppState;
use crate::db::audit::{self, Catatan};
use crate::domain::id::Id;
use crate::domain::rupiah::Rupiah;
use crate::domain::telp::Telp;
use crate::domain::waktu::Waktu;
use crate::domain::whole::Whole;
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{ShortText, null, with};
use crate::ledger::topup::{self, JenisEmoney, Paket, Rekening, ToppedUp};
use crate::qr::pelanggan::{self, QrError};

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct TopUp {
    /// The customer's number in any form; this or `qr`.
    telp: Option<Telp>,
    /// The text of the customer's QR, not older than 5 minutes; this or `telp`.
    qr: Option<String>,
    idoutlet: Id,
    /// Rupiah paid.
    #[schema(value_type = i64, minimum = 1, maximum = 20000000)]
    nominal: Rupiah,
    /// Rupiah added; `nominal` when left out. A `kasir` key adds what was paid, no more and no less.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20000000)]
    quota: Option<Rupiah>,
    /// `Top-Up` when left out.
    #[schema(value_type = Option<ShortText>)]
    nama_paket: Option<String>,
    /// 2 (default) never expires; 1 needs `masa_aktif`.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 2)]
    jenis_emoney: Option<Whole>,
    /// Epoch milliseconds, in the future.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 253402300799999_i64)]
    masa_aktif: Option<Whole>,
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

/// What binds its fields together: a number or a code, and an expiry for what expires.
pub fn together() -> [OneOf; 2] {
    let either = |this: &str, not: &str| with(this, Object::with_type(Type::String)).property(not, null());
    let whole = |values: &[Option<i64>]| {
        ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Integer, Type::Null])).enum_values(Some(values.to_vec()))
    };
    let expires =
        with("masa_aktif", Object::with_type(Type::Integer)).property("jenis_emoney", whole(&[Some(1)])).required("jenis_emoney");
    let stays = ObjectBuilder::new().property("masa_aktif", null()).property("jenis_emoney", whole(&[Some(2), None]));
    [
        OneOf::builder().item(either("telp", "qr")).item(either("qr", "telp")).build(),
        OneOf::builder().item(expires).item(stays).build(),
    ]
}

/// Who is topped up.
enum Siapa<'a> {
    Telp(&'a Telp),
    Qr(&'a str),
}

/// Tops up a customer's account at an outlet; the first top-up opens it.
#[utoipa::path(
    post, path = "/ops/v1/topup", tag = "operator", security(("operator" = [])), request_body = TopUp,
    params(IdempotencyKey),
    responses(
        (status = 200, body = Answer<TopUpMade>),
        (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "`bonus hanya lewat paket`: a `kasir` key with another `quota` than `nominal`", body = Empty),
        (status = 404, body = Empty), (status = 409, body = Empty), (status = 422, body = Empty),
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
    let jenis = JenisEmoney::parse(body.jenis_emoney.map(Whole::get), body.masa_aktif.map(Whole::get))?;
    let paket = Paket::parse(body.nominal, body.quota, body.nama_paket.as_deref(), jenis)?;
    let now = state.jam.now();
    let panggilan = Panggilan::new(&operator, kunci, "topup", &*body, now)?;
    let mut client = state.db.get().await?;
    panggilan
        .once(&mut client, async |tx| {
            no_bonus(&operator, &paket)?;
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

/// A bonus is the owner's to give: whoever stands at the till with a `kasir` key sells a rupiah for a rupiah (contract §7).
fn no_bonus(operator: &Operator, paket: &Paket) -> Result<(), AppError> {
    let bonus = operator.role == Role::Kasir && paket.quota != paket.nominal;
    if bonus { Err(AppError::NotAllowed("bonus hanya lewat paket")) } else { Ok(()) }
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
