//! A TCP forwarder between a server and one of its peers, which can be cut.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

use crate::local::free_port;

const AT_ONCE: usize = 16 << 10;
/// Interval of attempts to listen again, after a repair or when the far end has died.
const LISTEN_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// No byte passes, and neither end is notified. Bytes in flight arrive after the repair: late messages, perhaps of a peer that has given up.
    Mute,
    /// Every connection is closed, and new ones are refused.
    Broken,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mute => "mute",
            Self::Broken => "broken",
        })
    }
}

/// Forwards to each of some ports of this machine. Clones share one state.
#[derive(Clone)]
pub struct CutProxy {
    ports: Vec<u16>,
    cut: watch::Sender<Option<Cut>>,
}

impl CutProxy {
    /// # Errors
    /// When no port is free.
    pub async fn start(to: &[u16]) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("no port for a line: {e}");
        let mut proxy = Self { ports: Vec::new(), cut: watch::Sender::default() };
        for target in to {
            // A port that the system gives to no other program while nothing listens on it.
            let port = free_port().map_err(failed)?;
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
            proxy.ports.push(port);
            tokio::spawn(listen(listener, port, SocketAddr::from((Ipv4Addr::LOCALHOST, *target)), proxy.cut.subscribe()));
        }
        Ok(proxy)
    }

    /// Ports to connect to, in the order of the forwarded ones.
    pub fn ports(&self) -> &[u16] {
        &self.ports
    }

    pub fn cut(&self, how: Cut) {
        self.cut.send_replace(Some(how));
    }

    pub fn restore(&self) {
        self.cut.send_replace(None);
    }
}

type State = watch::Receiver<Option<Cut>>;

/// Listens, except while the connection is cut or its far end is dead, until the forwarder is dropped.
async fn listen(first: TcpListener, port: u16, to: SocketAddr, mut cut: State) {
    let (mut first, ended) = (Some(first), Arc::new(Notify::new()));
    while cut.wait_for(|cut| *cut != Some(Cut::Broken)).await.is_ok() {
        let listener = match first.take() {
            Some(listener) => Ok(listener),
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await,
        };
        let Ok(listener) = listener else {
            tokio::time::sleep(LISTEN_EVERY).await;
            continue;
        };
        let state = cut.clone();
        let is_dead = tokio::select! {
            () = accept(listener, to, state, &ended) => false,
            () = wait_until_dead(to, cut.clone(), &ended) => true,
            _ = cut.wait_for(|cut| *cut == Some(Cut::Broken)) => false,
        };
        while is_dead && cut.has_changed().is_ok() && !is_listening(to).await {
            tokio::time::sleep(LISTEN_EVERY).await;
        }
    }
}

/// Waits until the far end has closed a connection and accepts no new one. New connections must be refused then, as without a forwarder: a load balancer
/// chooses another server only when it could not connect.
async fn wait_until_dead(to: SocketAddr, cut: State, ended: &Notify) {
    loop {
        ended.notified().await;
        let is_whole = cut.borrow().is_none();
        if is_whole && !is_listening(to).await {
            return;
        }
    }
}

async fn is_listening(to: SocketAddr) -> bool {
    TcpStream::connect(to).await.is_ok()
}

async fn accept(listener: TcpListener, to: SocketAddr, cut: State, ended: &Arc<Notify>) {
    loop {
        match listener.accept().await {
            Ok((near, _)) => drop(tokio::spawn(forward(near, to, cut.clone(), ended.clone()))),
            Err(_) => tokio::time::sleep(LISTEN_EVERY).await,
        }
    }
}

async fn forward(near: TcpStream, to: SocketAddr, mut cut: State, ended: Arc<Notify>) {
    if !may_pass(&mut cut.clone()).await {
        return;
    }
    let Ok(far) = TcpStream::connect(to).await else {
        ended.notify_one();
        return;
    };
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let ((from_near, to_near), (from_far, to_far)) = (near.into_split(), far.into_split());
    tokio::select! {
        () = pump(from_near, to_far, cut.clone()) => {}
        () = pump(from_far, to_near, cut.clone()) => ended.notify_one(),
        _ = cut.wait_for(|cut| *cut == Some(Cut::Broken)) => {}
    }
}

/// Forwards bytes in one direction until the connection ends. While it is muted, its end is not passed on either.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut cut: State) {
    let mut buf = vec![0; AT_ONCE];
    loop {
        let read = from.read(&mut buf).await.unwrap_or(0);
        if !may_pass(&mut cut).await || read == 0 || to.write_all(&buf[..read]).await.is_err() {
            return;
        }
    }
}

/// Waits while the connection is muted. Returns whether bytes may pass then.
async fn may_pass(cut: &mut State) -> bool {
    cut.wait_for(|cut| *cut != Some(Cut::Mute)).await.is_ok_and(|cut| cut.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Duration = Duration::from_secs(10);

    async fn next_byte(stream: &mut TcpStream) -> Option<u8> {
        stream.read_u8().await.ok()
    }

    #[tokio::test]
    async fn connections_to_a_dead_server_are_refused_until_it_runs() {
        let peer = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let at = peer.local_addr().unwrap();
        let proxy = CutProxy::start(&[at.port()]).await.unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.ports()[0]));
        let mut near = connect().await.unwrap();
        near.write_all(&[1]).await.unwrap();
        let (mut far, _) = peer.accept().await.unwrap();
        assert_eq!(next_byte(&mut far).await, Some(1));

        drop((far, peer));
        assert_eq!(next_byte(&mut near).await, None);
        tokio::time::timeout(WITHIN, async { while connect().await.is_ok() {} }).await.unwrap();
        let _peer = TcpListener::bind(at).await.unwrap();
        tokio::time::timeout(WITHIN, async { while connect().await.is_err() {} }).await.unwrap();
    }

    #[tokio::test]
    async fn a_server_that_dies_behind_a_muted_proxy_is_noticed_after_the_repair() {
        let peer = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = CutProxy::start(&[peer.local_addr().unwrap().port()]).await.unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.ports()[0]));
        let (mut idle, mut busy) = (connect().await.unwrap(), connect().await.unwrap());
        let (far, other) = (peer.accept().await.unwrap(), peer.accept().await.unwrap());
        proxy.cut(Cut::Mute);
        busy.write_all(&[1]).await.unwrap();
        let mut late = connect().await.unwrap();
        drop((far, other, peer));
        proxy.restore();
        for near in [&mut idle, &mut busy, &mut late] {
            assert_eq!(tokio::time::timeout(WITHIN, next_byte(near)).await.unwrap(), None);
        }
        tokio::time::timeout(WITHIN, async { while connect().await.is_ok() {} }).await.unwrap();
    }

    #[tokio::test]
    async fn a_muted_proxy_delays_bytes_and_a_broken_one_closes_connections() {
        let peer = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = CutProxy::start(&[peer.local_addr().unwrap().port()]).await.unwrap();
        let mut near = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.ports()[0])).await.unwrap();
        let (mut far, _) = peer.accept().await.unwrap();
        near.write_all(&[1]).await.unwrap();
        assert_eq!(next_byte(&mut far).await, Some(1));

        proxy.cut(Cut::Mute);
        near.write_all(&[2]).await.unwrap();
        drop(near);
        let mut late = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.ports()[0])).await.unwrap();
        late.write_all(&[3]).await.unwrap();
        assert!(far.try_read(&mut [0]).is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock));
        proxy.restore();
        assert_eq!((next_byte(&mut far).await, next_byte(&mut far).await), (Some(2), None));
        let (mut other, _) = peer.accept().await.unwrap();
        assert_eq!(next_byte(&mut other).await, Some(3));

        proxy.cut(Cut::Broken);
        assert_eq!(next_byte(&mut other).await, None);
        let refused = async { while TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.ports()[0])).await.is_ok() {} };
        tokio::time::timeout(WITHIN, refused).await.unwrap();
        proxy.restore();
        let again = async { while TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.ports()[0])).await.is_err() {} };
        tokio::time::timeout(WITHIN, again).await.unwrap();
    }
}
