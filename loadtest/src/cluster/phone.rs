//! A phone that watches machines, reconnects when its connection is lost, and checks every tick against docs/contract.md §3.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::watch;

use super::phone_connection::PhoneConnection;
use crate::engine::heartbeat::{Heartbeat, Snapshot};
use crate::engine::{ServerMessage, heartbeat, message};

/// The client library reconnects after this delay, varied by up to a half, and doubles it each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Timeout of one attempt.
const BACK_WITHIN: Duration = Duration::from_secs(20);
/// A final tick that is later than this counts as lost.
const FINAL_WITHIN_MS: i64 = 15_000;
/// Greatest number of broken rules that each phone reports.
const MAX_REPORTED: usize = 3;

/// Observations of a phone.
#[derive(Debug, Default)]
pub struct PhoneReport {
    pub ticks: u64,
    pub finals: u64,
    /// Delay of each final tick after the end of its run, for runs that ended by themselves.
    pub late: Vec<Duration>,
    /// How often its connection was lost.
    pub lost: u64,
    /// Time from each loss until all machines were watched again.
    pub back: Vec<Duration>,
    pub broken: Vec<String>,
    /// Reason of the last loss or failed attempt.
    pub last_error: String,
}

pub struct Phone {
    pub to: SocketAddr,
    pub token: Arc<str>,
    pub polls: bool,
    pub machines: Vec<i64>,
    pub seed: u64,
}

impl Phone {
    /// Runs until `over` is true.
    pub async fn watch(self, mut over: watch::Receiver<bool>) -> PhoneReport {
        let mut seen = PhoneReport::default();
        let mut rng = StdRng::seed_from_u64(self.seed);
        let (mut lost_at, mut pause) = (None, FIRST_PAUSE);
        loop {
            let mut cycles = Cycles::default();
            let settled = async {
                let opening = tokio::time::timeout(BACK_WITHIN, self.open(&mut cycles, &mut seen));
                let mut connection = opening.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
                pause = FIRST_PAUSE;
                if let Some(at) = lost_at.take().map(|at: Instant| at.elapsed()) {
                    seen.back.push(at);
                }
                self.listen(&mut connection, &mut cycles, &mut seen).await
            };
            let ended: io::Result<()> = tokio::select! {
                _ = over.wait_for(|over| *over) => Ok(()),
                lost = settled => lost,
            };
            cycles.settle(now_ms(), &mut seen);
            let Err(why) = ended else { return seen };
            seen.last_error = why.to_string();
            if lost_at.is_none() {
                lost_at = Some(Instant::now());
                seen.lost += 1;
            }
            let wait = pause.mul_f64(rng.random_range(0.5..1.5));
            pause = (pause * 2).min(LONGEST_PAUSE);
            tokio::select! {
                _ = over.wait_for(|over| *over) => return seen,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// A session that watches all machines.
    async fn open(&self, cycles: &mut Cycles, seen: &mut PhoneReport) -> io::Result<PhoneConnection> {
        let mut connection = PhoneConnection::open(self.to, self.polls).await?;
        connection.send(&format!("40{}", serde_json::json!({ "token": &*self.token }))).await?;
        let mut waits = self.machines.len();
        while waits > 0 {
            for packet in connection.receive().await? {
                match message(packet.as_bytes()) {
                    _ if heartbeat::is(packet.as_bytes()) => cycles.on_tick(&packet, seen),
                    ServerMessage::Joined => {
                        for (id, machine) in self.machines.iter().enumerate() {
                            connection.send(&format!(r#"42{id}["subscribe","heartbeat/{machine}"]"#)).await?;
                        }
                    }
                    ServerMessage::Answer { id, snapshot } if snapshot.status == 200 => {
                        waits -= 1;
                        if let Some(machine) = self.machines.get(id) {
                            cycles.join(*machine, snapshot);
                        }
                    }
                    ServerMessage::Answer { snapshot, .. } => {
                        return Err(io::Error::other(format!("subscribe: {}", snapshot.status)));
                    }
                    other => answer(&mut connection, other).await?,
                }
            }
        }
        Ok(connection)
    }

    async fn listen(&self, connection: &mut PhoneConnection, cycles: &mut Cycles, seen: &mut PhoneReport) -> io::Result<()> {
        loop {
            for packet in connection.receive().await? {
                if heartbeat::is(packet.as_bytes()) {
                    cycles.on_tick(&packet, seen);
                } else {
                    answer(connection, message(packet.as_bytes())).await?;
                }
            }
        }
    }
}

async fn answer(connection: &mut PhoneConnection, received: ServerMessage) -> io::Result<()> {
    match received {
        ServerMessage::Ping => connection.send("3").await,
        ServerMessage::Bye => Err(io::Error::other("the server ended it")),
        ServerMessage::Refused(why) => Err(io::Error::other(why)),
        _ => Ok(()),
    }
}

/// Ticks of one session's machines.
#[derive(Debug, Default)]
struct Cycles(HashMap<i64, Cycle>);

#[derive(Debug, Default)]
struct Cycle {
    /// The end of the current run, and the last `tl` that was received.
    open: Option<(i64, i64)>,
    /// End of the last run that had its final tick.
    ended: i64,
}

impl Cycles {
    fn join(&mut self, idmesin: i64, received: Snapshot) {
        // A tick that was sent before the answer may arrive after it.
        self.0.entry(idmesin).or_default().open = received.ends_at.map(|end| (end, i64::MAX));
    }

    fn on_tick(&mut self, packet: &str, seen: &mut PhoneReport) {
        let Some(tick) = heartbeat::parse(packet.as_bytes()) else { return fault(seen, format!("no tick: {packet}")) };
        seen.ticks += 1;
        if let Some(why) = self.0.entry(tick.idmesin).or_default().on_tick(tick, seen) {
            fault(seen, format!("machine {}: {why}: {packet}", tick.idmesin));
        }
    }

    /// Called when a session has ended. Runs that ended during it, long ago, have lost their final tick.
    fn settle(&self, now: i64, seen: &mut PhoneReport) {
        for (idmesin, cycles) in &self.0 {
            if let Some((end, tl)) = cycles.open.filter(|(end, _)| *end + FINAL_WITHIN_MS < now) {
                fault(
                    seen,
                    format!("machine {idmesin}: no final tick of the run until {end}, {} ms ago, after tl {tl}", now - end),
                );
            }
        }
    }
}

impl Cycle {
    /// Returns the rule that the tick breaks, if any.
    fn on_tick(&mut self, tick: Heartbeat, seen: &mut PhoneReport) -> Option<String> {
        let Some(end) = tick.ends_at else {
            self.open = None;
            return None;
        };
        if end == self.ended {
            return Some("a tick after the final one".to_owned());
        }
        let before = self.open.take();
        if tick.tl < 1 {
            seen.finals += 1;
            self.ended = end;
            // A run that was stopped ends at another time than the countdown said.
            if before.is_some_and(|(same, _)| same == end) {
                seen.late.push(Duration::from_millis(u64::try_from(now_ms() - end).unwrap_or_default()));
            }
            return None;
        }
        self.open = Some((end, tick.tl));
        match before {
            Some((same, tl)) if same == end && tick.tl >= tl => Some(format!("tl does not fall, it was {tl}")),
            // A later end belongs to another run.
            Some((other, tl)) if other < end => Some(format!("no final tick of the run until {other}, after tl {tl}")),
            _ => None,
        }
    }
}

fn fault(seen: &mut PhoneReport, why: String) {
    if seen.broken.len() < MAX_REPORTED {
        seen.broken.push(why);
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| i64::try_from(t.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(tl: i64, ends_at: i64) -> String {
        format!(r#"42["heartbeat/7",{{"tl":{tl},"ends_at":{ends_at},"server_time":{}}}]"#, ends_at - tl)
    }

    fn broken(ticks: &[(i64, i64)]) -> Vec<String> {
        let (mut cycles, mut seen) = (Cycles::default(), PhoneReport::default());
        for (tl, ends_at) in ticks {
            cycles.on_tick(&tick(*tl, *ends_at), &mut seen);
        }
        cycles.settle(100_000, &mut seen);
        seen.broken
    }

    #[test]
    fn ticks_that_break_the_contract_are_reported() {
        assert!(broken(&[(2_000, 5_000), (1_000, 5_000), (0, 5_000), (2_000, 9_000), (0, 9_000)]).is_empty());
        for (ticks, why) in [
            (&[(1_000, 5_000), (1_000, 5_000), (0, 5_000)][..], "does not fall"),
            (&[(1_000, 5_000), (0, 5_000), (0, 5_000)], "after the final"),
            (&[(1_000, 5_000), (1_000, 9_000), (0, 9_000)], "no final tick of the run until 5000"),
            (&[(1_000, 5_000)], "no final tick"),
        ] {
            let faults = broken(ticks);
            assert!(faults.len() == 1 && faults[0].contains(why), "{faults:?}");
        }
    }
}
