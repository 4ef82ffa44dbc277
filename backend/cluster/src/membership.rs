//! Membership of a server in the cluster. A server extends its lease by heartbeats, claims shards without a live owner, and releases
//! shards beyond its share. All times are from the database's clock, so that all servers see the same leases
//! (docs/decisions/0033-a-shard-has-one-owner.md).

use std::time::Duration;

use deadpool_postgres::Client as PooledClient;
use nyala_core::domain::id::{MachineId, NodeId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::migrate;
use nyala_store::secrets::GoodKids;
use tokio_postgres::types::Json;
use tokio_postgres::{Client, GenericClient, Row};

use super::OwnedShard;
use super::error::ClusterError;
use nyala_core::domain::shard::{SHARDS, Shard};

/// Lease TTL: a node is alive for this long after its last heartbeat.
pub const TTL_MS: i64 = 1_200;
/// Interval of heartbeats.
pub const HEARTBEAT_MS: u64 = 300;
/// Maximum number of shards that a node releases at one heartbeat, unless it leaves. It is small, because a released shard has no owner until
/// another node claims it.
const MAX_RELEASED: i64 = 16;
/// Rows of nodes are deleted this long after their lease has expired.
const FORGET_MS: i64 = 24 * 60 * 60_000;

/// A joining server starts in the grace period: the others' leases may have expired in a stall that has just ended, and they must be able to extend
/// them before it claims their shards.
const JOIN: &str = "
INSERT INTO node (name, version, knows, started_at, alive_until, late_since, keys)
SELECT $1, $2, $4, clock_timestamp(), clock_timestamp() + $3 * INTERVAL '1 ms', clock_timestamp(), $5
WHERE NOT EXISTS (SELECT FROM node WHERE name = $1 AND alive_until >= clock_timestamp()) RETURNING idnode";

/// The live server whose program knows the fewest migrations.
const OLDEST: &str = "
SELECT name, version, knows FROM node WHERE alive_until >= clock_timestamp() ORDER BY knows NULLS FIRST, idnode LIMIT 1";

const FORGET: &str = "DELETE FROM node WHERE alive_until < clock_timestamp() - $1 * INTERVAL '1 ms'";

/// Extends the lease. $1 node, $2 lease TTL, $3 to $5 [`LastHeartbeat`], $6 the node's good keys. A heartbeat after the lease has expired starts
/// the grace period (`late_since`): what delayed it may have delayed all nodes, and the others need time to extend their leases, too.
const HEARTBEAT: &str = "
UPDATE node SET late_since = CASE WHEN alive_until < clock_timestamp() THEN clock_timestamp() ELSE late_since END,
    beat_ms = $3, clock_ms = $4, news_ms = $5, keys = $6, alive_until = clock_timestamp() + $2 * INTERVAL '1 ms'
WHERE idnode = $1 RETURNING late_since < clock_timestamp() - $2 * INTERVAL '1 ms' AS past_grace_period, leaving";

const OWNED: &str = "SELECT idshard, epoch FROM shard WHERE idnode = $1";

/// Live nodes that may claim, shards without a live owner, milliseconds until the first lease of another node expires, and all live nodes.
/// $1 lease TTL, $2 the asking node. A node in the grace period is not counted in `nodes`: it claims nothing
/// yet, so the shards of its share would stay without an owner.
const CLUSTER_VIEW: &str = "
WITH alive AS MATERIALIZED (
    SELECT idnode, NOT leaving AND late_since < clock_timestamp() - $1 * INTERVAL '1 ms' AS may_claim, alive_until
    FROM node WHERE alive_until >= clock_timestamp()
)
SELECT (SELECT count(*) FROM alive WHERE may_claim) AS nodes,
       (SELECT count(*) FROM shard WHERE idnode IS NULL OR idnode NOT IN (SELECT idnode FROM alive)) AS free,
       (SELECT (extract(epoch FROM min(alive_until) - clock_timestamp()) * 1000)::FLOAT8 FROM alive WHERE idnode <> $2) AS first_end_ms,
       ARRAY(SELECT idnode FROM alive) AS alive";

/// Good keys of each server that must accept what the others sign. A server that was not leaving still counts for $1 milliseconds
/// after its lease has expired, because it may only be stalled. Of several starts of one server the newest counts.
const KEYS: &str = "
SELECT name, keys FROM (SELECT DISTINCT ON (name) name, keys, alive_until, leaving FROM node ORDER BY name, idnode DESC) AS newest
WHERE alive_until >= clock_timestamp() OR NOT leaving AND alive_until > clock_timestamp() - $1 * INTERVAL '1 ms' ORDER BY name";
const KEYS_STALLED_MS: i64 = 60_000;

/// Claims free shards. $1 node, $2 lease TTL, $3 limit. It checks again that they are free, because another node may have claimed them.
const CLAIM: &str = "
WITH me AS (
    SELECT FROM node WHERE idnode = $1 AND alive_until > clock_timestamp()
    AND late_since < clock_timestamp() - $2 * INTERVAL '1 ms'
), alive AS MATERIALIZED (SELECT idnode FROM node WHERE alive_until >= clock_timestamp()), free AS MATERIALIZED (
    SELECT idshard FROM shard WHERE EXISTS (SELECT FROM me) AND (idnode IS NULL OR idnode NOT IN (SELECT idnode FROM alive))
    ORDER BY random() LIMIT $3 FOR UPDATE SKIP LOCKED
)
UPDATE shard s SET idnode = $1, epoch = epoch + 1 FROM free WHERE s.idshard = free.idshard";

const RELEASE_SHARD: &str = "UPDATE shard SET idnode = NULL WHERE idshard = $1 AND idnode = $2";

/// Marks devices as offline whose server is dead, or that have none. $1 milliseconds, $2 the asking node. A server is dead $1 after its lease has
/// expired: by then a working device has connected to another one. The asking node must be alive, and its own grace period must have begun more than $1
/// ago: after a stall of all servers, the others and their devices need that time to come back. Locked rows are skipped; a later run marks them.
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

/// All known nodes, live nodes first. $1 lease TTL.
const STATUS: &str = "
SELECT n.idnode, n.name, n.version, n.started_at, (extract(epoch FROM clock_timestamp() - n.alive_until) * 1000)::FLOAT8 + $1 AS since_ms,
       n.alive_until >= clock_timestamp() AS lives, n.leaving, n.late_since > clock_timestamp() - $1 * INTERVAL '1 ms' AS late,
       n.beat_ms, n.clock_ms, n.news_ms, (SELECT count(*) FROM shard s WHERE s.idnode = n.idnode) AS shards,
       (SELECT count(*) FROM mesin m WHERE m.link_node = n.idnode AND m.online) AS devices
FROM node n ORDER BY lives DESC, n.name, n.idnode DESC";

/// Whether a device is connected to another live node. $1 machine, $2 the asking node.
const CONNECTED_TO_ANOTHER: &str = "
SELECT EXISTS (
    SELECT FROM mesin m JOIN node n ON n.idnode = m.link_node
    WHERE m.idmesin = $1 AND m.online AND n.idnode <> $2 AND n.alive_until > clock_timestamp())";

const LEAVE: &str = "UPDATE node SET leaving = TRUE WHERE idnode = $1";
const END_LEASE: &str = "UPDATE node SET alive_until = clock_timestamp() WHERE idnode = $1";

const SIMULATED: &str = "SELECT idmesin FROM mesin WHERE driver = 'sim' ORDER BY idmesin LIMIT 1";

/// Result of a heartbeat.
#[derive(Debug, PartialEq, Eq)]
pub struct HeartbeatResult {
    pub owned: Vec<OwnedShard>,
    /// Number of owned shards to release, so that other nodes claim them.
    pub surplus: usize,
    /// Live nodes that may claim.
    pub nodes: i64,
    /// Shards without a live owner.
    pub free: i64,
    /// Time until the first lease of another node expires, if that node sends no more heartbeats.
    pub first_end: Option<Duration>,
    /// Every server whose lease has not expired.
    pub alive: Vec<NodeId>,
}

/// A node's last heartbeat, stored for `nyala cluster status`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LastHeartbeat {
    pub took_ms: f64,
    /// How far the database's clock was ahead of the node's when the node last compared the two (`db::clock`).
    pub ahead_ms: f64,
    /// Round trip of a change notification; `None` without NATS, or when none comes back.
    pub notification_ms: Option<f64>,
}

/// Joins the cluster and returns the node's number.
///
/// # Errors
/// When a server of that name is alive, or devices are simulated.
pub async fn join(client: &Client, name: &str, version: &str, keys: &GoodKids) -> Result<NodeId, ClusterError> {
    if let Some(row) = client.query_opt(SIMULATED, &[]).await? {
        return Err(ClusterError::Simulated { idmesin: row.try_get(0)? });
    }
    client.execute(FORGET, &[&(FORGET_MS as f64)]).await?;
    let row = client.query_opt(JOIN, &[&name, &version, &(TTL_MS as f64), &migrate::newest_known(), &Json(keys)]).await?;
    let row = row.ok_or_else(|| ClusterError::NameTaken { name: name.to_owned() })?;
    Ok(row.try_get(0)?)
}

/// The program of a live server.
#[derive(Debug, PartialEq, Eq)]
pub struct LiveRelease {
    /// Name of the server, and the version of its program.
    pub name: String,
    pub version: String,
    /// The newest migration that its program knows; `None` for programs from before the column `node.knows`.
    pub knows: Option<i32>,
}

impl LiveRelease {
    /// Whether its program can read data that may be written since the migration with the number `introduced`.
    pub fn can_read(&self, introduced: i32) -> bool {
        self.knows.is_some_and(|knows| knows >= introduced)
    }
}

/// The oldest program among the live servers; `None` when no server is in the cluster (a single server has no row).
///
/// Call it before writing data that the previous release cannot read, for example a new kind in the ledger or a key in `secrets.toml`. The
/// answer covers live servers only: an older server may still start afterwards. A feature that must exclude this first raises the column
/// `knows` of the table `oldest_program`: a program whose newest migration is below it refuses to start.
///
/// # Errors
/// The database's.
pub async fn oldest_live_release(client: &impl GenericClient) -> Result<Option<LiveRelease>, ClusterError> {
    let row = client.query_opt(OLDEST, &[]).await?;
    row.map(|row| Ok(LiveRelease { name: row.try_get(0)?, version: row.try_get(1)?, knows: row.try_get(2)? })).transpose()
}

/// Whether every live server can read data that the migration `introduced` allows. See [`oldest_live_release`].
///
/// # Errors
/// The database's.
pub async fn all_can_read(client: &impl GenericClient, introduced: i32) -> Result<bool, ClusterError> {
    Ok(oldest_live_release(client).await?.is_none_or(|oldest| oldest.can_read(introduced)))
}

/// Extends the lease of node `me`, and claims free shards up to its share.
///
/// # Errors
/// [`ClusterError::Forgotten`], and the database's.
pub async fn heartbeat(
    client: &Client,
    me: NodeId,
    last: LastHeartbeat,
    keys: &GoodKids,
) -> Result<HeartbeatResult, ClusterError> {
    let ttl = TTL_MS as f64;
    let row = client
        .query_opt(HEARTBEAT, &[&me, &ttl, &last.took_ms, &last.ahead_ms, &last.notification_ms, &Json(keys)])
        .await?
        .ok_or(ClusterError::Forgotten)?;
    let (past_grace_period, leaving): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
    let row = client.query_one(CLUSTER_VIEW, &[&ttl, &me]).await?;
    let first_end: Option<f64> = row.try_get(2)?;
    let alive: Vec<NodeId> = row.try_get(3)?;
    let view = ClusterView { nodes: row.try_get(0)?, free: row.try_get(1)?, past_grace_period, leaving };
    let mut owned = owned(client, me).await?;
    if let Some(limit) = view.claims(owned.len()) {
        client.execute(CLAIM, &[&me, &ttl, &limit]).await?;
        owned = self::owned(client, me).await?;
    }
    let surplus = view.surplus(owned.len());
    let first_end = first_end.map(|ms| Duration::from_secs_f64(ms.max(0.0) / 1_000.0));
    Ok(HeartbeatResult { owned, surplus, nodes: view.nodes, free: view.free, first_end, alive })
}

/// The good keys of each server of the cluster, by its name. Programs from before key rotation have only the first keys.
///
/// # Errors
/// The database's.
pub async fn keys(client: &Client) -> Result<Vec<(String, GoodKids)>, ClusterError> {
    let rows = client.query(KEYS, &[&(KEYS_STALLED_MS as f64)]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get::<_, Json<GoodKids>>(1)?.0))).collect()
}

/// The cluster as a node sees it when it decides how many shards to claim or to release.
#[derive(Debug, Clone, Copy)]
pub struct ClusterView {
    /// Live nodes that may claim.
    pub nodes: i64,
    /// Shards without a live owner.
    pub free: i64,
    pub past_grace_period: bool,
    pub leaving: bool,
}

impl ClusterView {
    /// Maximum number of shards that a node with `owned` shards claims; `None` for no claim.
    pub fn claims(&self, owned: usize) -> Option<i64> {
        let room = self.share() - i64::try_from(owned).unwrap_or(i64::MAX);
        (self.past_grace_period && self.free > 0 && room > 0).then_some(room)
    }

    /// Number of shards that the node releases now.
    pub fn surplus(&self, owned: usize) -> usize {
        let limit = if self.leaving { i64::from(SHARDS) } else { MAX_RELEASED };
        let surplus = (i64::try_from(owned).unwrap_or(0) - self.share()).clamp(0, limit);
        usize::try_from(surplus).unwrap_or(0)
    }

    /// A node's share, rounded up so that all shards have an owner.
    fn share(&self) -> i64 {
        let nodes = self.nodes.max(1);
        if self.leaving { 0 } else { (i64::from(SHARDS) + nodes - 1) / nodes }
    }
}

async fn owned(client: &Client, me: NodeId) -> Result<Vec<OwnedShard>, ClusterError> {
    let rows = client.query(OWNED, &[&me]).await?;
    rows.iter().map(|row| Ok(OwnedShard { shard: row.try_get(0)?, epoch: row.try_get(1)? })).collect()
}

/// Stored state of a node.
#[derive(Debug)]
pub struct NodeStatus {
    pub idnode: NodeId,
    pub name: String,
    pub version: String,
    pub started_at: Timestamp,
    /// Milliseconds since its last heartbeat.
    pub silent_ms: f64,
    pub is_alive: bool,
    pub leaving: bool,
    pub in_grace_period: bool,
    pub last: LastHeartbeat,
    pub shards: i64,
    /// Online devices whose latest connection was to this node.
    pub devices: i64,
}

/// All nodes with a heartbeat within a day, live nodes first.
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
            is_alive: row.try_get("lives")?,
            leaving: row.try_get("leaving")?,
            in_grace_period: row.try_get("late")?,
            last: LastHeartbeat {
                took_ms: row.try_get("beat_ms")?,
                ahead_ms: row.try_get("clock_ms")?,
                notification_ms: row.try_get("news_ms")?,
            },
            shards: row.try_get("shards")?,
            devices: row.try_get("devices")?,
        })
    };
    rows.iter().map(status).collect()
}

/// Marks devices as offline whose server is dead and that have not reconnected. `me` is the asking node. Returns their number.
///
/// # Errors
/// The database's.
pub async fn mark_orphans_offline(client: &Client, me: NodeId) -> Result<u64, ClusterError> {
    Ok(client.execute(ORPHANS, &[&(ORPHANED_MS as f64), &me]).await?)
}

/// Whether the machine's device is connected to a live node other than `me`.
///
/// # Errors
/// The database's.
pub async fn is_connected_to_another(client: &PooledClient, idmesin: MachineId, me: NodeId) -> Result<bool, ClusterError> {
    // Every purchase at such a device asks this, so the plan is cached.
    let statement = client.prepare_cached(CONNECTED_TO_ANOTHER).await?;
    Ok(client.query_one(&statement, &[&idmesin, &me]).await?.try_get(0)?)
}

/// Releases a shard. The caller must already have stopped deciding about its machines.
///
/// # Errors
/// The database's.
pub async fn release_shard(client: &Client, me: NodeId, shard: Shard) -> Result<(), ClusterError> {
    client.execute(RELEASE_SHARD, &[&shard, &me]).await?;
    Ok(())
}

/// Announces that node `me` leaves: its share becomes 0.
///
/// # Errors
/// The database's.
pub async fn leave(client: &Client, me: NodeId) -> Result<(), ClusterError> {
    client.execute(LEAVE, &[&me]).await?;
    Ok(())
}

/// Ends the lease of node `me`.
///
/// # Errors
/// The database's.
pub async fn end_lease(client: &Client, me: NodeId) -> Result<(), ClusterError> {
    client.execute(END_LEASE, &[&me]).await?;
    Ok(())
}
