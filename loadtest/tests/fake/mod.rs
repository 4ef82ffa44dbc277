//! A tiny server that speaks just enough to be measured, and that loses, delays, doubles, stalls and cheats on purpose. What it
//! says follows from the plan alone: a tick has the `server_time` at which it was due, however late a busy machine lets it leave.

mod http;
pub mod room;
mod shop;
pub mod socket;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use room::Room;
use shop::Shop;

/// What goes wrong. `Faults::default()` is a server without fault.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Each session loses one phase tick in so many.
    pub lose_one_in: Option<u64>,
    /// Each session gets one phase tick in so many twice.
    pub double_one_in: Option<u64>,
    /// Every third phase tick is made so many milliseconds late.
    pub late_ms: i64,
    /// Once a minute phase ticks are made early: by so many milliseconds more each time, and after a quarter of an hour in time.
    pub early_step_ms: i64,
    /// Every phase tick is made in time, and sent so many milliseconds later.
    pub slow_ms: i64,
    /// Nothing is made in one span of so many milliseconds, some time after the joining; then the tick that is overdue.
    pub stall_ms: i64,
    /// `tl` is one too many.
    pub tl_off: bool,
    /// `tl` is a counter: it stands still.
    pub tl_stands: bool,
    /// The final tick is not sent, or sent twice.
    pub no_final: bool,
    pub two_finals: bool,
    /// No fault: ticks are made on another thread, so that who begins to watch up to so many milliseconds after a start hears the
    /// answer first, and then the tick of the start.
    pub starts_late_ms: i64,
    /// By how many milliseconds the final tick is made late; early below 0.
    pub final_late_ms: i64,
    /// Sessions are cut off after so many ticks.
    pub cut_after: Option<u64>,
    /// One session in so many hears nothing after the answers of its subscriptions.
    pub deaf_one_in: Option<u64>,
    /// The faults of websockets below leave the first so many alone: what comes after them comes back.
    pub well_sockets: u64,
    /// One websocket in so many is refused with 503, or never answered.
    pub refuse_one_socket_in: Option<u64>,
    pub forget_one_socket_in: Option<u64>,
    /// Websockets are answered so many milliseconds late.
    pub socket_ms: u64,
    /// Tokens are refused.
    pub refuse_tokens: bool,
    /// How long a payment takes, in milliseconds.
    pub pay_ms: u64,
    /// One payment in so many is answered 500, and takes no money.
    pub pay_fails_one_in: Option<u64>,
    /// One payment in so many is never answered: the connection ends when all is done.
    pub pay_unanswered_one_in: Option<u64>,
    /// A repeat of a payment is another payment.
    pub pay_repeats: bool,
    /// A payment takes the price so many times too often.
    pub overcharge: i64,
    /// Who is told that the machine is in use pays all the same.
    pub charge_losers: bool,
    /// A paid machine does not start.
    pub no_run: bool,
    /// A machine goes to everybody who pays.
    pub many_winners: bool,
    /// Every balance is one rupiah short.
    pub cheat: bool,
    /// Nobody is told a balance.
    pub hide_balances: bool,
    /// Codes do not reach WhatsApp.
    pub no_code: bool,
    /// Only so many codes are sent; who asks then is told how long to wait, each another time.
    pub codes: Option<u64>,
    /// Each payment is answered 503 so many times, and 504 once, before it is looked at.
    pub pay_busy: u64,
    /// Top-ups are not in the history.
    pub short_history: bool,
}

pub struct Fake {
    pub url: String,
    address: SocketAddr,
    world: Arc<World>,
}

/// What all connections share.
pub struct World {
    faults: Faults,
    state: Mutex<State>,
    /// Something may be due earlier than was thought.
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

/// Whether number `n`, counted from 1, is one of those that a fault of one in so many meets.
fn one_in(many: Option<u64>, n: u64) -> bool {
    many.is_some_and(|many| n.is_multiple_of(many))
}

/// Epoch milliseconds.
fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis()).expect("in range")
}
