//! socketioxide as its documentation does it: axum, a room a machine, `io.to(room).emit(…)`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nyala_bench_peers::{PING_INTERVAL_MS, PING_TIMEOUT_MS, Run, Schedule, Settings, machine_of, now_ms, topic};
use serde_json::Value;
use socketioxide::SocketIo;
use socketioxide::extract::{AckSender, Data, SocketRef};
use tokio::net::TcpSocket;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::from_env()?;
    let run = Run::begin();
    // Since somebody subscribed; nobody leaves during a measurement.
    let watched: Arc<[AtomicBool]> = (0..settings.machines).map(|_| AtomicBool::new(false)).collect();
    let seen = watched.clone();
    let (layer, io) = SocketIo::builder()
        .ping_interval(Duration::from_millis(PING_INTERVAL_MS.unsigned_abs()))
        .ping_timeout(Duration::from_millis(PING_TIMEOUT_MS.unsigned_abs()))
        .build_layer();
    io.ns("/", async move |socket: SocketRef, Data::<Value>(_auth)| {
        let seen = seen.clone();
        socket.on("subscribe", async move |socket: SocketRef, Data::<String>(topic), ack: AckSender| {
            if let Some(idmesin) = machine_of(&topic, settings.machines) {
                socket.join(topic);
                seen[idmesin as usize - 1].store(true, Ordering::Relaxed);
                // a client that is gone hears no answer
                let _ = ack.send(&run.snapshot());
            }
        });
    });
    tokio::spawn(tick(io, settings, run, watched));
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(([127, 0, 0, 1], settings.port).into())?;
    let listener = socket.listen(4096)?;
    settings.listening();
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| _ = stream.set_nodelay(true));
    Ok(axum::serve(listener, axum::Router::new().layer(layer)).await?)
}

async fn tick(io: SocketIo, settings: Settings, run: Run, watched: Arc<[AtomicBool]>) {
    let mut schedule = Schedule::new(settings);
    loop {
        let wait = schedule.due().saturating_sub(now_ms());
        tokio::time::sleep(Duration::from_millis(u64::try_from(wait).unwrap_or(0))).await;
        for idmesin in schedule.take() {
            if !watched[*idmesin as usize - 1].load(Ordering::Relaxed) {
                continue;
            }
            let topic = topic(*idmesin);
            // fails for a client that is slow or gone, which counts as missed there
            let _ = io.to(topic.clone()).emit(topic, &run.tick()).await;
        }
    }
}
