//! The standbys of the database, as its primary sees them.

use tokio_postgres::{Client, Row};

use super::error::ClusterError;

/// Whether the role may see details of standbys; without this right it sees only that some exist.
const MAY_SEE: &str = "SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')";

const STANDBYS: &str = "
SELECT application_name, coalesce(host(client_addr), 'local') AS address, state, sync_state,
       (extract(epoch FROM replay_lag) * 1000)::FLOAT8 AS lag_ms,
       pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::BIGINT AS behind
FROM pg_stat_replication ORDER BY application_name, address, pid";

#[derive(Debug)]
pub struct Standby {
    pub name: String,
    pub address: String,
    pub state: String,
    /// `async`, `potential`, `sync` or `quorum`.
    pub sync: String,
    /// Age of the commit that it replays; `None` when it has replayed all and there was no commit lately.
    pub lag_ms: Option<f64>,
    /// Bytes that it has not replayed.
    pub behind: Option<i64>,
}

/// All connected standbys; `None` when the role may not see them.
///
/// # Errors
/// The database's.
pub async fn all(client: &Client) -> Result<Option<Vec<Standby>>, ClusterError> {
    if !client.query_one(MAY_SEE, &[]).await?.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let standby = |row: &Row| -> Result<Standby, ClusterError> {
        Ok(Standby {
            name: row.try_get("application_name")?,
            address: row.try_get("address")?,
            state: row.try_get("state")?,
            sync: row.try_get("sync_state")?,
            lag_ms: row.try_get("lag_ms")?,
            behind: row.try_get("behind")?,
        })
    };
    client.query(STANDBYS, &[]).await?.iter().map(standby).collect::<Result<_, _>>().map(Some)
}
