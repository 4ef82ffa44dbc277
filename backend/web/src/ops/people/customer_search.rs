//! `POST /ops/v1/pelanggan/cari`: finds the customer at the counter before a sale (every till session).

use actix_web::{HttpResponse, web};
use deadpool_postgres::GenericClient;
use nyala_core::domain::id::{CustomerId, OutletId, PackageId, WalletId};
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::Staff;
use nyala_ledger::topup::{self, Account, AccountKind};
use nyala_store::secrets::Keyring;
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, OneOf, Type};

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{null, with};
use crate::ops::people::key::Seller;
use crate::ops::people::payee::Named;

#[derive(Debug, Deserialize, ToSchema)]
pub struct FindPelanggan {
    /// The customer's number in any form; this or `qr`.
    telp: Option<Telp>,
    /// The text of the customer's QR, not older than 5 minutes; this or `telp`.
    qr: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PelangganFound {
    #[schema(value_type = i64)]
    id_customer_global: CustomerId,
    /// The first name and an initial.
    #[schema(example = "Siti R.")]
    nama: String,
    /// The middle digits are hidden.
    #[schema(example = "0812••••7890")]
    telp: String,
    /// Rupiah in the account at this outlet; null without one.
    #[schema(required)]
    saldo: Option<i64>,
    /// The last top-up at this outlet that was not reversed.
    #[schema(required)]
    terakhir: Option<LastTopUp>,
    /// The account at this outlet whose kind is fixed; null: the next top-up opens an account or sets its kind.
    #[schema(required)]
    rekening: Option<SoldInto>,
    /// Packages that cannot be sold into the account, and why.
    ditolak: Vec<NotSold>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SoldInto {
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    /// 2 never expires, 1 expires at `masa_aktif`.
    #[schema(minimum = 1, maximum = 2)]
    jenis_emoney: i16,
    /// Epoch milliseconds.
    #[schema(required)]
    masa_aktif: Option<i64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct NotSold {
    /// The package; null: any amount without one.
    #[schema(value_type = Option<i64>, required)]
    idpaket: Option<PackageId>,
    /// The message with which the sale would be refused.
    sebab: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct LastTopUp {
    /// Rupiah paid; with `idpaket` its present price.
    nominal: i64,
    /// The package, if it is still sold.
    #[schema(value_type = Option<i64>, required)]
    idpaket: Option<PackageId>,
    /// RFC 3339.
    created_at: Timestamp,
}

/// Rule that connects the fields: a number or a code.
pub fn together() -> [OneOf; 1] {
    let either = |this: &str, not: &str| with(this, Object::with_type(Type::String)).property(not, null());
    [OneOf::builder().item(either("telp", "qr")).item(either("qr", "telp")).build()]
}

/// Finds the customer of a number or a QR code.
#[utoipa::path(
    post, path = "/ops/v1/pelanggan/cari", tag = "kasir", security(("session" = [])), request_body = FindPelanggan,
    responses(
        (status = 200, body = Answer<PelangganFound>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, body = Empty), (status = 404, body = Empty), (status = 422, body = Empty),
        (status = 429, description = "Sixty numbers an hour at one till", body = Empty),
    )
)]
pub async fn pelanggan_cari(
    seller: Seller,
    staff: web::Data<Staff>,
    keyring: web::Data<Keyring>,
    body: Json<FindPelanggan>,
) -> Result<HttpResponse, AppError> {
    let named = match (&body.telp, &body.qr) {
        (Some(telp), None) => Named::Telp(telp),
        (None, Some(qr)) => Named::Qr(qr),
        _ => return Err(AppError::bad_input("isi salah satu: telp atau qr")),
    };
    let client = staff.store.get().await?;
    let payee = named.find(&*client, (&staff, &seller.operator), &keyring.get(), staff.store.now()).await?;
    let mut found = PelangganFound {
        id_customer_global: payee.id,
        nama: payee.name,
        telp: payee.telp.masked(),
        saldo: None,
        terakhir: None,
        rekening: None,
        ditolak: Vec::new(),
    };
    if let Some(idoutlet) = seller.operator.scope.outlet {
        (found.saldo, found.terakhir) = account(&*client, payee.id, idoutlet).await?;
        if let Some(account) = topup::account(&*client, payee.id, idoutlet).await?.filter(|account| !account.fresh) {
            found.ditolak = not_sold(&*client, account, idoutlet, staff.store.now()).await?;
            let Account { idcustomer, kind, .. } = account;
            let masa_aktif = kind.masa_aktif().map(Timestamp::ms);
            found.rekening = Some(SoldInto { idcustomer, jenis_emoney: kind.number(), masa_aktif });
        }
    }
    Ok(answer::ok(found))
}

/// The outlet's offers, with a package and without, that the customer's account does not accept.
async fn not_sold(
    client: &impl GenericClient,
    account: Account,
    idoutlet: OutletId,
    now: Timestamp,
) -> Result<Vec<NotSold>, AppError> {
    const OFFERS: &str = "
        SELECT NULL::BIGINT AS idpaket, berlaku_hari FROM outlet WHERE idoutlet = $1
        UNION ALL SELECT idpaket, berlaku_hari FROM paket WHERE idoutlet = $1 AND aktif ORDER BY idpaket DESC";
    let stmt = client.prepare_cached(OFFERS).await?;
    let offers = client.query(&stmt, &[&idoutlet]).await?;
    let refused = |row: &Row| account.after(AccountKind::given(row.get(1), now), now).err();
    Ok(offers.iter().filter_map(|row| refused(row).map(|sebab| NotSold { idpaket: row.get(0), sebab })).collect())
}

/// The balance and the last top-up of a customer at an outlet.
async fn account(
    client: &impl GenericClient,
    customer: CustomerId,
    idoutlet: OutletId,
) -> Result<(Option<i64>, Option<LastTopUp>), AppError> {
    const BALANCE: &str = "
        SELECT q.saldo FROM customer c JOIN quota_emoney q USING (idcustomer) WHERE c.id_customer_global = $1 AND c.idoutlet = $2";
    const LAST: &str = "
        SELECT COALESCE(k.harga, p.harga_paket), k.idpaket, p.created_at
        FROM pembelian_emoney p LEFT JOIN paket k ON k.idpaket = p.idpaket AND k.aktif
        WHERE p.id_customer_global = $1 AND p.idoutlet = $2 AND p.batal_at IS NULL ORDER BY p.id DESC LIMIT 1";
    let stmt = client.prepare_cached(BALANCE).await?;
    let balance = client.query_opt(&stmt, &[&customer, &idoutlet]).await?.map(|row| row.get(0));
    let stmt = client.prepare_cached(LAST).await?;
    let last = client.query_opt(&stmt, &[&customer, &idoutlet]).await?;
    Ok((balance, last.map(|row| LastTopUp { nominal: row.get(0), idpaket: row.get(1), created_at: row.get(2) })))
}
