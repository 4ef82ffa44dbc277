//! Detection of a database failover: no host accepts writes, a standby answers, and no new heartbeat of any server reaches that standby. Then
//! all servers are without a primary, and none can acquire shards (docs/cluster.md).

use std::time::Duration;

use nyala_core::domain::id::NodeId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use nyala_store::db::{hosts, lock};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;

use super::Ownership;
use super::error::ClusterError;
use super::membership::{HEARTBEAT_MS, TTL_MS};

/// Lease TTL, and the interval of the checks: every live server sends a heartbeat between two of them.
const LEASE_TTL: Duration = Duration::from_millis(TTL_MS.unsigned_abs());
const WITHIN: Duration = Duration::from_secs(1);

/// Whether the host is a standby, and the stored expiry of every other lease. Both are compared with the previous check, not with a clock.
const LOOK: &str = "
SELECT pg_is_in_recovery(), coalesce(array_agg(alive_until ORDER BY idnode) FILTER (WHERE idnode <> $1), '{}') FROM node";

/// Checks for a failover while heartbeats are not answered. With a single database host a failover cannot be detected. Runs until the process
/// ends.
pub async fn watch(config: &Config, ownership: &Ownership) {
    let mut standbys = config.clone();
    standbys.target_session_attrs(TargetSessionAttrs::ReadOnly);
    let mut every = interval(Duration::from_millis(HEARTBEAT_MS));
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        if hosts::count(config) > 1
            && ownership.silence() > LEASE_TTL
            && let Err(e) = look(&standbys, ownership).await
        {
            tracing::debug!(error = %e, "no standby of the database answers");
        }
    }
}

/// Checks one standby until the database answers again. Fails when the standby does not answer.
async fn look(standbys: &Config, ownership: &Ownership) -> Result<(), ClusterError> {
    let (client, _lost) = lock::connect(standbys).await?;
    let me = ownership.node().unwrap_or(NodeId::new(0));
    let mut before: Option<Vec<Timestamp>> = None;
    let mut every = interval(LEASE_TTL);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while ownership.silence() > LEASE_TTL {
        every.tick().await;
        let row = timeout(WITHIN, client.query_one(LOOK, &[&me])).await;
        let row = row.map_err(|_| DbError::broken("a standby does not answer"))??;
        if !row.try_get::<_, bool>(0)? {
            return Ok(());
        }
        let leases = row.try_get(1)?;
        if before.as_ref() == Some(&leases) {
            ownership.record_failover();
        }
        before = Some(leases);
    }
    Ok(())
}
