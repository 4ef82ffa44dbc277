//! A thousand bills whose notifications are lost, doubled, late and forged: each paid one is one top-up.

use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};
use serde_json::json;

use super::notifications::signed;
use crate::support::counter::Counter;

const BILLS: usize = 1_000;
/// Calls at the same time.
const AT_ONCE: usize = 16;
const WITHIN: Duration = Duration::from_secs(300);

#[actix_web::test]
async fn a_thousand_bills_end_as_they_were_paid() {
    let began = Instant::now();
    let counter = &Counter::with_bills_and_no_cap().await;
    let app = &counter.app;
    let bills: Vec<(usize, String)> = stream::iter(0..BILLS)
        .map(|n| async move { (n, counter.bill(nominal(n)).await) })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let each = stream::iter(&bills).for_each_concurrent(AT_ONCE, |(n, id)| async move {
        match n % 6 {
            // On time, once or often.
            0 => app.at_provider(id, &json!({"aksi": "bayar"})).await.ok(),
            1 => app.at_provider(id, &json!({"aksi": "bayar", "kali": 4})).await.ok(),
            // The notification is lost.
            2 => app.at_provider(id, &json!({"aksi": "bayar", "diam": true})).await.ok(),
            3 => app.at_provider(id, &json!({"aksi": "terlambat", "kali": 2})).await.ok(),
            // Another amount.
            4 => app.at_provider(id, &json!({"aksi": "bayar", "jumlah": 999_999, "kali": 2})).await.ok(),
            // Forged: it is unpaid.
            _ => {
                app.notify("simulated", &signed(id, "settlement", "201", "10000.00", "simulated")).await.expect(200, "OK");
                app.at_provider(id, &json!({"aksi": "kedaluwarsa"})).await.ok()
            }
        };
    });
    each.await;
    // Lost ones are found by asking.
    app.advance_s(30);
    let expected = |n: usize| match n % 6 {
        0..=3 => "dibayar",
        4 => "tertahan",
        _ => "kedaluwarsa",
    };
    for (n, id) in &bills {
        app.until_bill(id, expected(*n)).await;
    }
    let paid = bills.iter().filter(|(n, _)| expected(*n) == "dibayar").count();
    assert_eq!(app.topups().await, i64::try_from(paid).unwrap());
    let sum: i64 = bills.iter().filter(|(n, _)| expected(*n) == "dibayar").map(|(n, _)| nominal(*n)).sum();
    assert_eq!(app.insert("SELECT saldo FROM quota_emoney", &[]).await, sum);
    app.assert_no_violation().await;
    assert!(began.elapsed() < WITHIN, "{:?}", began.elapsed());
}

fn nominal(n: usize) -> i64 {
    10_000 + i64::try_from(n).unwrap()
}
