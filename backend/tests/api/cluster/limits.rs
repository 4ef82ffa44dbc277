//! Limits for strangers, at several servers together.

use futures_util::future::join_all;

use super::{named, two_of};
use crate::support::helpers::PASSWORD;

#[actix_web::test]
async fn who_guesses_at_every_server_has_no_more_guesses_of_a_number() {
    let (first, second) = two_of(|name| {
        named(name).with(|config| {
            config.auth.wrong_logins_per_number = 6;
            config.auth.wrong_logins_per_address = 1_000;
        })
    })
    .await;
    let numbers = ["81234567890", "81234567891"];
    for telp in numbers {
        first.register_customer(telp, "Siti", "Rahmawati").await;
    }
    let wrong = |statuses: &[u16]| statuses.iter().filter(|status| **status == 401).count();
    // One after the other, and at the same moment.
    let mut statuses = Vec::new();
    for app in [&first, &second].into_iter().cycle().take(20) {
        statuses.push(app.login(numbers[0], "salah").await.status);
    }
    assert_eq!(wrong(&statuses), 6, "{statuses:?}");
    let at_once = [&first, &second].into_iter().cycle().take(20).map(|app| app.login(numbers[1], "salah"));
    let statuses: Vec<u16> = join_all(at_once).await.iter().map(|answer| answer.status).collect();
    assert_eq!(wrong(&statuses), 6, "{statuses:?}");
    for (app, telp) in [&first, &second].into_iter().zip(numbers) {
        assert!(app.login(telp, PASSWORD).await.retry_after_s() > 0, "not even looked at");
    }
}
