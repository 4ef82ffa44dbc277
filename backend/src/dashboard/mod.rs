//! The first screen: who it is, which balances, what runs (product §7).

pub mod get_dashboard;
pub mod get_user_epayment_by_id_customer_global;

use actix_web::web::{self, ServiceConfig};

pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/get_dashboard", web::get().to(get_dashboard::get_dashboard)).route(
        "/get_user_epayment_by_id_customer_global",
        web::get().to(get_user_epayment_by_id_customer_global::get_user_epayment_by_id_customer_global),
    );
}
