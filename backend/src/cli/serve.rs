//! `nyala serve`: the port, the database, the schema, the demo, the workers; and all of it down again on SIGTERM.

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::{Gagal, Umum, konteks};
use crate::app::AppState;
use crate::db::lock::ServerLock;
use crate::db::source::{Purpose, Source};
use crate::demo::{self, Seeded};
use crate::server;

#[derive(Debug, Args)]
pub struct Serve {
    /// Address to listen on; the same as --set http.host=
    #[arg(long)]
    host: Option<String>,
    /// Port to listen on; the same as --set http.port=
    #[arg(long)]
    port: Option<u16>,
}

impl Serve {
    pub fn run(self, mut umum: Umum) -> Result<(), Gagal> {
        umum.set.extend(self.host.map(|host| format!("http.host={host}")));
        umum.set.extend(self.port.map(|port| format!("http.port={port}")));
        let mut config = konteks::settings(&umum)?;
        let listener = server::bind(&config)?;
        let source = Source::open(&mut config, Purpose::Serve)?;
        let url = source.url().to_owned();
        actix_web::rt::System::new().block_on(async move {
            let workers = server::workers(&config);
            let state = AppState::build(config, &url, workers).await?;
            let mut lock = ServerLock::take(state.db.config()).await?;
            if state.config.dev.seed_demo && demo::seed(&state.db, &state.secrets, state.jam.now()).await? == Seeded::Now {
                tracing::info!("the demo is seeded");
            }
            let (running, handle) = server::start(&state, listener)?;
            let running = actix_web::rt::spawn(running);
            server::open(&state).await?;
            let ended = tokio::select! {
                () = told_to_stop()? => Ok(()),
                () = lock.lost() => Err(Gagal::new("the connection that holds the server's lock is lost")),
            };
            state.set_ready(false);
            handle.stop(true).await;
            running.await??;
            ended
        })
    }
}

/// Returns when SIGTERM or Ctrl-C comes.
fn told_to_stop() -> std::io::Result<impl Future<Output = ()>> {
    let (mut term, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
