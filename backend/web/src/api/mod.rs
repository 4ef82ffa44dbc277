//! Customers' calls (docs/contract.md §1), one file each: its input, its rule, its response.

pub mod akun;
pub mod auth;
pub mod dashboard;
pub mod epay_account;
pub mod epayment;
pub mod outlet;
pub mod push;
pub mod snap;
pub mod transaksi;

use actix_web::web::{ServiceConfig, get, post, scope};

/// Below `/scan/v1`.
pub fn routes(cfg: &mut ServiceConfig) {
    cfg.service(scope("/auth").configure(auth::routes))
        .service(scope("/dashboard").configure(dashboard::routes))
        .service(scope("/transaksi").configure(transaksi::routes))
        .service(scope("/epayment").configure(epayment::routes))
        .service(scope("/akun").configure(akun::routes))
        .service(scope("/push").configure(push::routes))
        .route("/outlet", get().to(outlet::list::list))
        .route("/outlet/{id}/mesin", get().to(outlet::machines::machines))
        .route("/outlet/{id}/panggil", post().to(outlet::call::panggil))
        .route("/panggil", get().to(outlet::call::panggilan))
        .route("/panggil/berhenti", post().to(outlet::call::berhenti));
}
