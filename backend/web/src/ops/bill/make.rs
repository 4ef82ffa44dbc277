//! `POST /ops/v1/tagihan`: a bill for a customer at a till, in its open shift. It becomes a top-up when its provider says that it is paid.

use actix_web::{HttpResponse, web};
use nyala_core::bill::{BillId, MIN_AT_TILL};
use nyala_core::domain::id::{CustomerId, PackageId};
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::telp::Telp;
use nyala_identity::staff::Staff;
use nyala_ledger::bill::BillPlace;
use nyala_ledger::shift;
use nyala_ledger::topup::WalletRef;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::secrets::Keyring;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::OneOf;

use super::list::of_till;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};
use crate::ops::people::key::Seller;
use crate::ops::people::payee::{self, Named};
use crate::qris::Qris;
use crate::qris::make::{Asked, NOT_HERE, amount_or_package, outlet};
use crate::qris::tagihan::Tagihan;

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct NewTagihan {
    /// From `pelanggan/cari` at this till within the hour; this, `telp` or `qr`.
    id_customer_global: Option<CustomerId>,
    /// The customer's number in any form.
    telp: Option<Telp>,
    /// The text of the customer's QR, not older than 5 minutes.
    qr: Option<String>,
    /// Rupiah to be paid; this or `idpaket`.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 10000000)]
    nominal: Option<Rupiah>,
    /// A package of the outlet.
    idpaket: Option<PackageId>,
}

/// Rule that connects the fields: one of the customer's identifiers, and an amount or a package.
pub fn together() -> [OneOf; 2] {
    [payee::one_of(), amount_or_package()]
}

/// Makes a bill at this till. The customer pays it by scanning `png`.
#[utoipa::path(
    post, path = "/ops/v1/tagihan", operation_id = "tagihan_buat", tag = "kasir", security(("session" = [])), request_body = NewTagihan,
    params(IdempotencyKey),
    responses(
        (status = 200, body = Answer<Tagihan>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "An API key", body = Empty),
        (status = 404, description = "`pelanggan tidak ditemukan`, `nomor belum terdaftar`, `paket tidak ditemukan`", body = Empty),
        (status = 409, description = "`QRIS tidak tersedia di outlet ini`, `shift belum dibuka`", body = Empty),
        (status = 422, description = "`harga paket di luar batas QRIS`, `saldo paling banyak Rp 2.000.000` (`ledger.max_balance`)", body = Empty),
        (status = 429, description = "Sixty numbers an hour at one till", body = Empty),
        (status = 503, description = "`QRIS sedang tidak bisa dipakai, coba lagi`: the provider does not answer", body = Empty),
    )
)]
pub async fn make(
    seller: Seller,
    key: IdempotencyKey,
    staff: web::Data<Staff>,
    keyring: web::Data<Keyring>,
    qris: web::Data<Qris>,
    body: Json<NewTagihan>,
) -> Result<HttpResponse, AppError> {
    let Seller { operator, till } = seller;
    let named = Named::one(body.id_customer_global, body.telp.as_ref(), body.qr.as_deref())?;
    let asked = Asked::parse(body.nominal, body.idpaket, MIN_AT_TILL)?;
    let (now, principal) = (staff.store.now(), operator.principal());
    let call = IdempotentCall::new(&operator, key, "tagihan", &*body, now)?;
    let mut client = staff.store.get().await?;
    let id: String = call
        .begin(&mut client, async |tx| {
            let outlet = match till.idoutlet {
                Some(idoutlet) => outlet(tx, idoutlet).await?.filter(|outlet| qris.serves(outlet.mode, outlet.idowner)),
                None => None,
            };
            let outlet = outlet.ok_or(NOT_HERE)?;
            shift::hold_open(tx, till.browser).await?;
            let payee = named.find(tx, (&staff, &operator), &keyring.get(), now).await?;
            let goods = asked.goods(tx, outlet, MIN_AT_TILL).await?;
            let wallet = WalletRef { id_customer_global: payee.id, idoutlet: outlet.idoutlet, idowner: outlet.idowner };
            let id = qris.store_bill(tx, outlet, (wallet, BillPlace::Till(till.browser)), &goods, &principal).await?;
            let content = json!({
                "id_customer_global": payee.id, "nominal": goods.nominal, "quota": goods.quota, "nama_paket": goods.name, "idpaket": goods.idpaket,
            });
            let entry = AuditEntry { principal: &principal, action: "tagihan.buat", object: format!("tagihan:{id}"), content };
            audit::write_at(tx, Some(outlet.idoutlet), &entry, now).await?;
            Ok(id.as_str().to_owned())
        })
        .await?;
    drop(client);
    let id = BillId::parse(&id).ok_or_else(|| AppError::internal("a bill was stored with an unknown id"))?;
    qris.charge(&id).await?;
    let client = staff.store.get().await?;
    Ok(answer::ok(of_till(&*client, &id, till.browser, now).await?))
}
