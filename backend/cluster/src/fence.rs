//! Fencing of commits: a statement of a former owner changes no row. A lease alone is not enough, because a server may be paused between the
//! check of its lease and the commit.

use std::sync::OnceLock;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use nyala_core::domain::id::NodeId;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;

use nyala_core::domain::shard::Shard;

/// Node and epoch of a shard's owner. Both are compared, because a database failover may lose an epoch, which is then assigned again.
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

/// A statement that changes rows only for the owner of their shard. A single server executes it without the fence.
pub struct Fenced {
    statement: &'static str,
    /// Beginning of the WHERE clause of the changed row. The condition of the fence is inserted after its first occurrence.
    guard: &'static str,
    fenced: OnceLock<String>,
}

impl Fenced {
    /// `guard`: the part of `statement` after which the condition of the fence is inserted. In a static, a guard that is not part of the
    /// statement does not compile; otherwise the statement would run without its fence.
    pub const fn new(statement: &'static str, guard: &'static str) -> Self {
        assert!(contains(statement.as_bytes(), guard.as_bytes()), "the guard is not in the statement");
        Self { statement, guard, fenced: OnceLock::new() }
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
        let statement = client.prepare_cached(self.fenced(params.len())).await?;
        let own: [&(dyn ToSql + Sync); 3] = [shard, node, epoch];
        Ok(client.query_opt(&statement, &[params, &own].concat()).await?)
    }

    /// Builds the statement with its fence, whose parameters follow those of the statement. `FOR SHARE` makes another server's claim of the
    /// shard wait for commits that are running, so that none of them completes after the claim.
    fn fenced(&self, params: usize) -> &str {
        self.fenced.get_or_init(|| {
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

const fn contains(whole: &[u8], part: &[u8]) -> bool {
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
    fn a_guard_is_found_anywhere_in_the_statement() {
        let found = |part: &str| contains(b"WHERE id = $1 AND b", part.as_bytes());
        assert!(["WHERE", "id = $1", "AND b", "WHERE id = $1 AND b"].into_iter().all(found));
        assert!(!["where", "AND c", "WHERE id = $1 AND b "].into_iter().any(found));
    }

    #[test]
    fn the_fence_comes_first_and_its_numbers_last() {
        let plain = Fenced::new("UPDATE t SET a = $2 WHERE id = $1 AND b", "WHERE id = $1 AND");
        assert_eq!(
            plain.fenced(2),
            "WITH fence AS MATERIALIZED (SELECT FROM shard WHERE idshard = $3 AND idnode = $4 AND epoch = $5 FOR SHARE) \
             UPDATE t SET a = $2 WHERE id = $1 AND EXISTS (SELECT FROM fence) AND  b"
        );
        let with = Fenced::new("\nWITH x AS (SELECT 1) SELECT FROM x WHERE id = $1 AND c", "WHERE id = $1 AND");
        assert!(with.fenced(1).starts_with("WITH fence AS MATERIALIZED (SELECT FROM shard WHERE idshard = $2"));
        assert!(
            with.fenced(1)
                .ends_with("FOR SHARE), x AS (SELECT 1) SELECT FROM x WHERE id = $1 AND EXISTS (SELECT FROM fence) AND  c")
        );
    }
}
