//! Fake server with just enough of the protocol to be measured. It loses, delays, duplicates and falsifies messages on purpose. Its
//! messages follow from the plan alone: a tick has the `server_time` at which it was due, however late a busy machine sends it.

mod http;
pub mod room;
mod shop;
pub mod socket;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use room::Room;
use shop::Shop;

/// Faults of the server. `Faults::default()` has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Each session loses one phase tick of this number.
    pub lose_one_in: Option<u64>,
    /// Each session gets one phase tick of this number twice.
    pub double_one_in: Option<u64>,
    /// Every third phase tick is made this many milliseconds late.
    pub late_ms: i64,
    /// Once a minute a phase tick is made early, each time by this many milliseconds more; after a quarter of an hour it is in time
    /// again.
    pub early_step_ms: i64,
    /// Every phase tick is made in time and sent this many milliseconds later.
    pub slow_ms: i64,
    /// No tick is made for this many milliseconds, some time after the sessions joined; then the overdue one is made.
    pub stall_ms: i64,
    /// `tl` is too high by one.
    pub tl_off: bool,
    /// `tl` does not fall.
    pub tl_stands: bool,
    /// The final tick is not sent, or sent twice.
    pub no_final: bool,
    pub two_finals: bool,
    /// No fault: another thread makes the ticks. A session that subscribes up to this many milliseconds after a start gets the answer
    /// first and then the tick of the start.
    pub starts_late_ms: i64,
    /// Milliseconds by which the final tick is late; negative: early.
    pub final_late_ms: i64,
    /// Sessions are disconnected after this number of ticks.
    pub cut_after: Option<u64>,
    /// One session of this number gets nothing after the answers to its subscribes.
    pub deaf_one_in: Option<u64>,
    /// The faults of websockets below do not apply to this number of first ones: later ones are reconnects.
    pub well_sockets: u64,
    /// One websocket of this number is refused with 503, or never answered.
    pub refuse_one_socket_in: Option<u64>,
    pub forget_one_socket_in: Option<u64>,
    /// Websockets are answered this many milliseconds late.
    pub socket_ms: u64,
    /// Tokens are refused.
    pub refuse_tokens: bool,
    /// Duration of a payment, in milliseconds.
    pub pay_ms: u64,
    /// One payment of this number is answered 500 and takes no money.
    pub pay_fails_one_in: Option<u64>,
    /// One payment of this number is never answered: the connection ends after the payment was made.
    pub pay_unanswered_one_in: Option<u64>,
    /// A repeat of a payment is another payment.
    pub pay_repeats: bool,
    /// A payment takes the price this number of times too often.
    pub overcharge: i64,
    /// A customer who is refused because the machine is in use pays all the same.
    pub charge_losers: bool,
    /// A paid machine does not start.
    pub no_run: bool,
    /// A machine starts for each customer who pays, also while it is in use.
    pub many_winners: bool,
    /// Every balance is one rupiah short.
    pub cheat: bool,
    /// No balance is sent.
    pub hide_balances: bool,
    /// Codes do not reach WhatsApp.
    pub no_code: bool,
    /// Only this number of codes is sent. Later requests are refused, each with another time to wait.
    pub codes: Option<u64>,
    /// Each payment is answered 503 this number of times, and 504 once, before it is processed.
    pub pay_busy: u64,
    /// Top-ups are not in the history.
    pub short_history: bool,
}

pub struct Fake {
    pub url: String,
    address: SocketAddr,
    world: Arc<World>,
}

/// State that all connections share.
pub struct World {
    faults: Faults,
    state: Mutex<State>,
    /// Notified when a tick may be due earlier than planned.
    changed: Condvar,
}

#[derive(Default)]
pub struct State {
    pub shop: Shop,
    pub room: Room,
    closed: bool,
}

impl World {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fake {
    pub fn start(faults: Faults) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let world = Arc::new(World { faults, state: Mutex::default(), changed: Condvar::new() });
        let ticking = world.clone();
        std::thread::spawn(move || room::tick(&ticking));
        let serving = world.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if serving.state().closed {
                    return;
                }
                let world = serving.clone();
                std::thread::spawn(move || http::serve(&world, stream));
            }
        });
        Self { url: format!("http://{address}"), address, world }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.world.state().closed = true;
        self.world.changed.notify_all();
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

/// Whether a fault of one in `many` applies to number `n`, counted from 1.
fn one_in(many: Option<u64>, n: u64) -> bool {
    many.is_some_and(|many| n.is_multiple_of(many))
}

/// Epoch milliseconds.
fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis()).expect("in range")
}
