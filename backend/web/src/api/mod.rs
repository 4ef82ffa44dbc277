//! Customers' calls (docs/contract.md §1), one file each: its input, its rule, its response.

pub mod akun;
pub mod auth;
pub mod dashboard;
pub mod epay_account;
pub mod epayment;
pub mod push;
pub mod snap;
pub mod transaksi;

use actix_web::web::{ServiceConfig, scope};

/// Below `/scan/v1`.
pub fn routes(cfg: &mut ServiceConfig) {
    cfg.service(scope("/auth").configure(auth::routes))
        .service(scope("/dashboard").configure(dashboard::routes))
        .service(scope("/transaksi").configure(transaksi::routes))
        .service(scope("/epayment").configure(epayment::routes))
        .service(scope("/akun").configure(akun::routes))
        .service(scope("/push").configure(push::routes));
}
