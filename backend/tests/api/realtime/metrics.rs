//! The metrics of sockets and countdowns, driven and read at `/metrics`.

use super::phone::Phone;
use super::setup;

#[actix_web::test]
async fn sessions_subscriptions_actors_ticks_lateness_and_joins_are_counted() {
    let app = setup().with(|c| c.mesin.idle_s = 1).start().await;
    let (watched, alone) = (app.shop(4).await, app.shop(600).await);
    let start = app.now().ms();
    let siti = app.customer(1).await;
    let (mut first, mut second) = (Phone::join(&app, &siti.token).await, Phone::join(&app, &siti.token).await);
    assert_eq!(app.metric("nyala_sessions").await, 2.0);
    assert_eq!(app.metric("nyala_join_seconds_count").await, 2.0);
    assert!(app.metric("nyala_join_seconds_sum").await > 0.0);
    assert!(Phone::dial(app.address()).await.connect(None).await.is_err());
    assert_eq!(app.metric("nyala_join_seconds_count").await, 2.0, "a refusal is no join");

    for phone in [&mut first, &mut second] {
        phone.watch(watched.idmesin, None).await;
    }
    app.run(watched, 4, 1).await;
    app.run(alone, 600, 2).await;
    assert_eq!(app.metric("nyala_subscriptions").await, 2.0);
    assert_eq!(app.metric("nyala_machine_actors").await, 2.0);

    // The start, a tick that is 230 ms late, one in time, the end; each for two phones. No phone watches the other machine.
    let phase_tick = start + app.phase(watched) + if app.phase(watched) < 200 { 1_000 } else { 0 };
    for now in [start, phase_tick + 230, phase_tick + 1_000, start + 4_000] {
        app.set_ms(now);
        for phone in [&mut first, &mut second] {
            assert_eq!(phone.tick().await.server_time, now);
        }
    }
    app.until_metric("nyala_ticks_sent_total", 8.0).await;
    assert_eq!(app.metric("nyala_tick_lateness_seconds_count").await, 2.0);
    let late_s = app.metric("nyala_tick_lateness_seconds_sum").await;
    assert!((late_s - 0.23).abs() < 1e-9, "{late_s}");

    drop(second);
    app.until_metric("nyala_sessions", 1.0).await;
    app.until_metric("nyala_subscriptions", 1.0).await;
    first.unwatch(watched.idmesin).await;
    app.until_metric("nyala_subscriptions", 0.0).await;
    app.until_metric("nyala_machine_actors", 1.0).await;
    app.advance_s(600);
    app.until_metric("nyala_machine_actors", 0.0).await;
    assert_eq!(app.metric("nyala_machine_actors_started_total").await, 2.0);
}
