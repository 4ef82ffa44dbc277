//! The fake's websockets, one thread a session: it answers, and ticks in the phase of the machines' outlets, with its faults.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::shop::Machine;
use super::{World, now_ms};

const MARGIN_MS: i64 = 200;

struct Watched {
    idmesin: i64,
    /// Of the run that was last told.
    ends_at: i64,
    /// The last phase tick's second.
    last: i64,
    /// How many phase ticks there were.
    count: i64,
    began: i64,
}

struct Session<'a> {
    world: &'a World,
    stream: TcpStream,
    watched: Vec<Watched>,
    joined: i64,
    stalled: bool,
    deaf: bool,
    sent: i64,
}

/// Serves until the client goes or the fake closes.
pub fn serve(world: &World, mut stream: TcpStream, early: Vec<u8>) {
    if world.faults.refuse_sockets {
        let _ = stream.write_all(b"HTTP/1.1 503 X\r\ncontent-length: 0\r\n\r\n");
        return;
    }
    let open = r#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":65536}"#;
    let head = b"HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
    let _ = stream.write_all(&[head, &frame(open)[..]].concat());
    let _ = stream.set_read_timeout(Some(Duration::from_millis(5)));
    let number = world.sessions.fetch_add(1, Ordering::SeqCst) + 1;
    let deaf = world.faults.deaf_one_in.is_some_and(|n| number.is_multiple_of(n));
    let mut session = Session { world, stream, watched: Vec::new(), joined: now_ms(), stalled: false, deaf, sent: 0 };
    let mut read = early;
    while !world.closed.load(Ordering::SeqCst) {
        if session.listen(&mut read).is_none() || session.tick().is_none() {
            return;
        }
    }
}

fn frame(text: &str) -> Vec<u8> {
    let mut out = vec![0x81];
    match u8::try_from(text.len()) {
        Ok(n) if n < 126 => out.push(n),
        _ => {
            out.push(126);
            out.extend_from_slice(&u16::try_from(text.len()).expect("short texts").to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
    out
}

impl Session<'_> {
    fn say(&mut self, text: &str) -> Option<()> {
        self.stream.write_all(&frame(text)).ok()
    }

    fn machine(&self, idmesin: i64) -> Option<Machine> {
        self.world.shop.lock().unwrap_or_else(PoisonError::into_inner).machines.get(&idmesin).copied()
    }

    fn listen(&mut self, read: &mut Vec<u8>) -> Option<()> {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => return None,
            Ok(n) => read.extend_from_slice(&bytes[..n]),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return None,
        }
        while let Some((text, used)) = unmasked(read) {
            read.drain(..used);
            self.heard(&text)?;
        }
        Some(())
    }

    fn heard(&mut self, text: &str) -> Option<()> {
        if text.starts_with("40") {
            let refused = self.world.faults.refuse_tokens;
            return self.say(if refused { r#"44{"message":"unauthorized"}"# } else { r#"40{"sid":"t"}"# });
        }
        let Some((id, list)) = text.strip_prefix("42").and_then(|t| t.find('[').map(|at| t.split_at(at))) else {
            return Some(());
        };
        let (name, topic): (String, String) = serde_json::from_str(list).ok()?;
        let idmesin = topic.strip_prefix("heartbeat/")?.parse().ok()?;
        if name == "unsubscribe" {
            self.watched.retain(|w| w.idmesin != idmesin);
            return Some(());
        }
        let Some(machine) = self.machine(idmesin) else { return self.say(&format!(r#"43{id}[{{"status":404}}]"#)) };
        let now = now_ms();
        let ends_at = Some(machine.ends_at).filter(|end| *end > now);
        if self.watched.iter().all(|w| w.idmesin != idmesin) {
            let (last, began) = (second(now, machine.idoutlet), i64::MIN / 2);
            self.watched.push(Watched { idmesin, ends_at: ends_at.unwrap_or(0), last, count: 0, began });
        }
        let told = json!({ "status": 200, "tl": ends_at.map(|end| end - now), "ends_at": ends_at, "server_time": now });
        self.say(&format!("43{id}[{told}]"))
    }

    /// Everything that is due.
    fn tick(&mut self) -> Option<()> {
        let faults = self.world.faults;
        if faults.stall_ms > 0 && !self.stalled && now_ms() - self.joined > 3_500 {
            self.stalled = true;
            std::thread::sleep(Duration::from_millis(faults.stall_ms));
        }
        if faults.cut_after.is_some_and(|n| self.sent >= n) {
            return None;
        }
        for at in 0..self.watched.len() {
            let machine = self.machine(self.watched[at].idmesin)?;
            for text in due(&mut self.watched[at], machine, self.world) {
                if self.deaf {
                    continue;
                }
                if faults.slow_ms > 0 {
                    std::thread::sleep(Duration::from_millis(faults.slow_ms));
                }
                self.sent += 1;
                self.say(&text)?;
            }
        }
        Some(())
    }
}

/// In which second since 1970 of its outlet's phase `now` is.
fn second(now: i64, idoutlet: i64) -> i64 {
    (now - idoutlet * 130 % 1000).div_euclid(1000)
}

/// What is to be said of a machine now.
fn due(watched: &mut Watched, machine: Machine, world: &World) -> Vec<String> {
    let (faults, now, id) = (world.faults, now_ms(), watched.idmesin);
    let say = |tl: i64, ends_at: i64| {
        format!(
            "42{}",
            Value::from(vec![json!(format!("heartbeat/{id}")), json!({ "tl": tl, "ends_at": ends_at, "server_time": now })])
        )
    };
    if watched.ends_at != 0 && now >= watched.ends_at {
        let last = say(0, watched.ends_at);
        watched.ends_at = 0;
        return vec![last; if faults.no_final { 0 } else { 1 + usize::from(faults.two_finals) }];
    }
    if machine.ends_at > now && watched.ends_at != machine.ends_at {
        (watched.ends_at, watched.began) = (machine.ends_at, now);
        return vec![say(machine.ends_at - now, machine.ends_at)];
    }
    let this = second(now, machine.idoutlet);
    let at = this * 1000 + machine.idoutlet * 130 % 1000;
    let late = this % 3 == 0 && now < at + faults.late_ms;
    if watched.ends_at == 0 || this <= watched.last || late {
        return Vec::new();
    }
    watched.last = this;
    if at - watched.began < MARGIN_MS || watched.ends_at - at < MARGIN_MS {
        return Vec::new();
    }
    watched.count += 1;
    let one_in = |n: Option<i64>| n.is_some_and(|n| watched.count % n == 0);
    let tl = watched.ends_at - now + i64::from(faults.tl_off);
    let tick = if faults.tl_stands { say(5_000, watched.ends_at) } else { say(tl, watched.ends_at) };
    vec![tick; if one_in(faults.lose_one_in) { 0 } else { 1 + usize::from(one_in(faults.double_one_in)) }]
}

/// The first whole text of the client, and its bytes; frames of a client are masked.
fn unmasked(read: &[u8]) -> Option<(String, usize)> {
    let (length, head) = match *read.get(1)? & 0x7f {
        126 => (usize::from(u16::from_be_bytes([*read.get(2)?, *read.get(3)?])), 4),
        n => (usize::from(n), 2),
    };
    let mask = read.get(head..head + 4)?;
    let payload = read.get(head + 4..head + 4 + length)?;
    let text = payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
    Some((String::from_utf8(text).ok()?, head + 4 + length))
}
