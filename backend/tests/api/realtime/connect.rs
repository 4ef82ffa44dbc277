//! Which sockets may join, and how many.

use nyala_core::domain::id::CustomerId;
use serde_json::{Value, json};

use super::phone::Phone;
use super::setup;
use crate::support::helpers::TestApp;

async fn refused(app: &TestApp, auth: Option<Value>) -> Value {
    Phone::dial(app.address()).await.connect(auth.as_ref()).await.expect_err("refused")
}

#[actix_web::test]
async fn only_a_good_token_joins() {
    let app = setup().start().await;
    let siti = app.customer(1).await;
    let unauthorized = json!({"message": "unauthorized"});
    let bad = [
        json!({}),
        json!({"token": null}),
        json!({"token": 7}),
        json!({"token": [siti.token]}),
        json!({"token": ""}),
        json!({"token": "x.y.z"}),
        json!({"token": &siti.token[1..]}),
        json!({"token": format!("Bearer {}", siti.token)}),
        json!({"token": "a".repeat(60_000)}),
        json!({"token": app.state.auth.tokens.mint(CustomerId::new(4_711), 1, app.now()).unwrap()}),
        json!({"token": app.state.auth.tokens.mint(siti.id, 0, app.now()).unwrap()}),
    ];
    assert_eq!(refused(&app, None).await, unauthorized);
    for auth in bad {
        assert_eq!(refused(&app, Some(auth.clone())).await, unauthorized, "{auth}");
    }
    Phone::join(&app, &siti.token).await;
    app.advance_s(30 * 86_400);
    assert_eq!(refused(&app, Some(json!({"token": siti.token}))).await, unauthorized, "it has run out");
}

#[actix_web::test]
async fn a_refused_phone_may_try_again_on_the_same_connection_and_there_is_one_namespace() {
    let app = setup().start().await;
    let siti = app.customer(1).await;
    let mut phone = Phone::dial(app.address()).await;
    let good = json!({"token": siti.token});
    assert_eq!(phone.connect(Some(&json!({"token": "x"}))).await.unwrap_err(), json!({"message": "unauthorized"}));
    let sid = phone.connect(Some(&good)).await.unwrap();
    assert_eq!(phone.connect(Some(&good)).await.unwrap(), sid, "told again, not joined twice");
    phone.send(&format!("40/ops,{good}")).await;
    assert_eq!(phone.packet().await, r#"44/ops,{"message":"Invalid namespace"}"#);
    assert_eq!(phone.subscribe(4_711).await["status"], 404, "the session goes on");
    app.until_metric("nyala_sessions", 1.0).await;
}

#[actix_web::test]
async fn a_customer_has_ten_sockets_and_a_released_slot_is_free() {
    let app = setup().start().await;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let mut phones = Vec::new();
    for _ in 0..10 {
        phones.push(Phone::join(&app, &siti.token).await);
    }
    let auth = json!({"token": siti.token});
    let too_many = json!({"message": "too many sockets"});
    assert_eq!(refused(&app, Some(auth.clone())).await, too_many);
    assert_eq!(refused(&app, Some(auth.clone())).await, too_many, "a refusal takes no slot and frees none");
    Phone::join(&app, &budi.token).await;
    drop(phones.pop());
    app.until_metric("nyala_sessions", 9.0).await;
    phones.push(Phone::join(&app, &siti.token).await);
    assert_eq!(refused(&app, Some(auth)).await, too_many);
    // A socket that leaves the namespace but keeps its connection releases its slot as well.
    phones[0].send("41").await;
    app.until_metric("nyala_sessions", 9.0).await;
    Phone::join(&app, &siti.token).await;
}

/// Sockets that join at the same moment count like those that join one by one.
#[actix_web::test]
async fn of_thirty_sockets_at_once_ten_join() {
    let app = setup().with(|c| c.http.workers = 2).start().await;
    let siti = app.customer(1).await;
    let auth = json!({"token": siti.token});
    let all = futures_util::future::join_all((0..30).map(async |_| {
        let mut phone = Phone::dial(app.address()).await;
        let joined = phone.connect(Some(&auth)).await;
        (phone, joined.is_ok())
    }))
    .await;
    assert_eq!(all.iter().filter(|(_, joined)| *joined).count(), 10);
    drop(all);
    app.until_metric("nyala_sessions", 0.0).await;
}

/// Open purchases are loaded into their machines before the server answers that nothing runs.
#[actix_web::test]
async fn a_phone_that_comes_while_the_server_starts_waits_until_it_knows_what_runs() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let siti = app.customer(1).await;
    app.state.machines.set_open(false);
    let (phone, ends_at) = tokio::join!(
        async {
            let mut phone = Phone::join(&app, &siti.token).await;
            let ack = phone.subscribe(shop.idmesin).await;
            (phone, ack)
        },
        async {
            let customer = app.customer(2).await;
            let epay = app.funded(&customer, shop.outlet, 10_000).await;
            let machine = crate::support::arrange::Machine {
                idmesin: shop.idmesin,
                idlayanan: shop.idlayanan,
                code: String::new(),
                qr: String::new(),
            };
            app.running(epay, &machine, 1).await;
            nyala_machines::recovery::resume(&app.state.machines, None).await.unwrap();
            app.state.machines.set_open(true);
            app.now().ms() + 600_000
        }
    );
    assert_eq!(phone.1, json!({"status": 200, "tl": 600_000, "ends_at": ends_at, "server_time": app.now().ms()}));
}
