//! `[push]`.

use serde::{Deserialize, Serialize};

use super::contact;

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PushSettings {
    /// Contact for push services; empty: none.
    pub contact: String,
    /// Hosts that are taken for push services, too; in production by name and over TLS.
    pub hosts: Vec<String>,
}

/// Whether a host is named as in DNS, below some top: neither an address nor this machine.
fn is_public_name(host: &str) -> bool {
    let is_label = |label: &str| {
        let plain = label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        !label.is_empty() && plain && !label.starts_with('-') && !label.ends_with('-')
    };
    let top = host.rsplit('.').next().unwrap_or_default();
    host.contains('.') && host.split('.').all(is_label) && top.bytes().any(|b| b.is_ascii_lowercase()) && top != "localhost"
}

impl PushSettings {
    /// # Errors
    /// Which host production does not take: the server would call whatever a customer names there.
    pub(super) fn check_production(&self) -> Result<(), String> {
        match self.hosts.iter().find(|host| !is_public_name(host)) {
            Some(host) => Err(format!(
                "push.hosts has \"{host}\", which is no name of a public host such as \"push.example.com\": the server would call whatever \
                 a customer names there"
            )),
            None => Ok(()),
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        contact::check("push.contact", &self.contact)
    }
}
