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
pub struct Wire {
    doors: Vec<u16>,
    cut: watch::Sender<Option<Cut>>,
}

impl Wire {
    /// # Errors
    /// When no port is free.
    pub async fn start(to: &[u16]) -> Result<Self, String> {
        let told = |e: std::io::Error| format!("no port for a line: {e}");
        let mut wire = Self { doors: Vec::new(), cut: watch::Sender::default() };
        for port in to {
            // A port that the system gives to no other program while nothing listens on it.
            let door = free_port().map_err(told)?;
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, door)).await.map_err(told)?;
            wire.doors.push(door);
            tokio::spawn(stand(listener, door, SocketAddr::from((Ipv4Addr::LOCALHOST, *port)), wire.cut.subscribe()));
        }
        Ok(wire)
    }

    /// Ports to connect to, in the order of the forwarded ones.
    pub fn doors(&self) -> &[u16] {
        &self.doors
    }

    pub fn cut(&self, how: Cut) {
        self.cut.send_replace(Some(how));
    }

    pub fn mend(&self) {
        self.cut.send_replace(None);
    }
}

type State = watch::Receiver<Option<Cut>>;

/// Listens, except while the connection is cut or its far end is dead, until the forwarder is dropped.
async fn stand(first: TcpListener, door: u16, to: SocketAddr, mut cut: State) {
    let (mut first, ended) = (Some(first), Arc::new(Notify::new()));
    while cut.wait_for(|cut| *cut != Some(Cut::Broken)).await.is_ok() {
        let listener = match first.take() {
            Some(listener) => Ok(listener),
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, door)).await,
        };
        let Ok(listener) = listener else {
            tokio::time::sleep(LISTEN_EVERY).await;
            continue;
        };
        let state = cut.clone();
        let is_dead = tokio::select! {
            () = accept(listener, to, state, &ended) => false,
            () = died(to, cut.clone(), &ended) => true,
            _ = cut.wait_for(|cut| *cut == Some(Cut::Broken)) => false,
        };
        while is_dead && cut.has_changed().is_ok() && !is_there(to).await {
            tokio::time::sleep(LISTEN_EVERY).await;
        }
    }
}

/// Waits until the far end has closed a connection and accepts no new one. New connections must be refused then, as without a forwarder: a load balancer
/// chooses another server only when it could not connect.
async fn died(to: SocketAddr, cut: State, ended: &Notify) {
    loop {
        ended.notified().await;
        let is_whole = cut.borrow().is_none();
        if is_whole && !is_there(to).await {
            return;
        }
    }
}

async fn is_there(to: SocketAddr) -> bool {
    TcpStream::connect(to).await.is_ok()
}

async fn accept(listener: TcpListener, to: SocketAddr, cut: State, ended: &Arc<Notify>) {
    loop {
        match listener.accept().await {
            Ok((near, _)) => drop(tokio::spawn(carry(near, to, cut.clone(), ended.clone()))),
            Err(_) => tokio::time::sleep(LISTEN_EVERY).await,
        }
    }
}

async fn carry(near: TcpStream, to: SocketAddr, mut cut: State, ended: Arc<Notify>) {
    if !passes(&mut cut.clone()).await {
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
        if !passes(&mut cut).await || read == 0 || to.write_all(&buf[..read]).await.is_err() {
            return;
        }
    }
}

/// Waits while the connection is muted. Returns whether bytes may pass then.
async fn passes(cut: &mut State) -> bool {
    cut.wait_for(|cut| *cut != Some(Cut::Mute)).await.is_ok_and(|cut| cut.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN: Duration = Duration::from_secs(10);

    async fn said(stream: &mut TcpStream) -> Option<u8> {
        stream.read_u8().await.ok()
    }

    #[tokio::test]
    async fn who_connects_to_the_dead_is_refused_until_they_are_back() {
        let peer = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let at = peer.local_addr().unwrap();
        let wire = Wire::start(&[at.port()]).await.unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, wire.doors()[0]));
        let mut near = connect().await.unwrap();
        near.write_all(&[1]).await.unwrap();
        let (mut far, _) = peer.accept().await.unwrap();
        assert_eq!(said(&mut far).await, Some(1));

        drop((far, peer));
        assert_eq!(said(&mut near).await, None);
        tokio::time::timeout(WITHIN, async { while connect().await.is_ok() {} }).await.unwrap();
        let _peer = TcpListener::bind(at).await.unwrap();
        tokio::time::timeout(WITHIN, async { while connect().await.is_err() {} }).await.unwrap();
    }

    #[tokio::test]
    async fn who_dies_behind_a_mute_line_is_noticed_when_it_is_mended() {
        let peer = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let wire = Wire::start(&[peer.local_addr().unwrap().port()]).await.unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, wire.doors()[0]));
        let (mut idle, mut busy) = (connect().await.unwrap(), connect().await.unwrap());
        let (far, other) = (peer.accept().await.unwrap(), peer.accept().await.unwrap());
        wire.cut(Cut::Mute);
        busy.write_all(&[1]).await.unwrap();
        let mut late = connect().await.unwrap();
        drop((far, other, peer));
        wire.mend();
        for near in [&mut idle, &mut busy, &mut late] {
            assert_eq!(tokio::time::timeout(WITHIN, said(near)).await.unwrap(), None);
        }
        tokio::time::timeout(WITHIN, async { while connect().await.is_ok() {} }).await.unwrap();
    }

    #[tokio::test]
    async fn a_mute_line_keeps_words_back_and_a_broken_one_ends() {
        let peer = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let wire = Wire::start(&[peer.local_addr().unwrap().port()]).await.unwrap();
        let mut near = TcpStream::connect((Ipv4Addr::LOCALHOST, wire.doors()[0])).await.unwrap();
        let (mut far, _) = peer.accept().await.unwrap();
        near.write_all(&[1]).await.unwrap();
        assert_eq!(said(&mut far).await, Some(1));

        wire.cut(Cut::Mute);
        near.write_all(&[2]).await.unwrap();
        drop(near);
        let mut late = TcpStream::connect((Ipv4Addr::LOCALHOST, wire.doors()[0])).await.unwrap();
        late.write_all(&[3]).await.unwrap();
        assert!(far.try_read(&mut [0]).is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock));
        wire.mend();
        assert_eq!((said(&mut far).await, said(&mut far).await), (Some(2), None));
        let (mut other, _) = peer.accept().await.unwrap();
        assert_eq!(said(&mut other).await, Some(3));

        wire.cut(Cut::Broken);
        assert_eq!(said(&mut other).await, None);
        let refused = async { while TcpStream::connect((Ipv4Addr::LOCALHOST, wire.doors()[0])).await.is_ok() {} };
        tokio::time::timeout(WITHIN, refused).await.unwrap();
        wire.mend();
        let again = async { while TcpStream::connect((Ipv4Addr::LOCALHOST, wire.doors()[0])).await.is_err() {} };
        tokio::time::timeout(WITHIN, again).await.unwrap();
    }
}
