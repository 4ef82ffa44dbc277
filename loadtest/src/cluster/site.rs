//! All processes of the test, and their start.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::balancer::{Balancer, Doors};
use super::news::{self, News};
use super::postgres::{self, Database};
use super::wire::Wire;
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
pub struct Lines {
    pub database: Wire,
    /// From the load balancer to the server.
    pub phones: Wire,
    pub devices: Wire,
}

/// All processes. The servers end before their database.
pub struct Site {
    pub nodes: Vec<Server>,
    pub lines: Vec<Lines>,
    pub balancer: Balancer,
    pub database: Database,
    /// The program as which a stopped server is started next.
    pub other: Option<(PathBuf, PathBuf)>,
}

impl Site {
    /// Waits until every server has its connection to NATS.
    pub async fn has_news(&self) -> Result<(), String> {
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
    /// NATS, or the reason why there is none.
    pub async fn news(&self, folder: &Path) -> Result<Result<News, &'static str>, String> {
        if self.no_news {
            return Ok(Err("--no-news"));
        }
        match news::program() {
            Some(program) => News::start(program, folder.join("nats"), NAMES.len()).await.map(Ok),
            None => Ok(Err("nats-server is not installed here")),
        }
    }

    pub async fn start(&self, folder: &Path, news: Option<&News>) -> Result<Site, String> {
        let bin = postgres::programs().ok_or("PostgreSQL is not here")?;
        let database = Database::start(bin, folder.join("postgres")).await?;
        let port = || free_port().map_err(|e| e.to_string());
        let program = server::program()?;
        let (mut nodes, mut lines, mut doors) = (Vec::new(), Vec::new(), Vec::new());
        for (place, name) in NAMES.into_iter().enumerate() {
            let (http, mqtt) = (port()?, port()?);
            let line = Lines {
                database: Wire::start(database.ports()).await?,
                phones: Wire::start(&[http]).await?,
                devices: Wire::start(&[mqtt]).await?,
            };
            doors.push((name, Doors { http: line.phones.doors()[0], mqtt: line.devices.doors()[0] }));
            let (http, mqtt) = (http.to_string(), mqtt.to_string());
            let (url, told) = (Database::url(line.database.doors()), news.map(|news| news.url(place)));
            let mut settings = vec![
                ("DATABASE_URL", url.as_str()),
                ("NYALA__CLUSTER__ENABLED", "true"),
                ("NYALA__CLUSTER__NAME", name),
                ("NYALA__HTTP__PORT", &http),
                ("NYALA__HTTP__TRUSTED_PROXIES", "127.0.0.1"),
                ("NYALA__MQTT__PORT", &mqtt),
                ("NYALA__MQTT__TRUSTED_PROXIES", "127.0.0.1"),
            ];
            settings.extend(told.as_deref().map(|url| ("NYALA__CLUSTER__NATS_URL", url)));
            let dir = folder.join(name);
            let mut node = Server::new(program.clone(), &self.config_dir, dir.clone(), &settings)?;
            if !nodes.is_empty() {
                fs::copy(folder.join(NAMES[0]).join(SECRETS), dir.join(SECRETS)).map_err(|e| format!("{SECRETS}: {e}"))?;
            }
            node.start().await.map_err(|why| format!("{name}: {why}"))?;
            nodes.push(node);
            lines.push(line);
        }
        let other =
            self.other.clone().map(|program| (program, self.other_config_dir.clone().unwrap_or_else(|| self.config_dir.clone())));
        let balancer = Balancer::start(folder, &doors)?;
        Ok(Site { nodes, lines, balancer, database, other })
    }
}
