//! Logins while a client at one address guesses passwords as fast as it can.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Args;
use nyala_loadtest::http::KeptConnection;
use serde_json::json;
use tokio::task::{JoinHandle, LocalSet};

use crate::BenchError;
use crate::durations::Durations;
use crate::results::Figures;
use crate::server::Scratch;
use crate::shop::{self, PASSWORD};

const PATH: &str = "/scan/v1/auth/login";
/// Where the guesses come from.
const HOSTILE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// Connections that guess, each in its turn.
const GUESSERS: u32 = 200;
/// A customer who waits longer has not logged in.
const WITHIN: Duration = Duration::from_secs(2);
/// After it an answer is given up.
const GIVEN_UP: Duration = Duration::from_secs(10);

#[derive(Debug, PartialEq, Eq, Args)]
pub struct Logins {
    /// Wrong passwords a second, all from one address
    #[arg(long, default_value_t = Self::default().hostile, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    hostile: u32,
    /// Customers who log in a second, each at an address of their own
    #[arg(long, default_value_t = Self::default().real, value_parser = clap::value_parser!(u32).range(1..=100))]
    real: u32,
    #[arg(long, default_value_t = Self::default().seconds, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
}

impl Default for Logins {
    fn default() -> Self {
        Self { hostile: 1000, real: 4, seconds: 60 }
    }
}

/// What was answered.
#[derive(Default)]
struct Seen {
    /// How many by status; 0 is no answer.
    guesses: BTreeMap<u16, usize>,
    logins: BTreeMap<u16, usize>,
    /// Of the logins that succeeded.
    times: Durations,
}

impl Logins {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { seconds: 10, ..Self::default() }
    }

    /// # Errors
    /// Whatever keeps the server from running.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let scratch = Scratch::make()?;
        let mut server = scratch.start().await?;
        let customers = self.real * self.seconds;
        let shop = shop::open(&server, 1, customers as usize).await?;
        let numbers: Rc<[String]> = shop.customers.iter().map(|c| c.telp.clone()).collect();
        let (began, seen) = (Instant::now(), Rc::new(RefCell::new(Seen::default())));
        let all = LocalSet::new();
        let guessers: Vec<JoinHandle<()>> = (0..GUESSERS)
            .map(|n| all.spawn_local(self.guess(n, server.address(), began, numbers.clone(), seen.clone())))
            .collect();
        let every = Duration::from_secs(1) / self.real;
        for n in 0..customers {
            let (telp, seen, at) = (numbers[n as usize].clone(), seen.clone(), began + every * n);
            let address = server.address();
            all.spawn_local(async move {
                tokio::time::sleep_until(at.into()).await;
                let (status, took) = log_in(address, n, &telp).await;
                let mut seen = seen.borrow_mut();
                *seen.logins.entry(status).or_default() += 1;
                if status == 200 {
                    seen.times.add(took);
                }
            });
        }
        all.run_until(tokio::time::sleep(Duration::from_secs(self.seconds.into()))).await;
        guessers.iter().for_each(JoinHandle::abort);
        all.await;
        server.stop().await?;
        let seen = seen.borrow();
        Ok(self.figures(&seen))
    }

    /// One connection after the other: a wrong password at each planned moment, every other one for an unregistered number.
    fn guess(
        &self,
        n: u32,
        address: SocketAddr,
        began: Instant,
        numbers: Rc<[String]>,
        seen: Rc<RefCell<Seen>>,
    ) -> impl Future<Output = ()> + 'static {
        let every = Duration::from_secs(1) * GUESSERS / self.hostile;
        let first = began + Duration::from_secs(1) * n / self.hostile;
        async move {
            let mut http = None;
            for i in 0_u32.. {
                tokio::time::sleep_until((first + every * i).into()).await;
                let k = i as usize * GUESSERS as usize + n as usize;
                let telp = if i % 2 == 0 { numbers[k % numbers.len()].clone() } else { format!("8777{k:07}") };
                let status = match ask(&mut http, address, HOSTILE, &telp, "salah salah").await {
                    Ok(status) => status,
                    Err(_) => {
                        http = None;
                        0
                    }
                };
                *seen.borrow_mut().guesses.entry(status).or_default() += 1;
            }
        }
    }

    fn figures(&self, seen: &Seen) -> Figures {
        let all: usize = seen.logins.values().sum();
        let guesses: usize = seen.guesses.values().sum();
        let share = 100.0 * seen.times.within(WITHIN) as f64 / all.max(1) as f64;
        Figures::list(
            format!("Logging in, {} guesses/s from one address", self.hostile),
            &[
                format!(
                    "{} logins a second at other addresses, each of an unknown phone: **{share:.1} %** of {all} within {} s \
                     (aim: at least 99 %), p50 {:.0} ms, p99 {:.0} ms; answers: {}",
                    self.real,
                    WITHIN.as_secs(),
                    seen.times.ms(0.5),
                    seen.times.ms(0.99),
                    status_counts(&seen.logins)
                ),
                format!(
                    "Guesses: {:.0} a second were answered (half of them of unknown numbers): {}",
                    guesses as f64 / f64::from(self.seconds),
                    status_counts(&seen.guesses)
                ),
            ],
        )
    }
}

/// Logs customer `n` in from a separate address; returns 0 without an answer.
async fn log_in(address: SocketAddr, n: u32, telp: &str) -> (u16, Duration) {
    let [_, _, high, low] = n.to_be_bytes();
    let from = IpAddr::V4(Ipv4Addr::new(127, 1, high, low.max(1)));
    let began = Instant::now();
    let status = ask(&mut None, address, from, telp, PASSWORD).await.unwrap_or(0);
    (status, began.elapsed())
}

async fn ask(
    http: &mut Option<KeptConnection>,
    address: SocketAddr,
    from: IpAddr,
    telp: &str,
    password: &str,
) -> Result<u16, BenchError> {
    let body = json!({ "country_code": "62", "telp": telp, "password": password }).to_string();
    let answer = async {
        let http = match http {
            Some(http) => http,
            None => http.insert(KeptConnection::open_from(from, address).await?),
        };
        Ok::<_, BenchError>(http.ask_raw("POST", PATH, "", &body).await?.status)
    };
    tokio::time::timeout(GIVEN_UP, answer).await?
}

/// `200: 12, 429: 3`.
fn status_counts(statuses: &BTreeMap<u16, usize>) -> String {
    let name = |status: u16| if status == 0 { "none".to_owned() } else { status.to_string() };
    statuses.iter().map(|(status, n)| format!("{} {n}×", name(*status))).collect::<Vec<_>>().join(", ")
}
