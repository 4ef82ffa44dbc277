//! Control port on loopback: each order is one line, and each answer is one line of JSON.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};
use serde_json::{Value, json};

use super::fault::Fault;
use super::selection::Selection;
use super::{CONTROL, Fleet, FleetError};

/// Greatest number of clients at once. Their tokens and the listener's precede those of the members.
const CLIENTS: usize = 8;
const LINE_BYTES: usize = 512;
/// Orders that a client may send without waiting for an answer.
const MAX_LINES: usize = 64;
/// Bytes of answers that may wait for a client that does not read them.
const MAX_WAITING: usize = 64 * 1024;

pub(super) struct Control {
    listener: TcpListener,
    address: SocketAddr,
    clients: [Option<Client>; CLIENTS],
}

struct Client {
    stream: TcpStream,
    received: Vec<u8>,
    waiting: Vec<u8>,
}

/// An order of a client of the control port.
#[derive(Debug, PartialEq, Eq)]
enum ControlOrder {
    Fault(Selection, Fault),
    /// Removes one fault, or all.
    Heal(Selection, Option<Fault>),
    Cut(Selection),
    ComeBack(Selection),
    Stats,
    Run(i64),
    Quit,
}

impl ControlOrder {
    fn parse(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["fault", who, fault] => Ok(Self::Fault(who.parse()?, fault.parse()?)),
            ["heal", who] => Ok(Self::Heal(who.parse()?, None)),
            ["heal", who, fault] => Ok(Self::Heal(who.parse()?, Some(fault.parse()?))),
            ["cut", who] => Ok(Self::Cut(who.parse()?)),
            ["come-back", who] => Ok(Self::ComeBack(who.parse()?)),
            ["stats"] => Ok(Self::Stats),
            ["run", id] => id.parse().map(Self::Run).map_err(|_| format!("{id:?} is no machine's number")),
            ["quit"] => Ok(Self::Quit),
            _ => Err(
                "fault WHO KIND, heal WHO [KIND], cut WHO, come-back WHO, stats, run ID, quit; WHO is 7, 1-50, 1,5,9-12 or all"
                    .to_owned(),
            ),
        }
    }
}

impl Control {
    pub fn listen(at: SocketAddr, registry: &Registry) -> io::Result<Self> {
        let mut listener = TcpListener::bind(at)?;
        registry.register(&mut listener, Token(CONTROL), Interest::READABLE)?;
        Ok(Self { address: listener.local_addr()?, listener, clients: Default::default() })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts new clients, as many as may be connected at once.
    fn accept(&mut self, registry: &Registry) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            let Some(at) = self.clients.iter().position(Option::is_none) else { continue };
            if registry.register(&mut stream, Token(CONTROL + 1 + at), Interest::READABLE | Interest::WRITABLE).is_ok() {
                self.clients[at] = Some(Client { stream, received: Vec::new(), waiting: Vec::new() });
            }
        }
    }
}

impl Client {
    /// The complete lines that have arrived; `None`: the client has gone, or sends too much.
    fn lines(&mut self) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        let mut buffer = [0; LINE_BYTES];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(n) => self.received.extend_from_slice(&buffer[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Some(lines),
                Err(_) => return None,
            }
            while let Some(end) = self.received.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                lines.push(String::from_utf8_lossy(&line).trim().to_owned());
            }
            if self.received.len() > LINE_BYTES || lines.len() > MAX_LINES {
                return None;
            }
        }
    }

    /// Sends an answer. Returns whether the client is still connected.
    fn send(&mut self, text: &[u8]) -> bool {
        self.waiting.extend_from_slice(text);
        while !self.waiting.is_empty() {
            match self.stream.write(&self.waiting) {
                Ok(n) => drop(self.waiting.drain(..n)),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
        }
        self.waiting.len() <= MAX_WAITING
    }
}

impl Fleet {
    /// Processes an event of the control port: of its listener (0), or of one of its clients.
    pub(super) fn control_ready(&mut self, at: usize) {
        let Some(control) = &mut self.control else { return };
        let Some(at) = at.checked_sub(1) else { return control.accept(self.poll.registry()) };
        let Some(mut client) = control.clients.get_mut(at).and_then(Option::take) else { return };
        let Some(lines) = client.lines() else { return };
        let answers = lines.iter().map(|line| format!("{}\n", self.answer(line))).collect::<String>();
        if client.send(answers.as_bytes())
            && let Some(control) = &mut self.control
        {
            control.clients[at] = Some(client);
        }
    }

    fn answer(&mut self, line: &str) -> Value {
        ControlOrder::parse(line).and_then(|order| self.carry_out(order)).unwrap_or_else(|error| json!({"error": error}))
    }

    fn carry_out(&mut self, order: ControlOrder) -> Result<Value, String> {
        let who = match &order {
            ControlOrder::Fault(who, _) | ControlOrder::Heal(who, _) | ControlOrder::Cut(who) | ControlOrder::ComeBack(who) => {
                let who_is_that = || FleetError::Nobody(who.clone()).to_string();
                Some(self.selected(who)).filter(|who| !who.is_empty()).ok_or_else(who_is_that)?
            }
            _ => Vec::new(),
        };
        let devices = who.len();
        match order {
            ControlOrder::Fault(_, fault) => who.into_iter().for_each(|i| self.set_fault(i, fault, true)),
            ControlOrder::Heal(_, fault) => {
                let faults = fault.map_or_else(|| Fault::ALL.to_vec(), |fault| vec![fault]);
                who.into_iter().for_each(|i| faults.iter().for_each(|fault| self.set_fault(i, *fault, false)));
            }
            ControlOrder::Cut(_) => {
                self.count.begin_outage(self.now);
                who.into_iter().for_each(|i| self.cut(i));
            }
            ControlOrder::ComeBack(_) => who.into_iter().for_each(|i| self.reconnect(i)),
            ControlOrder::Stats => return Ok(self.count.to_json(self.expected, self.now)),
            ControlOrder::Run(idmesin) => return self.describe(idmesin),
            ControlOrder::Quit => {
                self.stop.stop();
                return Ok(json!({"ok": true}));
            }
        }
        self.count_expected();
        Ok(json!({"ok": true, "devices": devices}))
    }

    fn describe(&self, idmesin: i64) -> Result<Value, String> {
        let member = self.by_machine.get(&idmesin).and_then(|i| self.members.get(*i));
        let member = member.ok_or_else(|| format!("no device has the number {idmesin}"))?;
        let run = member.model.run(member.up_ms(self.now)).filter(|_| member.has_power());
        Ok(json!({
            "idmesin": idmesin,
            "connected": member.stage == super::member::Stage::Live,
            "starts": member.starts,
            "sense": member.machine.level(member.faults, self.now),
            "coins": member.model.coins(),
            "run": run.map(|run| json!({"cmd_id": run.cmd_id, "sisa_s": (run.left_ms + 999) / 1000})),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_parsed_and_an_invalid_one_gets_the_list_of_orders() {
        let all: Selection = "all".parse().unwrap();
        for (line, order) in [
            ("fault 1-50 late", ControlOrder::Fault("1-50".parse().unwrap(), Fault::Late)),
            ("heal  all ", ControlOrder::Heal(all.clone(), None)),
            ("heal 7 flap", ControlOrder::Heal("7".parse().unwrap(), Some(Fault::Flap))),
            ("cut all", ControlOrder::Cut(all.clone())),
            ("come-back all", ControlOrder::ComeBack(all)),
            ("stats", ControlOrder::Stats),
            ("run 7", ControlOrder::Run(7)),
            ("quit", ControlOrder::Quit),
        ] {
            assert_eq!(ControlOrder::parse(line), Ok(order));
        }
        for (line, why) in [
            ("", "fault WHO KIND,"),
            ("fault all", "fault WHO KIND,"),
            ("dance", "fault WHO KIND,"),
            ("fault all dance", "\"dance\" is no fault: refuse,"),
            ("cut everyone", "\"everyone\" is no machines"),
            ("run x", "\"x\" is no machine's number"),
        ] {
            let error = ControlOrder::parse(line).unwrap_err();
            assert!(error.starts_with(why), "{line}: {error}");
        }
    }
}
