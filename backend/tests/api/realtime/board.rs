//! The board over a socket: a whole answer to the subscription, then only what changes, with a number that has no gap.

use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use nyala_machines::device::sim::Mode;
use serde_json::{Value, json};

use super::phone::Phone;
use super::setup;
use super::till::join;
use crate::ops::operator::Scope;
use crate::support::arrange::Outlet;
use crate::support::helpers::TestApp;
use crate::support::shop::{PRICE, buy};
use crate::till::rules::Till;

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

#[actix_web::test]
async fn a_technician_watches_the_board_of_the_outlet_and_sees_no_money() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let outlet = shop.outlet;
    let till = app.till(outlet.idoutlet).await;
    let budi = app.person("Budi", Role::Technician, WorksFor::Outlet(outlet.idoutlet), "135791").await;
    let mut page = join(&app, &app.at(&till, budi).await).await;
    let whole = watch(&mut page, outlet).await;
    assert_eq!(states(&whole), [("Mesin 01", "siap")]);
    assert_eq!(whole["mesin"][0]["aksi"], json!(["tanya", "tutup", "uji"]));
    let foreign = page.ask("subscribe", &format!(r#","papan/{}""#, app.outlet("Mawar").await.idoutlet)).await;
    assert_eq!(foreign, json!({"status": 404, "message": "outlet tidak ditemukan"}));
    // Held money is in the tile of a kasir, who watches the same board.
    let mut rina = join(&app, &app.kasir(outlet.idoutlet).await).await;
    let versi = watch(&mut rina, outlet).await["versi"].as_i64().unwrap() + 1;
    app.fault(shop, Mode::Silent).await;
    let siti = app.customer(1).await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    let _ = futures_util::future::select(
        Box::pin(app.buy(&siti, &buy(1, shop, epay))),
        Box::pin(async {
            let (all, seen) = (change(&mut rina, outlet, versi).await, change(&mut page, outlet, versi).await);
            assert_eq!((states(&all), states(&seen)), (vec![("Mesin 01", "menunggu")], vec![("Mesin 01", "menunggu")]));
            assert_eq!(all["mesin"][0]["jumlah"], PRICE);
            assert_eq!((&seen["mesin"][0]["jumlah"], &seen["mesin"][0]["kembali_at"]), (&Value::Null, &Value::Null));
        }),
    )
    .await;
}

/// The page of a tablet on which nobody is logged in.
async fn join_as_tablet(app: &TestApp, till: &Till) -> Phone {
    let answer = app.call("POST", "/ops/v1/soket/papan", None, &[("Cookie", &till.cookie)], Some(b"{}".to_vec())).await.ok();
    let mut page = Phone::dial(app.address()).await;
    page.connect(Some(&json!({ "tiket": answer["tiket"] }))).await.unwrap();
    page
}

#[actix_web::test]
async fn a_tablet_without_a_session_watches_its_own_board_and_sees_no_money() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let outlet = shop.outlet;
    let elsewhere = app.outlet_of(outlet.idowner, "Mawar").await;
    let till = app.till(outlet.idoutlet).await;
    let mut page = join_as_tablet(&app, &till).await;
    let whole = watch(&mut page, outlet).await;
    let tile = |change: &Value| change["mesin"][0].as_object().unwrap().clone();
    let expected = json!({
        "id": shop.idmesin, "nama": "Mesin 01", "jenis": "cuci", "ukuran": null, "keadaan": "siap", "sejak": null, "ends_at": null,
        "layanan": null, "ditutup": null, "aksi": [],
    });
    assert_eq!((Value::from(tile(&whole)), &whole["status"]), (expected, &json!(200)));
    for foreign in [elsewhere.idoutlet.get(), 4711] {
        let answer = page.ask("subscribe", &format!(r#","papan/{foreign}""#)).await;
        assert_eq!(answer, json!({"status": 404, "message": "outlet tidak ditemukan"}));
    }
    assert_eq!(page.ask("subscribe", &format!(r#","heartbeat/{}""#, shop.idmesin)).await["status"], 404);

    // Changes have the same numbers as for staff, and no more than the first answer had.
    let siti = app.customer(1).await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    app.buy(&siti, &buy(1, shop, epay)).await.ok();
    let mut versi = whole["versi"].as_i64().unwrap() + 1;
    let mut runs = change(&mut page, outlet, versi).await;
    while states(&runs) != [("Mesin 01", "jalan")] {
        versi += 1;
        runs = change(&mut page, outlet, versi).await;
    }
    let running = tile(&runs);
    assert_eq!((&running["layanan"], &running["aksi"]), (&json!("Cuci Kilat"), &json!([])));
    assert!(["idtransaksi", "jumlah", "kembali_at"].iter().all(|field| !running.contains_key(*field)), "{runs}");

    // It ends with the tablet.
    let supervisor = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.ops(&supervisor, &format!("perangkat/{}/cabut", till.id), &json!({})).await.ok();
    assert_eq!(page.closed().await, []);
}

#[actix_web::test]
async fn only_an_outlets_tablet_gets_a_ticket_without_a_session() {
    let app = setup().start().await;
    let outlet = app.outlet("Melati").await;
    let ask = async |token: Option<&str>, cookie: &str| {
        app.call("POST", "/ops/v1/soket/papan", token, &[("Cookie", cookie)], Some(b"{}".to_vec())).await
    };
    ask(None, "").await.expect(401, "perangkat belum dipasang");
    let owner = app.person("Sari", Role::Owner, WorksFor::Owner(outlet.idowner), "271828").await;
    let own = app.own_browser(owner).await;
    ask(None, &own.cookie).await.expect(403, "hanya di tablet outlet");
    let (till, key) = (app.till(outlet.idoutlet).await, app.key(Scope::Owner(outlet.idowner)).await);
    ask(Some(&key), &till.cookie).await.expect(403, "hanya dari perangkat kasir, bukan dengan kunci operator");
    // Four pages of one tablet, and a ticket is good once.
    let tiket = ask(None, &till.cookie).await.ok()["tiket"].clone();
    let mut pages = Vec::new();
    for _ in 0..4 {
        pages.push(join_as_tablet(&app, &till).await);
    }
    let refused = Phone::dial(app.address()).await.connect(Some(&json!({ "tiket": tiket }))).await.expect_err("refused");
    assert_eq!(refused, json!({ "message": "too many sockets" }));
    // Another browser that is paired in the tablet's place ends the board of the former one.
    app.clock.advance_ms(1_000);
    let paired = "UPDATE perangkat SET dipasang_at = $2 WHERE id = $1";
    app.db.execute(paired, &[&till.id, &app.now()]).await.unwrap();
    app.state.staff_sockets.look(&app.state.staff).await.unwrap();
    for page in &mut pages {
        assert_eq!(page.closed().await, []);
    }
}
