//! Whole sessions: a Socket.IO server in this process, without a network, and clients that do what the input says. The first byte says
//! which limits the server has, the others are a script ([`script`]).

mod client;
mod host;
mod play;
mod requests;
mod script;
mod seeds;

use std::cell::{Cell, RefCell};
use std::sync::Once;
use std::time::Duration;

use actix_socketio::Limits;
use actix_web::rt::Runtime;

pub use self::seeds::seeds;

use self::play::play;
use crate::harness::kind_and_rest;

const SMALL: u8 = 0;
const ROOMY: u8 = 1;
const LATE: u8 = 2;
const KINDS: u8 = 3;

/// Scripts that one runtime plays: a new one each time would take longer than they do, but a server leaves entries with its runtime's
/// wheel, which go in their time.
const SCRIPTS: u32 = 64;

thread_local!(
    /// With how many scripts it has played.
    static RUNTIME: RefCell<Option<(Runtime, u32)>> = const { RefCell::new(None) };
    /// Panics on this thread, those of tasks too, which nobody else hears of.
    static PANICS: Cell<u64> = const { Cell::new(0) };
);

pub fn run(bytes: &[u8]) {
    reached(bytes);
}

fn reached(bytes: &[u8]) -> Reached {
    count_panics();
    let (kind, script) = kind_and_rest(bytes);
    let before = PANICS.get();
    let (runtime, played) = RUNTIME.take().filter(|(_, played)| *played < SCRIPTS).unwrap_or_else(|| (runtime(), 0));
    let reached = runtime.block_on(play(limits(kind), script));
    RUNTIME.set(Some((runtime, played + 1)));
    assert_eq!(PANICS.get(), before, "a task panicked");
    reached
}

fn runtime() -> Runtime {
    let Ok(runtime) = Runtime::new() else { unreachable!("the system gives no runtime") };
    runtime
}

fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            hook(panic);
        }));
    });
}

/// Bounds that a short script reaches; the usual ones; and heartbeats that are always overdue. Nothing waits for a time.
fn limits(kind: u8) -> Limits {
    match kind % KINDS {
        SMALL => Limits {
            max_payload: 200,
            max_attachments: 2,
            max_attachment_bytes: 24,
            max_queued_frames: 4,
            max_queued_bytes: 256,
            max_waiting_packets: 8,
            max_waiting_bytes: 500,
            max_namespaces: 2,
            max_namespace_bytes: 12,
            max_rooms: 0,
            max_pending_acks: 2,
            max_sessions: 2,
            unjoined_per_address: 2,
            max_unjoined: 3,
            ..Limits::default()
        },
        LATE => Limits { ping_interval: Duration::ZERO, ping_timeout: Duration::ZERO, ..Limits::default() },
        _ => Limits::default(),
    }
}

/// What a script reached.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reached {
    joined: u64,
    answered: u64,
    heard: u64,
    acks: u64,
    attachments: u64,
    violations: u64,
    stalled: u64,
    dropped: u64,
    displaced: u64,
    refused: u64,
    overdue: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise the search would begin where little is found.
    #[test]
    fn the_seeds_reach_what_a_session_does() {
        let reached: Vec<_> = seeds().iter().map(|seed| reached(seed)).collect();
        let reaches = |of: fn(&Reached) -> u64| reached.iter().any(|reached| of(reached) > 0);
        assert!(reaches(|r| r.joined) && reaches(|r| r.answered) && reaches(|r| r.heard), "{reached:#?}");
        assert!(reaches(|r| r.acks) && reaches(|r| r.attachments) && reaches(|r| r.violations), "{reached:#?}");
        assert!(reaches(|r| r.stalled) && reaches(|r| r.dropped) && reaches(|r| r.displaced), "{reached:#?}");
        assert!(reaches(|r| r.refused) && reaches(|r| r.overdue), "{reached:#?}");
    }
}
