//! The state that a restart finds, and how the server handles it.

use serde_json::json;

use super::Site;

/// The server was down for longer than the fifteen minutes: its device is queried before the money is refunded.
#[actix_web::test]
async fn a_purchase_older_than_fifteen_minutes_hears_its_device_first() {
    let mut site = Site::new().await;
    site.start("before_post").await;
    let shop = site.shop(3_600).await;
    site.buy(&shop).await.expect_err("killed when the device had started");
    site.killed().await;
    let outage =
        "UPDATE snap_transaksi SET created_at = created_at - interval '20 minutes', cmd_exp = cmd_exp - interval '20 minutes'";
    site.db.execute(outage, &[]).await.unwrap();
    site.start("").await;
    site.until("RUNNING").await;
    site.buy(&shop).await.unwrap().expect(200, "Mesin Berhasil dinyalakan");
    assert_eq!(site.balance().await, 0, "it runs, so it is paid");
    site.assert_sound().await;
}

/// A purchase with a silent device is given up, and the machine waits for staff until the device sends something.
#[actix_web::test]
async fn a_device_that_stays_silent_is_given_up_after_a_restart_too() {
    let mut site = Site::new().await;
    site.start("after_hold").await;
    let shop = site.shop(3_600).await;
    site.fault(&shop, "silent").await;
    site.buy(&shop).await.expect_err("killed after the hold");
    site.killed().await;
    let outage =
        "UPDATE snap_transaksi SET created_at = created_at - interval '20 minutes', cmd_exp = cmd_exp - interval '20 minutes'";
    site.db.execute(outage, &[]).await.unwrap();
    site.start("").await;
    site.until("EXPIRED").await;
    assert_eq!(site.balance().await, super::PRICE);
    let status = async || {
        let path = format!("/ops/v1/mesin/{}", shop.idmesin);
        site.ask("GET", &path, &shop.key, &json!(null)).await.unwrap().ok()["status"].clone()
    };
    assert_eq!(status().await, "offline");
    site.fault(&shop, "ok").await;
    assert_eq!(status().await, "idle");
    site.assert_sound().await;
}

/// The stored presence of a simulated device may be lost in the crash; the device itself is unchanged.
#[actix_web::test]
async fn a_restart_knows_which_simulated_devices_are_out_of_reach() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(60).await;
    for (mode, stored, status) in [("offline", true, "offline"), ("ok", false, "idle")] {
        site.fault(&shop, mode).await;
        site.kill().await;
        site.db.execute("UPDATE mesin SET online = $1", &[&stored]).await.unwrap();
        site.start("").await;
        let path = format!("/ops/v1/mesin/{}", shop.idmesin);
        let machine = site.ask("GET", &path, &shop.key, &json!(null)).await.unwrap().ok();
        assert_eq!(machine["status"], status, "{mode}");
    }
}
