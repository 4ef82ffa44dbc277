//! The floor: what a tick costs with nothing around it. One thread, epoll, one `write` a delivery of a frame that was encoded once.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::net::TcpListener;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nyala_bench_peers::{CONNECTED, OPEN, PING_INTERVAL_MS, Run, Schedule, Settings, now_ms, subscribe_of};
use slab::Slab;

mod conn;
use conn::{Conn, frame};

type Error = Box<dyn std::error::Error>;

const LISTENER: u64 = u64::MAX;
/// Heartbeats go out in this many slices of the interval.
const PING_SLICES: usize = 1000;

struct Floor {
    settings: Settings,
    run: Run,
    epoll: Epoll,
    listener: TcpListener,
    conns: Slab<Conn>,
    watchers: HashMap<u32, Vec<usize>>,
    ping_slice: usize,
    ping_due: i64,
    read: Box<[u8]>,
}

fn main() -> Result<(), Error> {
    let settings = Settings::from_env()?;
    let listener = TcpListener::bind(("127.0.0.1", settings.port))?;
    listener.set_nonblocking(true)?;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
    settings.listening();
    Floor {
        settings,
        run: Run::begin(),
        epoll,
        listener,
        conns: Slab::new(),
        watchers: HashMap::new(),
        ping_slice: 0,
        ping_due: now_ms(),
        read: vec![0; 65536].into(),
    }
    .serve()
}

impl Floor {
    fn serve(&mut self) -> Result<(), Error> {
        let mut schedule = Schedule::new(self.settings);
        let mut events = [EpollEvent::empty(); 256];
        loop {
            let wait = schedule.due().min(self.ping_due).saturating_sub(now_ms()).clamp(0, 1000);
            let n = match self.epoll.wait(&mut events, EpollTimeout::try_from(wait)?) {
                Err(nix::errno::Errno::EINTR) => 0,
                other => other?,
            };
            for event in &events[..n] {
                match event.data() {
                    LISTENER => self.accept()?,
                    at => self.readable(usize::try_from(at)?),
                }
            }
            while schedule.due() <= now_ms() {
                for idmesin in schedule.take() {
                    self.tick(*idmesin);
                }
            }
            while self.ping_due <= now_ms() {
                self.ping();
            }
        }
    }

    fn accept(&mut self) -> Result<(), Error> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true)?;
                    stream.set_nodelay(true)?;
                    let entry = self.conns.vacant_entry();
                    self.epoll.add(&stream, EpollEvent::new(EpollFlags::EPOLLIN, entry.key() as u64))?;
                    entry.insert(Conn::new(stream));
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn tick(&mut self, idmesin: u32) {
        let Some(watchers) = self.watchers.get(&idmesin) else { return };
        let frame = frame(&self.run.event(idmesin));
        for at in watchers {
            self.conns[*at].send(&frame);
        }
    }

    fn ping(&mut self) {
        let frame = frame("2");
        for at in (self.ping_slice..self.conns.capacity()).step_by(PING_SLICES) {
            if let Some(conn) = self.conns.get_mut(at).filter(|conn| conn.is_open()) {
                conn.send(&frame);
            }
        }
        self.ping_slice = (self.ping_slice + 1) % PING_SLICES;
        self.ping_due += PING_INTERVAL_MS / PING_SLICES as i64;
    }

    fn readable(&mut self, at: usize) {
        let Some(conn) = self.conns.get_mut(at) else { return };
        match conn.stream.read(&mut self.read) {
            Ok(0) => return self.close(at),
            Ok(n) => conn.unread.extend_from_slice(&self.read[..n]),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return,
            Err(_) => return self.close(at),
        }
        if !conn.is_open() && conn.open() {
            conn.send(&frame(OPEN));
        }
        while let Some(conn) = self.conns.get_mut(at)
            && let Some(message) = conn.message()
        {
            match message {
                conn::Message::Text(text) => self.packet(at, &text),
                conn::Message::Close => self.close(at),
            }
        }
    }

    fn packet(&mut self, at: usize, text: &str) {
        let conn = &mut self.conns[at];
        if text.starts_with("40") {
            conn.send(&frame(CONNECTED));
        } else if let Some((id, idmesin)) = subscribe_of(text, self.settings.machines) {
            conn.send(&frame(&self.run.ack(id)));
            conn.watches.push(idmesin);
            self.watchers.entry(idmesin).or_default().push(at);
        }
    }

    fn close(&mut self, at: usize) {
        // Dropping the socket takes it out of epoll.
        let Some(conn) = self.conns.try_remove(at) else { return };
        for idmesin in conn.watches {
            if let Some(watchers) = self.watchers.get_mut(&idmesin) {
                watchers.retain(|watcher| *watcher != at);
            }
        }
    }
}
