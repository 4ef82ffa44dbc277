//! `nyala qr`: stickers.

use nyala_identity::qr;
use serde_json::json;

use super::beside;
use crate::support::helpers::TestApp;

#[actix_web::test]
async fn a_sticker_is_printed_and_revoked() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = app.machine(outlet, "Mesin 1").await;
    let file = app.state.config.data.dir.join("stiker.png");
    let (id, out) = (machine.idmesin.to_string(), file.display().to_string());
    let siti = app.register_customer("81200000001", "Siti", "Rahma").await;
    let scan = async |text: &str| {
        let body = json!({"qr": text, "limit": 10, "skip": 0, "search": ""});
        app.post("/scan/v1/transaksi/get_layanan", Some(&siti.token), &body).await.status
    };
    let printed = beside(&app, &["qr", &id, "--out", &out]).ok();
    assert_eq!(printed.trim_end(), format!("{} {}", machine.code, machine.qr));
    assert_eq!(std::fs::read(&file).unwrap(), qr::png::render(&machine.qr).unwrap());
    let renewed = beside(&app, &["qr", &id, "--out", &out, "--renew"]).ok();
    let (code, text) = renewed.trim_end().split_once(' ').unwrap();
    for (text, status) in [(text, 200), (code, 200), (&machine.qr, 404), (&machine.code, 404)] {
        assert_eq!(scan(text).await, status, "{text}");
    }
    assert_eq!(app.audited().await[0].0, "mesin.stiker_baru");
    beside(&app, &["qr", "99", "--out", &out]).refused("there is no machine 99");
    beside(&app, &["qr", &id, "--out", "/dev/null/x.png"]).refused("/dev/null/x.png");
}
