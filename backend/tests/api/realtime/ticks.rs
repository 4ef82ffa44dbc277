//! The countdown, exact to the millisecond and the phase, on a clock that only the test moves.

use nyala_core::domain::id::MachineId;
use nyala_machines::device::sim::Mode;
use serde_json::json;

use super::phone::{Phone, Tick};
use super::setup;
use crate::ops::operator::Scope;
use crate::support::helpers::TestApp;
use crate::support::shop::{PRICE, Shop, buy};

/// `n` ticks of any machines, in the order of their machines.
async fn ticks(phone: &mut Phone, n: usize) -> Vec<Tick> {
    let mut all = Vec::new();
    for _ in 0..n {
        all.push(phone.tick().await);
    }
    all.sort_by_key(|tick| tick.idmesin);
    all
}

/// The tick of a run that ends at `ends_at`, at `now`.
fn at(now: i64, idmesin: MachineId, ends_at: i64) -> Tick {
    Tick { idmesin, tl: ends_at - now, ends_at: Some(ends_at), server_time: now }
}

/// A phone that watches two machines. One runs for a long time; the other one runs for four seconds, from `after_ms` after a phase tick
/// on. A tick of the first machine proves that the server has processed a moment at which the other one sends none.
struct TwoMachines {
    app: TestApp,
    phone: Phone,
    long: (MachineId, i64),
    short: (MachineId, i64),
    start_ms: i64,
}

impl TwoMachines {
    async fn start(after_ms: i64) -> Self {
        let app = setup().start().await;
        let long = app.shop(600).await;
        let short = app.neighbour(long, 4).await;
        let siti = app.customer(1).await;
        let mut phone = Phone::join(&app, &siti.token).await;
        phone.watch(long.idmesin, None).await;
        phone.watch(short.idmesin, None).await;
        let long_ends = app.run(long, 600, 1).await;
        assert_eq!(phone.tick().await, at(app.now().ms(), long.idmesin, long_ends), "at once when it starts");
        let phase_tick = app.now().ms() + 2_000 + app.phase(long);
        app.set_ms(phase_tick);
        assert_eq!(phone.tick().await, at(phase_tick, long.idmesin, long_ends));
        // Within the second after this tick, the clock is between two ticks: only the start arrives.
        let start_ms = phase_tick + after_ms;
        app.set_ms(start_ms);
        let short_ends = app.run(short, 4, 2).await;
        assert_eq!(phone.tick().await, at(start_ms, short.idmesin, short_ends), "at once when it starts");
        Self { app, phone, long: (long.idmesin, long_ends), short: (short.idmesin, short_ends), start_ms }
    }

    /// Moves the clock to `ms` after the short run's start; both tick there.
    async fn both_tick_at(&mut self, ms: i64) {
        let now = self.start_ms + ms;
        self.app.set_ms(now);
        let want = [self.long, self.short].map(|(idmesin, ends_at)| at(now, idmesin, ends_at));
        assert_eq!(ticks(&mut self.phone, 2).await, want);
    }

    /// The same; only the long run ticks there.
    async fn one_ticks_at(&mut self, ms: i64) {
        let now = self.start_ms + ms;
        self.app.set_ms(now);
        assert_eq!(self.phone.tick().await, at(now, self.long.0, self.long.1));
    }

    /// The end of the short run: sent once, outside the phase.
    async fn ends(&mut self) {
        self.app.set_ms(self.short.1);
        assert_eq!(self.phone.tick().await, at(self.short.1, self.short.0, self.short.1));
    }
}

#[actix_web::test]
async fn machines_of_an_outlet_tick_together_and_not_within_200_ms_of_the_start() {
    let mut pair = TwoMachines::start(810).await;
    pair.one_ticks_at(190).await;
    for second in 1..=3 {
        pair.both_tick_at(190 + second * 1_000).await;
    }
    pair.ends().await;
    pair.one_ticks_at(4_190).await;
    pair.one_ticks_at(5_190).await;
}

#[actix_web::test]
async fn machines_do_not_tick_within_200_ms_of_the_end() {
    let mut pair = TwoMachines::start(190).await;
    for second in 0..3 {
        pair.both_tick_at(810 + second * 1_000).await;
    }
    pair.one_ticks_at(3_810).await;
    pair.ends().await;
    pair.one_ticks_at(4_810).await;
}

#[actix_web::test]
async fn at_200_ms_from_either_end_it_does_tick() {
    let mut pair = TwoMachines::start(800).await;
    for second in 0..=3 {
        pair.both_tick_at(200 + second * 1_000).await;
    }
    pair.ends().await;
    let mut pair = TwoMachines::start(200).await;
    for second in 0..=3 {
        pair.both_tick_at(800 + second * 1_000).await;
    }
    pair.ends().await;
}

/// A late server sends the current state once, and skips ticks that are too near to the end by then.
#[actix_web::test]
async fn a_tick_that_is_late_is_sent_once_and_never_within_200_ms_of_the_end() {
    let mut pair = TwoMachines::start(500).await;
    let late = pair.start_ms + 2_730;
    pair.app.set_ms(late);
    let want = [pair.long, pair.short].map(|(idmesin, ends_at)| at(late, idmesin, ends_at));
    assert_eq!(ticks(&mut pair.phone, 2).await, want, "one tick for the three that were due");
    // Due at 3,500; processed only at 3,810.
    pair.one_ticks_at(3_810).await;
    pair.ends().await;
}

#[actix_web::test]
async fn a_stall_over_the_end_sends_only_the_end() {
    let mut pair = TwoMachines::start(500).await;
    let late = pair.start_ms + 9_000;
    pair.app.set_ms(late);
    let over = Tick { idmesin: pair.short.0, tl: 0, ends_at: Some(pair.short.1), server_time: late };
    assert_eq!(ticks(&mut pair.phone, 2).await, [at(late, pair.long.0, pair.long.1), over]);
    pair.one_ticks_at(9_500).await;
}

/// Frames are encoded once and cross threads; every phone receives the same.
#[actix_web::test]
async fn every_phone_on_every_thread_receives_the_same() {
    let app = setup().with(|c| c.http.workers = 2).start().await;
    let (first, second) = (app.shop(3).await, app.shop(3).await);
    let mut phones = Vec::new();
    for n in 0..8 {
        let customer = app.customer(n).await;
        let mut phone = Phone::join(&app, &customer.token).await;
        for shop in [first, second] {
            phone.watch(shop.idmesin, None).await;
        }
        phones.push(phone);
    }
    let start = app.now().ms();
    let ends_at = app.run(first, 3, 1).await;
    app.run(second, 3, 2).await;
    let mut moments = vec![start];
    for shop in [first, second] {
        moments
            .extend((0..3).map(|s| start + app.phase(shop) + s * 1_000).filter(|at| (start + 200..=ends_at - 200).contains(at)));
    }
    moments.push(ends_at);
    moments.sort_unstable();
    moments.dedup();
    for now in moments {
        app.set_ms(now);
        let of = |shop: Shop| {
            let in_phase = (now - app.phase(shop)) % 1_000 == 0 && (start + 200..=ends_at - 200).contains(&now);
            (in_phase || now == start || now == ends_at).then_some(shop.idmesin)
        };
        let expected: Vec<Tick> = [of(first), of(second)].into_iter().flatten().map(|id| at(now, id, ends_at)).collect();
        for phone in &mut phones {
            assert_eq!(ticks(phone, expected.len()).await, expected);
        }
    }
    let (last, others) = phones.split_last_mut().unwrap();
    for phone in &mut *others {
        phone.unwatch(first.idmesin).await;
    }
    app.run(first, 3, 3).await;
    assert_eq!(last.tick().await.tl, 3_000);
    for phone in others {
        phone.watch(second.idmesin, None).await;
        phone.assert_quiet();
    }
}

#[actix_web::test]
async fn a_refunded_hold_is_sent_once() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    phone.watch(shop.idmesin, None).await;
    let epay = app.balance_of(&siti, shop, PRICE).await;
    app.fault(shop, Mode::Refuse).await;
    app.buy(&siti, &buy(1, shop, epay)).await.expect(409, "mesin gagal dinyalakan, saldo dikembalikan");
    let back = Tick { idmesin: shop.idmesin, tl: 0, ends_at: None, server_time: app.now().ms() };
    assert_eq!(phone.tick().await, back);
    phone.watch(shop.idmesin, None).await;
    app.fault(shop, Mode::Ok).await;
    app.buy(&siti, &buy(2, shop, epay)).await.ok();
    assert_eq!(phone.tick().await.tl, 600_000);
}

#[actix_web::test]
async fn an_operators_stop_ends_the_countdown_there() {
    let app = setup().start().await;
    let shop = app.shop(600).await;
    let key = app.key(Scope::Root).await;
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    phone.watch(shop.idmesin, None).await;
    app.run(shop, 600, 1).await;
    phone.tick().await;
    app.clock.advance_ms(1_200);
    assert_eq!(phone.tick().await.tl, 598_800);
    app.clock.advance_ms(70);
    let stop = format!("mesin/{}/stop", shop.idmesin);
    app.ops(&key, &stop, &json!({"alasan": "pintu terbuka"})).await.expect(200, "mesin dihentikan");
    let now = app.now().ms();
    assert_eq!(phone.tick().await, at(now, shop.idmesin, now));
    phone.watch(shop.idmesin, None).await;
    app.advance_s(600);
    app.run(shop, 600, 2).await;
    assert_eq!(phone.tick().await, at(now + 600_000, shop.idmesin, now + 1_200_000), "nothing came at the old run's end");
}

/// On a running clock: the best of five short runs must keep the promise for an unloaded server.
#[actix_web::test]
async fn a_run_is_counted_down_as_it_happens() {
    let app = setup().running_clock().start().await;
    let shop = app.shop(2).await;
    let siti = app.customer(1).await;
    let mut phone = Phone::join(&app, &siti.token).await;
    let mut lateness_ms = i64::MAX;
    for n in 1..=5 {
        phone.watch(shop.idmesin, None).await;
        app.run(shop, 2, n).await;
        let mut run = vec![phone.tick().await];
        while run.last().unwrap().tl > 0 {
            run.push(phone.tick().await);
        }
        let ends_at = run[0].ends_at.unwrap();
        let (end, before) = run.split_last().unwrap();
        assert_eq!((end.tl, end.ends_at), (0, Some(ends_at)));
        for tick in before {
            assert_eq!((tick.ends_at, tick.tl), (Some(ends_at), ends_at - tick.server_time));
        }
        assert!(before.windows(2).all(|two| two[1].tl < two[0].tl), "{before:?}");
        assert!(before.len() <= 3, "the start and what is in the phase: {before:?}");
        assert!(end.server_time >= ends_at, "the end is never told early");
        lateness_ms = lateness_ms.min(end.server_time - ends_at);
        if lateness_ms <= 400 {
            return;
        }
    }
    panic!("the end came {lateness_ms} ms late at best");
}
