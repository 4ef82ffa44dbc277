//! The board over a socket: a whole answer to the subscription, then only what changes, with a number that has no gap.

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::{Value, json};

use super::phone::Phone;
use super::setup;
use super::till::join;
use crate::support::arrange::Outlet;
use crate::support::shop::{PRICE, buy};

async fn watch(page: &mut Phone, outlet: Outlet) -> Value {
    page.ask("subscribe", &format!(r#","papan/{}""#, outlet.idoutlet)).await
}

/// The next change of a board, which is number `versi`.
async fn change(page: &mut Phone, outlet: Outlet, versi: i64) -> Value {
    let event = page.event().await;
    assert_eq!(event[0], format!("papan/{}", outlet.idoutlet));
    assert_eq!(event[1]["versi"], versi, "{event}");
    event[1].clone()
}

fn states(change: &Value) -> Vec<(&str, &str)> {
    let tiles = change["mesin"].as_array().unwrap();
    tiles.iter().map(|tile| (tile["nama"].as_str().unwrap(), tile["keadaan"].as_str().unwrap())).collect()
}

#[actix_web::test]
async fn a_change_touches_its_tile_only_and_is_numbered_without_a_gap() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let outlet = shop.outlet;
    let second = app.machine(outlet, "Mesin 02").await;
    let rina = app.kasir(outlet.idoutlet).await;
    let mut page = join(&app, &rina).await;
    let whole = watch(&mut page, outlet).await;
    assert_eq!((&whole["status"], whole["mesin"].as_array().unwrap().len()), (&json!(200), 2), "{whole}");
    assert_eq!((&whole["outlet"]["nama"], &whole["perhatian"]), (&json!("Laundry Melati"), &json!([])));
    let first = whole["versi"].as_i64().unwrap();

    let siti = app.customer(1).await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    // The purchase is seen before its start, or only after it.
    let mut versi = first + 1;
    let mut runs = change(&mut page, outlet, versi).await;
    while states(&runs) != [("Mesin 01", "jalan")] {
        assert!(matches!(states(&runs)[..], [("Mesin 01", "menunggu")]), "{runs}");
        versi += 1;
        runs = change(&mut page, outlet, versi).await;
    }
    assert_eq!(
        (runs.get("perhatian"), runs.get("outlet"), runs.get("hilang")),
        (None, None, None),
        "nothing else changed: {runs}"
    );

    let supervisor = app.person("Hadi", Role::Supervisor, WorksFor::Outlet(outlet.idoutlet), "135791").await;
    let hadi = app.at(&rina.till, supervisor).await;
    app.ask(&hadi, &format!("mesin/{}", second.idmesin), &json!({"aktif": false})).await.ok();
    let gone = change(&mut page, outlet, versi + 1).await;
    assert_eq!((&gone["hilang"], gone.get("mesin")), (&json!([second.idmesin]), None));
    app.ask(&hadi, &format!("outlet/{}/tutup", outlet.idoutlet), &json!({"alasan": "banjir"})).await.ok();
    let closed = change(&mut page, outlet, versi + 2).await;
    assert_eq!((&closed["outlet"]["tutup"]["alasan"], closed.get("mesin")), (&json!("banjir"), None));

    // Again: all of it, with the number of the last change.
    assert_eq!(watch(&mut page, outlet).await["versi"], versi + 2);
    assert_eq!(page.ask("unsubscribe", &format!(r#","papan/{}""#, outlet.idoutlet)).await["status"], 200);
}

#[actix_web::test]
async fn two_pages_and_one_that_comes_back_get_the_same() {
    let app = setup().with(|c| c.http.workers = 2).start().await;
    let shop = app.shop(600).await;
    let outlet = shop.outlet;
    let rina = app.kasir(outlet.idoutlet).await;
    let (mut one, mut two) = (join(&app, &rina).await, join(&app, &rina).await);
    let first = watch(&mut one, outlet).await["versi"].as_i64().unwrap();
    assert_eq!(watch(&mut two, outlet).await["versi"], first);
    app.ask(&rina, &format!("mesin/{}/tutup", shop.idmesin), &json!({"alasan": "bocor"})).await.ok();
    let seen = [change(&mut one, outlet, first + 1).await, change(&mut two, outlet, first + 1).await];
    assert_eq!(seen[0], seen[1]);
    drop((one, two));
    // No page watches, then one does again: no number is used twice.
    let mut again = join(&app, &rina).await;
    let whole = watch(&mut again, outlet).await;
    assert!(whole["versi"].as_i64().unwrap() > first, "{whole}");
    assert_eq!(states(&whole), [("Mesin 01", "ditutup")]);
}

#[actix_web::test]
async fn only_staff_of_the_outlet_watch_its_board() {
    let app = setup().start().await;
    let (here, elsewhere) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let mut page = join(&app, &app.kasir(here.idoutlet).await).await;
    let foreign = json!({"status": 404, "message": "outlet tidak ditemukan"});
    assert_eq!(watch(&mut page, elsewhere).await, foreign);
    let unknown = page.ask("subscribe", r#","papan/4711""#).await;
    assert_eq!(unknown, foreign);
    for bad in ["papan/", "papan/x", "heartbeat/1", ""] {
        assert_eq!(page.ask("subscribe", &format!(r#","{bad}""#)).await["status"], 404, "{bad}");
    }
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    assert_eq!(
        phone.ask("subscribe", &format!(r#","papan/{}""#, here.idoutlet)).await["status"],
        404,
        "a customer watches machines"
    );
}

#[actix_web::test]
async fn a_socket_watches_thirty_two_boards() {
    let app = setup().start().await;
    let first = app.outlet("Melati").await;
    let mut outlets = vec![first];
    for n in 1..33 {
        outlets.push(app.outlet_of(first.idowner, &format!("Outlet {n}")).await);
    }
    let owner = app.person("Sari", Role::Owner, WorksFor::Owner(first.idowner), "271828").await;
    let sari = app.at(&app.own_browser(owner).await, owner).await;
    let mut page = join(&app, &sari).await;
    for outlet in &outlets[..32] {
        assert_eq!(watch(&mut page, *outlet).await["status"], 200);
    }
    assert_eq!(watch(&mut page, outlets[32]).await["status"], 429);
    assert_eq!(watch(&mut page, outlets[31]).await["status"], 200, "one of them again");
}
