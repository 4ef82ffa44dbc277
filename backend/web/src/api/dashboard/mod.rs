//! First screen: the customer, the balances, and what runs (docs/product.md §7).

pub mod customer_global;
pub mod get_dashboard;
pub mod get_user_epayment_by_id_customer_global;

use actix_web::web::{ServiceConfig, get};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/get_dashboard", get().to(get_dashboard::get_dashboard))
        .route("/customer_global/{id_customer_global}", get().to(customer_global::customer_global))
        .route(
            "/get_user_epayment_by_id_customer_global",
            get().to(get_user_epayment_by_id_customer_global::get_user_epayment_by_id_customer_global),
        );
}
