//! After a restore, payments may have been reported to what was lost: bills without money are asked about again (docs/operations.md).

use serde_json::json;

use super::MINUTE_S;
use crate::cli::beside;
use crate::support::counter::Counter;

#[actix_web::test]
async fn after_a_jump_each_bill_of_seven_days_without_money_is_asked_about() {
    let counter = Counter::with_bills().await;
    let app = &counter.app;
    let silent = json!({"aksi": "bayar", "diam": true});
    let [paid, held, expired, cancelled, unpaid, old] = [
        counter.bill(10_000).await,
        counter.bill(20_000).await,
        counter.bill(30_000).await,
        counter.bill(40_000).await,
        counter.bill(50_000).await,
        counter.bill(60_000).await,
    ];
    app.pay(&paid).await;
    app.at_provider(&held, &json!({"aksi": "bayar", "jumlah": 1})).await.ok();
    app.ask(&counter.rina, &format!("tagihan/{cancelled}/batal"), &json!({})).await.ok();
    app.advance_s(26 * MINUTE_S);
    for id in [&expired, &cancelled, &unpaid, &old] {
        app.until_left_alone(id).await;
    }
    // They were paid, and what notified of it is lost.
    for id in [&expired, &cancelled, &old] {
        app.at_provider(id, &silent).await.ok();
    }
    let week = "UPDATE tagihan SET created_at = created_at - INTERVAL '7 days 1 minute' WHERE id = $1";
    app.db.execute(week, &[&old]).await.unwrap();
    // One that would be asked about later.
    let open = counter.bill(70_000).await;
    app.db.execute("UPDATE tagihan SET tanya_at = $2 WHERE id = $1", &[&open, &app.now().plus_ms(3_600_000)]).await.unwrap();
    app.at_provider(&open, &silent).await.ok();

    assert!(beside(app, &["restored"]).ok().contains("ids: +1000000\n"));
    for id in [&expired, &cancelled, &open] {
        app.until_bill(id, "dibayar").await;
    }
    assert_eq!(app.bill(&old, "status").await.as_deref(), Some("kedaluwarsa"), "older than a week");
    assert_eq!(app.bill(&held, "status").await.as_deref(), Some("tertahan"));
    let untouched = [app.bill(&paid, "tanya_at").await, app.bill(&held, "tanya_at").await, app.bill(&old, "tanya_at").await];
    assert_eq!(untouched, [None, None, None]);
    assert_eq!((app.topups().await, app.insert("SELECT saldo FROM quota_emoney", &[]).await), (4, 150_000));
    assert_eq!(app.bill(&unpaid, "status").await.as_deref(), Some("kedaluwarsa"));
    app.assert_no_violation().await;
}
