//! `[push]`.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PushSettings {
    /// Whom push services may write to; empty: nobody is named.
    pub contact: String,
    /// Development: hosts that are taken for push services, too.
    pub hosts: Vec<String>,
}

impl PushSettings {
    pub(super) fn check(&self) -> Result<(), String> {
        let named = self.contact.is_empty() || ["mailto:", "https://"].iter().any(|scheme| self.contact.starts_with(scheme));
        if named { Ok(()) } else { Err(format!("push.contact = \"{}\" must begin with mailto: or https://", self.contact)) }
    }
}
