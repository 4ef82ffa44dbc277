//! Refuses requests under overload, before their handlers begin (docs/decisions/0038-admission-by-measured-waiting.md). The one place that says
//! what each route is for. Routes that are not listed here never pass the gate: sockets, the payment provider's reports, probes, files.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError, web};
use nyala_core::admission::Class;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::rate_limit::{SlidingWindow, WindowLimits};
use nyala_store::admission::as_request;
use nyala_store::db::Store;

use super::error::AppError;
use crate::api::auth::customer::bearer;

/// Time for which a customer's payment is preferred after a scan that was admitted.
const KNOWN_MS: i64 = 60_000;
/// Customers that are remembered: a thousand scans a second for a minute, in some 10 MiB.
const MAX_KNOWN: usize = 1 << 16;

/// Customers who were admitted a moment ago, by their tokens. Whoever was admitted to the scan is not refused at the payment.
#[derive(Debug)]
pub struct KnownCustomers {
    hasher: RandomState,
    admitted: Mutex<SlidingWindow<u64, ()>>,
}

impl Default for KnownCustomers {
    fn default() -> Self {
        let limits = WindowLimits { window_ms: KNOWN_MS, max_events: MAX_KNOWN };
        Self { hasher: RandomState::new(), admitted: Mutex::new(SlidingWindow::new(limits)) }
    }
}

impl KnownCustomers {
    fn key(&self, token: &str) -> u64 {
        self.hasher.hash_one(token)
    }

    fn knows(&self, key: u64, now: Timestamp) -> bool {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner).count(&key, now) > 0
    }

    fn remember(&self, key: u64, now: Timestamp) {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner).add(key, (), now);
    }
}

const SCAN: &str = "/scan/v1/transaksi/get_layanan";
const PAY: &str = "/scan/v1/transaksi/create_snap_transaksi";
/// The wallets to choose from, on the way from the scan to the payment.
const WALLETS: &str = "/scan/v1/transaksi/get_epayment/{id}";

/// What a request to this route is for; `None`: it is never refused.
fn class_of(method: &Method, route: &str) -> Option<Class> {
    let is_get = *method == Method::GET;
    if let Some(call) = route.strip_prefix("/scan/v1/") {
        return Some(match call {
            _ if route == PAY || route == WALLETS => Class::Payment,
            _ if route == SCAN => Class::Look,
            "transaksi/list_history"
            | "transaksi/get_detail_snap_transaksi/{id}"
            | "transaksi/get_detail_snap_hapus/{id}"
            | "transaksi/get_qrcode"
            | "akun/data" => Class::List,
            // What went in and out of a wallet.
            _ if call.starts_with("epayment/get_") => Class::List,
            _ if is_get => Class::Look,
            _ => Class::Change,
        });
    }
    let call = route.strip_prefix("/ops/v1/")?;
    match call {
        // A machine that runs is stopped, and a board shows what happens.
        "mesin/{id}/stop" | "soket" | "soket/papan" => None,
        "pelanggan/cari" | "tarik/hitung" => Some(Class::Look),
        _ if !is_get => Some(Class::Change),
        "mesin" | "mesin/{id}" | "mesin/{id}/rincian" | "perhatian" | "shift" | "saya" | "perangkat/saya" | "outlet"
        | "layanan" | "paket" | "petugas" | "tagihan/{id}" | "topup/{id}" | "pelanggan/{id}" => Some(Class::Look),
        _ => Some(Class::List),
    }
}

/// Inside of the layers that complete an answer, around everything that asks the database.
pub async fn middleware<B: MessageBody + 'static>(
    req: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, BoxBody>>, Error> {
    let store = req.app_data::<web::Data<Store>>().filter(|store| store.db.gate().is_on()).cloned();
    let known = req.app_data::<web::Data<KnownCustomers>>().cloned();
    // A call that does not exist has a class, too: its key is looked up before that is noticed.
    let route = req.match_pattern().unwrap_or_else(|| req.path().to_owned());
    let class = class_of(req.method(), &route);
    let (Some(store), Some(known), Some(class)) = (store, known, class) else {
        return Ok(next.call(req).await?.map_into_left_body());
    };
    let leads_to_payment = class == Class::Payment || route == SCAN;
    let customer = bearer(req.request()).filter(|_| leads_to_payment).map(|token| known.key(token));
    let class = match customer {
        Some(customer) if class == Class::Payment && known.knows(customer, store.now()) => Class::KnownPayment,
        _ => class,
    };
    if let Err(overloaded) = store.db.gate().admit(class) {
        return Ok(req.into_response(AppError::from(overloaded).error_response()).map_into_right_body());
    }
    let res = as_request(class, next.call(req)).await?;
    if let Some(customer) = customer.filter(|_| has_begun(class, res.status())) {
        known.remember(customer, store.now());
    }
    Ok(res.map_into_left_body())
}

/// Whether a payment after this answer continues what was admitted: a scan that was shown, or a payment that got any answer but a refusal of
/// the login or for overload.
fn has_begun(class: Class, status: StatusCode) -> bool {
    match class {
        Class::Look => status.is_success(),
        _ => ![StatusCode::UNAUTHORIZED, StatusCode::SERVICE_UNAVAILABLE].contains(&status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_route_has_its_class() {
        let of = |method: &str, route: &str| class_of(&Method::from_bytes(method.as_bytes()).unwrap(), route);
        for (method, route, class) in [
            ("POST", PAY, Class::Payment),
            ("POST", SCAN, Class::Look),
            ("GET", "/scan/v1/dashboard/get_dashboard", Class::Look),
            ("GET", WALLETS, Class::Payment),
            ("POST", "/scan/v1/transaksi/list_history", Class::List),
            ("GET", "/scan/v1/epayment/get_epayment/{id}", Class::List),
            ("POST", "/scan/v1/epayment/tagihan", Class::Change),
            ("POST", "/scan/v1/auth/login", Class::Change),
            ("POST", "/ops/v1/topup", Class::Change),
            ("POST", "/ops/v1/topup/{id}/batal", Class::Change),
            ("GET", "/ops/v1/mesin", Class::Look),
            ("GET", "/ops/v1/laporan/harian", Class::List),
            ("GET", "/ops/v1/topup", Class::List),
            ("GET", "/ops/v1/unknown", Class::List),
        ] {
            assert_eq!(of(method, route), Some(class), "{method} {route}");
        }
        for route in
            ["/healthz", "/metrics", "/qris/midtrans", "/socket.io/", "/ops/v1/soket", "/ops/v1/mesin/{id}/stop", "/beranda"]
        {
            assert_eq!(of("POST", route), None, "{route}");
        }
    }

    #[test]
    fn a_customer_is_known_for_a_minute_and_the_number_of_them_is_bounded() {
        let (known, at) = (KnownCustomers::default(), Timestamp::from_ms);
        let [siti, budi] = ["siti", "budi"].map(|token| known.key(token));
        known.remember(siti, at(0));
        assert!(known.knows(siti, at(59_999)) && !known.knows(budi, at(59_999)) && !known.knows(siti, at(60_000)));
        known.remember(siti, at(60_000));
        (0..MAX_KNOWN as u64).for_each(|n| known.remember(n, at(60_001)));
        assert!(!known.knows(siti, at(60_002)), "the oldest is forgotten");
    }

    #[test]
    fn only_what_was_answered_leads_to_a_payment() {
        assert!(has_begun(Class::Look, StatusCode::OK) && !has_begun(Class::Look, StatusCode::NOT_FOUND));
        assert!(has_begun(Class::Payment, StatusCode::GATEWAY_TIMEOUT));
        assert!(!has_begun(Class::Payment, StatusCode::UNAUTHORIZED));
    }
}
