//! One table of routes.

use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};

use super::{openapi, unrouted};
use crate::config::ServerSettings;
use crate::http::{dev_door, input};
use crate::{api, dev, health, ops};

pub fn routes(cfg: &mut ServiceConfig, config: &ServerSettings) {
    cfg.app_data(input::path_config()).app_data(input::query_config());
    cfg.service(web::scope("/scan/v1").configure(api::routes));
    cfg.service(
        web::scope("/ops/v1").wrap(from_fn(ops::key::middleware)).configure(|cfg| ops::routes(cfg, web::to(unrouted::unrouted))),
    );
    if config.dev.routes {
        cfg.service(web::scope("/dev").wrap(from_fn(dev_door::middleware)).configure(dev::routes)).configure(openapi::docs);
    }
    cfg.configure(health::routes).configure(openapi::routes).default_service(web::to(unrouted::unrouted));
}
