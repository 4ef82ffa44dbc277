//! Devices over MQTT in the campaign: `nyala device sim` behind a bad network, with a flash that outlives its process.

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
    /// Keys for the market's machines, and their devices on the bad network, which is good for now. `port`: where the server listens for
    /// devices.
    ///
    /// # Errors
    /// One line on what kept it from that.
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

    /// The devices' power fails, and comes back.
    ///
    /// # Errors
    /// When they do not come back.
    pub async fn kill_devices(&mut self) -> Result<(), String> {
        self.fleet.kill_and_restart().await
    }
}
