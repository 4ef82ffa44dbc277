//! `POST /scan/v1/epayment/tagihan`, `GET /scan/v1/epayment/tagihan/{id}` and `POST /scan/v1/epayment/tagihan/{id}/batal`: the customer tops up by
//! QRIS.

use actix_web::{HttpResponse, web};
use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::bill::{BillId, HOUR_MS, MAX_HOURLY, MAX_OPEN, MIN_ON_PHONE};
use nyala_core::domain::id::{CustomerId, OutletId, PackageId};
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::timestamp::{Timestamp, seconds_up};
use nyala_ledger::bill::{self, BillPlace, bill_of_customer};
use nyala_ledger::topup::WalletRef;
use nyala_store::db::Store;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::auth::customer::Customer;
use crate::http::answer::{Answer, Empty, ok};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::live::balances::Balances;
use crate::qris::make::{self, Asked, BillOutlet, NOT_HERE};
use crate::qris::tagihan::{Tagihan, select_bill};
use crate::qris::{Qris, UNKNOWN};

#[derive(Debug, Deserialize, ToSchema)]
pub struct NewTagihanSaya {
    /// Made by the phone; the same id gives the same bill.
    #[schema(value_type = String, pattern = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]
    id: String,
    idoutlet: OutletId,
    /// Rupiah to be paid; this or `idpaket`.
    #[schema(value_type = Option<i64>, minimum = 10000, maximum = 10000000)]
    nominal: Option<Rupiah>,
    /// A package of the outlet.
    idpaket: Option<PackageId>,
}

/// A request of a phone that is understood.
struct PhoneRequest {
    id: Uuid,
    idoutlet: OutletId,
    asked: Asked,
}

impl PhoneRequest {
    fn parse(body: &NewTagihanSaya) -> Result<Self, AppError> {
        const UUID_CHARS: usize = 36;
        let id = Uuid::try_parse(&body.id).ok().filter(|_| body.id.len() == UUID_CHARS);
        let id = id.ok_or_else(|| AppError::bad_input("id harus UUID"))?;
        Ok(Self { id, idoutlet: body.idoutlet, asked: Asked::parse(body.nominal, body.idpaket, MIN_ON_PHONE)? })
    }

    /// The bill that the same request has made.
    async fn made(&self, tx: &Transaction<'_>, customer: CustomerId) -> Result<Option<BillId>, AppError> {
        const MADE: &str =
            "SELECT id, idoutlet, nominal, idpaket FROM tagihan WHERE id_customer_global = $1 AND id_permintaan = $2";
        let stmt = tx.prepare_cached(MADE).await?;
        let Some(row) = tx.query_opt(&stmt, &[&customer, &self.id]).await? else { return Ok(None) };
        let asked = row.get::<_, Option<PackageId>>(3).map_or_else(|| Asked::Nominal(row.get(2)), Asked::Package);
        if (row.get::<_, OutletId>(1), asked) != (self.idoutlet, self.asked) {
            return Err(AppError::Unprocessable("id sudah dipakai untuk permintaan lain"));
        }
        Ok(BillId::parse(row.get(0)))
    }
}

/// A few bills of a customer at a time.
async fn check_limits(tx: &Transaction<'_>, customer: CustomerId, now: Timestamp) -> Result<(), AppError> {
    let bills = bill::of_phone(tx, customer, now.plus_ms(-HOUR_MS), now).await?;
    let until = if bills.open >= MAX_OPEN {
        bills.first_ends_at
    } else if bills.hourly >= MAX_HOURLY {
        bills.oldest_at.map(|at| at.plus_ms(HOUR_MS))
    } else {
        None
    };
    until.map_or(Ok(()), |until| Err(AppError::TooMany { retry_s: seconds_up(now.ms_until(until)) }))
}

/// Makes a bill, which the customer pays in a banking app.
#[utoipa::path(
    post, path = "/scan/v1/epayment/tagihan", operation_id = "tagihan_saya_buat", tag = "epayment", security(("pelanggan" = [])),
    request_body = NewTagihanSaya,
    responses(
        (status = 200, body = Answer<Tagihan>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 404, body = Empty, description = "`outlet tidak ditemukan`, `paket tidak ditemukan`"),
        (status = 409, body = Empty, description = "`QRIS tidak tersedia di outlet ini`"),
        (status = 422, body = Empty, description = "`id sudah dipakai untuk permintaan lain`, `harga paket di luar batas QRIS`, `saldo paling banyak Rp 2.000.000` (`ledger.max_balance`)"),
        (status = 429, body = Empty, description = "Three open ones, or ten in an hour"),
        (status = 503, body = Empty, description = "`QRIS sedang tidak bisa dipakai, coba lagi`: the provider does not answer"),
    )
)]
pub async fn make(
    store: web::Data<Store>,
    bills: web::Data<Qris>,
    customer: Customer,
    body: Json<NewTagihanSaya>,
) -> Result<HttpResponse, AppError> {
    let request = PhoneRequest::parse(&body)?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    bill::hold_phone(&tx, customer.id).await?;
    let id = match request.made(&tx, customer.id).await? {
        Some(id) => id,
        None => add(&tx, &bills, customer.id, &request, now).await?,
    };
    tx.commit().await?;
    drop(client);
    bills.charge(&id).await?;
    Ok(ok(own(&store, &id, customer.id).await?))
}

async fn add(
    tx: &Transaction<'_>,
    bills: &Qris,
    customer: CustomerId,
    request: &PhoneRequest,
    now: Timestamp,
) -> Result<BillId, AppError> {
    let outlet = make::outlet(tx, request.idoutlet).await?.ok_or(AppError::NotFound("outlet tidak ditemukan"))?;
    let BillOutlet { idoutlet, idowner, mode, is_open, .. } = outlet;
    if !is_open || !bills.serves(mode, idowner) {
        return Err(NOT_HERE);
    }
    let goods = request.asked.goods(tx, outlet, MIN_ON_PHONE).await?;
    check_limits(tx, customer, now).await?;
    let wallet = WalletRef { id_customer_global: customer, idoutlet, idowner };
    bills.store_bill(tx, outlet, (wallet, BillPlace::Phone(request.id)), &goods, &format!("pelanggan:{customer}")).await
}

/// A bill of the customer.
async fn own(store: &Store, id: &BillId, customer: CustomerId) -> Result<Tagihan, AppError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached(concat!(select_bill!("t.id = $1 AND "), bill_of_customer!("$2"))).await?;
    let row = client.query_opt(&stmt, &[&id.as_str(), &customer]).await?.ok_or(UNKNOWN)?;
    Tagihan::of(&row, store.now())
}

/// A bill of the customer. Looking asks the provider about one that is not paid, every three seconds at most.
#[utoipa::path(
    get, path = "/scan/v1/epayment/tagihan/{id}", operation_id = "tagihan_saya", tag = "epayment", security(("pelanggan" = [])),
    params(("id" = inline(BillId), Path, description = "idtagihan")),
    responses(
        (status = 200, body = Answer<Tagihan>), (status = 401, body = Empty),
        (status = 404, body = Empty, description = "`tagihan tidak ditemukan`"),
    )
)]
pub async fn one(
    store: web::Data<Store>,
    bills: web::Data<Qris>,
    balances: web::Data<Balances>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let id = BillId::parse(&id).ok_or(UNKNOWN)?;
    own(&store, &id, customer.id).await?;
    bills.look(&balances, &id).await?;
    Ok(ok(own(&store, &id, customer.id).await?))
}

/// Cancels a bill of the customer at its provider. One that has ended stays as it is.
#[utoipa::path(
    post, path = "/scan/v1/epayment/tagihan/{id}/batal", operation_id = "tagihan_saya_batal", tag = "epayment", security(("pelanggan" = [])),
    params(("id" = inline(BillId), Path, description = "idtagihan")),
    responses(
        (status = 200, body = Answer<Tagihan>), (status = 401, body = Empty),
        (status = 404, body = Empty, description = "`tagihan tidak ditemukan`"),
        (status = 409, body = Empty, description = "`tagihan sudah dibayar`"),
        (status = 503, body = Empty, description = "`QRIS sedang tidak bisa dipakai, coba lagi`: the provider does not confirm it"),
    )
)]
pub async fn cancel(
    store: web::Data<Store>,
    bills: web::Data<Qris>,
    balances: web::Data<Balances>,
    customer: Customer,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let id = BillId::parse(&id).ok_or(UNKNOWN)?;
    own(&store, &id, customer.id).await?;
    bills.cancel(&balances, &id, None).await?;
    Ok(ok(own(&store, &id, customer.id).await?))
}
