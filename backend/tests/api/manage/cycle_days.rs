//! Cycles by business day, which each post keeps (`siklus_hari`): on the days of the outlet's calendar, also while that is changed.

use futures_util::future::join;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::{Calendar, Day};
use nyala_core::prices::{ClockTime, Zone};
use nyala_store::db::lock;
use serde_json::json;
use tokio_postgres::Client;

use crate::ops::operator::Scope;
use crate::purchase::races::lock_waiter;
use crate::support::arrange::{Epay, Machine, Outlet, receipt};
use crate::support::helpers::TestApp;

const HOUR_MS: i64 = 3_600_000;

#[actix_web::test]
async fn the_database_has_the_days_of_the_reports() {
    const DAYS: &str = "
        SELECT hari_usaha(at, $1, $2)::TEXT, awal_hari(hari_usaha(at, $1, $2), $1, $2) FROM unnest($3::TIMESTAMPTZ[]) WITH ORDINALITY t (at, n) ORDER BY n";
    let app = TestApp::spawn().await;
    let day = |text: &str| Day::parse(text).unwrap();
    let (first, last) = (day("2026-01-01"), day("2026-12-31"));
    for zone in [
        "Asia/Jakarta",
        "Asia/Jayapura",
        "Asia/Kathmandu",
        "America/New_York",
        "America/Santiago",
        "Africa/Cairo",
        "Australia/Lord_Howe",
        "Europe/Dublin",
    ] {
        for start in ["00:00", "00:20", "01:30", "01:59", "02:30", "04:00", "12:00"] {
            let calendar = Calendar { zone: Zone::parse(zone).unwrap(), start: ClockTime::parse(start).unwrap() };
            let days: Vec<Day> = std::iter::successors(Some(first), |day| (*day < last).then(|| day.plus(1))).collect();
            let hours = |day: Day| calendar.begin(day).ms_until(calendar.begin(day.plus(1))) / HOUR_MS;
            // Each tenth minute of the days around a change of the clocks, and the edges of all days.
            let mut at = Vec::new();
            for (n, day) in days.iter().enumerate() {
                let begin = calendar.begin(*day);
                at.extend([begin.plus_ms(-1), begin]);
                let moved = days[n.saturating_sub(1)..(n + 2).min(days.len())].iter().any(|day| hours(*day) != 24);
                if moved || n == 0 {
                    at.extend((0..150).map(|tenth| begin.plus_ms(tenth * 600_000 + 61_000)));
                }
            }
            let minutes = i32::from(calendar.start.minute());
            let rows = app.db.query(DAYS, &[&zone, &minutes, &at]).await.unwrap();
            for (at, row) in at.iter().zip(&rows) {
                let of = calendar.day_of(*at);
                assert_eq!(
                    (row.get::<_, String>(0), row.get::<_, Timestamp>(1)),
                    (of.to_string(), calendar.begin(of)),
                    "{zone} {start} {at:?}"
                );
                assert!(calendar.begin(of) <= *at && *at < calendar.begin(of.plus(1)), "{zone} {start} {at:?}");
            }
        }
    }
}

/// An outlet with a machine and a customer, at 01:00 of a day of its zone.
async fn at_one_o_clock() -> (TestApp, Outlet, Machine, Epay) {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let machine = app.machine(outlet, "M1").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 500_000).await;
    let calendar = calendar("00:00");
    let one = calendar.begin(calendar.day_of(app.now()).plus(1)).plus_ms(HOUR_MS);
    app.clock.advance_ms(app.now().ms_until(one));
    (app, outlet, machine, epay)
}

fn calendar(start: &str) -> Calendar {
    Calendar { zone: Zone::default(), start: ClockTime::parse(start).unwrap() }
}

async fn other(app: &TestApp) -> Client {
    lock::connect(app.state.store.db.config()).await.unwrap().0
}

#[actix_web::test]
async fn a_post_beside_a_change_of_the_days_is_counted_on_the_new_day() {
    let (mut app, outlet, machine, epay) = at_one_o_clock().await;
    let owner = app.key(Scope::Owner(outlet.idowner)).await;
    let path = format!("outlet/{}", outlet.idoutlet);
    let yesterday = calendar("04:00").day_of(app.now());
    let cycles = async |app: &TestApp, day: Day| {
        app.ops_see(&owner, &format!("ringkasan?dari={day}&sampai={day}")).await.ok()["siklus"].clone()
    };
    // Posted with the old days, and committed after the change has begun.
    let first = app.hold(epay, &machine, &receipt(1)).await;
    let posts = other(&app).await;
    posts.batch_execute("BEGIN").await.unwrap();
    let db = std::mem::replace(&mut app.db, posts);
    app.started(&first).await;
    let posts = std::mem::replace(&mut app.db, db);
    let change = json!({"hari_mulai": "04:00"});
    let commit = async {
        app.lock_waiter().await;
        posts.batch_execute("COMMIT").await.unwrap();
    };
    join(async { app.ops(&owner, &path, &change).await.ok() }, commit).await;
    app.finished(&first).await;
    assert_eq!((cycles(&app, yesterday).await, cycles(&app, yesterday.plus(1)).await), (json!(1), json!(0)));

    // Posted while a change is not committed yet.
    let second = app.hold(epay, &machine, &receipt(2)).await;
    let changes = other(&app).await;
    changes.batch_execute("BEGIN; UPDATE outlet SET hari_mulai = 0").await.unwrap();
    let watcher = other(&app).await;
    let commit = async {
        lock_waiter(&watcher).await;
        changes.batch_execute("COMMIT").await.unwrap();
    };
    join(app.started(&second), commit).await;
    assert_eq!((cycles(&app, yesterday).await, cycles(&app, yesterday.plus(1)).await), (json!(0), json!(2)));
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn cycles_since_a_service_in_the_middle_of_a_day_are_counted() {
    let (app, outlet, machine, epay) = at_one_o_clock().await;
    let key = app.key(Scope::Supervisor(outlet.idoutlet)).await;
    let since = async || app.ops_see(&key, "ringkasan").await.ok()["per_mesin"][0]["sejak_servis"].clone();
    for n in 1..=2 {
        app.used(epay, &machine, &receipt(n)).await;
    }
    app.advance_s(3_600);
    assert_eq!(since().await, 2);
    app.ops(&key, &format!("mesin/{}/servis", machine.idmesin), &json!({})).await.ok();
    assert_eq!(since().await, 0);
    for n in 3..=5 {
        app.advance_s(6 * 3_600);
        app.used(epay, &machine, &receipt(n)).await;
        assert_eq!(since().await, n - 2);
    }
    app.advance_s(86_400);
    app.used(epay, &machine, &receipt(6)).await;
    assert_eq!(since().await, 4);
}

#[actix_web::test]
async fn cycles_that_differ_from_the_ledger_break_a_rule() {
    let (app, _, machine, epay) = at_one_o_clock().await;
    app.used(epay, &machine, &receipt(1)).await;
    app.assert_no_violation().await;
    for (break_it, mend) in [
        ("UPDATE siklus_hari SET siklus = 2", "UPDATE siklus_hari SET siklus = 1"),
        ("UPDATE siklus_hari SET jumlah = jumlah + 1", "UPDATE siklus_hari SET jumlah = jumlah - 1"),
        ("DELETE FROM siklus_hari", "SELECT hitung_siklus(idoutlet, NULL, NULL) FROM outlet"),
        (
            "INSERT INTO siklus_hari SELECT idoutlet, hari - 1, idmesin, idoutlet_akun, 1, 0 FROM siklus_hari",
            "DELETE FROM siklus_hari WHERE jumlah = 0",
        ),
    ] {
        app.db.batch_execute(break_it).await.unwrap();
        let rules = app.db.query("SELECT aturan FROM pelanggaran", &[]).await.unwrap();
        let rules: Vec<String> = rules.iter().map(|row| row.get(0)).collect();
        assert_eq!(rules, ["siklus hari tidak sesuai"], "{break_it}");
        app.db.batch_execute(mend).await.unwrap();
        app.assert_no_violation().await;
    }
}
