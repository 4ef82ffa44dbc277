//! One run of the load test against one server, and what it found.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nyala_loadtest::report::{Point, Report};

use super::peer::{Peer, RunningPeer, beside};
use crate::BenchError;

/// The core of the load; the servers have the one before it.
const LOAD_CORE: &str = "1";
/// To prepare and to connect, beside the measurement itself.
const PREPARING: Duration = Duration::from_secs(240);
const KIB_PER_MIB: f64 = 1024.0;
const POLL: Duration = Duration::from_millis(100);

/// What a server has to bear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    pub sessions: u32,
    pub machines: u32,
    /// Machines of one outlet that a session watches.
    pub per_session: u32,
    pub ticks_per_second: u32,
    /// How long is measured.
    pub seconds: u32,
}

/// What a run found.
#[derive(Debug, Clone, Copy)]
pub struct PeerRun {
    /// Microseconds of the server's processor time a delivery.
    pub cpu_us: f64,
    /// Milliseconds between two ticks of a machine, more or less than they should be.
    pub jitter_p99_ms: f64,
    /// Of those that should have come.
    pub missed: u64,
    /// The server's resident memory at the end: to prepare its customers took more of it for a while.
    pub rss_kib: f64,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sessions, machines, per_session, ticks_per_second, .. } = self;
        write!(f, "{sessions} sessions × {per_session} of {machines} machines, {ticks_per_second}/s")
    }
}

impl fmt::Display for PeerRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu_us, jitter_p99_ms, missed, rss_kib } = self;
        write!(f, "{cpu_us:.2} µs, jitter p99 {jitter_p99_ms:.2} ms, {missed} missed, {:.1} MiB", rss_kib / KIB_PER_MIB)
    }
}

/// Starts the server, puts `load` on it and stops it.
///
/// # Errors
/// Why the server or the load test did not get through.
pub async fn run(peer: Peer, load: &Load) -> Result<PeerRun, BenchError> {
    let mut server = peer.start(load).await?;
    let report = std::env::temp_dir().join(format!("nyala-bench-{}-report", std::process::id()));
    let found = put_on(&mut server, load, &report).await.and_then(|()| read(&report));
    // what is not there needs not go
    let _ = fs::remove_dir_all(&report);
    found
}

async fn put_on(server: &mut RunningPeer, load: &Load, report: &Path) -> Result<(), BenchError> {
    let mut tool = Command::new("taskset");
    tool.args(["-c", LOAD_CORE]).arg(beside("nyala-loadtest")?).args(["watch", "--quiet", "--report"]).arg(report);
    // the ledger is not what is measured
    tool.env_remove("NYALA_BIN");
    for (name, value) in [
        ("--sessions", load.sessions),
        ("--machines", load.machines),
        ("--per-session", load.per_session),
        ("--ticks-per-second", load.ticks_per_second),
        ("--seconds", load.seconds),
        ("--server-pid", server.pid),
    ] {
        tool.args([name, &value.to_string()]);
    }
    tool.args(["--url", &format!("http://127.0.0.1:{}", server.port)]);
    match &server.key {
        Some(key) => tool.env("NYALA_KEY", key),
        None => tool.arg("--bare"),
    };
    let mut child = tool.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let limit = PREPARING + Duration::from_secs(load.seconds.into());
    let began = Instant::now();
    while child.try_wait()?.is_none() {
        if began.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(format!("the load test did not end within {} s", limit.as_secs()).into());
        }
        server.settle(load.machines).await?;
        tokio::time::sleep(POLL).await;
    }
    let output = child.wait_with_output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).trim().to_owned().into()) }
}

fn read(report: &Path) -> Result<PeerRun, BenchError> {
    let report = Report::read(report)?;
    let metric = |name: &str| report.metrics.get(name).ok_or_else(|| format!("the load test's report has no {name}"));
    Ok(PeerRun {
        cpu_us: metric("server_cpu_us_per_delivery")?,
        jitter_p99_ms: metric("jitter_p99_ms")?,
        missed: metric("missed")? as u64,
        rss_kib: last_rss_mib(&report.timeline).ok_or("the load test's report has no memory of the server")? * KIB_PER_MIB,
    })
}

fn last_rss_mib(timeline: &[Point]) -> Option<f64> {
    timeline.last()?.server_rss_mib
}

#[cfg(test)]
mod tests {
    use super::{Point, last_rss_mib};

    #[test]
    fn memory_is_that_of_the_end() {
        let second = |server_rss_mib: Option<f64>| Point { server_rss_mib, ..Point::default() };
        assert_eq!(last_rss_mib(&[second(Some(90.0)), second(Some(60.0))]), Some(60.0));
        assert_eq!(last_rss_mib(&[second(None)]), None);
        assert_eq!(last_rss_mib(&[]), None);
    }
}
