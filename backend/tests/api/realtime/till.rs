//! A till's socket: opened with a ticket, closed with its session (docs/till.md).

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use super::phone::Phone;
use super::setup;
use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;
use crate::till::rules::AtTill;

async fn ticket(app: &TestApp, who: &AtTill) -> Value {
    let tiket = app.ask(who, "soket", &json!({})).await.ok()["tiket"].clone();
    json!({ "tiket": tiket })
}

pub async fn join(app: &TestApp, who: &AtTill) -> Phone {
    opened(app, &ticket(app, who).await).await
}

async fn opened(app: &TestApp, auth: &Value) -> Phone {
    let mut phone = Phone::dial(app.address()).await;
    phone.connect(Some(auth)).await.unwrap();
    phone
}

async fn refused(app: &TestApp, auth: &Value) -> Value {
    Phone::dial(app.address()).await.connect(Some(auth)).await.expect_err("refused")
}

#[actix_web::test]
async fn a_ticket_is_good_once_and_a_session_has_four_sockets() {
    let app = setup().start().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let auth = ticket(&app, &rina).await;
    let mut open = vec![opened(&app, &auth).await];
    let unauthorized = json!({ "message": "unauthorized" });
    assert_eq!(refused(&app, &auth).await, unauthorized);
    assert_eq!(refused(&app, &json!({ "tiket": "tebakan" })).await, unauthorized);
    assert_eq!(refused(&app, &json!({ "token": rina.token })).await, unauthorized, "a session's token opens no socket");
    let late = ticket(&app, &rina).await;
    app.clock.advance_ms(60_000);
    assert_eq!(refused(&app, &late).await, unauthorized);
    for _ in 1..4 {
        open.push(join(&app, &rina).await);
    }
    assert_eq!(refused(&app, &ticket(&app, &rina).await).await, json!({ "message": "too many sockets" }));
    assert_eq!(open[0].subscribe(1).await["status"], 404, "machines' countdowns are the customers'");
}

#[actix_web::test]
async fn a_socket_ends_with_its_session_whatever_ends_that() {
    let app = setup().with(|c| c.http.workers = 2).start().await;
    let outlet = app.outlet("Melati").await;
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let (rina, bystander) = (app.kasir(outlet.idoutlet).await, app.kasir(outlet.idoutlet).await);
    let mut other = join(&app, &bystander).await;

    let mut left = join(&app, &rina).await;
    app.ask(&rina, "keluar", &json!({})).await.ok();
    assert_eq!(left.closed().await, []);

    let again = app.at(&rina.till, rina.person).await;
    let mut reset = join(&app, &again).await;
    app.ops(&supervisor, &format!("petugas/{}/reset_pin", rina.person), &json!({})).await.ok();
    assert_eq!(reset.closed().await, []);

    let tono = app.person("Tono", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), "864203").await;
    let tono = app.at(&rina.till, tono).await;
    let mut lost = join(&app, &tono).await;
    app.ops(&supervisor, &format!("perangkat/{}/cabut", rina.till.id), &json!({})).await.ok();
    assert_eq!(lost.closed().await, []);

    // Sessions that another program ended, or that were idle for too long, are found by the next check.
    app.clock.advance_ms(30 * 60_000);
    app.state.staff_sockets.look(&app.state.staff).await.unwrap();
    assert_eq!(other.closed().await, []);
}
