//! All processes of the test, and their start.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::balancer::{Balancer, ServerPorts};
use super::cut_proxy::CutProxy;
use super::nats::{self, Nats};
use super::postgres::{self, Database};
use super::{Cluster, NAMES};
use crate::local::free_port;
use crate::server::{self, Server};

/// The file that all servers share.
const SECRETS: &str = "secrets.toml";
/// The metric that is 1 while a server is connected to NATS.
const CONNECTED: &str = "nyala_cluster_news_connected";
const CONNECTED_WITHIN: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The connections of a server that can be cut.
#[derive(Clone)]
pub struct NodeProxies {
    pub database: CutProxy,
    /// From the load balancer to the server.
    pub phones: CutProxy,
    pub devices: CutProxy,
}

/// All processes. The servers end before their database.
pub struct Site {
    pub nodes: Vec<Server>,
    pub proxies: Vec<NodeProxies>,
    pub balancer: Balancer,
    pub database: Database,
    /// Program and settings with which a stopped server is started next.
    pub other: Option<(PathBuf, PathBuf)>,
}

impl Site {
    /// Waits until every server has its connection to NATS.
    pub async fn wait_for_nats(&self) -> Result<(), String> {
        let since = Instant::now();
        for (name, node) in NAMES.iter().zip(&self.nodes) {
            while node.metric(CONNECTED).await? < 1.0 {
                if since.elapsed() > CONNECTED_WITHIN {
                    return Err(format!("{name} is not connected to NATS after {} s", CONNECTED_WITHIN.as_secs()));
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
        Ok(())
    }
}

impl Cluster {
    /// Starts NATS. The inner error is the reason why the run continues without NATS.
    pub async fn nats(&self, folder: &Path) -> Result<Result<Nats, &'static str>, String> {
        if self.no_news {
            return Ok(Err("--no-news"));
        }
        match nats::program() {
            Some(program) => Nats::start(program, folder.join("nats"), NAMES.len()).await.map(Ok),
            None => Ok(Err("nats-server is not installed here")),
        }
    }

    pub async fn start(&self, folder: &Path, nats: Option<&Nats>) -> Result<Site, String> {
        let bin = postgres::programs().ok_or("PostgreSQL is not here")?;
        let database = Database::start(bin, folder.join("postgres")).await?;
        let port = || free_port().map_err(|e| e.to_string());
        let program = server::program()?;
        let (mut nodes, mut proxies, mut ports) = (Vec::new(), Vec::new(), Vec::new());
        for (place, name) in NAMES.into_iter().enumerate() {
            let (http, mqtt) = (port()?, port()?);
            let proxy = NodeProxies {
                database: CutProxy::start(database.ports()).await?,
                phones: CutProxy::start(&[http]).await?,
                devices: CutProxy::start(&[mqtt]).await?,
            };
            ports.push((name, ServerPorts { http: proxy.phones.ports()[0], mqtt: proxy.devices.ports()[0] }));
            let (http, mqtt) = (http.to_string(), mqtt.to_string());
            let (url, nats_url) = (Database::url(proxy.database.ports()), nats.map(|nats| nats.url(place)));
            let mut settings = vec![
                ("DATABASE_URL", url.as_str()),
                ("NYALA__CLUSTER__ENABLED", "true"),
                ("NYALA__CLUSTER__NAME", name),
                ("NYALA__HTTP__PORT", &http),
                ("NYALA__HTTP__TRUSTED_PROXIES", "127.0.0.1"),
                ("NYALA__MQTT__PORT", &mqtt),
                ("NYALA__MQTT__TRUSTED_PROXIES", "127.0.0.1"),
            ];
            settings.extend(nats_url.as_deref().map(|url| ("NYALA__CLUSTER__NATS_URL", url)));
            let dir = folder.join(name);
            let mut node = Server::new(program.clone(), &self.config_dir, dir.clone(), &settings)?;
            if !nodes.is_empty() {
                fs::copy(folder.join(NAMES[0]).join(SECRETS), dir.join(SECRETS)).map_err(|e| format!("{SECRETS}: {e}"))?;
            }
            node.start().await.map_err(|why| format!("{name}: {why}"))?;
            nodes.push(node);
            proxies.push(proxy);
        }
        let other =
            self.other.clone().map(|program| (program, self.other_config_dir.clone().unwrap_or_else(|| self.config_dir.clone())));
        let balancer = Balancer::start(folder, &ports)?;
        Ok(Site { nodes, proxies, balancer, database, other })
    }
}
