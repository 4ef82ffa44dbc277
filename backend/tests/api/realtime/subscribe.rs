//! Watching machines: the acknowledgement is a whole snapshot, and no event from a phone ends its session.

use serde_json::{Value, json};

use super::phone::Phone;
use super::setup;
use super::wire::text_frame;

#[actix_web::test]
async fn the_answer_says_what_the_machine_does_now() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    let idle = |now: i64| json!({"status": 200, "tl": null, "ends_at": null, "server_time": now});
    assert_eq!(phone.subscribe(shop.idmesin).await, idle(app.now().ms()));
    let ends_at = app.run(shop, 600, 1).await;
    assert_eq!(phone.tick().await.tl, 600_000);
    app.clock.advance_ms(1);
    let running = json!({"status": 200, "tl": 599_999, "ends_at": ends_at, "server_time": ends_at - 599_999});
    assert_eq!(phone.subscribe(shop.idmesin).await, running, "again, by whom it is watched already");
    // Another customer's machine: its display shows the same, so its state is no secret.
    let budi = app.customer(2).await;
    assert_eq!(Phone::join(&app, &budi.token).await.subscribe(shop.idmesin).await, running);
    app.set_ms(ends_at);
    assert_eq!(phone.subscribe(shop.idmesin).await, idle(ends_at), "never a negative time left");
}

#[actix_web::test]
async fn an_invalid_topic_is_refused_and_the_session_continues() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    let id = shop.idmesin;
    let huge = format!(r#","heartbeat/{}""#, "9".repeat(60_000));
    let no_topics = [
        "",
        ",null",
        ",7",
        ",true",
        ",[]",
        ",{}",
        &format!(",{id}"),
        &format!(r#",["heartbeat/{id}"]"#),
        &format!(r#",{{"topic":"heartbeat/{id}"}}"#),
        &format!(r#","heartbeat/{id}","heartbeat/{id}""#),
        r#","""#,
        r#","heartbeat""#,
        r#","heartbeat/""#,
        r#","heartbeat/abc""#,
        r#","heartbeat/-1""#,
        r#","heartbeat/0""#,
        r#","heartbeat/1.5""#,
        r#","heartbeat/+1""#,
        r#","heartbeat/٣""#,
        &format!(r#","heartbeat/ {id}""#),
        &format!(r#","heartbeat/{id}/""#),
        &format!(r#","Heartbeat/{id}""#),
        &format!(r#","heartbeat/{id}\u0000""#),
        r#","heartbeat/9223372036854775808""#,
        &huge,
    ];
    for event in ["subscribe", "unsubscribe"] {
        for args in no_topics {
            let answer = phone.ask(event, args).await;
            let shown: String = args.chars().take(60).collect();
            assert_eq!(answer["status"], 404, "{event} {shown}: {answer}");
            assert!(answer["message"].as_str().unwrap().contains("heartbeat/"), "it says what would be right: {answer}");
            phone.emit(event, args).await;
        }
    }
    assert_eq!(phone.ask("subscribe", r#","heartbeat/9223372036854775807""#).await["status"], 404, "an unknown machine");
    for event in ["heartbeat", "message", "", "SUBSCRIBE", &format!("heartbeat/{id}")] {
        assert_eq!(phone.ask(event, ",1").await["status"], 400, "{event}");
        phone.emit(event, "").await;
    }
    app.run(shop, 600, 1).await;
    assert_eq!(phone.subscribe(id).await["tl"], 600_000, "nothing of that was watched before, and all of it was survived");
    app.until_metric("nyala_subscriptions", 1.0).await;
    app.until_metric("nyala_socket_violations_total", 0.0).await;
}

#[actix_web::test]
async fn the_thirty_third_topic_is_refused_until_one_is_left() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let mut machines = vec![shop];
    for _ in 1..40 {
        machines.push(app.neighbour(shop, 600).await);
    }
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    // All at once, and no phone has asked for any of them before.
    for machine in &machines {
        phone.begin("subscribe", &format!(r#","heartbeat/{}""#, machine.idmesin)).await;
    }
    let mut answers: Vec<(u64, Value)> = Vec::new();
    for _ in &machines {
        answers.push(phone.answer().await);
    }
    let refused = answers.iter().filter(|(_, a)| a["status"] == 429);
    assert!(refused.clone().all(|(_, a)| a["message"] == "paling banyak 32 mesin sekaligus"));
    assert_eq!(refused.count(), 8);
    assert_eq!(answers.iter().filter(|(_, a)| a["status"] == 200).count(), 32);
    app.until_metric("nyala_subscriptions", 32.0).await;

    let watched = machines[answers.iter().find(|(_, a)| a["status"] == 200).unwrap().0 as usize - 1].idmesin;
    let left_out = machines[answers.iter().find(|(_, a)| a["status"] == 429).unwrap().0 as usize - 1].idmesin;
    assert_eq!(phone.subscribe(watched).await["status"], 200, "one of the 32 again is no 33rd");
    assert_eq!(phone.subscribe(left_out).await["status"], 429);
    phone.unwatch(watched).await;
    assert_eq!(phone.subscribe(left_out).await["status"], 200);
    drop(phone);
    app.until_metric("nyala_subscriptions", 0.0).await;
}

/// The app mounts a card, unmounts it and mounts it again: the last request wins, even if the earlier ones needed a lookup.
#[actix_web::test]
async fn requests_in_one_write_are_done_in_that_order() {
    let app = setup().start().await;
    let (first, second) = (app.shop(600).await, app.shop(600).await);
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    let mut breath = Vec::new();
    let asked = [
        ("subscribe", first.idmesin),
        ("subscribe", second.idmesin),
        ("unsubscribe", first.idmesin),
        ("unsubscribe", second.idmesin),
        ("subscribe", second.idmesin),
    ];
    for (n, (event, id)) in asked.iter().enumerate() {
        breath.extend(text_frame(&format!(r#"42{n}["{event}","heartbeat/{id}"]"#)));
    }
    phone.send_raw(&breath).await;
    let mut answered = Vec::new();
    for _ in asked {
        let (number, answer) = phone.answer().await;
        assert_eq!(answer["status"], 200, "{answer}");
        answered.push(number);
    }
    let place = |n: u64| answered.iter().position(|a| *a == n).unwrap();
    assert!(place(0) < place(2) && place(1) < place(3) && place(3) < place(4), "{answered:?}");
    app.until_metric("nyala_subscriptions", 1.0).await;
    app.run(first, 600, 1).await;
    app.run(second, 600, 2).await;
    assert_eq!(phone.tick().await.idmesin, second.idmesin, "the first is not watched any more");
}

#[actix_web::test]
async fn a_topic_subscribed_twice_is_received_once_and_an_unsubscribed_one_never() {
    let app = setup().start().await;
    let (shop, other) = (app.shop(600).await, app.shop(600).await);
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    for _ in 0..3 {
        phone.watch(shop.idmesin, None).await;
    }
    phone.watch(other.idmesin, None).await;
    app.until_metric("nyala_subscriptions", 2.0).await;
    let ends_at = app.run(shop, 600, 1).await;
    app.run(other, 600, 2).await;
    let received = [phone.tick().await.idmesin, phone.tick().await.idmesin];
    assert_eq!(received, [shop.idmesin, other.idmesin], "the start of each, once");

    phone.unwatch(shop.idmesin).await;
    phone.unwatch(shop.idmesin).await;
    // Every second from 200 ms after the start on contains a tick of both; only one is received.
    for ms in [1_200, 1_000] {
        app.clock.advance_ms(ms);
        assert_eq!(phone.tick().await.idmesin, other.idmesin);
    }
    phone.watch(shop.idmesin, Some(ends_at)).await;
    app.clock.advance_ms(1_000);
    let mut received = [phone.tick().await, phone.tick().await].map(|tick| tick.idmesin);
    received.sort_unstable();
    assert_eq!(received, [shop.idmesin, other.idmesin]);
}

/// An unanswered request means a client that hangs; a thousand subscriptions mean a server that hangs.
#[actix_web::test]
async fn a_thousand_subscribes_on_one_socket_are_all_answered() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let ends_at = app.run(shop, 600, 1).await;
    let fresh = app.neighbour(shop, 600).await;
    let siti = app.customer(1).await;
    for (idmesin, ends_at) in [(shop.idmesin, Some(ends_at)), (fresh.idmesin, None)] {
        let mut phone = Phone::join(&app, &siti.token).await;
        let all: Vec<u8> = (0..1_000).flat_map(|n| text_frame(&format!(r#"42{n}["subscribe","heartbeat/{idmesin}"]"#))).collect();
        phone.send_raw(&all).await;
        for n in 0..1_000 {
            let (number, answer) = phone.answer().await;
            assert_eq!((number, &answer["status"], &answer["ends_at"]), (n, &json!(200), &json!(ends_at)));
        }
        app.until_metric("nyala_subscriptions", 1.0).await;
        drop(phone);
        app.until_metric("nyala_subscriptions", 0.0).await;
    }
}
