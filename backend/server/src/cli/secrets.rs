//! `nyala secrets`: the keys of secrets.toml. They rotate while servers run (docs/operations.md, "Rotating keys").

use std::time::{Duration, Instant};

use clap::Subcommand;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use nyala_cluster::membership;
use nyala_store::db::keys;
use nyala_store::db::lock;
use nyala_store::secrets::{GoodKids, Secrets, What};
use tokio_postgres::Client;

use super::context::{self, CommandContext, PRINCIPAL};
use super::{CommonArgs, Failure, output};

/// How long the running server may take to read the file again, and how often it is looked whether it has.
const LOADED_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// List the good keys: what, kid, since, and whether it signs (good) or is only accepted (old)
    List,
    /// Make a new key; what the one before has signed stays good (tokens: 30 days, else until it is retired)
    Rotate {
        #[arg(value_parser = purposes())]
        what: What,
    },
    /// End a key that was replaced: nothing that it has signed is accepted any more
    Retire {
        #[arg(value_parser = purposes())]
        what: What,
        kid: String,
    },
}

fn purposes() -> impl TypedValueParser<Value = What> {
    let all = What::ALL.map(|what| PossibleValue::new(what.as_str()).help(what.meaning()));
    PossibleValuesParser::new(all).try_map(|what| what.parse::<What>())
}

impl SecretsCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        match self {
            Self::List => context::run(common, list),
            Self::Rotate { what } => context::run(common, async |k| rotate(k, what).await),
            Self::Retire { what, kid } => context::run(common, async |k| retire(k, what, &kid).await),
        }
    }
}

async fn list(k: &CommandContext) -> Result<(), Failure> {
    let secrets = k.secrets().await?;
    let dates = keys::dates(&***k.client().await?).await?;
    let mut lines = Vec::new();
    for what in What::ALL {
        for kid in secrets.kids(what).into_iter().filter(|kid| !secrets.has_ended(what, *kid, k.now)) {
            let since = secrets.since(what, kid).or_else(|| dates.get(&(what, kid)).copied()).unwrap_or(k.now);
            let state = if kid == secrets.newest(what) { "good" } else { "old" };
            lines.push(format!("{} {kid} {} {state}", what.as_str(), since.rfc3339()));
        }
    }
    output::print(&lines.join("\n"), output::NOTHING)
}

async fn rotate(k: &CommandContext, what: What) -> Result<(), Failure> {
    let mut client = k.client().await?;
    let oldest = membership::oldest_live_release(&***client).await?;
    if let Some(older) = oldest.filter(|oldest| !oldest.can_read(keys::READ_SINCE)) {
        return Err(Failure::new(format!(
            "server {} runs {}, which cannot read a file with rotated keys; upgrade it first. Nothing was changed",
            older.name, older.version
        )));
    }
    if !is_loaded(&client, &k.secrets().await?).await? {
        return Err(Failure::new(
            "the running server does not work with this secrets.toml: it is of an older program, which cannot read rotated keys, or its \
             log says what is wrong with the file; start it with this program. Nothing was changed",
        ));
    }
    let tx = client.transaction().await?;
    let (rotation, secrets) = keys::rotate(&tx, &k.config.data.dir, what, PRINCIPAL, k.now).await?;
    tx.commit().await?;
    follow(&client, &secrets).await?;
    let done = format!("{}: {} -> {}", what.as_str(), rotation.from, rotation.to);
    output::print(&done, &done)
}

async fn retire(k: &CommandContext, what: What, kid: &str) -> Result<(), Failure> {
    let mut client = k.client().await?;
    let newest = k.secrets().await?.newest(what);
    let lacks = |good: &GoodKids| !good.get(&what).is_some_and(|kids| kids.contains(&newest));
    if let Some((server, _)) = membership::keys(&client).await?.into_iter().find(|(_, good)| lacks(good)) {
        return Err(Failure::new(format!(
            "server {server} lacks key {newest} of {} and signs with an older one; copy secrets.toml to it first. Nothing was changed",
            what.as_str()
        )));
    }
    let tx = client.transaction().await?;
    let (kid, secrets) = keys::retire(&tx, &k.config.data.dir, (what, kid), PRINCIPAL, k.now).await?;
    tx.commit().await?;
    follow(&client, &secrets).await?;
    let done = format!("{}: {kid} retired", what.as_str());
    output::print(&done, &done)
}

/// Waits for the running server, so that what was changed is true when the command ends. In a cluster the file has to be copied first.
async fn follow(client: &Client, secrets: &Secrets) -> Result<(), Failure> {
    if !is_loaded(client, secrets).await? {
        output::warn(
            "nyala: the running server has not read secrets.toml again yet: its log says why. Send it SIGHUP to try again",
        );
    }
    if !membership::keys(client).await?.is_empty() {
        output::warn(
            "nyala: copy secrets.toml to the other servers of the cluster and send them SIGHUP; GET /readyz says who lacks a key",
        );
    }
    Ok(())
}

/// Waits a while for a server that is alone to work with these keys; true without one.
async fn is_loaded(client: &Client, secrets: &Secrets) -> Result<bool, Failure> {
    let began = Instant::now();
    while lock::is_served_alone(client).await? && !keys::is_loaded(client, secrets).await? {
        if began.elapsed() > LOADED_WITHIN {
            return Ok(false);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(true)
}
