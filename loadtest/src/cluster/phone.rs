//! A phone that watches machines, reconnects when its connection is lost, and checks every tick against docs/contract.md §3.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::watch;

use super::line::Line;
use crate::engine::heartbeat::{Heartbeat, Snapshot};
use crate::engine::{ServerMessage, heartbeat, message};

/// The client library reconnects after this delay, varied by up to a half, and doubles it each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Timeout of one attempt.
const BACK_WITHIN: Duration = Duration::from_secs(20);
/// A run that ended this long ago has had its final tick, or will have none.
const FINAL_WITHIN_MS: i64 = 15_000;
/// Greatest number of broken rules that each phone reports.
const TOLD: usize = 3;

/// Observations of a phone.
#[derive(Debug, Default)]
pub struct Seen {
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
    pub async fn watch(self, mut over: watch::Receiver<bool>) -> Seen {
        let mut seen = Seen::default();
        let mut rng = StdRng::seed_from_u64(self.seed);
        let (mut lost_at, mut pause) = (None, FIRST_PAUSE);
        loop {
            let mut run = Runs::default();
            let settled = async {
                let opening = tokio::time::timeout(BACK_WITHIN, self.open(&mut run, &mut seen));
                let mut line = opening.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
                pause = FIRST_PAUSE;
                if let Some(at) = lost_at.take().map(|at: Instant| at.elapsed()) {
                    seen.back.push(at);
                }
                self.listen(&mut line, &mut run, &mut seen).await
            };
            let ended: io::Result<()> = tokio::select! {
                _ = over.wait_for(|over| *over) => Ok(()),
                lost = settled => lost,
            };
            run.settle(now_ms(), &mut seen);
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
    async fn open(&self, runs: &mut Runs, seen: &mut Seen) -> io::Result<Line> {
        let mut line = Line::open(self.to, self.polls).await?;
        line.send(&format!("40{}", serde_json::json!({ "token": &*self.token }))).await?;
        let mut waits = self.machines.len();
        while waits > 0 {
            for packet in line.receive().await? {
                match message(packet.as_bytes()) {
                    _ if heartbeat::is(packet.as_bytes()) => runs.hear(&packet, seen),
                    ServerMessage::Joined => {
                        for (id, machine) in self.machines.iter().enumerate() {
                            line.send(&format!(r#"42{id}["subscribe","heartbeat/{machine}"]"#)).await?;
                        }
                    }
                    ServerMessage::Answer { id, told } if told.status == 200 => {
                        waits -= 1;
                        if let Some(machine) = self.machines.get(id) {
                            runs.join(*machine, told);
                        }
                    }
                    ServerMessage::Answer { told, .. } => return Err(io::Error::other(format!("subscribe: {}", told.status))),
                    other => answer(&mut line, other).await?,
                }
            }
        }
        Ok(line)
    }

    async fn listen(&self, line: &mut Line, runs: &mut Runs, seen: &mut Seen) -> io::Result<()> {
        loop {
            for packet in line.receive().await? {
                if heartbeat::is(packet.as_bytes()) {
                    runs.hear(&packet, seen);
                } else {
                    answer(line, message(packet.as_bytes())).await?;
                }
            }
        }
    }
}

async fn answer(line: &mut Line, told: ServerMessage) -> io::Result<()> {
    match told {
        ServerMessage::Ping => line.send("3").await,
        ServerMessage::Bye => Err(io::Error::other("the server ended it")),
        ServerMessage::Refused(why) => Err(io::Error::other(why)),
        _ => Ok(()),
    }
}

/// Ticks of one session's machines.
#[derive(Debug, Default)]
struct Runs(HashMap<i64, Run>);

#[derive(Debug, Default)]
struct Run {
    /// Of the current run: its end, and the last `tl` that was received.
    open: Option<(i64, i64)>,
    /// End of the last run that had its final tick.
    ended: i64,
}

impl Runs {
    fn join(&mut self, idmesin: i64, told: Snapshot) {
        // A tick that was sent before the answer may arrive after it.
        self.0.entry(idmesin).or_default().open = told.ends_at.map(|end| (end, i64::MAX));
    }

    fn hear(&mut self, packet: &str, seen: &mut Seen) {
        let Some(tick) = heartbeat::parse(packet.as_bytes()) else { return fault(seen, format!("no tick: {packet}")) };
        seen.ticks += 1;
        if let Some(why) = self.0.entry(tick.idmesin).or_default().hear(tick, seen) {
            fault(seen, format!("machine {}: {why}: {packet}", tick.idmesin));
        }
    }

    /// The session has ended: runs that ended long ago during it have lost their final tick.
    fn settle(&self, now: i64, seen: &mut Seen) {
        for (idmesin, run) in &self.0 {
            if let Some((end, tl)) = run.open.filter(|(end, _)| *end + FINAL_WITHIN_MS < now) {
                fault(
                    seen,
                    format!("machine {idmesin}: no final tick of the run until {end}, {} ms ago, after tl {tl}", now - end),
                );
            }
        }
    }
}

impl Run {
    /// The rule that a tick broke.
    fn hear(&mut self, tick: Heartbeat, seen: &mut Seen) -> Option<String> {
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

fn fault(seen: &mut Seen, why: String) {
    if seen.broken.len() < TOLD {
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
        let (mut runs, mut seen) = (Runs::default(), Seen::default());
        for (tl, ends_at) in ticks {
            runs.hear(&tick(*tl, *ends_at), &mut seen);
        }
        runs.settle(100_000, &mut seen);
        seen.broken
    }

    #[test]
    fn ticks_keep_the_contract_or_are_told() {
        assert!(broken(&[(2_000, 5_000), (1_000, 5_000), (0, 5_000), (2_000, 9_000), (0, 9_000)]).is_empty());
        for (ticks, why) in [
            (&[(1_000, 5_000), (1_000, 5_000), (0, 5_000)][..], "does not fall"),
            (&[(1_000, 5_000), (0, 5_000), (0, 5_000)], "after the final"),
            (&[(1_000, 5_000), (1_000, 9_000), (0, 9_000)], "no final tick of the run until 5000"),
            (&[(1_000, 5_000)], "no final tick"),
        ] {
            let told = broken(ticks);
            assert!(told.len() == 1 && told[0].contains(why), "{told:?}");
        }
    }
}
