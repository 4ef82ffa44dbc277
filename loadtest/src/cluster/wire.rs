//! A line between a server and what it needs, that can be cut.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

const AT_ONCE: usize = 16 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Nothing passes and nobody is told. What was on its way arrives when the line is mended: late words, perhaps of who has given up.
    Mute,
    /// Every connection ends, and no other is made.
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

/// From one server to each of some ports.
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
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(told)?;
            wire.doors.push(listener.local_addr().map_err(told)?.port());
            tokio::spawn(accept(listener, SocketAddr::from((Ipv4Addr::LOCALHOST, *port)), wire.cut.subscribe()));
        }
        Ok(wire)
    }

    /// Where the server connects, in the order of the ports.
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

async fn accept(listener: TcpListener, to: SocketAddr, cut: State) {
    while let Ok((near, _)) = listener.accept().await {
        tokio::spawn(carry(near, to, cut.clone()));
    }
}

async fn carry(near: TcpStream, to: SocketAddr, mut cut: State) {
    if !passes(&mut cut.clone()).await {
        return;
    }
    // Nobody there is what the server sees, too.
    let Ok(far) = TcpStream::connect(to).await else { return };
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let ((from_near, to_near), (from_far, to_far)) = (near.into_split(), far.into_split());
    tokio::select! {
        () = pump(from_near, to_far, cut.clone()) => {}
        () = pump(from_far, to_near, cut.clone()) => {}
        _ = cut.wait_for(|cut| *cut == Some(Cut::Broken)) => {}
    }
}

/// Carries bytes one way until the line ends; that it ends passes no mute line either.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut cut: State) {
    let mut buf = vec![0; AT_ONCE];
    loop {
        let read = from.read(&mut buf).await.unwrap_or(0);
        if !passes(&mut cut).await || read == 0 || to.write_all(&buf[..read]).await.is_err() {
            return;
        }
    }
}

/// Waits while the line is mute; whether anything passes then.
async fn passes(cut: &mut State) -> bool {
    cut.wait_for(|cut| *cut != Some(Cut::Mute)).await.is_ok_and(|cut| cut.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn said(stream: &mut TcpStream) -> Option<u8> {
        stream.read_u8().await.ok()
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
        let mut refused = TcpStream::connect((Ipv4Addr::LOCALHOST, wire.doors()[0])).await.unwrap();
        assert_eq!(said(&mut refused).await, None);
    }
}
