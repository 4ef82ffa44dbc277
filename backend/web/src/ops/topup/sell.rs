//! `POST /ops/v1/topup`: the cashier sells balance (every role). A till session sells in its open shift.

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::bill::QrisMode;
use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{CustomerId, OutletId, PackageId, StaffId, TopUpId, WalletId};
use nyala_core::domain::role::Role;
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::telp::Telp;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::Whole;
use nyala_identity::staff::Staff;
use nyala_identity::staff::approval::Act;
use nyala_identity::staff::operator::Operator;
use nyala_ledger::cap;
use nyala_ledger::shift;
use nyala_ledger::topup::{self, AccountKind, AtShift, Means, Package, Payment, REVERSE_WITHIN_MS, WalletRef};
use nyala_store::config::ServerSettings;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::secrets::Keyring;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, OneOf, SchemaType, Type};

use crate::http::answer::{Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{ShortText, null, with};
use crate::live::balances::{Balances, Moved};
use crate::ops::approval::{Approval, with_approver};
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};
use crate::ops::people::key::Caller;
use crate::ops::people::payee::{self, Named, Payee};
use crate::ops::scope::{self, Outlet};
use crate::ops::shop::package as paket;
use crate::qris;

/// Rupiah that a kasir at a till may sell without an approval, at once or to one customer of an outlet within an hour.
const MAX_ALONE: i64 = 1_000_000;

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct TopUp {
    /// From `pelanggan/cari`; this, `telp` or `qr`.
    // A field that was added later is not hashed when it is absent: otherwise the repeat of an older call would have another hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    id_customer_global: Option<CustomerId>,
    /// The customer's number in any form.
    telp: Option<Telp>,
    /// The text of the customer's QR, not older than 5 minutes.
    qr: Option<String>,
    idoutlet: OutletId,
    /// Rupiah paid.
    #[schema(value_type = i64, minimum = 1, maximum = 20000000)]
    nominal: Rupiah,
    /// Rupiah added; `nominal` when left out, the package's with `idpaket`. Without a package, a kasir may add only what was paid.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 20000000)]
    quota: Option<Rupiah>,
    /// `Top-Up` when left out, the package's with `idpaket`.
    #[schema(value_type = Option<ShortText>)]
    nama_paket: Option<String>,
    /// What the package or the outlet gives when left out; 2 never expires; 1 needs `masa_aktif`.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 2)]
    jenis_emoney: Option<Whole>,
    /// Epoch milliseconds in the future; not allowed for a kasir.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 253402300799999_i64)]
    masa_aktif: Option<Whole>,
    /// A package of the outlet, whose price `nominal` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    idpaket: Option<PackageId>,
    /// How it was paid; `tunai` when a session leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    cara_bayar: Option<Means>,
    /// The last four of the payment's reference, of 0-9A-Z. Needed for a session that sells by `qris` at an outlet that takes it by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[0-9A-Z]{4}$")]
    ref_bayar: Option<String>,
    /// True: sell although the same top-up was sold within the last minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    ulang: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TopUpMade {
    /// A decimal string, as in the history.
    idpembelian_emoney: String,
    #[serde(skip)]
    id: TopUpId,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    saldo_akhir: i64,
    /// The customer's first name and an initial.
    #[schema(example = "Siti R.")]
    nama: String,
    /// RFC 3339: until then each permitted role can reverse it, later only an owner.
    batal_sampai: Timestamp,
    /// RFC 3339.
    created_at: Timestamp,
}

/// Rule that connects the fields: exactly one of the customer's identifiers, and an expiry for what expires.
pub fn together() -> [OneOf; 2] {
    let whole = |values: &[Option<i64>]| {
        ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Integer, Type::Null])).enum_values(Some(values.to_vec()))
    };
    let expires =
        with("masa_aktif", Object::with_type(Type::Integer)).property("jenis_emoney", whole(&[Some(1)])).required("jenis_emoney");
    let stays = ObjectBuilder::new().property("masa_aktif", null()).property("jenis_emoney", whole(&[Some(2), None]));
    [payee::one_of(), OneOf::builder().item(expires).item(stays).build()]
}

/// Tops up a customer's account at an outlet; the first top-up opens it.
#[utoipa::path(
    post, path = "/ops/v1/topup", tag = "operator", security(("operator" = []), ("session" = [])), request_body = TopUp,
    params(IdempotencyKey, Approval),
    responses(
        (status = 200, body = Answer<TopUpMade>),
        (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "Of a kasir: `bonus hanya lewat paket`: another `quota` than `nominal`; `masa aktif hanya dari paket`: `masa_aktif`, or another \
            `jenis_emoney` than the package or the outlet gives; at a till \
            `di atas Rp 1.000.000 perlu persetujuan supervisor`, counted together with what the customer was sold at the outlet within an \
            hour without one, `persetujuan tidak berlaku`", body = Empty),
        (status = 404, body = Empty),
        (status = 409, description = "`harga paket berubah`, `rekening E-Pay di outlet itu berjenis lain`, \
            `saldo di outlet itu sudah kedaluwarsa, pilih paket yang punya masa berlaku`: a sale that gives no expiry; at a till `shift belum dibuka`, \
            `top-up yang sama baru saja dibuat`; by `qris`: `QRIS tidak dipakai di outlet ini`, `QRIS di outlet ini lewat tagihan`", body = Empty),
        (status = 422, description = "`saldo paling banyak Rp 2.000.000` (`ledger.max_balance`); `empat huruf terakhir nomor referensi wajib diisi`; at a till `laci tidak boleh berisi lebih dari Rp 1.000.000.000`", body = Empty),
        (status = 429, description = "Sixty numbers an hour at one till", body = Empty),
    )
)]
pub async fn topup(
    Caller(operator): Caller,
    key: IdempotencyKey,
    approval: Approval,
    staff: web::Data<Staff>,
    keyring: web::Data<Keyring>,
    (balances, settings): (web::Data<Balances>, web::Data<ServerSettings>),
    body: Json<TopUp>,
) -> Result<HttpResponse, AppError> {
    let named = Named::one(body.id_customer_global, body.telp.as_ref(), body.qr.as_deref())?;
    let requested = (body.jenis_emoney.map(Whole::get), body.masa_aktif.map(|ms| Timestamp::from_ms(ms.get())));
    // A kasir's program may send the kind that the package or the outlet sets, without its date.
    let names_given = operator.role == Role::Kasir && requested == (Some(1), None);
    let asked = if names_given { AccountKind::Plain } else { AccountKind::parse(requested.0, requested.1)? };
    let mut package = Package::parse(body.nominal, body.quota, body.nama_paket.as_deref(), asked)?;
    let now = staff.store.now();
    topup::in_future(asked, now)?;
    let call = IdempotentCall::new(&operator, key, "topup", &*body, now)?;
    let mut client = staff.store.get().await?;
    let mut moved = None;
    let answer = call
        .once(&mut client, async |tx| {
            let payment = payment(tx, &operator, &body).await?;
            if operator.role == Role::Kasir && body.idpaket.is_none() && package.quota != package.nominal {
                return Err(AppError::NotAllowed("bonus hanya lewat paket"));
            }
            let outlet = scope::outlet(tx, &operator, body.idoutlet).await?;
            let reference = reference(tx, &operator, &body, payment).await?;
            let payee = named.find(tx, (&staff, &operator), &keyring.get(), now).await?;
            let days = match body.idpaket {
                Some(id) => {
                    let sold = paket::sold(tx, id, outlet.idoutlet, package.nominal).await?;
                    (package.quota, package.name, package.idpaket) = (sold.quota, sold.name, Some(id));
                    sold.days
                }
                None => scope::valid_days(tx, outlet.idoutlet).await?,
            };
            let given = AccountKind::given(days, now);
            if names_given && given.number() != 1 {
                AccountKind::parse(requested.0, requested.1)?;
            }
            package.kind = kind(operator.role, asked, given)?;
            let wallet = outlet.wallet_of(&payee);
            topup::prepare(tx, wallet, package.nominal, payment, now).await?;
            let allowed = allowed(tx, &operator, &approval, (wallet, package.nominal), now).await?;
            cap::check(tx, wallet, package.quota, settings.ledger.max_balance()).await?;
            let made = sell(tx, &payee, outlet, &package, payment, (&operator.principal(), allowed), now).await?;
            if let Some(reference) = reference {
                topup::keep_reference(tx, made.id, reference).await?;
            }
            moved = Some(Moved {
                id_customer_global: payee.id,
                idcustomer: made.idcustomer,
                balance: made.saldo_akhir,
                cause: Cause::TopUp,
            });
            Ok(made)
        })
        .await?;
    balances.notify(moved);
    Ok(answer)
}

/// The package or the outlet sets the kind, unless an operator above a kasir requests another one. A kasir's program may send the kind
/// that is set.
fn kind(role: Role, asked: AccountKind, given: AccountKind) -> Result<AccountKind, AppError> {
    match asked {
        AccountKind::Plain => Ok(given),
        _ if role > Role::Kasir => Ok(asked),
        AccountKind::Lasting if given.number() == asked.number() => Ok(given),
        _ => {
            tracing::warn!(
                "a kasir's `masa_aktif` or `jenis_emoney` is refused: kind and expiry come from `berlaku_hari` of the package or outlet"
            );
            Err(AppError::NotAllowed("masa aktif hanya dari paket"))
        }
    }
}

/// The reference of a payment by QRIS that the seller has seen.
async fn reference<'a>(
    tx: &Transaction<'_>,
    operator: &Operator,
    body: &'a TopUp,
    payment: Payment,
) -> Result<Option<&'a str>, AppError> {
    const MISSING: AppError = AppError::Unprocessable("empat huruf terakhir nomor referensi wajib diisi");
    if payment.means() != Some(Means::Qris.as_str()) {
        return Ok(None);
    }
    let outlet =
        qris::make::outlet(tx, body.idoutlet).await?.ok_or_else(|| AppError::internal("the outlet of a sale is gone"))?;
    match outlet.mode {
        QrisMode::Manual => {}
        QrisMode::Off => return Err(AppError::Conflict("QRIS tidak dipakai di outlet ini")),
        QrisMode::Midtrans | QrisMode::Simulated => return Err(AppError::Conflict("QRIS di outlet ini lewat tagihan")),
    }
    match body.ref_bayar.as_deref() {
        Some(text) if is_reference(text) => Ok(Some(text)),
        None if operator.at.is_none() => Ok(None),
        _ => Err(MISSING),
    }
}

/// Four of 0-9A-Z.
fn is_reference(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

/// A session sells in its till's open shift, which stays open until this is committed. Cash is added to a drawer one sale at a time.
async fn payment(tx: &Transaction<'_>, operator: &Operator, body: &TopUp) -> Result<Payment, AppError> {
    let Some(till) = operator.at else { return Ok(Payment::OutsideShift(body.cara_bayar)) };
    let means = body.cara_bayar.unwrap_or(Means::Tunai);
    let id = match means {
        Means::Tunai => shift::hold_alone(tx, till.browser).await?,
        Means::Qris | Means::Transfer => shift::hold_open(tx, till.browser).await?,
    };
    Ok(Payment::AtShift(AtShift { id, means, again: body.ulang == Some(true) }))
}

/// Who authorises a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// The seller, whose role is sufficient.
    Itself,
    /// A kasir without an approval. The sale counts together with the next ones.
    Alone,
    /// A supervisor who approved a kasir's sale.
    By(StaffId),
}

/// A kasir at a till needs an approval when this sale and earlier ones without approval exceed [`MAX_ALONE`].
async fn allowed(
    tx: &Transaction<'_>,
    operator: &Operator,
    approval: &Approval,
    (wallet, nominal): (WalletRef, i64),
    now: Timestamp,
) -> Result<Allowed, AppError> {
    const WITHOUT: AppError = AppError::NotAllowed("di atas Rp 1.000.000 perlu persetujuan supervisor");
    if operator.role > Role::Kasir {
        return Ok(Allowed::Itself);
    }
    if operator.at.is_none() || topup::sold_alone(tx, wallet, now).await? + nominal <= MAX_ALONE {
        return Ok(Allowed::Alone);
    }
    let act = Act::top_up(wallet.id_customer_global, nominal);
    approval.use_up(tx, operator, &act, WITHOUT, now).await.map(Allowed::By)
}

/// Records the top-up and its entry in the audit log.
pub async fn sell(
    tx: &Transaction<'_>,
    payee: &Payee,
    outlet: Outlet,
    package: &Package,
    payment: Payment,
    (principal, allowed): (&str, Allowed),
    now: Timestamp,
) -> Result<TopUpMade, AppError> {
    let wallet = outlet.wallet_of(payee);
    let done = topup::topup(tx, wallet, package, payment, principal, now).await?;
    let approver = match allowed {
        Allowed::Itself => None,
        Allowed::Alone => {
            topup::mark_alone(tx, done.idpembelian_emoney).await?;
            None
        }
        Allowed::By(approver) => Some(approver),
    };
    let content = json!({
        "idcustomer": done.idcustomer, "idoutlet": wallet.idoutlet, "nominal": package.nominal, "quota": package.quota,
        "nama_paket": package.name, "jenis_emoney": package.kind.number(), "masa_aktif": package.kind.masa_aktif().map(Timestamp::ms),
        "saldo_akhir": done.balance, "cara_bayar": payment.means(),
    });
    let content = with_approver(content, approver);
    let object = format!("pembelian_emoney:{}", done.idpembelian_emoney);
    audit::write_at(tx, Some(wallet.idoutlet), &AuditEntry { principal, action: "topup", object, content }, now).await?;
    Ok(TopUpMade {
        idpembelian_emoney: done.idpembelian_emoney.to_string(),
        id: done.idpembelian_emoney,
        idcustomer: done.idcustomer,
        saldo_akhir: done.balance,
        nama: payee.name.clone(),
        batal_sampai: now.plus_ms(REVERSE_WITHIN_MS),
        created_at: now,
    })
}
