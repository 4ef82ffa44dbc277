//! One table of routes.

use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};
use nyala_store::config::ServerSettings;
use nyala_web::api;
use nyala_web::dev;
use nyala_web::health;
use nyala_web::http::{dev_guard, input};
use nyala_web::moves;
use nyala_web::ops;
use nyala_web::qris::notify;
use nyala_web::security_txt;

use super::{openapi, unrouted};

pub fn routes(cfg: &mut ServiceConfig, config: &ServerSettings) {
    cfg.app_data(input::path_config()).app_data(input::query_config());
    cfg.service(web::scope("/scan/v1").configure(api::routes));
    cfg.service(
        web::scope("/ops/v1")
            .wrap(from_fn(ops::people::key::middleware))
            .configure(|cfg| ops::routes(cfg, || web::to(unrouted::unrouted))),
    );
    cfg.service(web::scope("/qris").configure(notify::routes));
    if config.dev.routes {
        cfg.service(web::scope("/dev").wrap(from_fn(dev_guard::middleware)).configure(dev::routes)).configure(openapi::docs);
    }
    cfg.configure(health::routes)
        .configure(security_txt::routes)
        .configure(moves::page::routes)
        .configure(openapi::routes)
        .default_service(web::to(unrouted::unrouted));
}
