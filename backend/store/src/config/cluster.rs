//! `[cluster]`.

use std::path::PathBuf;

use async_nats::ServerAddr;
use serde::{Deserialize, Serialize};

use nyala_core::domain::secret::Secret;

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSettings {
    pub enabled: bool,
    pub name: String,
    pub failover_s: u64,
    /// NATS servers; empty: no change notifications.
    pub nats_url: Secret,
    /// Empty: the certificates that the system trusts.
    pub nats_ca: PathBuf,
}

impl ClusterSettings {
    /// What the server is called among others; `None` when it is alone.
    pub fn name(&self) -> Option<&str> {
        self.enabled.then_some(&self.name)
    }

    /// NATS servers for change notifications; `None` without them.
    ///
    /// # Errors
    /// When an address cannot be parsed.
    pub fn nats(&self) -> Result<Option<Vec<ServerAddr>>, String> {
        if !self.enabled || self.nats_url.is_empty() {
            return Ok(None);
        }
        // The message does not repeat the value, which may contain a password.
        let invalid = |n: usize, why: String| {
            format!(
                "cluster.nats_url: its address number {} is none ({why}); write nats://user:password@host:4222 or tls://…, several with \
                 commas between them",
                n + 1
            )
        };
        let parse = |(n, one): (usize, &str)| one.trim().parse::<ServerAddr>().map_err(|why| invalid(n, why.to_string()));
        self.nats_url.split(',').enumerate().map(parse).collect::<Result<_, _>>().map(Some)
    }

    pub(super) fn check(&self, database_url: &Secret) -> Result<(), String> {
        let is_name = self.name.len() == 2 && self.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        match () {
            () if !self.enabled => Ok(()),
            () if !is_name => Err(format!(
                "cluster.name = \"{}\" must be two of a-z and 0-9, and another one for each server, such as \"n1\"",
                self.name
            )),
            () if database_url.is_empty() => {
                Err("cluster.enabled needs a PostgreSQL that all servers share: set DATABASE_URL (docs/cluster.md)".to_owned())
            }
            () if !self.nats_ca.as_os_str().is_empty() && !self.nats_ca.is_file() => Err(format!(
                "cluster.nats_ca = \"{}\" is no file; name one with certificates (PEM), or leave it empty",
                self.nats_ca.display()
            )),
            () => self.nats().map(|_| ()),
        }
    }
}
