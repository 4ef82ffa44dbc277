//! The clock that every rule gets its instants from. `db::clock` holds it to the database's.

mod course;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use nyala_core::domain::timestamp::Timestamp;

use course::{BootNs, Course};

const NS_PER_MS: i64 = 1_000_000;

/// The clock: the kernel's boot clock, held to the database's by gradual corrections (`Course`). The boot clock never
/// steps with the wall clock, so no countdown jumps, and it counts on while the machine is suspended. Cheap to clone; all clones
/// agree.
#[derive(Debug, Clone)]
pub struct Clock(Arc<ClockInner>);

/// The course in three parts that belong together. A reader reads them again when `turn` was odd or has changed during the read.
#[derive(Debug)]
struct ClockInner {
    turn: AtomicU64,
    base: AtomicI64,
    since: AtomicI64,
    left: AtomicI64,
    /// Changes are rare, and one at a time.
    changing: Mutex<()>,
    /// False in tests: time moves only by `set` and `advance_ms`.
    runs: bool,
}

impl Clock {
    /// A running clock whose time is `now` at this moment.
    pub fn running_from(now: Timestamp) -> Self {
        Self::new(now, true)
    }

    /// A clock that stays at one moment until it is set or advanced.
    pub fn standing_at(now: Timestamp) -> Self {
        Self::new(now, false)
    }

    fn new(now: Timestamp, runs: bool) -> Self {
        let (turn, base, since, left) = Default::default();
        let clock = Self(Arc::new(ClockInner { turn, base, since, left, changing: Mutex::default(), runs }));
        clock.set(now);
        clock
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ns() / NS_PER_MS)
    }

    /// Epoch microseconds, for comparisons of clocks.
    pub fn now_us(&self) -> i64 {
        self.now_ns() / 1_000
    }

    fn now_ns(&self) -> i64 {
        let inner = &*self.0;
        loop {
            let turn = inner.turn.load(Ordering::Acquire);
            let boot = inner.boot_ns();
            let course = inner.course();
            fence(Ordering::Acquire);
            if turn.is_multiple_of(2) && inner.turn.load(Ordering::Relaxed) == turn {
                return course.at(boot);
            }
            std::hint::spin_loop();
        }
    }

    /// Sets the time of this clock and all its clones.
    pub fn set(&self, now: Timestamp) {
        self.0.change(|_, boot| Course::straight(now.ms() * NS_PER_MS, boot));
    }

    pub fn advance_ms(&self, ms: i64) {
        self.advance_us(ms * 1_000);
    }

    pub fn advance_us(&self, us: i64) {
        self.0.change(|course, _| Course { base: course.base + us * 1_000, ..course });
    }

    /// Corrects the clock gradually by `us` microseconds; negative when it is ahead. A stopped clock is not corrected.
    pub fn correct_us(&self, us: i64) {
        if self.0.runs {
            self.0.change(|course, boot| course.corrected(boot, us * 1_000));
        }
    }
}

impl ClockInner {
    fn course(&self) -> Course {
        let load = |part: &AtomicI64| part.load(Ordering::Relaxed);
        Course { base: load(&self.base), since: BootNs(load(&self.since)), left: load(&self.left) }
    }

    fn change(&self, change: impl FnOnce(Course, BootNs) -> Course) {
        let _one = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = self.turn.load(Ordering::Relaxed);
        self.turn.store(turn + 1, Ordering::Relaxed);
        // Readers of the boot clock use the new course from here on.
        fence(Ordering::SeqCst);
        let Course { base, since, left } = change(self.course(), self.boot_ns());
        self.base.store(base, Ordering::Relaxed);
        self.since.store(since.0, Ordering::Relaxed);
        self.left.store(left, Ordering::Relaxed);
        self.turn.store(turn + 2, Ordering::Release);
    }

    fn boot_ns(&self) -> BootNs {
        BootNs(if self.runs { boot_ns() } else { 0 })
    }
}

/// Nanoseconds since the machine booted, suspends included (CLOCK_BOOTTIME).
fn boot_ns() -> i64 {
    // Linux has this clock since 2.6.39, so the fallback is never taken.
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_BOOTTIME).map_or(0, |t| t.tv_sec() * 1_000_000_000 + t.tv_nsec())
}

/// The operating system's wall clock.
pub fn wall_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_it_is_set() {
        let clock = Clock::standing_at(Timestamp::from_ms(1000));
        let other = clock.clone();
        clock.advance_ms(250);
        assert_eq!(other.now(), Timestamp::from_ms(1250));
        other.set(Timestamp::from_ms(99));
        assert_eq!(clock.now(), Timestamp::from_ms(99));
    }

    #[test]
    fn a_clock_that_is_corrected_while_it_is_read_never_goes_back() {
        let clock = Clock::running_from(Timestamp::from_ms(1_795_000_000_000));
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    let mut before = clock.now_us();
                    for _ in 0..200_000 {
                        let now = clock.now_us();
                        assert!(now >= before, "{now} after {before}");
                        before = now;
                    }
                });
            }
            for i in 0..20_000 {
                clock.correct_us([9_000_000, -9_000_000, 3, -3][i % 4]);
            }
        });
        let other = clock.clone();
        other.set(Timestamp::from_ms(1_000));
        assert!((1_000_000..1_000_000_000).contains(&clock.now_us()));
    }

    #[test]
    fn a_standing_clock_is_not_corrected() {
        let clock = Clock::standing_at(Timestamp::from_ms(1_000));
        clock.correct_us(5_000_000);
        assert_eq!(clock.now_us(), 1_000_000);
    }
}
