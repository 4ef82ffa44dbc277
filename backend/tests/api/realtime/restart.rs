//! A server that ends closes its sockets; the one that comes after it knows what runs.

use std::time::Instant;

use nix::sys::signal::Signal;

use super::phone::Phone;
use crate::process::Site;

#[actix_web::test]
async fn after_a_stop_and_after_a_crash_the_countdown_goes_on_where_it_is() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(600).await;
    let mut phone = Phone::join_at(site.address(), &shop.token).await;
    phone.watch(shop.idmesin, None).await;
    site.buy(&shop).await.unwrap().ok();
    let (started, first) = (Instant::now(), phone.tick().await);
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        site.signal(signal);
        assert!(phone.closed().await.iter().all(|tick| tick.tl > 0), "the run is not over");
        let ended = site.ended().await;
        assert_eq!(ended.success(), signal == Signal::SIGTERM, "{ended}");
        site.start("").await;
        phone = Phone::join_at(site.address(), &shop.token).await;
        let ack = phone.subscribe(shop.idmesin).await;
        assert_eq!(ack["ends_at"].as_i64(), first.ends_at);
        let passed_ms = started.elapsed().as_millis() as i64;
        let error_ms = ack["tl"].as_i64().unwrap() - (first.tl - passed_ms);
        assert!(error_ms.abs() <= 1_000, "the countdown is {error_ms} ms off");
        let tick = phone.tick().await;
        assert_eq!((tick.ends_at, tick.tl), (first.ends_at, first.ends_at.unwrap() - tick.server_time));
    }
}
