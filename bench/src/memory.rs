//! What a session keeps in the server's memory, of sessions as phones open them: polling first, then upgraded.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use futures_util::{StreamExt, TryStreamExt, stream};
use nyala_loadtest::process::Used;
use nyala_loadtest::target::make_room;

use crate::results::Figures;
use crate::server::{Scratch, pid};
use crate::sessions::{SOCKETS_PER_CUSTOMER, acknowledged};
use crate::websocket::Websocket;
use crate::{BenchError, db, running, shop};

/// Sessions that are opened at the same time.
const AT_ONCE: usize = 32;
/// After the last has come: what was only needed to open them is gone, and every machine has ticked.
const SETTLE: Duration = Duration::from_secs(5);
const MACHINES: usize = 10_000;

#[derive(Debug, PartialEq, Eq, Args)]
pub struct SessionMemory {
    /// Sessions when the memory is looked at first
    #[arg(long, default_value_t = Self::default().few, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    few: u32,
    /// Sessions when it is looked at again; a process may have 20,000 descriptors here
    #[arg(long, default_value_t = Self::default().many, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    many: u32,
}

impl Default for SessionMemory {
    fn default() -> Self {
        Self { few: 5000, many: 19_800 }
    }
}

impl SessionMemory {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { few: 500, many: 2000 }
    }

    /// # Errors
    /// When a session is refused.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let (few, many) = (self.few as usize, self.many as usize);
        if few >= many {
            return Err(format!("--few {few} must be less than --many {many}").into());
        }
        make_room(many)?;
        let scratch = Scratch::make()?;
        let mut server = scratch.start().await?;
        let shop = shop::open(&server, 1, many.div_ceil(SOCKETS_PER_CUSTOMER)).await?;
        server.stop().await?;
        let machines = {
            let postgres = db::open(&scratch.data())?;
            running::fill(&db::connect(&postgres).await?, &shop, MACHINES).await?
        };
        let mut server = scratch.start().await?;
        let visits: Vec<(&str, i64)> =
            (0..many).map(|i| (&*shop.customers[i / SOCKETS_PER_CUSTOMER].token, machines[i % machines.len()])).collect();
        let first = open(server.address(), &visits[..few]).await?;
        tokio::time::sleep(SETTLE).await;
        let before = Used::of(pid(&server)?)?.rss_kib as f64;
        let rest = open(server.address(), &visits[few..]).await?;
        tokio::time::sleep(SETTLE).await;
        let after = Used::of(pid(&server)?)?.rss_kib as f64;
        let open = server.metric("nyala_sessions").await?;
        drop((first, rest));
        server.stop().await?;
        if open != f64::from(self.many) {
            return Err(format!("{many} sessions were opened, and the server has {open}").into());
        }
        Ok(Figures::list(
            format!("Memory of a session, from {few} to {many}"),
            &[
                match grown_by(before, after, self.many - self.few) {
                    Some(kib) => format!(
                        "**{kib:.2} KiB** resident a session that came by polling, was upgraded and watches a machine (aim: at most 2)"
                    ),
                    None => format!(
                        "A session: not measured. From {few} to {many} sessions the server's memory did not grow, because what its start \
                         had used was given back meanwhile: give a larger --many"
                    ),
                },
                format!("Whole server: {:.1} MiB with {few}, {:.1} MiB with {many}", before / 1024.0, after / 1024.0),
            ],
        ))
    }
}

/// What each of `many` more takes of `before` and `after`; `None` when the memory did not grow: other parts
/// released more than these took.
pub fn grown_by(before: f64, after: f64, many: u32) -> Option<f64> {
    let each = (after - before) / f64::from(many);
    (each > 0.0 && each.is_finite()).then_some(each)
}

/// A session for each token, which watches its machine.
async fn open(address: SocketAddr, visits: &[(&str, i64)]) -> Result<Vec<Websocket>, BenchError> {
    let all = visits.iter().map(async |(token, idmesin)| {
        let mut websocket = Websocket::upgraded(address, token).await?;
        acknowledged(&mut websocket, *idmesin).await?;
        Ok::<_, BenchError>(websocket)
    });
    stream::iter(all).buffer_unordered(AT_ONCE).try_collect().await
}

#[cfg(test)]
mod tests {
    use super::grown_by;

    #[test]
    fn what_cannot_be_is_no_figure() {
        assert_eq!(grown_by(1_000.0, 4_000.0, 1_500), Some(2.0));
        assert_eq!(grown_by(58_000.0, 52_030.0, 1_500), None, "-3.98 KiB a session");
        assert_eq!(grown_by(1_000.0, 1_000.0, 1_500), None);
    }
}
