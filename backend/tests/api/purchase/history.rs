//! `list_history` (docs/product.md §2, History; docs/contract.md §2).

use nyala_store::db::lock;
use serde_json::{Value, json};

use crate::ops::operator::Scope;
use crate::support::arrange::{Epay, column, receipt};
use crate::support::helpers::{Customer, TestApp};

const PATH: &str = "/scan/v1/transaksi/list_history";

async fn page(app: &TestApp, customer: &Customer, body: Value) -> Value {
    app.post(PATH, Some(&customer.token), &body).await.ok()
}

async fn all(app: &TestApp, customer: &Customer) -> Value {
    page(app, customer, json!({"skip": 0, "limit": 100, "jenis": "", "outlet": ""})).await
}

/// Top-ups of 1, 2, … `n` thousand, so that a row's value is its number.
async fn topups(app: &TestApp, epay: Epay, n: i64) {
    for i in 1..=n {
        app.topup(epay, i * 1000).await;
    }
}

fn values(page: &Value) -> Vec<i64> {
    page["history_data"].as_array().map_or(Vec::new(), |rows| rows.iter().map(|r| r["value"].as_i64().unwrap()).collect())
}

#[actix_web::test]
async fn a_new_customer_has_none() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let data = all(&app, &siti).await;
    assert_eq!((&data["history_data"], &data["returned"]), (&json!(null), &json!(0)));
    let sampai = data["sampai"].clone();
    app.funded(&siti, app.outlet("Melati").await, 5_000).await;
    let later = page(&app, &siti, json!({"skip": 0, "limit": 20, "jenis": "", "outlet": "", "sampai": sampai})).await;
    assert_eq!(later["history_data"], json!(null), "as of the first page there was nothing");
}

#[actix_web::test]
async fn every_movement_is_a_row_and_the_rows_sum_to_the_balance() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let machine = app.machine(outlet, "M1").await;
    let epay = app.epay(&siti, outlet, None).await;
    let first = app.now();
    let topup = app.topup(epay, 50_000).await;
    let wrong = app.topup(epay, 7_000).await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    app.ops(&key, &format!("topup/{wrong}/batal"), &json!({"alasan": "salah orang"})).await.ok();
    app.advance_s(60);
    let failed = app.hold(epay, &machine, &receipt(1)).await;
    app.refused(&failed).await;
    let used = app.used(epay, &machine, &receipt(2)).await;
    app.refund(&used, 4_000).await;
    app.delete(&used, 6_000).await;
    app.hold(epay, &machine, &receipt(3)).await;
    app.assert_no_violation().await;

    let data = all(&app, &siti).await;
    let rows = data["history_data"].as_array().unwrap();
    let seen: Vec<Value> = rows.iter().map(|r| json!([r["ref_id"], r["ref_type"], r["value"]])).collect();
    assert_eq!(
        seen,
        [
            json!([receipt(3), "snap_transaksi", -10_000]),
            json!([receipt(2), "snap_transaksi_hapus", 6_000]),
            json!([receipt(2), "snap_transaksi_refund", 4_000]),
            json!([receipt(2), "snap_transaksi", -10_000]),
            json!([receipt(1), "snap_transaksi_refund", 10_000]),
            json!([receipt(1), "snap_transaksi", -10_000]),
            json!([wrong.to_string(), "pembelian_emoney_batal", -7_000]),
            json!([wrong.to_string(), "pembelian_emoney", 7_000]),
            json!([topup.to_string(), "pembelian_emoney", 50_000]),
        ]
    );
    assert_eq!(data["returned"], 9);
    assert_eq!(
        rows[8],
        json!({
            "ref_id": topup.to_string(), "ref_type": "pembelian_emoney", "entri": rows[8]["entri"], "date": first.rfc3339(),
            "outlet": "Melati", "value": 50_000
        })
    );
    let balance = app.get("/scan/v1/dashboard/get_user_epayment_by_id_customer_global", Some(&siti.token)).await.ok();
    assert_eq!(json!(values(&data).iter().sum::<i64>()), balance[0]["quota_emoney"]["saldo"]);
}

#[actix_web::test]
async fn filters_by_kind_and_outlet() {
    let app = TestApp::spawn().await;
    let (melati, mawar) = (app.outlet("Melati").await, app.outlet("Mawar").await);
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    let at_melati = app.funded(&siti, melati, 50_000).await;
    app.funded(&siti, mawar, 70_000).await;
    app.funded(&budi, melati, 90_000).await;
    let used = app.used(at_melati, &app.machine(melati, "M1").await, &receipt(1)).await;
    app.delete(&used, 10_000).await;
    let wrong = app.topup(at_melati, 7_000).await;
    let key = app.key(Scope::Supervisor(melati.idoutlet)).await;
    app.ops(&key, &format!("topup/{wrong}/batal"), &json!({"alasan": "salah orang"})).await.ok();
    let filtered = async |kind: Value, outlet: Value| {
        values(&page(&app, &siti, json!({"skip": 0, "limit": 20, "jenis": kind, "outlet": outlet})).await)
    };
    assert_eq!(filtered(json!(""), json!("")).await, [-7_000, 7_000, 10_000, -10_000, 70_000, 50_000]);
    assert_eq!(filtered(json!(null), json!(null)).await, [-7_000, 7_000, 10_000, -10_000, 70_000, 50_000]);
    assert_eq!(filtered(json!("snap_transaksi"), json!("")).await, [10_000, -10_000]);
    assert_eq!(filtered(json!("pembelian_emoney"), json!("")).await, [-7_000, 7_000, 70_000, 50_000]);
    assert_eq!(filtered(json!(""), json!(melati.idoutlet)).await, [-7_000, 7_000, 10_000, -10_000, 50_000]);
    assert_eq!(filtered(json!("pembelian_emoney"), json!(mawar.idoutlet.to_string())).await, [70_000]);
    assert_eq!(filtered(json!(""), json!(987_654)).await, [0; 0]);
}

#[actix_web::test]
async fn later_pages_are_as_of_the_first_one_though_rows_were_added() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.epay(&siti, app.outlet("Melati").await, None).await;
    topups(&app, epay, 7).await;
    let mut seen = Vec::new();
    let mut body = json!({"skip": 0, "limit": 3, "jenis": "", "outlet": ""});
    for skip in [0, 3, 6] {
        body["skip"] = json!(skip);
        let data = page(&app, &siti, body.clone()).await;
        seen.extend(values(&data));
        body["sampai"] = data["sampai"].clone();
        topups(&app, epay, 2).await;
    }
    assert_eq!(seen, [7000, 6000, 5000, 4000, 3000, 2000, 1000]);
    body["skip"] = json!(9);
    assert_eq!(page(&app, &siti, body.clone()).await["history_data"], json!(null));
    body.as_object_mut().unwrap().remove("sampai");
    body["skip"] = json!(3);
    assert_eq!(values(&page(&app, &siti, body).await), [1000, 2000, 1000], "without it, plain offset over what is there now");
}

/// A row may get its id first and commit last. It must not appear in pages whose first page was read before its commit.
#[actix_web::test]
async fn a_row_committed_late_with_a_lower_id_never_shifts_a_page() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let budi = app.register_customer("81234567891", "Budi", "Santoso").await;
    let epay = app.epay(&siti, outlet, None).await;
    app.topup(epay, 1000).await;
    let late_row = app.topup(app.epay(&budi, outlet, None).await, 5000).await;
    let (mut other, _closed) = lock::connect(app.state.store.db.config()).await.unwrap();
    let late = other.transaction().await.unwrap();
    // Only the row's columns matter here, not its purpose.
    let copied = late
        .execute(
            "WITH p AS (INSERT INTO pembelian_emoney (idcustomer, id_customer_global, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at)
               SELECT $1, $2, idowner, idoutlet, nama_paket, harga_paket, quota, saldo_akhir, created_at FROM pembelian_emoney WHERE id = $3 RETURNING *)
             INSERT INTO ledger_transfer (kind, debit_akun, credit_akun, jumlah, idpembelian_emoney, id_customer_global, idcustomer, idoutlet, aktor, created_at)
             SELECT 'topup', l.debit_akun, $4, 5000, p.id, p.id_customer_global, p.idcustomer, p.idoutlet, 'uji', p.created_at
             FROM p, ledger_transfer l WHERE l.idpembelian_emoney = $3",
            &[&epay.idcustomer, &siti.id, &late_row, &epay.idakun],
        )
        .await
        .unwrap();
    assert_eq!(copied, 1);
    topups(&app, epay, 3).await;

    let first = page(&app, &siti, json!({"skip": 0, "limit": 2, "jenis": "", "outlet": ""})).await;
    assert_eq!(values(&first), [3000, 2000]);
    late.commit().await.unwrap();
    let rest = json!({"skip": 2, "limit": 20, "jenis": "", "outlet": "", "sampai": first["sampai"]});
    assert_eq!(values(&page(&app, &siti, rest).await), [1000, 1000], "as of the first page the late row was not there");
    assert_eq!(values(&all(&app, &siti).await), [3000, 2000, 1000, 5000, 1000], "a new first page has it in its place");
}

#[actix_web::test]
async fn malformed_pages_are_400() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let good = json!({"skip": 0, "limit": 20, "jenis": "", "outlet": ""});
    let long = "1".to_owned() + &".1".repeat(3000);
    for (field, bad) in [
        ("limit", json!(0)),
        ("limit", json!(101)),
        ("limit", json!("20")),
        ("limit", json!(null)),
        ("limit", json!(1e9)),
        ("skip", json!(-1)),
        ("skip", json!("0")),
        ("skip", json!(0.5)),
        ("skip", json!([])),
        ("jenis", json!("Snap_Transaksi")),
        ("jenis", json!("separator")),
        ("jenis", json!(1)),
        ("outlet", json!("abc")),
        ("outlet", json!("0")),
        ("outlet", json!(-5)),
        ("outlet", json!(1.5)),
        ("outlet", json!({})),
        ("sampai", json!("x")),
        ("sampai", json!("-1")),
        ("sampai", json!(7)),
        ("sampai", json!("1.")),
        ("sampai", json!("1\u{0}")),
        ("sampai", json!("ffffffffffffffff")),
        ("sampai", json!(long)),
    ] {
        let mut body = good.clone();
        body[field] = bad;
        assert_eq!(app.post(PATH, Some(&siti.token), &body).await.status, 400, "{body}");
    }
    for missing in ["skip", "limit"] {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(missing);
        let answer = app.post(PATH, Some(&siti.token), &body).await;
        assert_eq!(answer.status, 400);
        assert!(answer.message.contains(missing), "{} names {missing}", answer.message);
    }
    let far = page(&app, &siti, json!({"skip": i64::MAX, "limit": 100, "jenis": "", "outlet": ""})).await;
    assert_eq!(far["returned"], 0);
}

#[actix_web::test]
async fn every_row_has_its_own_entry() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    topups(&app, app.epay(&siti, app.outlet("Melati").await, None).await, 4).await;
    let data = all(&app, &siti).await;
    let mut entries: Vec<i64> = column(&data["history_data"], "entri").iter().map(|v| v.as_i64().unwrap()).collect();
    entries.dedup();
    assert_eq!(entries.len(), 4);
}
