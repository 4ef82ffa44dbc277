//! Customers' sockets at several servers.

use std::sync::Arc;
use std::time::Duration;

use actix_web::rt::time::sleep;
use nyala_core::domain::shard::SHARDS;
use serde_json::{Value, json};

use super::{server, two};
use crate::realtime::phone::{Phone, soon};
use crate::support::helpers::{PASSWORD, TestApp};
use crate::support::shop::buy;

const LOOK_EVERY: Duration = Duration::from_millis(20);
const DASHBOARD: &str = "/scan/v1/dashboard/get_dashboard";
const SOCKET: &str = "/socket.io/?EIO=4&transport=polling";

impl TestApp {
    /// The status and the body of a polling request; `more` extends the query and may name a session.
    async fn poll(&self, more: &str) -> (u16, String) {
        let mut answer = self.http.get(format!("{}{SOCKET}{more}", self.base_url)).send().await.unwrap();
        (answer.status().as_u16(), String::from_utf8(answer.body().await.unwrap().to_vec()).unwrap())
    }

    /// The id of a new session, as its client knows it.
    async fn sid(&self) -> String {
        let (_, opened) = self.poll("").await;
        let handshake: Value = serde_json::from_str(opened.strip_prefix('0').expect("a handshake")).unwrap();
        handshake["sid"].as_str().unwrap().to_owned()
    }
}

#[actix_web::test]
async fn the_id_of_a_session_begins_with_its_servers_name_and_alone_with_none() {
    let (first, second, _) = two().await;
    let alone = TestApp::spawn().await;
    let sid = first.sid().await;
    assert!(sid.starts_with("n1") && sid.len() == 22, "{sid}");
    assert!(second.sid().await.starts_with("n2"));
    assert_eq!(alone.sid().await.len(), 20);
    // The id is valid only at this server, and only with its name.
    for (app, unknown) in [(&first, &sid[2..]), (&second, &sid), (&alone, &sid[2..])] {
        assert_eq!(app.poll(&format!("&sid={unknown}")).await.0, 400, "{unknown}");
    }
    let url = format!("{}{SOCKET}&sid={sid}", first.base_url);
    let siti = first.register_customer("81234567890", "Siti", "Rahmawati").await;
    let mut joined = first.http.post(url).send_body(format!("40{}", json!({ "token": siti.token }))).await.unwrap();
    assert_eq!(&joined.body().await.unwrap()[..], b"ok");
    assert!(first.poll(&format!("&sid={sid}")).await.1.starts_with("40{"));
}

#[actix_web::test]
async fn tokens_that_end_at_one_server_end_at_the_others() {
    let (first, second, _) = two().await;
    let siti = first.register_customer("81234567890", "Siti", "Rahmawati").await;
    let budi = first.register_customer("81234567891", "Budi", "Santoso").await;
    let other_phone = second.login(&siti.telp, PASSWORD).await.ok()["token"].as_str().unwrap().to_owned();
    let look = || async { second.state.sessions.look(&second.state.auth).await.unwrap() };
    let [mut left, mut stays, mut bystander] = [
        Phone::join(&second, &siti.token).await,
        Phone::join(&second, &other_phone).await,
        Phone::join(&second, &budi.token).await,
    ];
    look().await;
    assert_eq!(left.subscribe(4_711).await["status"], 404, "nothing has ended yet");

    first.log_out(&siti.token).await.ok();
    look().await;
    assert_eq!(left.closed().await, []);
    second.get(DASHBOARD, Some(&siti.token)).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");
    assert_eq!(stays.subscribe(4_711).await["status"], 404);

    first.post("/scan/v1/akun/request_otp_password", Some(&other_phone), &Value::Null).await.ok();
    let code = first.last_code(&siti.telp).await;
    let body = json!({"otp": code, "password_lama": PASSWORD, "password_baru": "SandiBaru1"});
    let newer = first.post("/scan/v1/akun/update_password", Some(&other_phone), &body).await.ok();
    let mut newer = Phone::join(&second, newer["token"].as_str().unwrap()).await;
    look().await;
    assert_eq!(stays.closed().await, []);
    second.get(DASHBOARD, Some(&other_phone)).await.expect(401, "sesi tidak berlaku, silakan masuk lagi");
    for phone in [&mut newer, &mut bystander] {
        assert_eq!(phone.subscribe(4_711).await["status"], 404);
    }
}

#[actix_web::test]
async fn a_tills_socket_may_come_to_another_server_and_ends_with_its_session_there_too() {
    let (first, second, _) = two().await;
    let outlet = first.outlet("Melati").await;
    let rina = first.kasir(outlet.idoutlet).await;
    let ticket = first.ask(&rina, "soket", &json!({})).await.ok()["tiket"].clone();
    let auth = json!({ "tiket": ticket });
    let mut page = Phone::dial(second.address()).await;
    page.connect(Some(&auth)).await.unwrap();
    let again = Phone::dial(second.address()).await.connect(Some(&auth)).await;
    assert_eq!(again.expect_err("a ticket is good once"), json!({ "message": "unauthorized" }));

    second.state.staff_sockets.look(&second.state.staff).await.unwrap();
    assert_eq!(page.subscribe(1).await["status"], 404, "it goes on");
    first.ask(&rina, "keluar", &json!({})).await.ok();
    second.state.staff_sockets.look(&second.state.staff).await.unwrap();
    assert_eq!(page.closed().await, []);
}

#[actix_web::test]
async fn a_customer_has_ten_sockets_at_each_server() {
    let (first, second, _) = two().await;
    let siti = first.register_customer("81234567890", "Siti", "Rahmawati").await;
    let auth = json!({ "token": siti.token });
    let mut phones = Vec::new();
    for app in [&first, &second] {
        for _ in 0..10 {
            phones.push(Phone::join(app, &siti.token).await);
        }
        let one_more = Phone::dial(app.address()).await.connect(Some(&auth)).await;
        assert_eq!(one_more.expect_err("ten are open here"), json!({ "message": "too many sockets" }));
    }
}

#[actix_web::test]
async fn a_server_without_its_database_counts_down_for_a_while_and_then_closes_its_sockets() {
    let app = server("n1", &Arc::default()).start().await;
    soon("all shards", async {
        while app.owned() != SHARDS {
            sleep(LOOK_EVERY).await;
        }
    })
    .await;
    let (shop, siti, epay) = app.own_shop(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    phone.subscribe(shop.idmesin).await;
    app.get("/readyz", None).await.ok();

    app.cut_off_from_database(true).await;
    // It is unready before the countdown ends.
    app.get("/readyz", None).await.expect(503, "basis data tidak menjawab");
    let (until, ticks) = (phone.tick().await.tl, phone.closed().await);
    assert!(!ticks.is_empty() && ticks.iter().all(|tick| tick.tl < until), "{ticks:?}");

    app.cut_off_from_database(false).await;
    // A customer who joins in the meantime waits.
    let mut back = Phone::join(&app, &siti.token).await;
    assert!(back.subscribe(shop.idmesin).await["tl"].as_i64().unwrap() > 0);
    assert!(back.tick().await.tl > 0);
    soon("it is ready", async {
        while app.get("/readyz", None).await.status != 200 {
            sleep(LOOK_EVERY).await;
        }
    })
    .await;
}
