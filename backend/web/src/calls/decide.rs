//! Decides about the calls of the outlets that this server owns. Each change is a compare-and-set, so that two servers that both think that they own an
//! outlet call a customer once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::GenericClient;
use nyala_cluster::of_shards;
use nyala_core::calls::{self, Call, Step};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::machine_kind::MachineKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::state::{open_states, undecided_states};
use nyala_ledger::on_sale::{is_on_sale, is_open, runs_unsold};
use nyala_ledger::push_queue::queue_call;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_machines::machines::Machines;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::board::customers::is_connected;
use crate::live::boards::Boards;
use crate::live::customer_board::PublicBoard;

/// The shortest pause.
const EVERY: Duration = Duration::from_secs(1);
/// Each pause is this many times as long as the work before it, which takes about a hundredth of a core, up to the longest pause.
const PAUSE_FACTOR: u32 = 100;
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Condition, as a literal: the machine `m` of the outlet `o` can be bought at `$now`.
macro_rules! is_free {
    ($now:literal) => {
        concat!(
            "(m.aktif AND m.online AND NOT m.perlu_petugas AND NOT ",
            runs_unsold!(),
            " AND ",
            is_on_sale!($now),
            " AND NOT EXISTS (SELECT FROM snap_transaksi f WHERE f.idmesin = m.idmesin AND f.state IN ",
            open_states!(),
            "))"
        )
    };
}

/// The calls that are not over, in the order in which they came. $1 now, $2 the shards (NULL: all).
const CALLS: &str = concat!(
    "
SELECT p.id, p.idoutlet, p.jenis, p.sampai, p.idmesin, p.dipanggil_sampai, EXISTS (
        SELECT FROM snap_transaksi t WHERE t.id_customer_global = p.id_customer_global AND t.idoutlet = p.idoutlet AND t.id > p.sesudah
            AND t.started_at IS NOT NULL) AS mulai, (
        SELECT t.idmesin FROM snap_transaksi t WHERE t.id_customer_global = p.id_customer_global AND t.idoutlet = p.idoutlet AND t.state IN ",
    undecided_states!(),
    " LIMIT 1) AS menahan, ",
    is_open!("$1"),
    " AS buka
FROM panggilan p JOIN outlet o USING (idoutlet) WHERE p.selesai_at IS NULL AND ",
    of_shards!("p.idoutlet", 2),
    " ORDER BY p.id"
);

/// $1 outlet, $2 now, $3 kind. A machine whose kind was changed may still be promised in the queue of the other kind.
const FREE: &str = concat!(
    "
SELECT m.idmesin, m.driver, m.link_node IS NOT NULL AS di_server_lain FROM mesin m JOIN outlet o USING (idoutlet)
WHERE m.idoutlet = $1 AND m.jenis = $3 AND NOT EXISTS (
        SELECT FROM panggilan p WHERE p.idmesin = m.idmesin AND p.selesai_at IS NULL AND p.jenis <> $3) AND ",
    is_free!("$2"),
    " ORDER BY m.idmesin"
);

/// The machines of a kind at an outlet that can be bought now and whose devices are connected.
pub(super) async fn free(
    client: &impl GenericClient,
    mqtt: &Mqtt,
    (idoutlet, kind): (OutletId, MachineKind),
    now: Timestamp,
) -> Result<Vec<MachineId>, DbError> {
    let stmt = client.prepare_cached(FREE).await?;
    let mut free = Vec::new();
    for row in client.query(&stmt, &[&idoutlet, &now, &kind]).await? {
        let id = row.try_get("idmesin")?;
        if is_connected(&row, mqtt, id)? {
            free.push(id);
        }
    }
    Ok(free)
}

/// Condition, as a literal: the call is still what it was when it was decided: to the machine $2 until $3, or both null.
macro_rules! is_unchanged {
    () => {
        "id = $1 AND selesai_at IS NULL AND (idmesin, dipanggil_sampai) IS NOT DISTINCT FROM ($2, $3::TIMESTAMPTZ)"
    };
}

/// $4 now.
const END: &str = concat!("UPDATE panggilan SET selesai_at = $4 WHERE ", is_unchanged!());
const WAIT: &str = concat!("UPDATE panggilan SET idmesin = NULL, dipanggil_sampai = NULL WHERE ", is_unchanged!());
/// $4 now, $5 the machine, $6 until when.
const CALL: &str = concat!(
    "
WITH called AS (
    UPDATE panggilan SET idmesin = $5, dipanggil_sampai = $6 WHERE ",
    is_unchanged!(),
    " RETURNING id, id_customer_global
), ",
    queue_call!("called", "$4"),
    "
SELECT FROM called"
);

/// Decides until the server stops.
pub async fn decide_loop(store: Store, machines: Machines, mqtt: Arc<Mqtt>, boards: Boards<PublicBoard>) {
    loop {
        let began = Instant::now();
        if let Err(e) = decide(&store, &machines, &mqtt, &boards).await {
            tracing::warn!(error = %e, "calls of customers were not read; it will be tried again");
        }
        tokio::time::sleep((began.elapsed() * PAUSE_FACTOR).clamp(EVERY, MAX_PAUSE)).await;
    }
}

async fn decide(store: &Store, machines: &Machines, mqtt: &Mqtt, boards: &Boards<PublicBoard>) -> Result<(), DbError> {
    let shards = machines.ownership().shards();
    if shards.as_ref().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    let now = store.now();
    let client = store.get().await?;
    let stmt = client.prepare_cached(CALLS).await?;
    let mut queues: BTreeMap<(OutletId, MachineKind), (bool, Vec<Call>)> = BTreeMap::new();
    for row in client.query(&stmt, &[&now, &shards]).await? {
        let queue = queues.entry((row.try_get("idoutlet")?, row.try_get("jenis")?)).or_default();
        queue.0 = row.try_get("buka")?;
        queue.1.push(call(&row)?);
    }
    for (of, (is_open, queue)) in queues {
        // What fails in one queue holds up no other.
        let done = async {
            let free = free(&*client, mqtt, of, now).await?;
            for step in calls::decide(&queue, &free, is_open, now) {
                apply(&client, &queue, step, now).await?;
                boards.changed(of.0);
            }
            Ok::<_, DbError>(())
        };
        if let Err(e) = done.await {
            tracing::warn!(error = %e, idoutlet = of.0.get(), kind = of.1.as_str(), "calls were not decided; it will be tried again");
        }
    }
    Ok(())
}

fn call(row: &Row) -> Result<Call, DbError> {
    let machine = row.try_get::<_, Option<_>>("idmesin")?;
    Ok(Call {
        id: row.try_get("id")?,
        until: row.try_get("sampai")?,
        called: machine.zip(row.try_get("dipanggil_sampai")?),
        started: row.try_get("mulai")?,
        holds: row.try_get("menahan")?,
    })
}

async fn apply(client: &DbClient, queue: &[Call], step: Step, now: Timestamp) -> Result<(), DbError> {
    let (Step::End(id) | Step::Wait(id) | Step::Call(id, ..)) = step;
    let before = queue.iter().find(|call| call.id == id).and_then(|call| call.called);
    let (machine, until) = before.unzip();
    match step {
        Step::End(_) => client.execute(&client.prepare_cached(END).await?, &[&id, &machine, &until, &now]).await?,
        Step::Wait(_) => client.execute(&client.prepare_cached(WAIT).await?, &[&id, &machine, &until]).await?,
        Step::Call(_, to, to_until) => {
            let params: [&(dyn ToSql + Sync); 6] = [&id, &machine, &until, &now, &to, &to_until];
            client.execute(&client.prepare_cached(CALL).await?, &params).await?
        }
    };
    Ok(())
}
