//! What a board, a till and a phone meet after a restore of the private database.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use nyala_loadtest::local::free_port;
use nyala_store::clock::wall_clock;
use serde_json::{Value, json};

use super::board::Board;
use super::lost_commits::{Browsers, OpenTill};
use super::restored::{Private, copy, lacks_programs};
use super::{LOOK_EVERY, PATIENCE, PRICE, ProcessShop, Site};

impl Private {
    async fn serve_devices(&mut self, port: u16) {
        let (backup, port) = (self.backup.display().to_string(), port.to_string());
        self.site.start_with(&[("NYALA__BACKUP__DIR", &backup), ("NYALA__MQTT__PORT", &port)]).await;
    }

    /// Waits until the machine is free and its device connected: after a start the stored presence counts for a while.
    async fn until_idle(&self, shop: &ProcessShop) {
        let (path, since) = (format!("/ops/v1/mesin/{}", shop.idmesin), Instant::now());
        while !self.site.scrape().await.lines().any(|line| line == "nyala_devices_online 1") {
            assert!(since.elapsed() < PATIENCE, "{}", self.site.log());
            sleep(LOOK_EVERY).await;
        }
        loop {
            let answer = self.site.ask("GET", &path, &shop.key, &json!(null)).await.unwrap().ok();
            if answer["status"] == "idle" {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{answer}: {}", self.site.log());
            sleep(LOOK_EVERY).await;
        }
    }

    /// Buys with receipt number `n`, which must be served at once.
    async fn buys(&self, shop: &mut ProcessShop, n: u32) {
        shop.body["id"] = json!(format!("SLF2611201805301{n:02}"));
        assert_eq!(self.site.buy(shop).await.unwrap().status, 200, "{}", self.site.log());
    }

    async fn epoch(&self, shop: &ProcessShop) -> i64 {
        let epoch = "SELECT epoch FROM mesin WHERE idmesin = $1";
        self.session().await.query_one(epoch, &[&shop.idmesin]).await.unwrap().get(0)
    }

    /// What the audit log has of this machine's device: every trouble would be there.
    async fn of_device(&self, shop: &ProcessShop) -> Vec<(String, Value)> {
        const ROWS: &str = "SELECT aksi, isi FROM audit_log WHERE objek = $1 AND aksi LIKE 'mesin.%' ORDER BY id";
        let object = format!("mesin:{}", shop.idmesin);
        let rows = self.session().await.query(ROWS, &[&object]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).filter(|(action, _)| action != "mesin.buat").collect()
    }
}

#[actix_web::test]
async fn a_board_that_is_behind_the_jump_or_ahead_of_it_serves_the_first_customer() {
    if lacks_programs() {
        return;
    }
    let (mut private, port) = (Private::new().await, free_port().unwrap());
    private.serve_devices(port).await;
    let mut shop = private.site.shop(1).await;
    let (telp, idoutlet) = (Site::telp_of(&private.session().await, &shop).await, shop.body["idoutlet"].clone());
    let machine = json!({"idoutlet": idoutlet, "nama": "Mesin 2", "driver": "mqtt"});
    shop.idmesin = private.site.ops(&shop.key, "mesin", &machine).await["id"].as_i64().unwrap();
    shop.body["idmesin"] = json!(shop.idmesin);
    let login = private.site.ops(&shop.key, &format!("mesin/{}/perangkat", shop.idmesin), &json!({})).await;
    private.site.ops(&shop.key, "topup", &json!({"telp": telp, "idoutlet": idoutlet, "nominal": 9 * PRICE})).await;
    let _board = Board::start(&login, &private.site.dir().join("board"), false).expect("a board");
    private.until_idle(&shop).await;
    private.buys(&mut shop, 1).await;
    private.until_idle(&shop).await;
    private.until_backed_up().await;
    private.until_received().await;
    private.lose_everything().await;
    let off_site = private.site.dir().join("off site");
    copy(&private.backup, &off_site);

    let backup = private.backup.display().to_string();
    private.site.run(&["restore", "--to", "latest", &backup]).await.unwrap();
    private.serve_devices(port).await;
    // The board has seen 1, and the machine's epoch has jumped: that is no loss of memory.
    assert_eq!(private.epoch(&shop).await, 1_000_001);
    private.until_idle(&shop).await;
    for n in [2, 3] {
        private.buys(&mut shop, n).await;
        private.until_idle(&shop).await;
    }
    assert_eq!(private.of_device(&shop).await, []);
    private.lose_everything().await;

    // The copy knows of no restore, so the same jump leads to where the board has been.
    private.backup = off_site;
    let backup = private.backup.display().to_string();
    let report = private.site.run(&["restore", "--to", "latest", &backup]).await.unwrap();
    assert!(report.contains("ids: +1000000\n"), "{report}");
    private.serve_devices(port).await;
    private.until_idle(&shop).await;
    private.buys(&mut shop, 4).await;
    let raised = json!({"dulu": 1_000_001, "sekarang": 1_000_003, "selisih": 2});
    assert_eq!(private.of_device(&shop).await, [("mesin.epoch_naik".to_owned(), raised)]);
    assert_eq!(private.epoch(&shop).await, 1_000_004);
}

#[actix_web::test]
async fn a_till_goes_on_after_a_restore_and_an_unanswered_top_up_is_made_once() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    let telp = Site::telp_of(&private.session().await, &shop).await;
    let mut till = OpenTill::open(&private.site, &shop, &telp).await;
    private.until_backed_up().await;
    till.sell_what_stays(&private.site).await;
    sleep(Duration::from_millis(20)).await;
    let (moment, before) = (wall_clock(), private.top_ups().await);
    sleep(Duration::from_millis(20)).await;
    till.sell_what_is_lost(&private.site, &shop).await;
    private.until_received().await;
    private.lose_everything().await;

    let backup = private.backup.display().to_string();
    private.site.run(&["restore", "--to", &moment.rfc3339(), &backup]).await.unwrap();
    private.serve().await;
    assert_eq!(private.top_ups().await, before);
    till.goes_on(&private.site, &private.session().await).await;
}

#[actix_web::test]
async fn a_push_that_was_not_sent_before_a_restore_is_sent_once() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    let browsers = Browsers::new();
    let backup = private.backup.display().to_string();
    let env = [&Browsers::SETTINGS[..], &[("NYALA__BACKUP__DIR", backup.as_str())]].concat();
    private.site.start_with(&env).await;
    let shop = private.site.shop(600).await;
    browsers.subscribe_what_stays(&private.site, &shop).await;
    private.until_backed_up().await;
    private.site.buy(&shop).await.unwrap().ok();
    sleep(Duration::from_millis(20)).await;
    let moment = wall_clock();
    sleep(Duration::from_millis(20)).await;
    browsers.subscribe_what_is_lost(&private.site, &shop).await;
    private.until_received().await;
    let devices: (PathBuf, PathBuf) = (private.site.data.join("perangkat-sim.jsonl"), private.site.dir().join("devices"));
    std::fs::copy(&devices.0, &devices.1).unwrap();
    private.lose_everything().await;

    private.site.run(&["restore", "--to", &moment.rfc3339(), &backup]).await.unwrap();
    // The machines run on, whatever happens to the server.
    std::fs::copy(&devices.1, &devices.0).unwrap();
    private.site.start_with(&env).await;
    browsers.get_one_push_for_the_end(&private.site, &private.session().await, &shop).await;
}

#[actix_web::test]
async fn who_was_deleted_after_the_moment_is_deleted_again() {
    if lacks_programs() {
        return;
    }
    let mut private = Private::new().await;
    private.serve_with_backup().await;
    let shop = private.site.shop(600).await;
    let telp = Site::telp_of(&private.session().await, &shop).await;
    let stays = private.site.customer(&shop, "8121").await;
    private.until_backed_up().await;
    sleep(Duration::from_millis(20)).await;
    let moment = wall_clock();
    sleep(Duration::from_millis(20)).await;
    let leave = json!({"password": "Rahasia123", "lepas_saldo": PRICE});
    private.site.ask("POST", "/scan/v1/akun/hapus", &shop.token, &leave).await.unwrap().ok();
    let list = std::fs::read_to_string(private.backup.join("deletions.jsonl")).unwrap();
    assert!(list.lines().count() == 1 && !list.contains(telp.as_str().unwrap()), "{list}");
    private.until_received().await;
    private.lose_everything().await;

    let backup = private.backup.display().to_string();
    let output = private.site.run(&["restore", "--to", &moment.rfc3339(), &backup]).await.unwrap();
    assert!(output.ends_with("audit: 0 broken\ndeleted again: 1\n"), "{output}");
    private.serve().await;
    let who = json!({"country_code": "62", "telp": telp, "password": "Rahasia123"});
    private.site.ask("POST", "/scan/v1/auth/login", "", &who).await.unwrap().expect(404, "record not found");
    assert_eq!(private.site.status_of(&json!(shop.token)).await, 401);
    assert_eq!(private.site.status_of(&stays["token"]).await, 200, "who has not gone is there");
}
