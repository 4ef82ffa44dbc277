//! A bad network between devices and the server: it loses words, keeps them back, cuts lines, and leaves lines that nobody is at the other
//! end of.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Of ten thousand packets: those that are lost, kept back, and that end their line or leave it half open.
const LOST: u32 = 200;
const KEPT_BACK: u32 = 500;
const CUT: u32 = 30;
const HALF_OPEN: u32 = 30;
/// And those whose line stays half open for so long that both ends miss the other.
const LONG_HALF_OPEN: u32 = 5;
const OF: u32 = 10_000;
/// Milliseconds at most that a packet is kept back, and those behind it with it.
const LONGEST_MS: u64 = 1_500;
/// How long a line stays half open before it is cut, in milliseconds; the server waits 45 s for a word.
const HALF_OPEN_MS: Range<u64> = 1_000..10_000;
const LONG_HALF_OPEN_MS: Range<u64> = 30_000..LONGEST_HALF_OPEN_MS;
const LONGEST_HALF_OPEN_MS: u64 = 60_000;
pub const LONGEST_HALF_OPEN: Duration = Duration::from_millis(LONGEST_HALF_OPEN_MS);
/// A packet of MQTT is a byte, its length and so many bytes at most (docs/contract.md §6).
const MOST: usize = 2_048;
const PUBLISH: u8 = 3;

/// Between devices and `to`, whatever is there.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    to: SocketAddr,
    bad: AtomicBool,
    /// Counts up when every line is cut.
    cut: watch::Sender<u64>,
    seeds: AtomicU64,
    faults: AtomicU64,
}

impl Proxy {
    /// # Errors
    /// When no port is free.
    pub async fn start(to: SocketAddr, seed: u64) -> std::io::Result<Self> {
        let listener = TcpListener::bind((to.ip(), 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            to,
            bad: AtomicBool::default(),
            cut: watch::Sender::default(),
            seeds: AtomicU64::new(seed),
            faults: AtomicU64::default(),
        });
        tokio::spawn(accept(listener, shared.clone()));
        Ok(Self { address, shared })
    }

    /// Where devices connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it is bad from now on. Lines that are half open stay so for their time.
    pub fn set_bad(&self, bad: bool) {
        self.shared.bad.store(bad, Ordering::Relaxed);
    }

    /// Every line ends now.
    pub fn cut_all(&self) {
        self.shared.cut.send_modify(|n| *n += 1);
    }

    /// What it did to words and lines so far.
    pub fn faults(&self) -> u64 {
        self.shared.faults.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((device, _)) = listener.accept().await {
        let shared = shared.clone();
        tokio::spawn(async move {
            // Nobody there is what the device sees, too.
            let Ok(server) = TcpStream::connect(shared.to).await else { return };
            let _ = (device.set_nodelay(true), server.set_nodelay(true));
            let mut cut = shared.cut.subscribe();
            let ((from_device, to_device), (from_server, to_server)) = (device.into_split(), server.into_split());
            let rng = || StdRng::seed_from_u64(shared.seeds.fetch_add(1, Ordering::Relaxed));
            tokio::select! {
                () = pump(from_device, to_server, &shared, rng()) => {}
                () = pump(from_server, to_device, &shared, rng()) => {}
                _ = cut.changed() => {}
            }
        });
    }
}

/// Carries packets one way until the line ends; the other way ends with it.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, shared: &Shared, mut rng: StdRng) {
    let mut held = Vec::new();
    let mut buf = [0; MOST];
    loop {
        let Ok(n @ 1..) = from.read(&mut buf).await else { return };
        held.extend_from_slice(&buf[..n]);
        while let Some(length) = packet(&held) {
            let packet: Vec<u8> = held.drain(..length).collect();
            if shared.bad.load(Ordering::Relaxed) {
                let fate = rng.random_range(0..OF);
                let faults = [LOST, KEPT_BACK, CUT, HALF_OPEN, LONG_HALF_OPEN].into_iter().scan(0, |sum, n| {
                    *sum += n;
                    Some(*sum)
                });
                let fault = faults.enumerate().find(|(_, below)| fate < *below).map(|(fault, _)| fault);
                shared.faults.fetch_add(u64::from(fault.is_some()), Ordering::Relaxed);
                match fault {
                    // Only words are lost: a network that loses anything else of a line ends it.
                    Some(0) if packet[0] >> 4 == PUBLISH => continue,
                    Some(1) => tokio::time::sleep(Duration::from_millis(rng.random_range(0..LONGEST_MS))).await,
                    Some(2) => return,
                    Some(fault @ (3 | 4)) => {
                        let so_long = if fault == 3 { HALF_OPEN_MS } else { LONG_HALF_OPEN_MS };
                        return tokio::time::sleep(Duration::from_millis(rng.random_range(so_long))).await;
                    }
                    _ => {}
                }
            }
            if to.write_all(&packet).await.is_err() {
                return;
            }
        }
        if held.len() > MOST {
            return;
        }
    }
}

/// The length of the packet that `held` begins with, once it is whole (MQTT 3.1.1 §2.2.3).
fn packet(held: &[u8]) -> Option<usize> {
    let mut length = 0;
    for (at, byte) in held.iter().skip(1).take(4).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            let whole = 2 + at + length;
            return (whole <= held.len()).then_some(whole);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_told_apart() {
        assert_eq!(packet(&[]), None);
        assert_eq!(packet(&[0xc0]), None);
        assert_eq!(packet(&[0xc0, 0, 0x30]), Some(2));
        assert_eq!(packet(&[0x30, 3, 1, 2]), None);
        let long = [&[0x30, 0x81, 0x01][..], &[7; 129], &[9]].concat();
        assert_eq!(packet(&long), Some(132));
    }
}
