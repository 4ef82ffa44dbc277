//! A server among others: it says that it lives, takes shards whose owner does not, and hands over what is more than its share. All by
//! the database's clock, because a lease is between servers (docs/decisions/0033-a-shard-has-one-owner.md).

use std::time::Duration;

use deadpool_postgres::Client as PooledClient;
use nyala_core::domain::timestamp::Timestamp;
use tokio_postgres::{Client, Row};

use super::SHARDS;
use super::error::ClusterError;

/// So long after its last beat a node lives.
pub const TTL_MS: i64 = 1_200;
/// How often it says that it does.
pub const HEARTBEAT_MS: u64 = 300;
/// Shards that a node which stays hands over in a beat, so that most machines have an owner at any time.
const HANDED_OVER: i64 = 16;
/// Nodes that have been dead so long are forgotten.
const FORGET_MS: i64 = 24 * 60 * 60_000;

/// One that comes is late, too: what stopped the others' beats may just be over.
const JOIN: &str = "
INSERT INTO node (name, version, started_at, alive_until, late_since)
SELECT $1, $2, clock_timestamp(), clock_timestamp() + $3 * INTERVAL '1 ms', clock_timestamp()
WHERE NOT EXISTS (SELECT FROM node WHERE name = $1 AND alive_until >= clock_timestamp()) RETURNING idnode";

const FORGET: &str = "DELETE FROM node WHERE alive_until < clock_timestamp() - $1 * INTERVAL '1 ms'";

/// $1 node, $2 its life, $3 how long its last beat took, $4 how far the database's clock was ahead of its own then, $5 how long its news takes.
/// A beat that finds its own life over remembers when: what stopped this node may have stopped all.
const BEAT: &str = "
UPDATE node SET late_since = CASE WHEN alive_until < clock_timestamp() THEN clock_timestamp() ELSE late_since END,
    beat_ms = $3, clock_ms = $4, news_ms = $5, alive_until = clock_timestamp() + $2 * INTERVAL '1 ms'
WHERE idnode = $1 RETURNING late_since < clock_timestamp() - $2 * INTERVAL '1 ms' AS is_quiet, leaving";

const OWNED: &str = "SELECT idshard, epoch FROM shard WHERE idnode = $1";

/// What everybody knows: nodes that live and may claim, shards that nobody who lives owns, and in how many milliseconds the first of the
/// others' lives is over. $1 their life, $2 who asks. One that is late has no share yet: what others left to it would be nobody's until it
/// may claim.
const SEEN: &str = "
WITH alive AS MATERIALIZED (
    SELECT idnode, NOT leaving AND late_since < clock_timestamp() - $1 * INTERVAL '1 ms' AS may_claim, alive_until
    FROM node WHERE alive_until >= clock_timestamp()
)
SELECT (SELECT count(*) FROM alive WHERE may_claim) AS nodes,
       (SELECT count(*) FROM shard WHERE idnode IS NULL OR idnode NOT IN (SELECT idnode FROM alive)) AS free,
       (SELECT (extract(epoch FROM min(alive_until) - clock_timestamp()) * 1000)::FLOAT8 FROM alive WHERE idnode <> $2) AS first_end_ms,
       ARRAY(SELECT idnode FROM alive) AS alive";

/// $1 node, $2 its life, $3 how many at most. That nobody who lives owns them is asked again: the row may have been claimed since.
const CLAIM: &str = "
WITH me AS (
    SELECT FROM node WHERE idnode = $1 AND alive_until > clock_timestamp()
    AND late_since < clock_timestamp() - $2 * INTERVAL '1 ms'
), alive AS MATERIALIZED (SELECT idnode FROM node WHERE alive_until >= clock_timestamp()), free AS MATERIALIZED (
    SELECT idshard FROM shard WHERE EXISTS (SELECT FROM me) AND (idnode IS NULL OR idnode NOT IN (SELECT idnode FROM alive))
    ORDER BY random() LIMIT $3 FOR UPDATE SKIP LOCKED
)
UPDATE shard s SET idnode = $1, epoch = epoch + 1 FROM free WHERE s.idshard = free.idshard";

const HAND_OVER: &str = "UPDATE shard SET idnode = NULL WHERE idshard = $1 AND idnode = $2";

/// $1 how long ago a server's last beat was that is dead, $2 the node that asks: when its own beats came late since, everybody's may have.
/// Devices have come back to another server by then, or are gone. A machine whose row somebody else holds has its turn later.
const ORPHANS: &str = "
WITH orphans AS (
    SELECT idmesin FROM mesin WHERE EXISTS (
        SELECT FROM node WHERE idnode = $2 AND alive_until > clock_timestamp() AND late_since < clock_timestamp() - $1 * INTERVAL '1 ms')
    AND online AND driver = 'mqtt' AND (link_node IS NULL OR NOT EXISTS (
        SELECT FROM node WHERE idnode = link_node AND alive_until > clock_timestamp() - $1 * INTERVAL '1 ms'))
    ORDER BY idmesin FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE mesin m SET online = FALSE FROM orphans o WHERE m.idmesin = o.idmesin";
const ORPHANED_MS: i64 = 15_000;

/// Every node that is known, and how many shards are nobody's.
const STATUS: &str = "
SELECT n.idnode, n.name, n.version, n.started_at, (extract(epoch FROM clock_timestamp() - n.alive_until) * 1000)::FLOAT8 + $1 AS since_ms,
       n.alive_until >= clock_timestamp() AS lives, n.leaving, n.late_since > clock_timestamp() - $1 * INTERVAL '1 ms' AS late,
       n.beat_ms, n.clock_ms, n.news_ms, (SELECT count(*) FROM shard s WHERE s.idnode = n.idnode) AS shards,
       (SELECT count(*) FROM mesin m WHERE m.link_node = n.idnode AND m.online) AS devices
FROM node n ORDER BY lives DESC, n.name, n.idnode DESC";

/// $1 the machine, $2 the node that asks.
const LINKED_ELSEWHERE: &str = "
SELECT EXISTS (
    SELECT FROM mesin m JOIN node n ON n.idnode = m.link_node
    WHERE m.idmesin = $1 AND m.online AND n.idnode <> $2 AND n.alive_until > clock_timestamp())";

const LEAVE: &str = "UPDATE node SET leaving = TRUE WHERE idnode = $1";
const GONE: &str = "UPDATE node SET alive_until = clock_timestamp() WHERE idnode = $1";

const SIMULATED: &str = "SELECT idmesin FROM mesin WHERE driver = 'sim' ORDER BY idmesin LIMIT 1";

/// What a beat found.
#[derive(Debug, PartialEq, Eq)]
pub struct HeartbeatResult {
    /// Every shard that is this node's, and since which epoch.
    pub owned: Vec<(i32, i64)>,
    /// Of these, so many are for others.
    pub surplus: usize,
    /// Servers that live and may claim, and shards that nobody who lives owned.
    pub nodes: i64,
    pub free: i64,
    /// Until the first of the others' lives is over, if they say nothing more.
    pub first_end: Option<Duration>,
    /// Every server whose lease has not expired.
    pub alive: Vec<i64>,
}

/// What a node's row says of its last beat, for whoever asks how it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct LastHeartbeat {
    pub took_ms: f64,
    /// How far the database's clock was ahead of the node's, as it last looked (`db::clock`).
    pub ahead_ms: f64,
    /// How long a message to the others takes; `None` when none comes back, or it tells none.
    pub news_ms: Option<f64>,
}

/// Enters among the others; its number.
///
/// # Errors
/// When a server of that name lives, or devices are simulated.
pub async fn join(client: &Client, name: &str, version: &str) -> Result<i64, ClusterError> {
    if let Some(row) = client.query_opt(SIMULATED, &[]).await? {
        return Err(ClusterError::Simulated { idmesin: row.try_get(0)? });
    }
    client.execute(FORGET, &[&(FORGET_MS as f64)]).await?;
    let row = client.query_opt(JOIN, &[&name, &version, &(TTL_MS as f64)]).await?;
    let row = row.ok_or_else(|| ClusterError::NameTaken { name: name.to_owned() })?;
    Ok(row.try_get(0)?)
}

/// Says that node `me` lives, and claims shards when somebody's are free.
///
/// # Errors
/// [`ClusterError::Forgotten`], and the database's.
pub async fn beat(client: &Client, me: i64, last: LastHeartbeat) -> Result<HeartbeatResult, ClusterError> {
    let life = TTL_MS as f64;
    let row = client
        .query_opt(BEAT, &[&me, &life, &last.took_ms, &last.ahead_ms, &last.news_ms])
        .await?
        .ok_or(ClusterError::Forgotten)?;
    let (is_quiet, leaving): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
    let row = client.query_one(SEEN, &[&life, &me]).await?;
    let first_end: Option<f64> = row.try_get(2)?;
    let alive: Vec<i64> = row.try_get(3)?;
    let seen = Seen { nodes: row.try_get(0)?, free: row.try_get(1)?, is_quiet, leaving };
    let mut owned = owned(client, me).await?;
    if let Some(most) = seen.claims(owned.len()) {
        client.execute(CLAIM, &[&me, &life, &most]).await?;
        owned = self::owned(client, me).await?;
    }
    let surplus = seen.surplus(owned.len());
    let first_end = first_end.map(|ms| Duration::from_secs_f64(ms.max(0.0) / 1_000.0));
    Ok(HeartbeatResult { owned, surplus, nodes: seen.nodes, free: seen.free, first_end, alive })
}

/// What a node knows of all when it decides what to take and what to give.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Nodes that live and may claim.
    pub nodes: i64,
    /// Shards that nobody who lives owns.
    pub free: i64,
    /// It has not been late for a whole life.
    pub is_quiet: bool,
    pub leaving: bool,
}

impl Seen {
    /// How many shards a node that owns so many claims at most, if any.
    pub fn claims(&self, owned: usize) -> Option<i64> {
        let room = self.share() - i64::try_from(owned).unwrap_or(i64::MAX);
        (self.is_quiet && self.free > 0 && room > 0).then_some(room)
    }

    /// How many of the shards that it owns it hands over now.
    pub fn surplus(&self, owned: usize) -> usize {
        let most = if self.leaving { i64::from(SHARDS) } else { HANDED_OVER };
        let surplus = (i64::try_from(owned).unwrap_or(0) - self.share()).clamp(0, most);
        usize::try_from(surplus).unwrap_or(0)
    }

    /// How many shards are a node's: so many that all are somebody's.
    fn share(&self) -> i64 {
        let nodes = self.nodes.max(1);
        if self.leaving { 0 } else { (i64::from(SHARDS) + nodes - 1) / nodes }
    }
}

async fn owned(client: &Client, me: i64) -> Result<Vec<(i32, i64)>, ClusterError> {
    let rows = client.query(OWNED, &[&me]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

/// A node, as the database knows it.
#[derive(Debug)]
pub struct NodeStatus {
    pub idnode: i64,
    pub name: String,
    pub version: String,
    pub started_at: Timestamp,
    /// Since its last beat.
    pub silent_ms: f64,
    pub lives: bool,
    pub leaving: bool,
    /// A beat of its came late just now: it claims nothing.
    pub late: bool,
    pub last: LastHeartbeat,
    pub shards: i64,
    /// Devices that were connected to it last.
    pub devices: i64,
}

/// All nodes that beat within a day, those that live first.
///
/// # Errors
/// The database's.
pub async fn status(client: &Client) -> Result<Vec<NodeStatus>, ClusterError> {
    let rows = client.query(STATUS, &[&(TTL_MS as f64)]).await?;
    let status = |row: &Row| -> Result<NodeStatus, ClusterError> {
        Ok(NodeStatus {
            idnode: row.try_get("idnode")?,
            name: row.try_get("name")?,
            version: row.try_get("version")?,
            started_at: row.try_get("started_at")?,
            silent_ms: row.try_get("since_ms")?,
            lives: row.try_get("lives")?,
            leaving: row.try_get("leaving")?,
            late: row.try_get("late")?,
            last: LastHeartbeat {
                took_ms: row.try_get("beat_ms")?,
                ahead_ms: row.try_get("clock_ms")?,
                news_ms: row.try_get("news_ms")?,
            },
            shards: row.try_get("shards")?,
            devices: row.try_get("devices")?,
        })
    };
    rows.iter().map(status).collect()
}

/// Says of devices that were connected to a server which is dead, and to none since, that they cannot be reached; `me` asks. How many there
/// were.
///
/// # Errors
/// The database's.
pub async fn tell_orphans(client: &Client, me: i64) -> Result<u64, ClusterError> {
    Ok(client.execute(ORPHANS, &[&(ORPHANED_MS as f64), &me]).await?)
}

/// The machine's device is connected to another node than `me`, and that lives.
///
/// # Errors
/// The database's.
pub async fn is_linked_elsewhere(client: &PooledClient, idmesin: i64, me: i64) -> Result<bool, ClusterError> {
    // Each purchase of such a device asks this: the plan is kept.
    let statement = client.prepare_cached(LINKED_ELSEWHERE).await?;
    Ok(client.query_one(&statement, &[&idmesin, &me]).await?.try_get(0)?)
}

/// Lets go of a shard of which nothing is decided here any more.
///
/// # Errors
/// The database's.
pub async fn hand_over(client: &Client, me: i64, shard: i32) -> Result<(), ClusterError> {
    client.execute(HAND_OVER, &[&shard, &me]).await?;
    Ok(())
}

/// Says that node `me` will leave: nothing is a share of its any more.
///
/// # Errors
/// The database's.
pub async fn leave(client: &Client, me: i64) -> Result<(), ClusterError> {
    client.execute(LEAVE, &[&me]).await?;
    Ok(())
}

/// Node `me` has left.
///
/// # Errors
/// The database's.
pub async fn gone(client: &Client, me: i64) -> Result<(), ClusterError> {
    client.execute(GONE, &[&me]).await?;
    Ok(())
}
