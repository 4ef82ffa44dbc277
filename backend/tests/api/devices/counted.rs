//! The metrics that docs/operations.md names exist.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Device, knock_as, standing};
use crate::support::shop::buy;

const MANUAL: &str = include_str!("../../../../docs/operations.md");

#[actix_web::test]
async fn the_manuals_figures_of_devices_are_there_and_name_no_device() {
    let app = standing().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    knock_as(&given, &given.idmesin.to_string(), "wrong").await;
    let mut device = Device::online(&app, &given).await;
    app.scanned(given.idmesin.get(), &siti).await;
    app.buy_at(&siti, &buy(1, shop, epay), &mut device).await.ok();
    device.epoch = 0;
    device.state().await;
    app.until_stored(given.idmesin.get(), "perlu_petugas", true).await;
    device.send("hb", &json!({"boot_id": []})).await;
    device.connection.publish("nyala/v1/1/1/x", b"", nyala_mqtt::Qos::AtMostOnce).await;
    device.connection.closed().await;

    let page = crate::server::listener::raw(&app, "GET", "/metrics", &[]).await.body;
    let named =
        MANUAL.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|message| message.starts_with("nyala_device"));
    let named: BTreeSet<&str> = named.collect();
    assert!(named.len() >= 9, "{named:?}");
    let missing: Vec<&&str> = named
        .iter()
        .filter(|name| !page.lines().any(|line| line.starts_with(**name) || line.starts_with(&format!("{name}_count"))))
        .collect();
    assert!(missing.is_empty(), "{missing:?} in {page}");
    for line in page.lines().filter(|line| line.starts_with("nyala_device")) {
        assert!(!line.contains("idmesin") && !line.contains(&given.secret), "{line}");
    }
}
