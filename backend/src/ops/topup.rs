//! `POST /ops/v1/topup`: the cashier sells balance (every role).

use actix_web::{HttpResponse, web};
use deadpool_postgres::{GenericClient, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, OneOf, SchemaType, Type};

use super::idempotency::{IdempotencyKey, IdempotentCall};
use super::scope;
use crate::db::Store;
use crate::db::audit::{self, AuditEntry};
use crate::domain::id::Id;
use crate::domain::role::Role;
use crate::domain::rupiah::Rupiah;
use crate::domain::telp::Telp;
use crate::domain::timestamp::Timestamp;
use crate::domain::whole::Whole;
use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{ShortText, null, with};
use crate::ledger::topup::{self, AccountKind, Package, ToppedUp, WalletRef};
use crate::qr::customer::{self, QrError};
use crate::secrets::Secrets;
use crate::staff::operator::Operator;

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
        Self { idpembelian_emoney: t.idpembelian_emoney.to_string(), idcustomer: t.idcustomer, saldo_akhir: t.balance }
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
enum Payee<'a> {
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
    key: IdempotencyKey,
    store: web::Data<Store>,
    secrets: web::Data<Secrets>,
    body: Json<TopUp>,
) -> Result<HttpResponse, AppError> {
    let payee = match (&body.telp, &body.qr) {
        (Some(telp), None) => Payee::Telp(telp),
        (None, Some(qr)) => Payee::Qr(qr),
        _ => return Err(AppError::bad_input("isi salah satu: telp atau qr")),
    };
    let kind = AccountKind::parse(body.jenis_emoney.map(Whole::get), body.masa_aktif.map(Whole::get))?;
    let package = Package::parse(body.nominal, body.quota, body.nama_paket.as_deref(), kind)?;
    let now = store.now();
    let call = IdempotentCall::new(&operator, key, "topup", &*body, now)?;
    let mut client = store.get().await?;
    call.once(&mut client, async |tx| {
        no_bonus(&operator, &package)?;
        let outlet = scope::outlet(tx, &operator, body.idoutlet).await?;
        let id_customer_global = match payee {
            Payee::Telp(telp) => by_telp(tx, telp).await?,
            Payee::Qr(text) => by_qr(&secrets, text, now)?,
        };
        let wallet = WalletRef { id_customer_global, idoutlet: outlet.idoutlet, idowner: outlet.idowner };
        Ok(TopUpMade::from(sell(tx, wallet, &package, &operator.principal(), now).await?))
    })
    .await
}

/// A bonus is the owner's to give: whoever stands at the till with a `kasir` key sells a rupiah for a rupiah
/// (docs/contract.md §7).
fn no_bonus(operator: &Operator, package: &Package) -> Result<(), AppError> {
    let bonus = operator.role == Role::Kasir && package.quota != package.nominal;
    if bonus { Err(AppError::NotAllowed("bonus hanya lewat paket")) } else { Ok(()) }
}

/// The customer of a number; 404 `number belum terdaftar`.
pub async fn by_telp(client: &impl GenericClient, telp: &Telp) -> Result<i64, AppError> {
    let stmt = client.prepare_cached("SELECT id FROM customer_global WHERE telp = $1").await?;
    client.query_opt(&stmt, &[&telp.as_str()]).await?.map(|r| r.get(0)).ok_or(AppError::TelpUnknown)
}

fn by_qr(secrets: &Secrets, text: &str, now: Timestamp) -> Result<i64, AppError> {
    customer::parse(text, secrets, now).map_err(|e| match e {
        QrError::Foreign => AppError::Unprocessable("itu bukan kode QR pelanggan Nyala"),
        QrError::Expired => {
            AppError::Unprocessable("kode QR pelanggan sudah kedaluwarsa, minta pelanggan membuka ulang halaman Top Up")
        }
    })
}

/// The top-up and its line in the audit log.
pub async fn sell(
    tx: &Transaction<'_>,
    wallet: WalletRef,
    package: &Package,
    principal: &str,
    now: Timestamp,
) -> Result<ToppedUp, AppError> {
    let done = topup::topup(tx, wallet, package, principal, now).await?;
    let content = json!({
        "idcustomer": done.idcustomer, "idoutlet": wallet.idoutlet, "nominal": package.nominal, "quota": package.quota,
        "nama_paket": package.name, "jenis_emoney": package.kind.number(), "masa_aktif": package.kind.masa_aktif().map(Timestamp::ms),
        "saldo_akhir": done.balance,
    });
    let object = format!("pembelian_emoney:{}", done.idpembelian_emoney);
    audit::write(tx, &AuditEntry { principal, action: "topup", object, content }, now).await?;
    Ok(done)
}
