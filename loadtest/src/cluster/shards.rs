//! Owners of the shards, read from the database.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_postgres::{Client, Config};

use super::postgres::connect;

/// Interval at which the owners are read.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Interval at which the owners are read to find out whether a purchase was decided by its owner.
const OWNERS_EVERY: Duration = Duration::from_millis(250);
/// A shard that has no owner for longer than this makes the run fail.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// Shards that have not moved for this long are settled; they must settle soon after a fault.
const AT_REST: Duration = Duration::from_secs(1);
const AT_REST_WITHIN: Duration = Duration::from_secs(20);
/// Timeout of one read. The next read uses a new connection.
const LOOK_WITHIN: Duration = Duration::from_secs(2);

const NODE: &str = "SELECT max(idnode) FROM node WHERE name = $1";
const LEFT: &str = "SELECT count(*) FROM shard WHERE idnode IS NULL OR idnode = $1";
const EPOCHS: &str = "SELECT sum(epoch)::BIGINT FROM shard";
const NODES: &str = "SELECT count(DISTINCT idnode) FROM shard";
const OWNERS: &str = "SELECT idshard, name FROM shard JOIN node USING (idnode)";

/// Names of the shards' owners at the last read, for shards that have one.
#[derive(Debug, Clone, Default)]
pub struct Owners(Arc<HashMap<i32, String>>);

impl Owners {
    /// Owner of an outlet's shard (docs/cluster.md: its number mod 256).
    pub fn of(&self, idoutlet: i64) -> Option<&str> {
        self.0.get(&i32::try_from(idoutlet.rem_euclid(256)).ok()?).map(String::as_str)
    }

    /// Reads the owners repeatedly. While the database does not answer, no owner is known.
    pub async fn follow(config: Config, owners: watch::Sender<Self>) {
        let mut client: Option<Client> = None;
        while !owners.is_closed() {
            let look = async {
                let asked = match client.take() {
                    Some(client) => client,
                    None => connect(&config).await.ok()?,
                };
                let rows = asked.query(OWNERS, &[]).await.ok()?;
                Some((asked, rows.iter().map(|row| (row.get(0), row.get(1))).collect()))
            };
            let seen = tokio::time::timeout(LOOK_WITHIN, look).await.ok().flatten();
            owners.send_replace(match seen {
                Some((asked, names)) => {
                    client = Some(asked);
                    Self(Arc::new(names))
                }
                None => Self::default(),
            });
            tokio::time::sleep(OWNERS_EVERY).await;
        }
    }
}

/// Reads the shards' owners from the present primary.
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
    /// When no server of that name has ever joined, or the database does not answer.
    pub async fn node(&mut self, name: &str) -> Result<i64, String> {
        self.number(NODE, &[&name]).await
    }

    /// Number of changes of owners so far, of all shards together.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn epochs(&mut self) -> Result<i64, String> {
        self.number(EPOCHS, &[]).await
    }

    /// Waits until this many servers own shards and no shard moves, so that later moves are caused by the next fault.
    ///
    /// # Errors
    /// When that takes too long.
    pub async fn at_rest(&mut self, nodes: usize) -> Result<(), String> {
        let since = Instant::now();
        let (mut seen, mut seen_at) = (None, since);
        loop {
            let now = (self.number(NODES, &[]).await.ok(), self.epochs().await.ok());
            if seen != Some(now) || now.1.is_none() || now.0 != i64::try_from(nodes).ok() {
                (seen, seen_at) = (Some(now), Instant::now());
            }
            if seen_at.elapsed() > AT_REST {
                return Ok(());
            }
            if since.elapsed() > AT_REST_WITHIN {
                return Err(format!(
                    "shards do not come to rest among {nodes} servers in {} s: {now:?}",
                    AT_REST_WITHIN.as_secs()
                ));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Waits until each of the 256 shards has an owner other than server `idnode`.
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
