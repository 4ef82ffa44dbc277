//! The fence: a commit of an owner that is none any more changes nothing. A lease excludes nobody by itself, because its owner may sleep
//! between looking at it and committing.

use std::sync::OnceLock;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;

/// Since when which node owns a shard. Both are asked for: a failover of the database may forget an epoch, and it is given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    pub shard: i32,
    pub node: i64,
    pub epoch: i64,
}

impl Fence {
    /// One that never stands.
    pub const fn of_nobody() -> Self {
        Self { shard: -1, node: 0, epoch: 0 }
    }
}

/// A statement that only an owner may carry out: as it is where there is one server, and behind the fence where there are several.
pub struct Fenced {
    statement: &'static str,
    /// What it begins to look at its row with, once; the fence stands after it.
    guard: &'static str,
    behind: OnceLock<String>,
}

impl Fenced {
    /// `guard`: a condition of `statement` ends there, and another one may be put after it. One that is not in it does not compile where
    /// this is a static's: the statement would stand before the fence.
    pub const fn new(statement: &'static str, guard: &'static str) -> Self {
        assert!(stands_in(guard.as_bytes(), statement.as_bytes()), "the guard is not in the statement");
        Self { statement, guard, behind: OnceLock::new() }
    }

    /// The row that it gives, at most one; none, too, when the fence does not stand.
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

    /// `FOR SHARE`: whoever claims the shard waits for what is being committed, so that no commit is later than a takeover. The fence's
    /// parameters are after the statement's own.
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
