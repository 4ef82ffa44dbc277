//! Target: whole sessions. A Socket.IO server in this process, without a network, and clients that follow the input. The first byte
//! selects the server's limits; the others are a script ([`script`]).

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

/// Number of scripts per runtime. A new runtime for each script would take longer than the script. But each server leaves entries in
/// the runtime's timing wheel, which only disappear with time.
const SCRIPTS: u32 = 64;

thread_local!(
    /// The runtime, and the number of scripts that it has run.
    static RUNTIME: RefCell<Option<(Runtime, u32)>> = const { RefCell::new(None) };
    /// Number of panics on this thread, including those of tasks, which are not reported otherwise.
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

/// Limits of the server: small ones that a short script reaches, the usual ones, or heartbeats that are always overdue. No run waits
/// for time to pass.
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

/// States that a script reached.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reached {
    joined: u64,
    answered: u64,
    events: u64,
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

    /// The seeds must reach much of the code, so that the search starts near interesting inputs.
    #[test]
    fn the_seeds_reach_what_a_session_does() {
        let reached: Vec<_> = seeds().iter().map(|seed| reached(seed)).collect();
        let reaches = |of: fn(&Reached) -> u64| reached.iter().any(|reached| of(reached) > 0);
        assert!(reaches(|r| r.joined) && reaches(|r| r.answered) && reaches(|r| r.events), "{reached:#?}");
        assert!(reaches(|r| r.acks) && reaches(|r| r.attachments) && reaches(|r| r.violations), "{reached:#?}");
        assert!(reaches(|r| r.stalled) && reaches(|r| r.dropped) && reaches(|r| r.displaced), "{reached:#?}");
        assert!(reaches(|r| r.refused) && reaches(|r| r.overdue), "{reached:#?}");
    }
}
