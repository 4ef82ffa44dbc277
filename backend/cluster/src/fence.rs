//! The fence makes commits of a former owner change nothing. A lease alone does not exclude another writer, because its owner may be paused
//! between checking it and committing.

use std::sync::OnceLock;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use nyala_core::domain::id::NodeId;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;

use nyala_core::domain::shard::Shard;

/// Node and epoch of a shard's owner. Both are compared: a database failover may lose an epoch, and it is assigned again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    pub shard: Shard,
    pub node: NodeId,
    pub epoch: i64,
}

impl Fence {
    /// A fence that never matches.
    pub const fn of_nobody() -> Self {
        Self { shard: Shard::NONE, node: NodeId::new(0), epoch: 0 }
    }
}

/// A statement that only the owner may execute: unchanged for a single server, with the fence among several.
pub struct Fenced {
    statement: &'static str,
    /// Part of `statement` that begins the WHERE of the changed row; it occurs once. The fence's condition follows it.
    guard: &'static str,
    behind: OnceLock<String>,
}

impl Fenced {
    /// `guard`: a part of `statement` after which a further condition may follow. In a static, a guard that is not part of the statement does
    /// not compile, because the statement would run without its fence.
    pub const fn new(statement: &'static str, guard: &'static str) -> Self {
        assert!(stands_in(guard.as_bytes(), statement.as_bytes()), "the guard is not in the statement");
        Self { statement, guard, behind: OnceLock::new() }
    }

    /// Returns at most one row, and none when the fence does not match.
    ///
    /// # Errors
    /// The database's.
    pub async fn query_opt(
        &self,
        client: &DbClient,
        params: &[&(dyn ToSql + Sync)],
        fence: Option<&Fence>,
    ) -> Result<Option<Row>, DbError> {
        let Some(Fence { shard, node, epoch }) = fence else {
            let statement = client.prepare_cached(self.statement).await?;
            return Ok(client.query_opt(&statement, params).await?);
        };
        let statement = client.prepare_cached(self.behind(params.len())).await?;
        let own: [&(dyn ToSql + Sync); 3] = [shard, node, epoch];
        Ok(client.query_opt(&statement, &[params, &own].concat()).await?)
    }

    /// Builds the statement with its fence. `FOR SHARE` makes a claim of the shard wait for running commits, so that no commit is later than a
    /// takeover. The parameters of the fence follow those of the statement.
    fn behind(&self, params: usize) -> &str {
        self.behind.get_or_init(|| {
            let (shard, node, epoch) = (params + 1, params + 2, params + 3);
            let fence = format!(
                "WITH fence AS MATERIALIZED (SELECT FROM shard WHERE idshard = ${shard} AND idnode = ${node} AND epoch = ${epoch} FOR SHARE)"
            );
            let guarded = self.statement.trim_start().replacen(self.guard, &format!("{} EXISTS (SELECT FROM fence) AND ", self.guard), 1);
            match guarded.strip_prefix("WITH ") {
                Some(rest) => format!("{fence}, {rest}"),
                None => format!("{fence} {guarded}"),
            }
        })
    }
}

const fn stands_in(part: &[u8], whole: &[u8]) -> bool {
    let mut at = 0;
    while at + part.len() <= whole.len() {
        let mut same = 0;
        while same < part.len() && part[same] == whole[at + same] {
            same += 1;
        }
        if same == part.len() {
            return true;
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_is_found_wherever_it_stands() {
        let found = |part: &str| stands_in(part.as_bytes(), b"WHERE id = $1 AND b");
        assert!(["WHERE", "id = $1", "AND b", "WHERE id = $1 AND b"].into_iter().all(found));
        assert!(!["where", "AND c", "WHERE id = $1 AND b "].into_iter().any(found));
    }

    #[test]
    fn the_fence_comes_first_and_its_numbers_last() {
        let plain = Fenced::new("UPDATE t SET a = $2 WHERE id = $1 AND b", "WHERE id = $1 AND");
        assert_eq!(
            plain.behind(2),
            "WITH fence AS MATERIALIZED (SELECT FROM shard WHERE idshard = $3 AND idnode = $4 AND epoch = $5 FOR SHARE) \
             UPDATE t SET a = $2 WHERE id = $1 AND EXISTS (SELECT FROM fence) AND  b"
        );
        let with = Fenced::new("\nWITH x AS (SELECT 1) SELECT FROM x WHERE id = $1 AND c", "WHERE id = $1 AND");
        assert!(with.behind(1).starts_with("WITH fence AS MATERIALIZED (SELECT FROM shard WHERE idshard = $2"));
        assert!(
            with.behind(1)
                .ends_with("FOR SHARE), x AS (SELECT 1) SELECT FROM x WHERE id = $1 AND EXISTS (SELECT FROM fence) AND  c")
        );
    }
}
