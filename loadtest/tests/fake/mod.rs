//! A tiny server that speaks just enough to be measured, and that loses, delays, doubles, stalls and cheats on purpose.

mod http;
mod shop;
mod socket;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use shop::Shop;

/// What goes wrong. `Faults::default()` is a server without fault.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Each session loses one phase tick in so many.
    pub lose_one_in: Option<i64>,
    /// Each session gets one phase tick in so many twice.
    pub double_one_in: Option<i64>,
    /// Every third phase tick is made so many milliseconds late.
    pub late_ms: i64,
    /// Every phase tick is made in time, and sent so many milliseconds later.
    pub slow_ms: u64,
    /// Nothing is sent in one span of so many milliseconds, some time after the joining.
    pub stall_ms: u64,
    /// `tl` is one too many.
    pub tl_off: bool,
    /// `tl` is a counter: it stands still.
    pub tl_stands: bool,
    /// The final tick is not sent, or sent twice.
    pub no_final: bool,
    pub two_finals: bool,
    /// Sessions are cut off after so many ticks.
    pub cut_after: Option<i64>,
    /// One session in so many hears nothing after the answers of its subscriptions.
    pub deaf_one_in: Option<usize>,
    /// Websockets are refused with 503.
    pub refuse_sockets: bool,
    /// Tokens are refused.
    pub refuse_tokens: bool,
    /// One payment in so many is answered 500, and takes no money.
    pub pay_fails_one_in: Option<u64>,
    /// A machine goes to everybody who pays.
    pub many_winners: bool,
    /// Every balance is one rupiah short.
    pub cheat: bool,
    /// Nobody is told a balance.
    pub hide_balances: bool,
    /// How long a payment takes, in milliseconds.
    pub pay_ms: u64,
}

pub struct Fake {
    pub url: String,
    address: SocketAddr,
    closed: Arc<AtomicBool>,
}

#[derive(Clone)]
struct World {
    faults: Faults,
    shop: Arc<Mutex<Shop>>,
    sessions: Arc<AtomicUsize>,
    closed: Arc<AtomicBool>,
}

impl Fake {
    pub fn start(faults: Faults) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let closed = Arc::new(AtomicBool::new(false));
        let world = World { faults, shop: Arc::default(), sessions: Arc::default(), closed: closed.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if world.closed.load(Ordering::SeqCst) {
                    return;
                }
                let world = world.clone();
                std::thread::spawn(move || http::serve(&world, stream));
            }
        });
        Self { url: format!("http://{address}"), address, closed }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

/// Epoch milliseconds.
fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis()).expect("in range")
}
