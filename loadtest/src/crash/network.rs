//! Real devices in the campaign: `nyala device sim` with a flash that outlives it, a bad network before it, and perhaps a broker.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use super::Market;
use super::proxy::Proxy;
use crate::broker::{Broker, BrokerKind, free_port};
use crate::fleet::{Fleet, FleetOptions, Keys};
use crate::http::Pool;
use crate::server::Server;

const JOURNAL: &str = "devices.jsonl";
const BROKER: &str = "broker";

/// Where devices will connect, which the server has to be told before it starts.
pub struct Route {
    port: u16,
    broker: Option<BrokerKind>,
}

impl Route {
    /// # Errors
    /// When there is no port, or no such broker.
    pub fn choose(broker: Option<BrokerKind>) -> Result<Self, String> {
        if let Some(kind) = broker.filter(|kind| kind.find().is_none()) {
            return Err(format!("{} is not here: its package has to be installed", kind.program()));
        }
        Ok(Self { port: free_port().map_err(|e| e.to_string())?, broker })
    }

    /// The setting that tells the server.
    pub fn setting(&self) -> (&'static str, String) {
        match self.broker {
            Some(_) => ("NYALA__MQTT__BROKER_URL", format!("mqtt://127.0.0.1:{}", self.port)),
            None => ("NYALA__MQTT__PORT", self.port.to_string()),
        }
    }
}

pub struct Network {
    broker: Option<Broker>,
    proxy: Proxy,
    fleet: Fleet,
    journal: PathBuf,
}

impl Network {
    /// Keys for the market's machines, and their devices on the bad network, which is good for now.
    ///
    /// # Errors
    /// One line on what kept it from that.
    pub async fn open(site: &Server, market: &Market, route: &Route, seed: u64) -> Result<Self, String> {
        let pool = Pool::new(site.address(), 32);
        let keys = Arc::new(Keys::make(&pool, &market.key, &market.shop.machines).await?);
        let dir = site.data_dir().join(BROKER);
        let broker = route.broker.map(|kind| Broker::start(kind, route.port, &dir, keys.path(), site.beside())).transpose()?;
        let to = SocketAddr::from(([127, 0, 0, 1], route.port));
        let proxy = Proxy::start(to, seed).await.map_err(|e| format!("no port for the bad network: {e}"))?;
        let journal = site.data_dir().join(JOURNAL);
        let options = FleetOptions {
            program: site.program().to_owned(),
            server: Some(proxy.address()),
            journal: Some(journal.clone()),
            flags: vec!["--seed".to_owned(), seed.to_string()],
        };
        let fleet = Fleet::start(keys, options).await?;
        Ok(Self { broker, proxy, fleet, journal })
    }

    pub fn journal(&self) -> PathBuf {
        self.journal.clone()
    }

    pub fn has_broker(&self) -> bool {
        self.broker.is_some()
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

    /// # Errors
    /// When it does not come back.
    pub fn kill_broker(&mut self) -> Result<(), String> {
        self.broker.as_mut().map_or(Ok(()), Broker::kill_and_restart)
    }
}
