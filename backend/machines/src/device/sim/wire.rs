//! Wire of the simulated devices: a thread that passes each command to its device, and sends the answer when it is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nyala_core::purchase::device::Command;

use super::{Reply, SimulatedDevices};
use crate::device::Uplink;
use crate::machines::Location;

/// Commands that may wait for the thread.
pub(super) const COMMANDS: usize = 8_192;
/// Answers that are not due yet. Above this number commands wait, and then they are dropped.
const ANSWERS: usize = 65_536;

/// Answer of a device, ordered by `due`, and by `nth` when that is equal.
struct Answer {
    due: Instant,
    nth: u64,
    from: Location,
    reply: Reply,
}

impl PartialEq for Answer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Answer {}

impl PartialOrd for Answer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Answer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.nth).cmp(&(other.due, other.nth))
    }
}

/// Runs until the sender of commands is dropped.
pub(super) fn run(devices: &SimulatedDevices, commands: &Receiver<(Location, Command)>, uplink: &Uplink) {
    let mut answers = BinaryHeap::new();
    for nth in 0.. {
        match next(commands, answers.peek().map(|Reverse(answer): &Reverse<Answer>| answer.due), answers.len()) {
            Ok((from, cmd)) => {
                if let Some(reply) = devices.command(&cmd, uplink.now()) {
                    let due = Instant::now() + Duration::from_millis(u64::try_from(reply.after_ms).unwrap_or(0));
                    answers.push(Reverse(Answer { due, nth, from, reply }));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        while let Some(first) = answers.peek_mut()
            && first.0.due <= Instant::now()
        {
            let Reverse(Answer { from, reply, .. }) = PeekMut::pop(first);
            reply.events.into_iter().for_each(|event| uplink.send(from, event));
        }
    }
}

/// The next command, unless an answer is due before.
fn next<T>(commands: &Receiver<T>, due: Option<Instant>, answers: usize) -> Result<T, RecvTimeoutError> {
    let Some(due) = due else { return commands.recv().map_err(|_| RecvTimeoutError::Disconnected) };
    let wait = due.saturating_duration_since(Instant::now());
    if answers < ANSWERS {
        return commands.recv_timeout(wait);
    }
    thread::sleep(wait);
    Err(RecvTimeoutError::Timeout)
}
