//! Position of the database in its own history. After a restore, a failover or a copy of its folder, the database continues from an earlier
//! moment. It would assign ids again that were already assigned, and devices would refuse the epochs of their machines. So ids and epochs
//! jump ahead before anything is served (docs/operations.md, "After a restore").

use std::time::{Duration, Instant};

use deadpool_postgres::{ClientWrapper, Transaction};
use nyala_core::domain::timestamp::Timestamp;
use serde_json::{Value, json};
use tokio_postgres::{Client, Error};

use super::audit::{self, AuditEntry};
use super::clock::database_now;
use super::error::DbError;

/// Ids and epochs jump by this number for each timeline. It is larger than the number of ids that are assigned between a backup and its restore,
/// and so small that JavaScript's exact integers (2^53) last for a jump each week of 100 million years.
pub const STEP: i64 = 1_000_000;
/// Serialises the jumps of several servers on one database.
const JUMP_LOCK: i64 = 0x4e59_414c_4106;
const RESTORED: &str = "basis_data.dipulihkan";
/// For a jump of 10,000 machines on a slow disk. Connections wait for it.
const LIMIT: Duration = Duration::from_secs(60);

/// A standby is not compared: it takes no writes. A schema of before this table has nothing to compare.
const IS_KEPT: &str = "SELECT NOT pg_is_in_recovery() AND to_regclass('database_state') IS NOT NULL";

/// The timeline is read from the name of the WAL file: after a promotion the control file shows the old one until a checkpoint.
macro_rules! actual {
    () => {
        "SELECT c.system_identifier, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::BIT(32)::INTEGER AS timeline
         FROM pg_control_system() c"
    };
}
const COMPARE: &str = concat!(
    "SELECT s.system_identifier = c.system_identifier AND s.timeline = c.timeline FROM database_state s, (",
    actual!(),
    ") c"
);
const STORED: &str = "SELECT system_identifier, timeline, instance FROM database_state FOR UPDATE";

/// Not transactional: a jump that is cut off repeats it, which skips more numbers and does no harm.
const SEQUENCES: &str = "
SELECT setval(c.oid::REGCLASS, coalesce(pg_sequence_last_value(c.oid::REGCLASS), 0) + $1)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'S' AND n.nspname = current_schema()";
const MACHINES: &str = "UPDATE mesin SET epoch = epoch + $1";
/// A failover moves no shard: the servers of the cluster keep theirs, with a new epoch. A server is one of them when its last heartbeat
/// is among the newest in the database. The current time is not compared, because the database was unavailable or is an old copy.
const SHARDS: &str = "
UPDATE shard SET epoch = epoch + $1, idnode = CASE WHEN idnode IN (
    SELECT idnode FROM node WHERE NOT leaving AND alive_until > (SELECT max(alive_until) FROM node) - INTERVAL '2 seconds') THEN idnode END";
/// Payments may have been reported to what was lost: each bill that is not paid is asked about.
const HAS_BILLS: &str = "SELECT to_regclass('tagihan') IS NOT NULL";
const BILLS: &str = "
UPDATE tagihan SET tanya_at = $1 WHERE status NOT IN ('dibayar', 'tertahan') AND created_at > $1::TIMESTAMPTZ - INTERVAL '7 days'";
const KEEP: &str = "
UPDATE database_state SET system_identifier = $1, timeline = $2, instance = $3, not_before = coalesce($4, not_before),
    jumps = jumps + 1, changed_at = $5";
const END_SESSIONS: &str = "UPDATE sesi_petugas SET keluar_at = $1 WHERE keluar_at IS NULL";

/// Why ids and epochs jump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// A point-in-time recovery, or a failover.
    Timeline,
    /// A dump that was restored into another cluster.
    Identifier,
    /// The data folder was copied or moved; the new id of its instance.
    Copy { instance: String },
    /// Declared by an operator, because the copy itself shows no change.
    Command,
}

impl Cause {
    const fn as_str(&self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Identifier => "identifier",
            Self::Copy { .. } => "copy",
            Self::Command => "command",
        }
    }
}

/// Where a database is in its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HistoryPlace {
    system_identifier: i64,
    timeline: i32,
}

/// A jump that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jump {
    /// How far ids and epochs went.
    pub by: i64,
    /// Timelines before and now.
    pub timelines: (i32, i32),
}

/// How a jump is made.
#[derive(Debug, Clone)]
pub struct Plan {
    pub cause: Cause,
    /// Least number of steps: a restore from a backup that was restored before jumps past the earlier ones.
    pub steps: i64,
    /// Tokens of customers from before are worthless, and the tills' sessions end.
    pub log_out: bool,
}

/// Whether the database is where its servers left it.
///
/// # Errors
/// When the database does not answer.
pub async fn is_settled(client: &Client) -> Result<bool, Error> {
    if !client.query_typed_one(IS_KEPT, &[]).await?.get::<_, bool>(0) {
        return Ok(true);
    }
    Ok(client.query_typed_opt(COMPARE, &[]).await?.is_none_or(|row| row.get(0)))
}

/// Jumps when the database is not where its servers left it. Of several servers one does, and the others wait for it.
///
/// # Errors
/// When the database does not answer within a minute.
pub async fn settle(client: &mut ClientWrapper) -> Result<Option<Jump>, DbError> {
    within(jump_if(client, |before, now| {
        let cause = if before.system_identifier == now.system_identifier { Cause::Timeline } else { Cause::Identifier };
        (before != now).then_some(Plan { cause, steps: 1, log_out: false })
    }))
    .await
}

/// Jumps as planned.
///
/// # Errors
/// When the database does not answer within a minute.
pub async fn jump(client: &mut ClientWrapper, plan: Plan) -> Result<Jump, DbError> {
    let jumped = within(jump_if(client, |_, _| Some(plan))).await?;
    jumped.ok_or_else(|| DbError::broken("the database has no database_state: run `nyala migrate`"))
}

/// The id of the instance that served the database last; `None` when it was never stored.
///
/// # Errors
/// When the database does not answer.
pub async fn instance(client: &Client) -> Result<Option<String>, Error> {
    Ok(client.query_one("SELECT instance FROM database_state", &[]).await?.get(0))
}

/// The moment of the newest entry in the ledger or the audit log.
///
/// # Errors
/// When the database does not answer.
pub async fn last_entry(client: &Client) -> Result<Option<Timestamp>, Error> {
    const NEWEST: &str = "
        SELECT greatest((SELECT created_at FROM ledger_transfer ORDER BY id DESC LIMIT 1),
            (SELECT created_at FROM audit_log ORDER BY id DESC LIMIT 1))";
    Ok(client.query_one(NEWEST, &[]).await?.get(0))
}

/// Stores the id of the instance that serves the database.
///
/// # Errors
/// When the database does not answer.
pub async fn keep_instance(client: &Client, instance: &str) -> Result<(), Error> {
    client.execute("UPDATE database_state SET instance = $1", &[&instance]).await.map(drop)
}

async fn within<T>(work: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
    let limit = || DbError::broken("the jump of ids and epochs after a restore did not end within a minute");
    tokio::time::timeout(LIMIT, work).await.unwrap_or_else(|_| Err(limit()))
}

async fn jump_if(
    client: &mut ClientWrapper,
    plan: impl FnOnce(HistoryPlace, HistoryPlace) -> Option<Plan>,
) -> Result<Option<Jump>, DbError> {
    let (moment, since) = (database_now(client).await?, Instant::now());
    let tx = client.transaction().await?;
    tx.batch_execute("SET LOCAL statement_timeout = '60s'; SET LOCAL lock_timeout = '60s'").await?;
    tx.query_one("SELECT pg_advisory_xact_lock($1)", &[&JUMP_LOCK]).await?;
    let Some(row) = tx.query_opt(STORED, &[]).await? else { return Ok(None) };
    let (before, instance) =
        (HistoryPlace { system_identifier: row.get(0), timeline: row.get(1) }, row.get::<_, Option<String>>(2));
    let row = tx.query_one(actual!(), &[]).await?;
    let now = HistoryPlace { system_identifier: row.get(0), timeline: row.get(1) };
    let Some(plan) = plan(before, now) else { return Ok(None) };
    let jump = Jump {
        by: STEP * i64::from(now.timeline - before.timeline).max(plan.steps).max(1),
        timelines: (before.timeline, now.timeline),
    };
    write(&tx, &plan, jump, (before, now), instance, moment).await?;
    tx.commit().await?;
    let (cause, by, ms) = (plan.cause.as_str(), jump.by, since.elapsed().as_millis());
    tracing::warn!(
        cause,
        by,
        ms,
        "the database continues from an earlier moment (a restore, a failover or a copy): ids and epochs jump ahead"
    );
    Ok(Some(jump))
}

async fn write(
    tx: &Transaction<'_>,
    plan: &Plan,
    jump: Jump,
    (before, now): (HistoryPlace, HistoryPlace),
    old_instance: Option<String>,
    moment: Timestamp,
) -> Result<(), DbError> {
    tx.query(SEQUENCES, &[&jump.by]).await?;
    tx.execute(MACHINES, &[&jump.by]).await?;
    tx.execute(SHARDS, &[&jump.by]).await?;
    if tx.query_one(HAS_BILLS, &[]).await?.get(0) {
        tx.execute(BILLS, &[&moment]).await?;
    }
    let (instance, (from, to)): (_, (Value, Value)) = match &plan.cause {
        Cause::Copy { instance } => (Some(instance), (json!(old_instance), json!(instance))),
        // Text: past the integers that JavaScript keeps exact.
        Cause::Identifier => (None, (json!(before.system_identifier.to_string()), json!(now.system_identifier.to_string()))),
        Cause::Timeline | Cause::Command => (None, (json!(before.timeline), json!(now.timeline))),
    };
    let not_before = plan.log_out.then_some(moment);
    if plan.log_out {
        tx.execute(END_SESSIONS, &[&moment]).await?;
    }
    tx.execute(KEEP, &[&now.system_identifier, &now.timeline, &instance, &not_before, &moment]).await?;
    let content = json!({ "sebab": plan.cause.as_str(), "dari": from, "ke": to });
    let principal = if plan.cause == Cause::Command { "cli" } else { "sistem" };
    let entry = AuditEntry { principal, action: RESTORED, object: "database_state:1".to_owned(), content };
    audit::write(tx, &entry, moment).await
}
