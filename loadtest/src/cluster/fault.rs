//! What is done to the cluster, when, and what it came to.

use std::fmt;
use std::time::{Duration, Instant};

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use tokio_postgres::{Client, Config};

use super::postgres::connect;

/// How often the owners of shards are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Shards that are nobody's for longer are a fault of their own.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// One look; a database that does not answer by then is asked on another connection.
const LOOK_WITHIN: Duration = Duration::from_secs(2);

const NODE: &str = "SELECT max(idnode) FROM node WHERE name = $1";
const LEFT: &str = "SELECT count(*) FROM shard WHERE idnode IS NULL OR idnode = $1";
const EPOCHS: &str = "SELECT sum(epoch)::BIGINT FROM shard";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Killed, and started again; by its place.
    Kill(usize),
    /// Stands still for a while, and wakes up.
    Pause(usize),
    /// Stopped as for an upgrade, and started again.
    Stop(usize),
    FreezeDatabase,
    KillPrimary,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill(node) => write!(f, "kill -9 n{}", node + 1),
            Self::Pause(node) => write!(f, "SIGSTOP n{}", node + 1),
            Self::Stop(node) => write!(f, "SIGTERM n{}", node + 1),
            Self::FreezeDatabase => f.write_str("PostgreSQL frozen"),
            Self::KillPrimary => f.write_str("kill -9 the primary"),
        }
    }
}

/// Four at a time, one of each kind in an order of the seed's.
pub struct Schedule {
    nodes: usize,
    next: Vec<Fault>,
}

impl Schedule {
    pub fn new(nodes: usize) -> Self {
        Self { nodes, next: Vec::new() }
    }

    pub fn next(&mut self, rng: &mut StdRng) -> Fault {
        loop {
            if let Some(fault) = self.next.pop() {
                return fault;
            }
            let mut node = || rng.random_range(0..self.nodes);
            self.next = vec![Fault::Kill(node()), Fault::Pause(node()), Fault::Stop(node()), Fault::FreezeDatabase];
            self.next.shuffle(rng);
        }
    }
}

/// A line of the timeline.
#[derive(Debug)]
pub struct Happened {
    /// Since the faults began.
    pub at: Duration,
    pub fault: Fault,
    /// Until it was whole again: restarted, awake, promoted.
    pub whole_after: Duration,
    /// Until every shard of the server had another owner.
    pub taken_after: Option<Duration>,
    /// Shards that changed their owner meanwhile.
    pub moved: i64,
}

/// Looks at who owns what, whichever PostgreSQL is the primary.
pub struct Shards {
    config: Config,
    client: Option<Client>,
}

impl Shards {
    pub fn new(config: Config) -> Self {
        Self { config, client: None }
    }

    async fn number(&mut self, sql: &str, params: &[&(dyn tokio_postgres::types::ToSql + Sync)]) -> Result<i64, String> {
        let client = match self.client.take() {
            Some(client) => client,
            None => connect(&self.config).await?,
        };
        let row = tokio::time::timeout(LOOK_WITHIN, client.query_one(sql, params)).await.map_err(|_| "no answer")?;
        let number = row.and_then(|row| row.try_get::<_, Option<i64>>(0)).map_err(|e| e.to_string())?;
        self.client = Some(client);
        number.ok_or_else(|| format!("nothing is known: {sql}"))
    }

    /// # Errors
    /// When no such server has ever joined, or nobody answers.
    pub async fn node(&mut self, name: &str) -> Result<i64, String> {
        self.number(NODE, &[&name]).await
    }

    /// How often a shard got another owner so far, all together.
    ///
    /// # Errors
    /// When nobody answers.
    pub async fn epochs(&mut self) -> Result<i64, String> {
        self.number(EPOCHS, &[]).await
    }

    /// Waits until none of 256 is server `idnode`'s or nobody's.
    ///
    /// # Errors
    /// When that takes too long.
    pub async fn taken(&mut self, idnode: i64, since: Instant) -> Result<Duration, String> {
        loop {
            let left = self.number(LEFT, &[&idnode]).await;
            match left {
                Ok(0) => return Ok(since.elapsed()),
                _ if since.elapsed() > TAKEN_WITHIN => {
                    return Err(format!("shards without a living owner after {} s: {left:?}", TAKEN_WITHIN.as_secs()));
                }
                _ => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_seed_has_every_kind_of_fault_and_always_the_same() {
        let faults = |seed| {
            let (mut schedule, mut rng) = (Schedule::new(3), StdRng::seed_from_u64(seed));
            (0..8).map(|_| schedule.next(&mut rng)).collect::<Vec<_>>()
        };
        let all = faults(7);
        assert_eq!(all, faults(7));
        for four in all.chunks(4) {
            for kind in ["kill -9", "SIGSTOP", "SIGTERM", "PostgreSQL"] {
                assert_eq!(four.iter().filter(|f| f.to_string().starts_with(kind)).count(), 1, "{four:?}");
            }
        }
    }
}
