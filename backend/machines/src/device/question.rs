//! Questions between servers: the server at which a customer pays asks whether a device that is connected to another server answers
//! (docs/cluster.md). Question and answer are rows of a table, and change notifications announce them.

use std::collections::HashSet;
use std::time::Duration;

use nyala_cluster::error::ClusterError;
use nyala_cluster::membership::is_connected_to_another;
use nyala_cluster::notifications::{Listener, Notification, Received};
use nyala_core::domain::id::QuestionId;
use nyala_store::db::error::DbError;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};
use tokio_postgres::Row;

use super::{PROBE_WITHIN, is_ready_here};
use crate::machines::{Location, Machines};

/// How often questions are read without a change notification.
const EVERY: Duration = Duration::from_millis(300);
/// How often an answer is read.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Timeout of a question: that of a device of this server, plus one polling interval for each direction.
const ANSWERED_WITHIN: Duration = PROBE_WITHIN.saturating_add(EVERY).saturating_add(EVERY);
/// Age at which a question is deleted, in case the server that asked it is gone.
const QUESTION_TTL_MS: i64 = 60_000;
/// Maximum number of devices that are queried at a time; other questions wait in the table.
const MAX_IN_FLIGHT: usize = 256;

const ASK: &str = "INSERT INTO device_question (idmesin, asked_at) VALUES ($1, $2) RETURNING id";

const READ: &str = "SELECT answers FROM device_question WHERE id = $1";
const FORGET: &str = "DELETE FROM device_question WHERE id = $1";

/// Parameters: $1 the moment since when questions count, $2 this server, $3 the questions that are already being answered, $4 how many.
const OPEN: &str = "
WITH old AS (DELETE FROM device_question WHERE asked_at < $1)

SELECT q.id, m.idmesin, m.idoutlet, m.driver FROM device_question q JOIN mesin m USING (idmesin)
WHERE q.answers IS NULL AND q.asked_at >= $1 AND m.link_node = $2 AND q.id <> ALL($3)
ORDER BY q.id LIMIT $4";

const ANSWER: &str = "UPDATE device_question SET answers = $2 WHERE id = $1";

/// Whether the device answers the server that it is connected to. `None`: no server knows, and the stored presence counts.
pub async fn ask(machines: &Machines, of: Location) -> Option<bool> {
    match asked(machines, of).await {
        Ok(answers) => answers,
        Err(e) => {
            tracing::warn!(error = %e, idmesin = of.idmesin.get(), "the server of a device cannot be asked; its stored presence is used");
            None
        }
    }
}

async fn asked(machines: &Machines, of: Location) -> Result<Option<bool>, ClusterError> {
    let parts = machines.parts();
    let Some(me) = machines.ownership().node() else { return Ok(None) };
    let mut notifications = parts.notifier.listen();
    let client = parts.store.get().await?;
    if !is_connected_to_another(&client, of.idmesin, me).await? {
        // A server that is dead would not answer.
        return Ok(None);
    }
    let statement = client.prepare_cached(ASK).await?;
    let id: QuestionId = client.query_one(&statement, &[&of.idmesin, &parts.store.now()]).await?.try_get(0)?;
    drop(client);
    parts.notifier.notify(Notification::Question);
    let until = Instant::now() + ANSWERED_WITHIN;
    let mut answers = None;
    while answers.is_none() && Instant::now() < until {
        // A timeout only means that the answer is read again.
        let _ = timeout_at(until.min(Instant::now() + LOOK_EVERY), answer_to(id, &mut notifications)).await;
        let client = parts.store.get().await?;
        let statement = client.prepare_cached(READ).await?;
        match client.query_opt(&statement, &[&id]).await? {
            Some(row) => answers = row.try_get(0)?,
            // The device has left that server.
            None => return Ok(None),
        }
    }
    let client = parts.store.get().await?;
    client.execute(&client.prepare_cached(FORGET).await?, &[&id]).await?;
    Ok(answers)
}

async fn answer_to(id: QuestionId, notifications: &mut Listener) {
    loop {
        match notifications.next().await {
            Received::Missed => return,
            Received::Notification { notification: Notification::Answer { question }, .. } if question == id => return,
            Received::Notification { .. } | Received::Own(_) => {}
        }
    }
}

/// Answers what other servers ask about devices that are connected here. Runs until the process ends.
pub async fn answer_loop(machines: Machines) {
    let mut every = interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut notifications, mut asked, mut under_way) = (machines.parts().notifier.listen(), JoinSet::new(), HashSet::new());
    loop {
        tokio::select! {
            _ = every.tick() => {}
            () = question(&mut notifications) => {}
            Some(answered) = asked.join_next() => {
                if let Ok(id) = answered {
                    under_way.remove(&id);
                }
                continue;
            }
        }
        match open(&machines, &under_way).await {
            Ok(questions) => {
                for (id, of) in questions {
                    under_way.insert(id);
                    asked.spawn(answer(machines.clone(), id, of));
                }
            }
            Err(e) => tracing::warn!(error = %e, "what other servers ask about devices cannot be read; it will be tried again"),
        }
    }
}

async fn question(notifications: &mut Listener) {
    while !matches!(
        notifications.next().await,
        Received::Missed | Received::Notification { notification: Notification::Question, .. }
    ) {}
}

async fn open(machines: &Machines, under_way: &HashSet<QuestionId>) -> Result<Vec<(QuestionId, Location)>, DbError> {
    let Some(me) = machines.ownership().node() else { return Ok(Vec::new()) };
    let since = machines.parts().store.now().plus_ms(-QUESTION_TTL_MS);
    let (under_way, room): (Vec<QuestionId>, _) =
        (under_way.iter().copied().collect(), MAX_IN_FLIGHT.saturating_sub(under_way.len()));
    let client = machines.parts().recovery.get().await?;
    let statement = client.prepare_cached(OPEN).await?;
    let rows = client.query(&statement, &[&since, &me, &under_way, &i64::try_from(room).unwrap_or(0)]).await?;
    let read = |row: &Row| -> Result<(QuestionId, Location), DbError> {
        Ok((row.try_get(0)?, Location { idmesin: row.try_get(1)?, idoutlet: row.try_get(2)?, driver: row.try_get(3)? }))
    };
    rows.iter().map(read).collect()
}

/// Answers one question and returns its id, whatever the result: a question that could not be answered is read again.
async fn answer(machines: Machines, id: QuestionId, of: Location) -> QuestionId {
    let answers = is_ready_here(&machines, of).await;
    let delivered = async {
        let client = machines.parts().recovery.get().await?;
        match answers {
            Some(answers) => client.execute(&client.prepare_cached(ANSWER).await?, &[&id, &answers]).await?,
            None => client.execute(&client.prepare_cached(FORGET).await?, &[&id]).await?,
        };
        machines.parts().notifier.notify(Notification::Answer { question: id });
        Ok::<_, DbError>(())
    };
    if let Err(e) = delivered.await {
        tracing::warn!(error = %e, idmesin = of.idmesin.get(), "cannot answer another server's question about a device, retrying");
    }
    id
}
