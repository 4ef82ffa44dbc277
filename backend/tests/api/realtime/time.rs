//! Clocks that step and servers that stand still: the countdown is right to the second all the same.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use nix::sys::signal::Signal;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::phone::{Phone, Tick};
use crate::process::{Shop, Site};

/// How far the server may be off, in milliseconds.
const ERROR_MS: i64 = 1_000;

/// The time left as the test's own clock has it. That one never steps, and it ran while the server stood.
struct Truth {
    tl: i64,
    at: Instant,
}

impl Truth {
    /// Pays for the shop's machine, which `phone` watches.
    async fn of_run(site: &Site, shop: &Shop, phone: &mut Phone) -> Self {
        phone.watch(shop.idmesin, None).await;
        site.buy(shop).await.unwrap().ok();
        Self { tl: phone.tick().await.tl, at: Instant::now() }
    }

    fn check(&self, tl: i64) {
        let error_ms = tl - (self.tl - self.at.elapsed().as_millis() as i64);
        assert!(tl > 0 && error_ms.abs() <= ERROR_MS, "{tl} ms left is {error_ms} ms off");
    }
}

#[actix_web::test]
async fn ten_seconds_of_standstill_cost_no_second_and_bring_no_burst() {
    const STILL: Duration = Duration::from_secs(10);
    let mut site = Site::new().await;
    site.start("").await;
    let (long, short) = (site.shop(600).await, site.shop(4).await);
    let mut phone = Phone::join_at(site.address(), &long.token).await;
    let truth = Truth::of_run(&site, &long, &mut phone).await;
    let mut other = Phone::join_at(site.address(), &short.token).await;
    let over = Truth::of_run(&site, &short, &mut other).await;
    truth.check(phone.ask_anew(long.idmesin).await);
    site.signal(Signal::SIGSTOP);
    sleep(STILL).await;
    site.signal(Signal::SIGCONT);
    let continued = Instant::now();
    let mut ticks = vec![phone.tick().await];
    if ticks[0].tl > truth.tl - STILL.as_millis() as i64 {
        // It was sent right before the stop and has waited in the socket since.
        ticks[0] = phone.tick().await;
    }
    truth.check(ticks[0].tl);
    while continued.elapsed() < Duration::from_millis(2_500) {
        ticks.push(phone.tick().await);
        truth.check(ticks.last().unwrap().tl);
    }
    assert!(ticks.windows(2).all(|two| two[1].tl < two[0].tl), "{ticks:?}");
    let at_most = 2 + continued.elapsed().as_secs() as usize;
    assert!(ticks.len() <= at_most, "more than {at_most}: {ticks:?}");
    truth.check(phone.ask_anew(long.idmesin).await);
    assert_over(&mut other, &over).await;
}

/// The run that ended meanwhile is told to be over, once, and nothing else is said of it.
async fn assert_over(phone: &mut Phone, run: &Truth) {
    let mut ticks: Vec<Tick> = vec![phone.tick().await];
    while ticks.last().unwrap().tl > 0 {
        ticks.push(phone.tick().await);
    }
    assert!(ticks.iter().all(|tick| tick.tl >= 0 && tick.tl < run.tl) && ticks.windows(2).all(|two| two[1].tl < two[0].tl));
    let idmesin = ticks[0].idmesin;
    phone.watch(idmesin, None).await;
    phone.assert_quiet();
}

/// A library that steps the wall clock of the process it is loaded into, and of no other, by the seconds in a file.
struct WallClock {
    library: PathBuf,
    offset_s: PathBuf,
}

impl WallClock {
    fn new(dir: &std::path::Path) -> Self {
        let (library, offset_s) = (dir.join("wall_clock.so"), dir.join("offset_s"));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/realtime/wall_clock.c");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        assert!(built.expect("a C compiler, which Rust links with").success());
        let clock = Self { library, offset_s };
        clock.step_to(0);
        clock
    }

    fn step_to(&self, offset_s: i64) {
        // In place: the server has the file mapped.
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&self.offset_s).unwrap();
        file.write_all_at(&offset_s.to_le_bytes(), 0).unwrap();
    }
}

/// How far the server's wall clock is from the test's, in hours: it dates its answers by it.
async fn hours_off(site: &Site) -> i64 {
    let answer = site.ask("GET", "/healthz", "", &serde_json::Value::Null).await.unwrap();
    let date = OffsetDateTime::parse(answer.headers.get("date").unwrap().to_str().unwrap(), &Rfc2822).unwrap();
    (date.unix_timestamp() - OffsetDateTime::now_utc().unix_timestamp() + 1_800).div_euclid(3_600)
}

#[actix_web::test]
async fn an_hour_more_or_less_on_the_wall_clock_moves_no_countdown() {
    let mut site = Site::new().await;
    let clock = WallClock::new(site.dir());
    let offset_s = clock.offset_s.to_str().unwrap();
    site.start_with(&[("LD_PRELOAD", clock.library.to_str().unwrap()), ("WALL_CLOCK_OFFSET", offset_s)]).await;
    let shop = site.shop(600).await;
    let mut phone = Phone::join_at(site.address(), &shop.token).await;
    let truth = Truth::of_run(&site, &shop, &mut phone).await;
    for hours in [1, -1, 0] {
        clock.step_to(hours * 3_600);
        let since = Instant::now();
        while hours_off(&site).await != hours {
            assert!(since.elapsed() < super::PATIENCE, "the server does not see its wall clock step");
            sleep(super::LOOK_EVERY).await;
        }
        truth.check(phone.ask_anew(shop.idmesin).await);
        truth.check(phone.tick().await.tl);
    }
}
