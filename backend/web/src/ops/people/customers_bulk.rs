//! `POST /ops/v1/pelanggan/bulk`: creates many logged-in customers for load tests (root, development only). All have the same password.

use std::collections::HashMap;

use actix_web::{HttpRequest, HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::id::{CustomerId, OutletId, WalletId};
use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::telp::{COUNTRY_CODE, Telp};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole;
use nyala_identity::auth::{Auth, argon};
use nyala_identity::staff::operator::Operator;
use nyala_ledger::bulk_topup::{self, BulkTopUp};
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AnyOf, ObjectBuilder, SchemaType, Type};

use crate::http::answer::{self, Answer, Empty};
use crate::http::dev_guard;
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::http::schema::{NumberPrefix, null, with};
use crate::ops::people::key::{Minimal, ROOT};
use crate::ops::scope;

/// Maximum number of customers per call.
const MAX_COUNT: u32 = 20_000;
/// The audit log's action for customers made in bulk.
pub const ACTION: &str = "pelanggan.buat_massal";
/// Digits of a number made here, as many as most numbers have. More are used only if the prefix is too long for the count.
const TELP_DIGITS: usize = 11;
/// Lock that lets only one call at a time look for free numbers.
pub const BULK_LOCK: i64 = 0x4e59_414c_4104;
/// Initial `token_version` of a customer.
const FIRST_VERSION: i32 = 1;

/// The password of the demo customer and of customers made in bulk.
pub const PASSWORD: &str = "Rahasia123";

#[derive(Debug, Deserialize, ToSchema)]
pub struct ManyPelanggan {
    #[schema(minimum = 1, maximum = 20000)]
    #[serde(deserialize_with = "whole::deserialize")]
    jumlah: u32,
    /// Prefix of the numbers. A repeated call continues after the highest number that is taken.
    #[schema(value_type = NumberPrefix)]
    awalan_telp: String,
    /// The outlet at which each customer gets an account.
    idoutlet: Option<OutletId>,
    /// Rupiah in each account, 0 when left out; needs `idoutlet`.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 20000000)]
    saldo: Option<Rupiah>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PelangganMade {
    #[schema(value_type = i64)]
    id_customer_global: CustomerId,
    telp: String,
    #[schema(value_type = Option<i64>)]
    idcustomer: Option<WalletId>,
    token: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ManyPelangganMade {
    pelanggan: Vec<PelangganMade>,
}

/// Rule that connects the fields: money needs an outlet.
pub fn together() -> [AnyOf; 1] {
    let placed = with("idoutlet", ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Integer, Type::String])).build());
    let without_money = ObjectBuilder::new().property("saldo", null());
    [AnyOf::builder().item(placed).item(without_money).build()]
}

/// Registers and logs in many customers for load tests (development only).
#[utoipa::path(
    post, path = "/ops/v1/pelanggan/bulk", tag = "operator", security(("operator" = [])), request_body = ManyPelanggan,
    responses(
        (status = 200, body = Answer<ManyPelangganMade>),
        (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 409, body = Empty),
    )
)]
pub async fn pelanggan_bulk(
    by: Minimal<ROOT>,
    req: HttpRequest,
    store: web::Data<Store>,
    auth: web::Data<Auth>,
    settings: web::Data<ServerSettings>,
    body: Json<ManyPelanggan>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    if !settings.dev.routes {
        return Err(AppError::NotFound("hanya ada dalam mode pengembangan"));
    }
    dev_guard::check(req.version(), req.headers())?;
    if !(1..=MAX_COUNT).contains(&body.jumlah) {
        return Err(AppError::bad_input(format!("jumlah harus 1 sampai {MAX_COUNT}")));
    }
    if body.saldo.is_some() && body.idoutlet.is_none() {
        return Err(AppError::bad_input("saldo perlu idoutlet"));
    }
    let balance = body.saldo.map_or(Ok(0), |s| s.within("saldo", 0))?;
    let prefix = PhonePrefix::parse(&body.awalan_telp)?;
    let hash = web::block(|| argon::hash_here(PASSWORD)).await.map_err(AppError::internal)?;
    let hash = hash.map_err(|e| AppError::internal(e.to_string()))?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = client.transaction().await?;
    let made = register(&tx, &prefix, body.jumlah, &hash, now).await?;
    let accounts = accounts(&tx, &operator, &made, body.idoutlet, balance, now).await?;
    let content = json!({ "jumlah": body.jumlah, "awalan_telp": prefix.0, "idoutlet": body.idoutlet, "saldo": balance });
    let object = "customer_global:massal".to_owned();
    let entry = AuditEntry { principal: &operator.principal(), action: ACTION, object, content };
    audit::write_at(&tx, body.idoutlet, &entry, now).await?;
    tx.commit().await?;
    let tokens = &auth.tokens;
    let pelanggan = made.into_iter().map(|(id, telp)| {
        let token = tokens.mint(id, FIRST_VERSION, now)?;
        Ok(PelangganMade { id_customer_global: id, telp, idcustomer: accounts.get(&id).copied(), token })
    });
    Ok(answer::ok(ManyPelangganMade { pelanggan: pelanggan.collect::<Result<_, AppError>>()? }))
}

/// The first digits of the numbers, without the country code.
pub(crate) struct PhonePrefix(String);

impl PhonePrefix {
    pub(crate) fn parse(text: &str) -> Result<Self, AppError> {
        let text = text.trim();
        let digits = match text.strip_prefix('+') {
            Some(abroad) => abroad.strip_prefix(COUNTRY_CODE).unwrap_or_default(),
            None => text.strip_prefix(COUNTRY_CODE).or_else(|| text.strip_prefix('0')).unwrap_or(text),
        };
        let right = (1..=8).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        // the format of the numbers is checked where every number is parsed
        let sample = format!("{digits:0<TELP_DIGITS$}");
        match Telp::parse(&sample) {
            Ok(telp) if right && telp.as_str() == sample => Ok(Self(digits.to_owned())),
            _ => Err(AppError::bad_input("awalan_telp harus 1 sampai 8 angka awal nomor WhatsApp, misalnya 8990")),
        }
    }

    /// How many digits the numbers of `count` customers have.
    fn telp_digits(&self, count: u32) -> usize {
        TELP_DIGITS.max(self.0.len() + (count - 1).to_string().len())
    }

    /// `count` numbers of `telp_digits` digits, starting after the highest that is taken.
    fn numbers(&self, highest: Option<&str>, count: u32) -> Result<Vec<String>, AppError> {
        let digits = self.telp_digits(count) - self.0.len();
        let first: u64 = match highest.and_then(|t| t.strip_prefix(&self.0)) {
            Some(rest) => rest.parse::<u64>().map_err(AppError::internal)? + 1,
            None => 0,
        };
        let last = first + u64::from(count) - 1;
        if last.to_string().len() > digits {
            return Err(AppError::Conflict("nomor dengan awalan itu tidak cukup, pakai awalan lain"));
        }
        Ok((first..=last).map(|n| format!("{}{n:0digits$}", self.0)).collect())
    }
}

/// Waits for the calls before this one. The wait may take as long as a statement, and is not limited to the time for a row lock: the
/// holder of this lock is busy working.
async fn wait_for_turn(tx: &Transaction<'_>) -> Result<(), AppError> {
    let wait = format!("SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({BULK_LOCK}); SET LOCAL lock_timeout = DEFAULT");
    Ok(tx.batch_execute(&wait).await?)
}

/// Creates the customers; returns id and number in the numbers' order.
async fn register(
    tx: &Transaction<'_>,
    prefix: &PhonePrefix,
    count: u32,
    hash: &str,
    now: Timestamp,
) -> Result<Vec<(CustomerId, String)>, AppError> {
    const HIGHEST: &str = "SELECT max(telp) FROM customer_global WHERE telp LIKE $1 AND length(telp) = $2";
    const INSERT: &str = "
        INSERT INTO customer_global (telp, nama_awal, nama_akhir, password_hash, created_at, updated_at)
        SELECT telp, 'Pelanggan', telp, $2, $3, $3 FROM unnest($1::TEXT[]) AS telp
        ON CONFLICT (telp) DO NOTHING RETURNING id, telp";
    wait_for_turn(tx).await?;
    let length = i32::try_from(prefix.telp_digits(count)).map_err(AppError::internal)?;
    let highest: Option<String> = tx.query_one(HIGHEST, &[&format!("{}%", prefix.0), &length]).await?.get(0);
    let numbers = prefix.numbers(highest.as_deref(), count)?;
    let rows = tx.query(INSERT, &[&numbers, &hash, &now]).await?;
    if rows.len() != numbers.len() {
        return Err(AppError::Conflict("nomor dengan awalan itu baru saja didaftarkan, coba lagi"));
    }
    let mut made: Vec<(CustomerId, String)> = rows.iter().map(|r| (r.get(0), r.get(1))).collect();
    made.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(made)
}

/// Opens their accounts if an outlet is given; returns `idcustomer` by `id_customer_global`.
async fn accounts(
    tx: &Transaction<'_>,
    operator: &Operator,
    made: &[(CustomerId, String)],
    idoutlet: Option<OutletId>,
    balance: i64,
    now: Timestamp,
) -> Result<HashMap<CustomerId, WalletId>, AppError> {
    let Some(idoutlet) = idoutlet else { return Ok(HashMap::new()) };
    let outlet = scope::outlet(tx, operator, idoutlet).await?;
    let ids: Vec<CustomerId> = made.iter().map(|(id, _)| *id).collect();
    let principal = operator.principal();
    let bulk = BulkTopUp { idoutlet: outlet.idoutlet, idowner: outlet.idowner, balance, principal: &principal, now };
    Ok(bulk_topup::open(tx, &ids, bulk).await?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::PhonePrefix;

    #[test]
    fn a_prefix_in_any_form_makes_numbers_that_begin_with_it() {
        for text in ["8990", "08990", "628990", "+628990"] {
            assert_eq!(PhonePrefix::parse(text).unwrap().numbers(None, 2).unwrap(), ["89900000000", "89900000001"], "{text}");
        }
        for bad in ["", "0", "62", "00899", "899012345", "89a", "+1899", "+", "8 9"] {
            assert!(PhonePrefix::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_go_on_after_the_highest_and_end_with_the_digits() {
        let prefix = PhonePrefix::parse("89901234").unwrap();
        assert_eq!(prefix.numbers(Some("89901234007"), 2).unwrap(), ["89901234008", "89901234009"]);
        assert!(prefix.numbers(Some("89901234998"), 2).is_err());
        assert_eq!(prefix.numbers(None, 1001).unwrap()[1000], "899012341000");
        assert_eq!(prefix.numbers(None, 20_000).unwrap()[19_999], "8990123419999");
    }
}
