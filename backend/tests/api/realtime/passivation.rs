//! Actors of machines leave memory while phones come and go: every answer is right, and nothing remains at the end.

use nyala_core::domain::id::MachineId;
use std::time::Duration;

use actix_web::rt::time::sleep;
use futures_util::future::join_all;
use serde_json::json;

use super::phone::Phone;
use super::setup;
use super::wire::text_frame;

const PHONES: usize = 20;
const ROUNDS: usize = 20;
const OUTLETS: usize = 5;
/// Machines at each outlet; one of them runs.
const MACHINES: usize = 5;

/// Subscribes to every machine and unsubscribes at once, in one write; each answer must be right.
async fn round(phone: &mut Phone, machines: &[(MachineId, Option<i64>)]) {
    let mut breath = Vec::new();
    for (n, (idmesin, _)) in machines.iter().enumerate() {
        breath.extend(text_frame(&format!(r#"42{n}["subscribe","heartbeat/{idmesin}"]"#)));
        breath.extend(text_frame(&format!(r#"42{}["unsubscribe","heartbeat/{idmesin}"]"#, n + machines.len())));
    }
    phone.send_raw(&breath).await;
    for _ in 0..2 * machines.len() {
        let (number, answer) = phone.answer().await;
        assert_eq!(answer["status"], 200, "{answer}");
        if let Some((_, ends_at)) = machines.get(number as usize) {
            let tl = ends_at.map(|at| at - answer["server_time"].as_i64().unwrap());
            assert_eq!((&answer["ends_at"], &answer["tl"]), (&json!(ends_at), &json!(tl)));
        }
    }
}

#[actix_web::test]
async fn ten_thousand_subscribes_race_with_actors_that_leave() {
    let app = setup().with(|c| (c.http.workers, c.mesin.idle_s) = (2, 1)).start().await;
    let (mut shops, mut machines, mut n) = (Vec::new(), Vec::new(), 0);
    for _ in 0..OUTLETS {
        let shop = app.shop(600).await;
        n += 1;
        machines.push((shop.idmesin, Some(app.run(shop, 600, n).await)));
        for _ in 1..MACHINES {
            shops.push(app.neighbour(shop, 600).await);
        }
    }
    machines.extend(shops.iter().map(|shop| (shop.idmesin, None)));
    let customers = [app.customer(1).await, app.customer(2).await];
    let mut phones = Vec::new();
    for i in 0..PHONES {
        phones.push(Phone::join(&app, &customers[i % customers.len()].token).await);
    }
    join_all(phones.iter_mut().enumerate().map(async |(i, phone)| {
        for k in 0..ROUNDS {
            round(phone, &machines).await;
            // Gaps of all lengths, so that actors become idle at every moment of the race.
            sleep(Duration::from_millis(((i * 37 + k * 61) % 200) as u64)).await;
        }
    }))
    .await;
    let made = app.metric("nyala_machine_actors_started_total").await;
    assert!(made > (OUTLETS * MACHINES) as f64, "no actor left in between ({made} were made): nothing was raced");
    app.until_metric("nyala_subscriptions", 0.0).await;

    // No phone may watch an outdated machine status: each phone receives its machine's start and end.
    for (phone, shop) in phones.iter_mut().zip(&shops) {
        phone.watch(shop.idmesin, None).await;
    }
    for (phone, shop) in phones.iter_mut().zip(&shops) {
        n += 1;
        let ends_at = app.run(*shop, 600, n).await;
        let tick = phone.tick().await;
        assert_eq!((tick.idmesin, tick.tl, tick.ends_at), (shop.idmesin, 600_000, Some(ends_at)));
    }
    app.advance_s(600);
    for phone in &mut phones {
        assert_eq!(phone.tick().await.tl, 0);
    }
    drop(phones);
    for series in ["nyala_sessions", "nyala_subscriptions", "nyala_machine_actors"] {
        app.until_metric(series, 0.0).await;
    }
}
