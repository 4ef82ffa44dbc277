//! What is bought, by whom: one outlet, its machines, customers with money.

use nyala_loadtest::fleet::Driver;
use nyala_loadtest::http::Pool;
use nyala_loadtest::server::Server;
use nyala_loadtest::shop::{Shop, TestCustomer, Wish, order};

use crate::BenchError;

/// Runs end long after every measurement.
pub const DURATION_S: u32 = 3600;
/// Of every customer that is made in bulk.
pub const PASSWORD: &str = nyala_web::ops::people::customers_bulk::PASSWORD;

/// # Errors
/// The refusal of a call.
pub async fn open(server: &Server, machines: usize, customers: usize) -> Result<Shop, BenchError> {
    let wish = Wish { driver: Driver::Sim, machines, machines_per_outlet: machines, customers, duration_s: DURATION_S };
    Ok(Shop::open(&Pool::new(server.address(), 1), &server.root_key().await?, wish).await?)
}

/// The request that buys machine number `n` for customer number `n`, with a unique receipt number, because of the index over them.
pub fn nth_order(shop: &Shop, n: usize) -> (&str, String) {
    let customer = &shop.customers[n % shop.customers.len()];
    (&customer.token, order(&format!("SLF{n:015}"), customer, &shop.machines[n]).to_string())
}

/// # Errors
/// When it is not known.
pub fn global(customer: &TestCustomer) -> Result<i64, BenchError> {
    Ok(customer.id_customer_global.ok_or("a customer without id_customer_global")?)
}
