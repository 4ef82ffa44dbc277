//! Devices over MQTT in the campaign: `nyala device sim` behind a bad network, with a journal that outlives its process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use super::Market;
use super::proxy::Proxy;
use crate::fleet::{Fleet, FleetOptions, Keys};
use crate::http::Pool;
use crate::server::Server;

const JOURNAL: &str = "devices.jsonl";

pub struct Network {
    proxy: Proxy,
    fleet: Fleet,
    journal: PathBuf,
}

impl Network {
    /// Makes keys for the market's machines, and starts their devices. The network has no faults yet. `port`: the server's port for
    /// devices.
    ///
    /// # Errors
    /// One line with the cause.
    pub async fn open(site: &Server, market: &Market, port: u16, seed: u64) -> Result<Self, String> {
        let pool = Pool::new(site.address(), 32);
        let keys = Arc::new(Keys::make(&pool, &market.key, &market.shop.machines).await?);
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        let proxy = Proxy::start(to, seed).await.map_err(|e| format!("no port for the bad network: {e}"))?;
        let journal = site.data_dir().join(JOURNAL);
        let options = FleetOptions {
            program: site.program().to_owned(),
            server: Some(proxy.address()),
            journal: Some(journal.clone()),
            flags: vec!["--seed".to_owned(), seed.to_string()],
        };
        let fleet = Fleet::start(keys, options).await?;
        Ok(Self { proxy, fleet, journal })
    }

    pub fn journal(&self) -> PathBuf {
        self.journal.clone()
    }

    pub fn set_bad(&self, bad: bool) {
        self.proxy.set_bad(bad);
    }

    pub fn cut_all(&self) {
        self.proxy.cut_all();
    }

    pub fn faults(&self) -> u64 {
        self.proxy.faults()
    }

    /// Cuts the power of all devices, and switches it on again.
    ///
    /// # Errors
    /// When their program does not start again.
    pub async fn kill_devices(&mut self) -> Result<(), String> {
        self.fleet.kill_and_restart().await
    }
}
