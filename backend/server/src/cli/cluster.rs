//! `nyala cluster`: the servers that share a database.

use clap::Subcommand;
use nyala_cluster::membership;
use nyala_cluster::standbys::{self, Standby};
use nyala_core::domain::shard::SHARDS;

use super::context::{self, CommandContext};
use super::{CommonArgs, Failure, output};

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Every server of the last day: whether it is alive, its shards and devices, its last heartbeat and change notification; and the
    /// database's standbys
    Status,
}

impl ClusterCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        match self {
            Self::Status => context::run(common, status),
        }
    }
}

async fn status(k: &CommandContext) -> Result<(), Failure> {
    let client = k.client().await?;
    let nodes = membership::status(&client).await?;
    let mut text = "name\tnode\tstate\tshards\tdevices\tbeat\ttook\tclock\tnews\tversion\tstarted\n".to_owned();
    for node in &nodes {
        let state = match (node.is_alive, node.leaving, node.in_grace_period) {
            (false, ..) => "dead",
            (_, true, _) => "leaving",
            (_, _, true) => "late",
            _ => "lives",
        };
        text += &format!(
            "{}\t{}\t{state}\t{}\t{}\t{:.1} s ago\t{:.1} ms\t{:+.1} ms\t{}\t{}\t{}\n",
            node.name,
            node.idnode,
            node.shards,
            node.devices,
            node.silent_ms / 1_000.0,
            node.last.took_ms,
            -node.last.ahead_ms,
            node.last.notification_ms.map_or_else(|| "none".to_owned(), |ms| format!("{ms:.1} ms")),
            node.version,
            node.started_at.rfc3339(),
        );
    }
    let owned: i64 = nodes.iter().filter(|node| node.is_alive).map(|node| node.shards).sum();
    let free = i64::from(SHARDS) - owned;
    match nodes.iter().filter(|node| node.is_alive).count() {
        0 => text += "no server lives, or cluster.enabled is not set\n",
        alive => text += &format!("{alive} live, {free} of {SHARDS} shards have no owner\n"),
    }
    text += &standbys_text(standbys::all(&client).await?);
    output::print(&text, output::NOTHING)
}

fn standbys_text(standbys: Option<Vec<Standby>>) -> String {
    let Some(standbys) = standbys else {
        return "standbys: this role may not see them (GRANT pg_monitor TO <role>)".to_owned();
    };
    let mut text = "standby\taddress\tstate\tsync\tlag\tbehind\n".to_owned();
    for standby in standbys {
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let lag = or_none(standby.lag_ms.map(|ms| format!("{ms:.1} ms")));
        let behind = or_none(standby.behind.map(|bytes| format!("{bytes} B")));
        text += &format!("{}\t{}\t{}\t{}\t{lag}\t{behind}\n", standby.name, standby.address, standby.state, standby.sync);
    }
    text
}
