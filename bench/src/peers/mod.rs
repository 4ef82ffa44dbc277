//! The same watch load on Nyala, on other servers of Socket.IO and on the floor: server on one core, load on the other, in turn.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::BenchError;
use crate::results::Figures;
use figures::Runs;
use load::Load;
use peer::Peer;

mod figures;
mod load;
mod peer;

const PAIRS: u32 = 9;
/// Rounds of every other server.
const OTHERS: u32 = 3;
const SESSIONS: u32 = 19_800;
const MACHINES: u32 = 10_000;
/// Machines of one outlet that a session watches in the second measurement.
const ROOM: u32 = 8;
const RATES: [u32; 4] = [1, 2, 4, 8];
/// The measurements with more deliveries have fewer sessions, so that no server is full.
const FEWER: u32 = 4;
/// What a run takes beside its measurement, about: to start the server, to prepare, to join and to warm up.
const AROUND: Duration = Duration::from_secs(25);

#[derive(Debug, Args)]
pub struct Peers {
    /// Runs of Nyala and of the floor, with one machine a session and with a room of eight
    #[arg(long, default_value_t = PAIRS, value_parser = clap::value_parser!(u32).range(1..=100))]
    pairs: u32,
    /// Runs of the other servers, with one machine a session and with a room of eight
    #[arg(long, default_value_t = OTHERS, value_parser = clap::value_parser!(u32).range(1..=100))]
    others: u32,
    /// Runs of all of them with each number of ticks a second; 0: that table is left out
    #[arg(long, default_value_t = OTHERS, value_parser = clap::value_parser!(u32).range(0..=100))]
    rates: u32,
    /// How long each run measures
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(3..=600))]
    seconds: u32,
    /// Sessions; a process here may have 20,000 descriptors
    #[arg(long, default_value_t = SESSIONS, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    sessions: u32,
    /// Machines that run, eight an outlet
    #[arg(long, default_value_t = MACHINES, value_parser = clap::value_parser!(u32).range(8..=20_000))]
    machines: u32,
    /// Only these servers
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Peer::value_variants().to_vec())]
    only: Vec<Peer>,
}

impl Peers {
    /// Whether it is the whole comparison. How long each run measures does not matter.
    pub fn is_whole(&self) -> bool {
        self.pairs >= PAIRS
            && self.others >= OTHERS
            && self.rates >= OTHERS
            && (self.sessions, self.machines) == (SESSIONS, MACHINES)
            && Peer::value_variants().iter().all(|peer| self.only.contains(peer))
    }

    /// # Errors
    /// When Nyala or the floor cannot be measured. Another server that fails is reported and left out.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let all =
            Load { sessions: self.sessions, machines: self.machines, per_session: 1, ticks_per_second: 1, seconds: self.seconds };
        let few = Load { sessions: self.sessions / FEWER, ..all };
        let room = Load { per_session: ROOM, ..few };
        let runs = self.runs(self.pairs) * 2 + self.runs(self.rates) * RATES.len() as u32;
        let expected = (Duration::from_secs(self.seconds.into()) + AROUND) * runs;
        eprintln!("{runs} runs of {} s: about {} minutes", self.seconds, expected.as_secs().div_ceil(60));
        let one = self.measure(&all, self.pairs).await?;
        let rooms = self.measure(&room, self.pairs).await?;
        let mut by_rate = Vec::new();
        for ticks_per_second in RATES {
            by_rate.push((ticks_per_second, self.measure(&Load { ticks_per_second, ..few }, self.rates).await?));
        }
        let mut body = format!(
            "Server on one core, load on the other, runs of {} s in turn; medians, least and most in brackets. × floor: the median of \
             the ratios to the floor's run of the same round.{}\n",
            self.seconds,
            self.versions()
        );
        body += &format!("\n{} sessions, {} machines, one a session, one tick a second:\n\n", all.sessions, all.machines);
        body += &one.table(&all, by_rate.first().map(|(_, runs)| (runs, &few)));
        body += &format!("\n{} sessions, each with the {ROOM} machines of an outlet:\n\n", room.sessions);
        body += &rooms.table(&room, None);
        if self.rates > 0 {
            body += &format!("\nCPU µs a delivery, {} sessions, one machine a session, by ticks a second:\n\n", few.sessions);
            body += &figures::growth(&by_rate.iter().map(|(rate, runs)| (*rate, runs)).collect::<Vec<_>>());
        }
        Ok(Figures { title: "Ticks, beside other servers".to_owned(), body })
    }

    /// How many runs a measurement of `pairs` rounds has.
    fn runs(&self, pairs: u32) -> u32 {
        self.only.iter().map(|peer| if peer.is_measured() { pairs } else { pairs.min(self.others) }).sum()
    }

    /// `pairs` rounds, of which the servers other than Nyala and the floor take part in the first.
    async fn measure(&self, load: &Load, pairs: u32) -> Result<Runs, BenchError> {
        let mut runs = Runs::default();
        for round in 0..pairs {
            let mut peers = self.only.clone();
            if round % 2 == 1 {
                peers.reverse();
            }
            for peer in peers {
                if !peer.is_measured() && round >= self.others {
                    continue;
                }
                eprint!("{:>2}/{pairs} {:<24} {load}: ", round + 1, peer.name());
                match load::run(peer, load).await {
                    Ok(run) => {
                        eprintln!("{run}");
                        runs.add(peer, round, run);
                    }
                    Err(e) if peer.is_measured() => return Err(e),
                    Err(e) => eprintln!("left out: {e}"),
                }
            }
        }
        Ok(runs)
    }

    /// A sentence on what the other servers are built on; empty without them.
    fn versions(&self) -> String {
        let all: Vec<String> = self.only.iter().filter_map(|peer| peer.version()).collect();
        if all.is_empty() { String::new() } else { format!(" Versions: {}.", all.join(", ")) }
    }
}
