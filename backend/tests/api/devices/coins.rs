//! Coins that fall into machines: counted as the board says, and shown beside the money.

use std::time::Duration;

use actix_web::rt::time::sleep;
use nyala_core::domain::id::MachineId;
use serde_json::{Value, json};

use super::{Device, Given, standing};
use crate::manage::figures::file;
use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;
use crate::support::shop::Shop;

impl TestApp {
    /// Waits until this number of a machine's coins is counted in all.
    pub async fn until_coins(&self, key: &str, idmesin: MachineId, coins: i64) {
        let path = format!("mesin/{idmesin}");
        for _ in 0..1_000 {
            if self.ops_see(key, &path).await.ok()["koin"] == coins {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
        panic!("{coins} coins of {idmesin} are not counted: {}", self.ops_see(key, &path).await.ok()["koin"]);
    }

    /// Waits until this is how far the coins of a machine are counted.
    pub async fn until_series(&self, idmesin: MachineId, coins: i64) {
        let at = "SELECT count(*) FROM koin_seri WHERE idmesin = $1 AND koin = $2";
        while self.insert(at, &[&idmesin, &coins]).await == 0 {
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A shop whose machine's board has counted 100 coins when it comes, each worth Rp 1.000.
struct CoinBox {
    app: TestApp,
    shop: Shop,
    given: Given,
    key: String,
    device: Device,
}

impl CoinBox {
    async fn open() -> Self {
        let app = standing().start().await;
        let (shop, given, ..) = app.device_shop(600).await;
        let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
        app.ops(&key, &format!("mesin/{}", shop.idmesin), &json!({"nilai_koin": 1_000})).await.ok();
        let mut device = Device::subscribe(&app.clock, &given, "esp").await;
        (device.can, device.coins) = (json!(["coin"]), json!(100));
        device.learn_the_time().await;
        app.until_series(shop.idmesin, 100).await;
        Self { app, shop, given, key, device }
    }

    /// The board says how many coins it has counted.
    async fn says(&mut self, boot: i64, coins: i64) {
        if boot != self.device.boot {
            (self.device.boot, self.device.seq) = (boot, 0);
        }
        self.app.clock.advance_ms(5_000);
        self.device.coins = json!(coins);
        self.device.heartbeat().await;
    }

    async fn counted(&self, coins: i64) {
        self.app.until_coins(&self.key, self.shop.idmesin, coins).await;
    }

    async fn see(&self, call: &str) -> Value {
        self.app.ops_see(&self.key, call).await.ok()
    }
}

#[actix_web::test]
async fn what_grows_is_counted_once_whatever_comes_late_or_from_another_board() {
    let mut coins = CoinBox::open().await;
    coins.counted(0).await;
    for (boot, said, counted) in [(1, 103, 3), (2, 105, 5), (3, 4, 5), (3, 6, 7)] {
        coins.says(boot, said).await;
        coins.app.until_series(coins.shop.idmesin, said).await;
        coins.counted(counted).await;
        // Doubled, and a number from before.
        coins.says(boot, said).await;
        coins.says(boot, said - 1).await;
    }
    coins.says(3, 7).await;
    coins.counted(8).await;
    assert_eq!(coins.see("ringkasan").await["koin"], json!({"jumlah": 8, "rupiah": 8_000}));
}

#[actix_web::test]
async fn coins_are_shown_beside_the_money_and_are_none_of_it() {
    let mut coins = CoinBox::open().await;
    let (outlet, id) = (coins.shop.outlet, coins.shop.idmesin);
    let rina = coins.app.kasir(outlet.idoutlet).await;
    coins.says(1, 102).await;
    coins.counted(2).await;
    coins.app.clock.advance_ms(5_000);
    coins.app.open_shift(&rina, outlet).await;
    // A coin is worth what it is worth when it is counted.
    coins.app.ops(&coins.key, &format!("mesin/{id}"), &json!({"nilai_koin": 5_000})).await.ok();
    coins.says(1, 105).await;
    coins.counted(5).await;
    let detail = coins.see(&format!("mesin/{id}/rincian")).await;
    assert_eq!(detail["koin"], json!({"jumlah": 5, "hari_ini": {"jumlah": 5, "rupiah": 17_000}}));
    assert_eq!(detail["nilai_koin"], 5_000);
    let summary = coins.see("ringkasan").await;
    assert_eq!(summary["koin"], json!({"jumlah": 5, "rupiah": 17_000}));
    assert_eq!((&summary["pendapatan"], &summary["topup"]["tunai"]), (&json!(0), &json!(0)));
    for (report, expected) in [("harian", (5, 17_000)), ("mesin", (5, 17_000)), ("shift", (3, 15_000))] {
        let row = &coins.see(&format!("laporan/{report}")).await["baris"][0];
        assert_eq!((&row["koin"], &row["rupiah_koin"]), (&json!(expected.0), &json!(expected.1)), "{report}");
        let (_, _, text) = file(&coins.app, &coins.key, &format!("laporan/{report}?")).await;
        let (head, row) = text.split_once("\r\n").unwrap();
        assert!(head.ends_with(";koin;rupiah_koin"), "{head}");
        assert!(row.contains(&format!(";{};{}\r\n", expected.0, expected.1)), "{row}");
    }
    let count = "SELECT count(*) FROM kas_gerak WHERE jenis <> 'modal'";
    assert_eq!(coins.app.insert(count, &[]).await, 0, "no drawer has them");
    coins.app.clock.advance_ms(5_000);
    let closed = coins.app.ask(&rina, "shift/tutup", &json!({"dihitung": 100_000})).await.ok();
    assert_eq!((&closed["diharapkan"], &closed["koin"]), (&json!(100_000), &json!({"jumlah": 3, "rupiah": 15_000})));
    coins.says(1, 106).await;
    coins.counted(6).await;
    assert_eq!(coins.see("laporan/shift").await["baris"][0]["koin"], 3, "after the count they are another shift's");
    coins.app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_outlet_without_coins_shows_none() {
    let app = TestApp::spawn().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Supervisor(shop.outlet.idoutlet)).await;
    assert_eq!(app.ops_see(&key, "ringkasan").await.ok()["koin"], Value::Null);
    assert_eq!(app.ops_see(&key, &format!("mesin/{}/rincian", shop.idmesin)).await.ok()["koin"], Value::Null);
    assert_eq!(app.ops_see(&key, &format!("mesin/{}", shop.idmesin)).await.ok()["koin"], 0);
    let (_, _, text) = file(&app, &key, "laporan/harian?").await;
    assert!(!text.contains("koin"), "{text}");
}

#[actix_web::test]
async fn a_coins_value_is_whole_rupiah() {
    let coins = CoinBox::open().await;
    let (path, wrong) = (format!("mesin/{}", coins.given.idmesin), "nilai_koin harus 0 sampai 20000000 rupiah");
    for value in [-1, 20_000_001] {
        coins.app.ops(&coins.key, &path, &json!({"nilai_koin": value})).await.expect(400, wrong);
    }
    let new = json!({"idoutlet": coins.shop.outlet.idoutlet, "nama": "Koin", "cara": "pulsa", "nilai_koin": 20_000_000});
    let made = coins.app.ops(&coins.key, "mesin", &new).await.ok();
    let detail = coins.see(&format!("mesin/{}/rincian", made["id"])).await;
    assert_eq!(detail["nilai_koin"], 20_000_000);
    assert_eq!(coins.app.audit_of("mesin.buat").await.last().unwrap()["nilai_koin"], 20_000_000);
    coins.app.ops(&coins.key, &path, &json!({"nilai_koin": 0})).await.ok();
    assert_eq!(coins.app.audit_of("mesin.ubah").await.last().unwrap()["nilai_koin"], 0);
}
