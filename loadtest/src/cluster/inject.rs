//! Carries out a fault, and repairs it.

use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::NAMES;
use super::cut_proxy::Cut;
use super::fault::{Fault, InjectedFault};
use super::nats::Nats;
use super::shards::Shards;
use super::site::{NodeProxies, Site};

/// A killed server's name becomes free when its lease has expired.
const RESTARTED_AFTER: Duration = Duration::from_secs(2);
const PAUSED_FOR: Duration = Duration::from_secs(5);
/// How long PostgreSQL is frozen, or a connection of a server or of the load balancer is cut.
const CUT_FOR: Duration = Duration::from_secs(4);
const NATS_CUT_FOR: Duration = Duration::from_secs(10);
const PROMOTED_AFTER: Duration = Duration::from_millis(300);
/// How long the primary is without standbys before one is promoted, and how long it then runs beside the new primary.
const ALONE_FOR: Duration = Duration::from_secs(1);
const BESIDE_FOR: Duration = Duration::from_secs(1);
/// Pause after a stall or failover, so that the shards that move because of it are counted with it.
const CALM: Duration = Duration::from_secs(5);

impl Site {
    /// Carries out one fault and repairs it. Fails when that was not possible. The second value is a broken guarantee, if there is one.
    pub async fn inject(
        &mut self,
        fault: Fault,
        at: Duration,
        shards: &mut Shards,
    ) -> Result<(InjectedFault, Option<String>), String> {
        let before = shards.epochs().await?;
        let since = Instant::now();
        let (mut taken, mut whole_after) = (None, None);
        match fault {
            Fault::Kill(node) => {
                let id = shards.node(NAMES[node]).await?;
                let since = Instant::now();
                self.nodes[node].kill_program().await?;
                taken = Some(shards.taken(id, since).await);
                tokio::time::sleep(RESTARTED_AFTER.saturating_sub(since.elapsed())).await;
                self.nodes[node].start().await?;
            }
            Fault::Pause(node) => {
                let id = shards.node(NAMES[node]).await?;
                let since = Instant::now();
                self.signal(node, Signal::SIGSTOP)?;
                taken = Some(shards.taken(id, since).await);
                tokio::time::sleep(PAUSED_FOR.saturating_sub(since.elapsed())).await;
                self.signal(node, Signal::SIGCONT)?;
                self.nodes[node].come_back().await?;
            }
            Fault::Stop(node) => {
                let id = shards.node(NAMES[node]).await?;
                let since = Instant::now();
                let (stopped, gone) = tokio::join!(self.nodes[node].stop(), shards.taken(id, since));
                stopped?;
                taken = Some(gone);
                if let Some(other) = self.other.take() {
                    self.other = Some(self.nodes[node].exchange_program(other));
                }
                self.nodes[node].start().await?;
            }
            Fault::CutDatabase(node, how) => {
                let id = shards.node(NAMES[node]).await?;
                let since = Instant::now();
                self.proxies[node].database.cut(how);
                taken = Some(shards.taken(id, since).await);
                tokio::time::sleep(CUT_FOR.saturating_sub(since.elapsed())).await;
                self.proxies[node].database.restore();
                self.nodes[node].come_back().await?;
            }
            Fault::FreezeDatabase => {
                self.database.freeze()?;
                tokio::time::sleep(CUT_FOR).await;
                self.database.wake()?;
                whole_after = Some(since.elapsed());
                tokio::time::sleep(CALM).await;
            }
            Fault::KillPrimary => {
                self.database.fail_over(PROMOTED_AFTER).await?;
                whole_after = Some(since.elapsed());
                tokio::time::sleep(CALM).await;
                self.database.take_back().await?;
            }
            Fault::CutStandbys(how) => {
                self.database.cut_off(how, ALONE_FOR, BESIDE_FOR).await?;
                whole_after = Some(since.elapsed());
                tokio::time::sleep(CALM).await;
                self.database.take_back().await?;
            }
            other => return Err(format!("{other} is nothing that servers and PostgreSQL can suffer")),
        }
        let whole_after = whole_after.unwrap_or_else(|| since.elapsed());
        let moved = match shards.epochs().await {
            Ok(now) => now - before,
            // The connection led to the old primary.
            Err(_) => shards.epochs().await? - before,
        };
        let (taken_after, broken) = match taken {
            Some(Err(why)) => (None, Some(why)),
            Some(Ok(after)) => (Some(after), None),
            None => (None, None),
        };
        Ok((InjectedFault { at, fault, whole_after, taken_after, moved: Some(moved) }, broken))
    }

    fn signal(&self, node: usize, signal: Signal) -> Result<(), String> {
        let pid = self.nodes[node].pid().ok_or("the server does not run")?;
        kill(Pid::from_raw(pid.cast_signed()), signal).map_err(|e| e.to_string())
    }
}

impl NodeProxies {
    /// Carries out one fault of the load balancer's connections to a server, and repairs it.
    pub async fn inject(all: &[Self], fault: Fault, at: Duration) -> Result<InjectedFault, String> {
        let since = Instant::now();
        let (proxy, how) = match fault {
            Fault::CutPhones(node, how) => (&all[node].phones, how),
            Fault::CutDevices(node, how) => (&all[node].devices, how),
            other => return Err(format!("{other} is nothing that the load balancer's lines can suffer")),
        };
        proxy.cut(how);
        tokio::time::sleep(CUT_FOR).await;
        proxy.restore();
        Ok(InjectedFault { at, fault, whole_after: since.elapsed(), taken_after: None, moved: None })
    }
}

impl Nats {
    /// Carries out one fault and repairs it.
    pub async fn inject(&mut self, fault: Fault, at: Duration) -> Result<InjectedFault, String> {
        let since = Instant::now();
        match fault {
            Fault::KillNats(place) => {
                self.kill(place)?;
                tokio::time::sleep(RESTARTED_AFTER).await;
                self.start_again().await?;
            }
            Fault::AllNats(downtime, Cut::Broken) => {
                self.kill_all()?;
                tokio::time::sleep(downtime).await;
                self.start_again().await?;
            }
            Fault::AllNats(downtime, Cut::Mute) => {
                self.signal_all(Signal::SIGSTOP)?;
                tokio::time::sleep(downtime).await;
                self.signal_all(Signal::SIGCONT)?;
            }
            Fault::CutNats(node, how) => {
                self.proxy(node).cut(how);
                tokio::time::sleep(NATS_CUT_FOR).await;
                self.proxy(node).restore();
            }
            other => return Err(format!("{other} is nothing that NATS can suffer")),
        }
        Ok(InjectedFault { at, fault, whole_after: since.elapsed(), taken_after: None, moved: None })
    }
}
