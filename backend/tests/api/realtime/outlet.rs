//! The machines of an outlet over a customer's socket: all of them, then only what changes.

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use super::phone::Phone;
use super::setup;
use super::till::join;
use crate::support::shop::{PRICE, buy};

#[actix_web::test]
async fn a_phone_sees_machines_turn_busy_and_who_is_called_without_names() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let outlet = shop.outlet;
    let (siti, budi) = (app.customer(1).await, app.customer(2).await);
    let epay = app.balance_of(&siti, shop, 10 * PRICE).await;
    let topic = format!("outlet/{}", outlet.idoutlet);
    let mut phone = Phone::join(&app, &budi.token).await;
    let whole = phone.ask("subscribe", &format!(r#","{topic}""#)).await;
    assert_eq!(
        (&whole["status"], &whole["outlet"]["nama"], &whole["outlet"]["tutup"]),
        (&json!(200), &json!("Laundry Melati"), &Value::Null)
    );
    let tile = |status: &str, ends_at: Value, called: Value| json!({"id": shop.idmesin, "nama": "Mesin 01", "jenis": "cuci", "status": status, "ends_at": ends_at, "dipanggil_sampai": called});
    assert_eq!(whole["mesin"], json!([tile("idle", Value::Null, Value::Null)]));
    assert_eq!(whole.get("perhatian"), None);
    let mut versi = whole["versi"].as_i64().unwrap();
    let mut next = async |phone: &mut Phone| {
        let event = phone.event().await;
        versi += 1;
        assert_eq!((&event[0], &event[1]["versi"]), (&json!(topic), &json!(versi)), "{event}");
        event[1].clone()
    };
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    let mut change = next(&mut phone).await;
    while change["mesin"][0]["ends_at"].is_null() {
        assert_eq!(change["mesin"], json!([tile("busy", Value::Null, Value::Null)]), "held, not running yet");
        change = next(&mut phone).await;
    }
    assert_eq!((&change["mesin"][0]["status"], change.get("outlet"), change.get("hilang")), (&json!("busy"), None, None));

    // Budi waits, and is called when it is free again.
    app.post(&format!("/scan/v1/outlet/{}/panggil", outlet.idoutlet), Some(&budi.token), &json!({"jenis": "cuci"})).await.ok();
    let rina = app.kasir(outlet.idoutlet).await;
    app.ask(&rina, &format!("mesin/{}/stop", shop.idmesin), &json!({"alasan": "pintu terbuka"})).await.ok();
    let mut change = next(&mut phone).await;
    while change["mesin"][0]["dipanggil_sampai"].is_null() {
        change = next(&mut phone).await;
    }
    assert_eq!(change["mesin"][0]["status"], "idle");
    assert!(!change.to_string().contains("Budi"), "{change}");

    let supervisor = app.person("Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet), "135791").await;
    let hadi = app.at(&rina.till, supervisor).await;
    app.ask(&hadi, &format!("outlet/{}/tutup", outlet.idoutlet), &json!({"alasan": "banjir"})).await.ok();
    let mut change = next(&mut phone).await;
    while change.get("outlet").is_none() {
        change = next(&mut phone).await;
    }
    assert_eq!(change["outlet"]["tutup"], json!({"alasan": "banjir", "sampai": null}));
    assert_eq!(phone.ask("unsubscribe", &format!(r#","{topic}""#)).await["status"], 200);
}

#[actix_web::test]
async fn an_outlet_that_nobody_may_see_is_unknown_and_a_page_of_staff_has_its_own_topic() {
    let app = setup().start().await;
    let outlet = app.outlet("Melati").await;
    app.db.execute("UPDATE outlet SET dibuka_at = NULL", &[]).await.unwrap();
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    let unknown = json!({"status": 404, "message": "outlet tidak ditemukan"});
    for id in [outlet.idoutlet.get(), 4711] {
        assert_eq!(phone.ask("subscribe", &format!(r#","outlet/{id}""#)).await, unknown);
    }
    for bad in ["outlet/", "outlet/x", "outlet/0"] {
        assert_eq!(phone.ask("subscribe", &format!(r#","{bad}""#)).await["status"], 404, "{bad}");
    }
    let mut page = join(&app, &app.kasir(outlet.idoutlet).await).await;
    assert_eq!(page.ask("subscribe", &format!(r#","outlet/{}""#, outlet.idoutlet)).await["status"], 404);
}
