//! How long ten thousand sockets take to subscribe while ticks go out, and to come back when all of them were cut at once.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clap::Args;
use futures_util::future::try_join_all;

use crate::results::Figures;
use crate::running;
use crate::server::Scratch;
use crate::websocket::Websocket;
use crate::{BenchError, db, shop};

/// For all of them to have done a step.
const LIMIT: Duration = Duration::from_secs(60);
/// Between two steps: a few ticks.
const PAUSE: Duration = Duration::from_secs(3);
/// A customer may have ten.
pub const SOCKETS_PER_CUSTOMER: usize = 8;

#[derive(Debug, PartialEq, Eq, Args)]
pub struct Sessions {
    /// Sockets, each of which watches other machines
    #[arg(long, default_value_t = Self::default().sockets, value_parser = clap::value_parser!(u32).range(1..=19_000))]
    sockets: u32,
}

impl Default for Sessions {
    fn default() -> Self {
        Self { sockets: 10_000 }
    }
}

impl Sessions {
    /// A rough figure.
    pub fn quick() -> Self {
        Self { sockets: 1000 }
    }

    /// # Errors
    /// When a socket is refused, or receives nothing for a minute.
    pub async fn run(&self) -> Result<Figures, BenchError> {
        let (scratch, n) = (Scratch::make()?, self.sockets as usize);
        let mut server = scratch.start().await?;
        let shop = shop::open(&server, 1, n.div_ceil(SOCKETS_PER_CUSTOMER)).await?;
        server.stop().await?;
        let machines = {
            let postgres = db::open(&scratch.data())?;
            running::fill(&db::connect(&postgres).await?, &shop, 2 * n).await?
        };
        let mut server = scratch.start().await?;
        let tokens: Vec<&str> = (0..n).map(|i| &*shop.customers[i / SOCKETS_PER_CUSTOMER].token).collect();
        let (first, second) = machines.split_at(n);

        let (mut sockets, connected) = connect(server.address(), &tokens, first).await?;
        tokio::time::sleep(PAUSE).await;
        let subscribed = subscribe(&mut sockets, second).await?;
        tokio::time::sleep(PAUSE).await;
        drop(sockets);
        let (sockets, reconnected) = connect(server.address(), &tokens, first).await?;
        drop(sockets);
        server.stop().await?;
        let seconds = |d: Duration| format!("**{:.2} s**", d.as_secs_f64());
        Ok(Figures::list(
            format!("{n} sockets that subscribe and come back"),
            &[
                format!("From nothing to the last acknowledgement of a subscribe, all at once: {}", seconds(connected)),
                format!(
                    "A second subscribe on every one while ticks go out, until the last acknowledgement: {} (aim: at most 0.5 s)",
                    seconds(subscribed)
                ),
                format!(
                    "All cut at once, until each is back and its subscribe acknowledged: {} (aim: at most 1.5 s)",
                    seconds(reconnected)
                ),
                "The clients are one thread of this program, whose work is in these times".to_owned(),
            ],
        ))
    }
}

/// Opens a socket for each token, all at once, each of which subscribes to its machine.
async fn connect(address: SocketAddr, tokens: &[&str], machines: &[i64]) -> Result<(Vec<Websocket>, Duration), BenchError> {
    let began = Instant::now();
    let all = tokens.iter().zip(machines).map(async |(token, idmesin)| {
        let mut socket = Websocket::connect(address, token).await?;
        acknowledged(&mut socket, *idmesin).await?;
        Ok::<_, BenchError>(socket)
    });
    let sockets = tokio::time::timeout(LIMIT, try_join_all(all)).await??;
    Ok((sockets, began.elapsed()))
}

async fn subscribe(sockets: &mut [Websocket], machines: &[i64]) -> Result<Duration, BenchError> {
    let began = Instant::now();
    let all = sockets.iter_mut().zip(machines).map(async |(socket, idmesin)| acknowledged(socket, *idmesin).await);
    tokio::time::timeout(LIMIT, try_join_all(all)).await??;
    Ok(began.elapsed())
}

/// Subscribes to a machine that runs.
///
/// # Errors
/// When the answer says otherwise.
pub async fn acknowledged(socket: &mut Websocket, idmesin: i64) -> Result<(), BenchError> {
    let answer = socket.subscribe(idmesin).await?;
    let runs = answer.status == 200 && answer.tl.is_some_and(|tl| tl > 0);
    if runs { Ok(()) } else { Err(format!("machine {idmesin} should run: {answer:?}").into()) }
}
