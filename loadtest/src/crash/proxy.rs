//! A bad network between devices and the server: it loses and delays messages, cuts connections, and leaves connections half open.

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

/// Packets of ten thousand that are lost, are delayed, end their connection or leave it half open.
const LOST: u32 = 200;
const DELAYED: u32 = 500;
const CUT: u32 = 30;
const HALF_OPEN: u32 = 30;
/// Packets whose connection stays half open until both ends notice it.
const LONG_HALF_OPEN: u32 = 5;
const OF: u32 = 10_000;
/// Longest delay of a packet, and of those behind it, in milliseconds.
const MAX_DELAY_MS: u64 = 1_500;
/// Time for which a connection stays half open before it is cut, in milliseconds; the server waits 45 s for a message.
const HALF_OPEN_MS: Range<u64> = 1_000..10_000;
const LONG_HALF_OPEN_MS: Range<u64> = 30_000..LONGEST_HALF_OPEN_MS;
const LONGEST_HALF_OPEN_MS: u64 = 60_000;
pub const LONGEST_HALF_OPEN: Duration = Duration::from_millis(LONGEST_HALF_OPEN_MS);
/// Greatest size of an MQTT packet, header included (docs/contract.md §6).
const MAX_PACKET_BYTES: usize = 2_048;
const PUBLISH: u8 = 3;

/// Proxy between devices and the server at `to`.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<ProxyState>,
}

struct ProxyState {
    to: SocketAddr,
    bad: AtomicBool,
    /// Grows each time all connections are cut.
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
        let shared = Arc::new(ProxyState {
            to,
            bad: AtomicBool::default(),
            cut: watch::Sender::default(),
            seeds: AtomicU64::new(seed),
            faults: AtomicU64::default(),
        });
        tokio::spawn(accept(listener, shared.clone()));
        Ok(Self { address, shared })
    }

    /// Address that devices connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Turns the faults on or off. Connections that are half open stay so until their time is over.
    pub fn set_bad(&self, bad: bool) {
        self.shared.bad.store(bad, Ordering::Relaxed);
    }

    /// Cuts all connections.
    pub fn cut_all(&self) {
        self.shared.cut.send_modify(|n| *n += 1);
    }

    /// Number of faults so far.
    pub fn faults(&self) -> u64 {
        self.shared.faults.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, shared: Arc<ProxyState>) {
    while let Ok((device, _)) = listener.accept().await {
        let shared = shared.clone();
        tokio::spawn(async move {
            // Without a server, the device's connection ends too.
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

/// Forwards packets in one direction until the connection ends, which ends the other direction too.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, shared: &ProxyState, mut rng: StdRng) {
    let mut held = Vec::new();
    let mut buf = [0; MAX_PACKET_BYTES];
    loop {
        let Ok(n @ 1..) = from.read(&mut buf).await else { return };
        held.extend_from_slice(&buf[..n]);
        while let Some(length) = packet(&held) {
            let packet: Vec<u8> = held.drain(..length).collect();
            if shared.bad.load(Ordering::Relaxed) {
                let fate = rng.random_range(0..OF);
                let faults = [LOST, DELAYED, CUT, HALF_OPEN, LONG_HALF_OPEN].into_iter().scan(0, |sum, n| {
                    *sum += n;
                    Some(*sum)
                });
                let fault = faults.enumerate().find(|(_, below)| fate < *below).map(|(fault, _)| fault);
                shared.faults.fetch_add(u64::from(fault.is_some()), Ordering::Relaxed);
                match fault {
                    // Only messages are lost: a loss of other packets would end the connection.
                    Some(0) if packet[0] >> 4 == PUBLISH => continue,
                    Some(1) => tokio::time::sleep(Duration::from_millis(rng.random_range(0..MAX_DELAY_MS))).await,
                    Some(2) => return,
                    Some(fault @ (3 | 4)) => {
                        let duration_ms = if fault == 3 { HALF_OPEN_MS } else { LONG_HALF_OPEN_MS };
                        return tokio::time::sleep(Duration::from_millis(rng.random_range(duration_ms))).await;
                    }
                    _ => {}
                }
            }
            if to.write_all(&packet).await.is_err() {
                return;
            }
        }
        if held.len() > MAX_PACKET_BYTES {
            return;
        }
    }
}

/// Length of the packet at the beginning of `held`, when it is complete (MQTT 3.1.1 §2.2.3).
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
    fn the_length_of_a_packet_is_found() {
        assert_eq!(packet(&[]), None);
        assert_eq!(packet(&[0xc0]), None);
        assert_eq!(packet(&[0xc0, 0, 0x30]), Some(2));
        assert_eq!(packet(&[0x30, 3, 1, 2]), None);
        let long = [&[0x30, 0x81, 0x01][..], &[7; 129], &[9]].concat();
        assert_eq!(packet(&long), Some(132));
    }
}
