//! Hashed timing wheel (Varghese and Lauck, SOSP 1987, scheme 6): insert and cancel take constant time, whatever it holds. It reads no
//! clock; the caller passes the time.

use std::time::Duration;

/// Slots of the wheel. An entry that is due after a whole turn waits in its slot for as many turns as it needs.
const SLOTS: usize = 4096;
const NONE: u32 = u32::MAX;

/// Key of one entry until it fires or is cancelled; afterwards it is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerKey {
    index: u32,
    generation: u32,
}

#[derive(Debug)]
struct Timer<T> {
    value: Option<T>,
    due_ms: i64,
    slot: u32,
    generation: u32,
    /// The entries of a slot are a ring: before its head is its last.
    next: u32,
    prev: u32,
}

/// Timing wheel with entries `T`. Nothing fires before it is due, and at most one step late.
#[derive(Debug)]
pub struct Wheel<T> {
    /// Milliseconds that a slot covers.
    step_ms: i64,
    entries: Vec<Timer<T>>,
    free: u32,
    heads: Vec<u32>,
    /// One bit for each slot that holds something.
    occupied: [u64; SLOTS / 64],
    /// The step that was visited last.
    at_step: i64,
    len: usize,
}

impl<T> Wheel<T> {
    /// Empty wheel whose slots cover `step` each, in whole milliseconds: 10 make a turn of 40.96 s.
    pub fn new(step: Duration, now_ms: i64) -> Self {
        let step_ms = i64::try_from(step.as_millis()).unwrap_or(i64::MAX).max(1);
        Self {
            step_ms,
            entries: Vec::new(),
            free: NONE,
            heads: vec![NONE; SLOTS],
            occupied: [0; SLOTS / 64],
            at_step: now_ms.div_euclid(step_ms),
            len: 0,
        }
    }

    /// Number of entries.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the wheel has no entry.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Fires `value` at the first advance at or after `due_ms`, rounded up to a step. A past time fires at the next step.
    pub fn insert(&mut self, due_ms: i64, value: T) -> TimerKey {
        let step = due_ms.div_euclid(self.step_ms) + i64::from(due_ms.rem_euclid(self.step_ms) > 0);
        let slot = slot_of(step.max(self.at_step + 1));
        let index = self.take_entry();
        let entry = &mut self.entries[index as usize];
        (entry.value, entry.due_ms, entry.slot) = (Some(value), due_ms, slot);
        let generation = entry.generation;
        self.link(index, slot);
        self.len += 1;
        TimerKey { index, generation }
    }

    /// Removes an entry before it fires; `None` when it has fired or was cancelled.
    pub fn cancel(&mut self, key: TimerKey) -> Option<T> {
        let entry = self.entries.get(key.index as usize)?;
        (entry.generation == key.generation && entry.value.is_some()).then(|| self.remove(key.index)).flatten()
    }

    /// Passes every value that is due at `now_ms` to `fire`, slot by slot, and within a slot in the order of insertion. So a caller that
    /// sets its next alarm when one fires keeps its place. After a long stall each slot is visited once, and each entry fires once. If
    /// time goes back, nothing fires.
    pub fn advance(&mut self, now_ms: i64, mut fire: impl FnMut(T)) {
        let to = now_ms.div_euclid(self.step_ms);
        let from = self.at_step + 1;
        self.at_step = to;
        let turn = i64::try_from(SLOTS).unwrap_or(i64::MAX);
        for step in from.max(to - turn + 1)..=to {
            let mut index = self.heads[slot_of(step) as usize];
            let last = self.entries.get(index as usize).map_or(NONE, |head| head.prev);
            while index != NONE {
                let entry = &self.entries[index as usize];
                let (next, due) = (if index == last { NONE } else { entry.next }, entry.due_ms <= now_ms);
                if due && let Some(value) = self.remove(index) {
                    fire(value);
                }
                index = next;
            }
        }
    }

    /// Start of the next slot that holds an entry: `advance` has nothing to fire before it. The entry may belong to a later turn. `None`
    /// when the wheel is empty.
    pub fn next_visit_ms(&self) -> Option<i64> {
        let start = slot_of(self.at_step + 1) as usize;
        let chunks = self.occupied.len();
        (0..=chunks).find_map(|i| {
            let chunk_at = (start / 64 + i) % chunks;
            let mut chunk = self.occupied[chunk_at];
            if i == 0 {
                chunk &= u64::MAX << (start % 64);
            } else if i == chunks {
                chunk &= !(u64::MAX << (start % 64));
            }
            if chunk == 0 {
                return None;
            }
            let slot = chunk_at * 64 + chunk.trailing_zeros() as usize;
            let ahead = (slot + SLOTS - start) % SLOTS;
            Some((self.at_step + 1 + i64::try_from(ahead).unwrap_or(0)) * self.step_ms)
        })
    }

    fn take_entry(&mut self) -> u32 {
        if self.free != NONE {
            let index = self.free;
            self.free = self.entries[index as usize].next;
            return index;
        }
        let index = u32::try_from(self.entries.len()).unwrap_or(NONE);
        self.entries.push(Timer { value: None, due_ms: 0, slot: 0, generation: 0, next: NONE, prev: NONE });
        index
    }

    fn link(&mut self, index: u32, slot: u32) {
        let head = self.heads[slot as usize];
        let (next, prev) = if head == NONE { (index, index) } else { (head, self.entries[head as usize].prev) };
        let entry = &mut self.entries[index as usize];
        (entry.next, entry.prev) = (next, prev);
        self.entries[prev as usize].next = index;
        self.entries[next as usize].prev = index;
        if head == NONE {
            self.heads[slot as usize] = index;
        }
        self.occupied[slot as usize / 64] |= 1 << (slot % 64);
    }

    fn remove(&mut self, index: u32) -> Option<T> {
        let entry = &mut self.entries[index as usize];
        let (slot, next, prev) = (entry.slot, entry.next, entry.prev);
        let value = entry.value.take();
        entry.generation = entry.generation.wrapping_add(1);
        entry.next = std::mem::replace(&mut self.free, index);
        if next == index {
            self.heads[slot as usize] = NONE;
            self.occupied[slot as usize / 64] &= !(1 << (slot % 64));
        } else {
            self.entries[prev as usize].next = next;
            self.entries[next as usize].prev = prev;
            if self.heads[slot as usize] == index {
                self.heads[slot as usize] = next;
            }
        }
        self.len -= 1;
        value
    }
}

fn slot_of(step: i64) -> u32 {
    // SLOTS is far below 2^32, so the remainder always fits.
    u32::try_from(step.rem_euclid(i64::try_from(SLOTS).unwrap_or(1))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_MS: i64 = 10;
    const STEP: Duration = Duration::from_millis(10);

    fn fired(wheel: &mut Wheel<u32>, now_ms: i64) -> Vec<u32> {
        let mut all = Vec::new();
        wheel.advance(now_ms, |v| all.push(v));
        all.sort_unstable();
        all
    }

    #[test]
    fn nothing_fires_early_and_nothing_more_than_a_step_late() {
        let mut wheel = Wheel::new(STEP, 1_000);
        for due in 1_001..1_100 {
            wheel.insert(due, u32::try_from(due).unwrap());
        }
        let mut seen = 0;
        for now in 1_001..1_120 {
            for value in fired(&mut wheel, now) {
                let late = now - i64::from(value);
                assert!((0..STEP_MS).contains(&late), "{value} at {now}");
                seen += 1;
            }
        }
        assert_eq!((seen, wheel.len()), (99, 0));
    }

    #[test]
    fn a_deadline_many_turns_ahead_fires_in_its_turn() {
        let mut wheel = Wheel::new(STEP, 0);
        wheel.insert(3_600_000, 1);
        let mut now = 0;
        while let Some(next) = wheel.next_visit_ms() {
            assert!(next > now);
            now = next;
            if !fired(&mut wheel, now).is_empty() {
                break;
            }
            assert!(now < 3_600_000);
        }
        assert_eq!(now, 3_600_000);
    }

    #[test]
    fn after_a_stall_everything_fires_once() {
        let mut wheel = Wheel::new(STEP, 0);
        for i in 0..1_000 {
            wheel.insert(i64::from(i) * 500, i);
        }
        assert_eq!(fired(&mut wheel, 600_000).len(), 1_000);
        assert_eq!(fired(&mut wheel, 1_200_000), Vec::<u32>::new());
    }

    #[test]
    fn within_a_slot_the_first_set_is_the_first_to_fire() {
        let mut wheel = Wheel::new(STEP, 0);
        let keys: Vec<TimerKey> = (0..6).map(|i| wheel.insert(100, i)).collect();
        for removed in [0, 3, 5] {
            assert_eq!(wheel.cancel(keys[removed]), Some(u32::try_from(removed).unwrap()));
        }
        wheel.insert(100, 6);
        let mut order = Vec::new();
        wheel.advance(100, |v| order.push(v));
        assert_eq!(order, [1, 2, 4, 6]);
    }

    #[test]
    fn cancelled_and_fired_keys_name_nothing() {
        let mut wheel = Wheel::new(STEP, 0);
        let (a, b) = (wheel.insert(100, 1), wheel.insert(100, 2));
        assert_eq!(wheel.cancel(a), Some(1));
        assert_eq!(wheel.cancel(a), None);
        assert_eq!(fired(&mut wheel, 100), [2]);
        let again = wheel.insert(200, 3);
        assert_eq!((wheel.cancel(b), wheel.cancel(again)), (None, Some(3)));
        assert_eq!(wheel.next_visit_ms(), None);
    }

    #[test]
    fn what_is_past_fires_at_the_next_step_and_time_may_go_back() {
        let mut wheel = Wheel::new(STEP, 10_000);
        wheel.insert(5, 1);
        assert_eq!(wheel.next_visit_ms(), Some(10_010));
        assert_eq!(fired(&mut wheel, 9_000), Vec::<u32>::new());
        wheel.insert(9_500, 2);
        assert_eq!(fired(&mut wheel, 9_500), [2]);
        assert_eq!(fired(&mut wheel, 10_010), [1]);
    }
}
