//! Pushes that a push service fails to take, or refuses.

use serde_json::json;

use super::Wash;

/// Waits until `n` messages have arrived and none is due.
async fn came(wash: &Wash, n: usize) {
    wash.service.until(n).await;
    wash.app.all_pushed().await;
    assert_eq!(wash.service.given().len(), n);
}

#[actix_web::test]
async fn a_push_that_fails_is_retried_after_growing_pauses() {
    let wash = Wash::open().await;
    let Wash { service, app, phone, .. } = &wash;
    service.answer([(503, None), (429, Some(("retry-after", "1"))), (201, None)]);
    wash.run(1).await;
    for (n, pause_s) in [(1, 5), (2, 30)] {
        came(&wash, n).await;
        app.advance_s(pause_s - 1);
        came(&wash, n).await;
        app.advance_s(1);
    }
    came(&wash, 3).await;
    let opened: Vec<_> = service.given().iter().map(|given| phone.open(given)).collect();
    assert!(opened.iter().all(|notification| *notification == opened[0]), "{opened:?}");
    app.advance_s(300);
    came(&wash, 3).await;
}

#[actix_web::test]
async fn a_services_retry_after_is_obeyed_up_to_a_limit() {
    let wash = Wash::open().await;
    wash.service.answer([(503, Some(("retry-after", "20"))), (503, Some(("retry-after", "86400"))), (201, None)]);
    wash.run(1).await;
    for (n, pause_s) in [(1, 20), (2, 120)] {
        came(&wash, n).await;
        wash.app.advance_s(pause_s - 1);
        came(&wash, n).await;
        wash.app.advance_s(1);
    }
    came(&wash, 3).await;
}

#[actix_web::test]
async fn a_push_has_three_attempts() {
    let wash = Wash::open().await;
    wash.service.answer([(500, None), (502, None), (503, None)]);
    wash.run(1).await;
    for n in 1..=3 {
        came(&wash, n).await;
        wash.app.advance_s(130);
    }
    came(&wash, 3).await;
    let page = wash.counted().await;
    assert!(page.contains("nyala_pushes_total{result=\"failed\"} 1"), "{page}");
}

#[actix_web::test]
async fn a_browser_that_is_gone_is_forgotten() {
    for status in [404, 410] {
        let wash = Wash::open().await;
        wash.service.answer([(status, None)]);
        wash.run(1).await;
        came(&wash, 1).await;
        assert_eq!(wash.app.insert("SELECT count(*) FROM langganan_push", &[]).await, 0, "{status}");
        wash.app.advance_s(700);
        wash.run(2).await;
        came(&wash, 1).await;
    }
}

#[actix_web::test]
async fn a_refused_push_is_not_retried_and_no_redirect_is_followed() {
    let wash = Wash::open().await;
    for (n, reply) in [(400, None), (403, None), (413, None), (307, Some(("location", "/elsewhere")))].into_iter().enumerate() {
        wash.service.answer([reply]);
        wash.run(u32::try_from(n).unwrap() + 1).await;
        came(&wash, n + 1).await;
        wash.app.advance_s(130);
        came(&wash, n + 1).await;
    }
    assert!(wash.service.given().iter().all(|given| given.path == "/phone"));
    assert_eq!(wash.app.insert("SELECT count(*) FROM langganan_push", &[]).await, 1);
}

#[actix_web::test]
async fn a_refused_connection_is_retried() {
    let wash = Wash::open().await;
    let Wash { app, siti, .. } = &wash;
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut body = wash.service.browser("deaf").body();
    body["endpoint"] = json!(format!("http://127.0.0.1:{port}/deaf"));
    app.post("/scan/v1/push/langganan", Some(&siti.token), &body).await.ok();
    wash.run(1).await;
    came(&wash, 1).await;
    let left = "SELECT count(*) FROM push WHERE sebab = 'selesai' AND tries = 1";
    assert_eq!(app.insert(left, &[]).await, 1);
}
