//! Clocks that step and servers that are stopped: the countdown is still right to the second.

use nyala_core::domain::id::MachineId;
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
use crate::process::{ProcessShop, Site};

/// Maximum error of the server, in milliseconds.
const ERROR_MS: i64 = 1_000;

/// A remaining time, and the two moments of the test's own clock between which it was received. That clock never steps, and it runs while
/// the server is stopped.
pub struct ReceivedTime {
    tl: i64,
    from: Instant,
    to: Instant,
}

fn ms_between(from: Instant, to: Instant) -> i64 {
    to.saturating_duration_since(from).as_millis() as i64
}

impl ReceivedTime {
    /// The server's current answer about a machine that runs.
    pub async fn now(phone: &mut Phone, idmesin: MachineId) -> Self {
        let from = Instant::now();
        let tl = phone.ask_anew(idmesin).await;
        Self { tl, from, to: Instant::now() }
    }

    /// A tick after this answer.
    async fn next(&self, phone: &mut Phone) -> Self {
        let tl = phone.tick().await.tl;
        Self { tl, from: self.from, to: Instant::now() }
    }

    /// The minimum and maximum remaining time in an answer that arrives between two moments.
    fn range(&self, from: Instant, to: Instant) -> (i64, i64) {
        (self.tl - ms_between(self.from, to) - ERROR_MS, self.tl - ms_between(self.to, from) + ERROR_MS)
    }

    /// `later` is an answer about the same run.
    #[track_caller]
    pub fn assert_goes_on(&self, later: &Self) {
        let (min, max) = self.range(later.from, later.to);
        assert!(later.tl > 0 && (min..=max).contains(&later.tl), "{} ms left, not {min} to {max}", later.tl);
    }
}

/// Pays for the shop's machine, which `phone` watches from now on.
async fn run(site: &Site, shop: &ProcessShop, phone: &mut Phone) {
    phone.watch(MachineId::new(shop.idmesin), None).await;
    site.buy(shop).await.unwrap().ok();
}

#[actix_web::test]
async fn ten_seconds_of_standstill_cost_no_second_and_bring_no_burst() {
    const STILL: Duration = Duration::from_secs(10);
    let mut site = Site::new().await;
    site.start("").await;
    let (long, short) = (site.shop(600).await, site.shop(8).await);
    let mut phone = Phone::join_at(site.address(), &long.token).await;
    let mut other = Phone::join_at(site.address(), &short.token).await;
    run(&site, &long, &mut phone).await;
    run(&site, &short, &mut other).await;
    let before = ReceivedTime::now(&mut phone, MachineId::new(long.idmesin)).await;
    let stopped = Instant::now();
    site.signal(Signal::SIGSTOP);
    sleep(STILL).await;
    site.signal(Signal::SIGCONT);
    let continued = Instant::now();
    let mut ticks = vec![phone.tick().await.tl];
    while continued.elapsed() < Duration::from_millis(2_500) {
        ticks.push(phone.tick().await.tl);
    }
    assert!(ticks.windows(2).all(|two| two[1] < two[0]), "{ticks:?}");
    // Ticks sent right before the stop have waited in the socket since; no tick is of the time of the stop itself.
    let ((stale, _), (_, fresh)) = (before.range(before.from, stopped), before.range(continued, continued));
    assert!(ticks.iter().all(|tl| *tl >= stale || *tl <= fresh), "{ticks:?} within {fresh} to {stale}");
    let at_most = 3 + (before.from.elapsed() - STILL).as_secs() as usize;
    assert!(ticks.len() <= at_most, "more than {at_most}: {ticks:?}");
    before.assert_goes_on(&ReceivedTime::now(&mut phone, MachineId::new(long.idmesin)).await);
    assert_over(&mut other).await;
}

/// The run that ended during the stop gets one last tick, and no other.
async fn assert_over(phone: &mut Phone) {
    let mut ticks: Vec<Tick> = vec![phone.tick().await];
    while ticks.last().unwrap().tl > 0 {
        ticks.push(phone.tick().await);
    }
    assert!(ticks.iter().all(|tick| tick.tl >= 0) && ticks.windows(2).all(|two| two[1].tl < two[0].tl), "{ticks:?}");
    phone.watch(ticks[0].idmesin, None).await;
    phone.assert_quiet();
}

/// A library that steps the wall clock of only the process it is loaded into, by the seconds in a file.
struct WallClock {
    library: PathBuf,
    offset_s: PathBuf,
}

impl WallClock {
    fn new(dir: &std::path::Path) -> Self {
        let (library, offset_s) = (dir.join("wall_clock.so"), dir.join("offset_s"));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/api/realtime/wall_clock.c");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        assert!(built.expect("a C compiler, which Rust links with").success());
        let clock = Self { library, offset_s };
        clock.step_to(0);
        clock
    }

    fn step_to(&self, offset_s: i64) {
        // Written in place, because the server has the file mapped.
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&self.offset_s).unwrap();
        file.write_all_at(&offset_s.to_le_bytes(), 0).unwrap();
    }
}

/// How far the server's wall clock is from the test's, in hours, by the date of its answers.
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
    run(&site, &shop, &mut phone).await;
    let before = ReceivedTime::now(&mut phone, MachineId::new(shop.idmesin)).await;
    for hours in [1, -1, 0] {
        clock.step_to(hours * 3_600);
        let since = Instant::now();
        while hours_off(&site).await != hours {
            assert!(since.elapsed() < super::PATIENCE, "the server does not see its wall clock step");
            sleep(super::LOOK_EVERY).await;
        }
        let later_tick = ReceivedTime::now(&mut phone, MachineId::new(shop.idmesin)).await;
        before.assert_goes_on(&later_tick);
        before.assert_goes_on(&later_tick.next(&mut phone).await);
    }
}
