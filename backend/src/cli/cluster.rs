//! `nyala cluster`: the servers that share a database.

use clap::Subcommand;

use super::context::{self, CommandContext};
use super::{CommonArgs, Failure};
use crate::cluster::{SHARDS, membership};

#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Every server of the last day: whether it lives, its shards and devices, and how its last beat went
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
    let nodes = membership::status(&*k.client().await?).await?;
    println!("name\tnode\tstate\tshards\tdevices\tbeat\ttook\tclock\tversion\tstarted");
    for node in &nodes {
        let state = match (node.lives, node.leaving, node.late) {
            (false, ..) => "dead",
            (_, true, _) => "leaving",
            (_, _, true) => "late",
            _ => "lives",
        };
        println!(
            "{}\t{}\t{state}\t{}\t{}\t{:.1} s ago\t{:.1} ms\t{:+.1} ms\t{}\t{}",
            node.name,
            node.idnode,
            node.shards,
            node.devices,
            node.silent_ms / 1_000.0,
            node.last.took_ms,
            -node.last.ahead_ms,
            node.version,
            node.started_at.rfc3339(),
        );
    }
    let owned: i64 = nodes.iter().filter(|node| node.lives).map(|node| node.shards).sum();
    let free = i64::from(SHARDS) - owned;
    match nodes.iter().filter(|node| node.lives).count() {
        0 => println!("no server lives, or cluster.enabled is not set"),
        lives => println!("{lives} live, {free} of {SHARDS} shards have no owner"),
    }
    Ok(())
}
