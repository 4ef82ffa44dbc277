//! `get_dashboard` (docs/product.md §2, Dashboard; docs/contract.md §2).

use serde_json::json;

use crate::support::arrange::{column, receipt};
use crate::support::helpers::TestApp;

const PATH: &str = "/scan/v1/dashboard/get_dashboard";

#[actix_web::test]
async fn a_new_customer_is_greeted_and_nothing_runs() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Nur Rahma").await;
    let data = app.get(PATH, Some(&siti.token)).await.ok();
    assert_eq!(
        data,
        json!({
            "customer_global": {"id": siti.id, "nama_awal": "Siti", "nama_akhir": "Nur Rahma", "telp": "81234567890"},
            "list_snap_transaksi": [],
            "menunggu": []
        })
    );
}

#[actix_web::test]
async fn open_purchases_are_listed_newest_first_with_their_status() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    let epay = app.funded(&siti, outlet, 100_000).await;
    let others = app.funded(&budi, outlet, 100_000).await;
    let mut machine = Vec::new();
    for n in 1..=7 {
        machine.push(app.machine(outlet, &format!("M{n}")).await);
    }
    let held = app.hold(epay, &machine[0], &receipt(1)).await;
    let sent = app.hold(epay, &machine[1], &receipt(2)).await;
    let unsure = app.hold(epay, &machine[2], &receipt(3)).await;
    let running = app.hold(epay, &machine[3], &receipt(4)).await;
    app.started(&running).await;
    app.used(epay, &machine[4], &receipt(5)).await;
    let refused = app.hold(epay, &machine[5], &receipt(6)).await;
    app.refused(&refused).await;
    app.hold(others, &machine[6], &receipt(7)).await;
    for (buy, state) in [(&sent, "SENT"), (&unsure, "UNSURE")] {
        app.db.execute("UPDATE snap_transaksi SET state = $2 WHERE id = $1", &[&buy.id, &state]).await.unwrap();
    }
    app.assert_no_violation().await;

    let data = app.get(PATH, Some(&siti.token)).await.ok();
    let list = &data["list_snap_transaksi"];
    let expected = [&running.receipt, &unsure.receipt, &sent.receipt, &held.receipt];
    assert_eq!(column(list, "id"), expected.iter().map(|n| json!(n)).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    let statuses: Vec<_> = column(list, "snap_transaksi_detail").iter().map(|d| d[0]["status"].clone()).collect();
    assert_eq!(statuses, [json!(3), json!(2), json!(2), json!(1)]);
    let started = app.now();
    assert_eq!(
        list[0],
        json!({
            "id": receipt(4), "grandtotal": 10_000, "created_at": started.rfc3339(), "finished_at": null,
            "ends_at": started.ms() + 1_800_000, "server_time": started.ms(), "isDelete": false,
            "outlet": {"nama": "Melati", "kota": "Bandung"},
            "snap_transaksi_detail": [{
                "status": 3, "durasi": 1800, "idmesin": machine[3].idmesin,
                "snap_mesin": {"nama": "M4"}, "snap_layanan": {"nama": "Cuci Kilat", "durasi": 1800}
            }]
        })
    );
    assert_eq!(list[3]["ends_at"], json!(null));
}

#[actix_web::test]
async fn a_renamed_machine_keeps_the_name_it_was_bought_under() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "Mesin Lama").await;
    app.hold(app.funded(&siti, outlet, 20_000).await, &machine, &receipt(1)).await;
    app.db.execute("UPDATE mesin SET nama = 'Mesin Baru'", &[]).await.unwrap();
    let data = app.get(PATH, Some(&siti.token)).await.ok();
    assert_eq!(data["list_snap_transaksi"][0]["snap_transaksi_detail"][0]["snap_mesin"]["nama"], "Mesin Lama");
}
