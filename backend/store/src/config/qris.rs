//! `[qris]`.

use std::collections::HashMap;

use nyala_core::bill::ProviderKind;
use nyala_core::domain::id::OwnerId;
use nyala_core::domain::secret::Secret;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QrisSettings {
    /// The payment provider; empty: none is used.
    pub provider: String,
    pub midtrans_base_url: String,
    /// `idowner=key,…`, or one key.
    pub midtrans_server_keys: Secret,
    /// Minutes that a bill can be paid: one of a till, and one of a customer's phone.
    pub till_minutes: i64,
    pub phone_minutes: i64,
}

/// The provider's server keys.
#[derive(Debug, Clone)]
pub enum ServerKeys {
    /// There is one owner.
    One(Secret),
    PerOwner(HashMap<OwnerId, Secret>),
}

impl ServerKeys {
    pub fn of(&self, owner: OwnerId) -> Option<&Secret> {
        match self {
            Self::One(key) => Some(key),
            Self::PerOwner(keys) => keys.get(&owner),
        }
    }
}

impl QrisSettings {
    /// The provider, if one is set.
    ///
    /// # Errors
    /// When it is unknown; of settings that were loaded it is known.
    pub fn provider(&self) -> Result<Option<ProviderKind>, String> {
        if self.provider.is_empty() {
            return Ok(None);
        }
        let kind = ProviderKind::parse(&self.provider);
        let known = ProviderKind::ALL.map(ProviderKind::as_str).join("\" or \"");
        kind.map(Some).ok_or_else(|| format!("qris.provider = \"{}\" must be empty, \"{known}\"", self.provider))
    }

    /// The keys, if any are set.
    ///
    /// # Errors
    /// When the text has another form. The message has no part of it.
    pub fn keys(&self) -> Result<Option<ServerKeys>, String> {
        const FORM: &str = "qris.midtrans_server_keys must be one key, or a key for each owner: \"1=key,2=key\"";
        let text = self.midtrans_server_keys.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if !text.contains(['=', ',']) {
            return Ok(Some(ServerKeys::One(Secret::new(text))));
        }
        let mut keys = HashMap::new();
        for item in text.split(',') {
            let (owner, key) = item.split_once('=').map(|(owner, key)| (owner.trim(), key.trim())).ok_or(FORM)?;
            let owner = OwnerId::parse(owner).filter(|_| !key.is_empty()).ok_or(FORM)?;
            if keys.values().any(|other: &Secret| **other == *key) {
                return Err("qris.midtrans_server_keys has one key for two owners: each needs its own".to_owned());
            }
            if keys.insert(owner, Secret::new(key)).is_some() {
                return Err(format!("qris.midtrans_server_keys has two keys of owner {owner}"));
            }
        }
        Ok(Some(ServerKeys::PerOwner(keys)))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let has_keys = self.keys()?.is_some();
        if self.provider()? == Some(ProviderKind::Midtrans) && !has_keys {
            return Err("qris.provider = \"midtrans\" needs qris.midtrans_server_keys".to_owned());
        }
        let is_address = ["https://", "http://"].iter().any(|scheme| self.midtrans_base_url.starts_with(scheme));
        if is_address {
            return Ok(());
        }
        Err(format!("qris.midtrans_base_url = \"{}\" must begin with https://", self.midtrans_base_url))
    }

    /// # Errors
    /// What production refuses.
    pub(super) fn check_production(&self) -> Result<(), String> {
        if self.provider()? == Some(ProviderKind::Simulated) {
            return Err("qris.provider = \"simulated\" pays without money; set \"midtrans\" or nothing".to_owned());
        }
        if !self.midtrans_base_url.starts_with("https://") {
            return Err("qris.midtrans_base_url must begin with https://: keys never cross a network in the clear".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Result<Option<ServerKeys>, String> {
        let settings = QrisSettings {
            provider: String::new(),
            midtrans_base_url: String::new(),
            midtrans_server_keys: Secret::new(text),
            till_minutes: 10,
            phone_minutes: 30,
        };
        settings.keys()
    }

    #[test]
    fn keys_are_one_or_one_for_each_owner() {
        assert!(matches!(keys(" "), Ok(None)));
        assert!(matches!(keys("SB-Mid-server-abc"), Ok(Some(ServerKeys::One(key))) if &*key == "SB-Mid-server-abc"));
        let Ok(Some(ServerKeys::PerOwner(each))) = keys("1=abc, 20 = def") else { panic!("a key for each owner") };
        assert_eq!((&*each[&OwnerId::new(1)], &*each[&OwnerId::new(20)]), ("abc", "def"));
        for bad in ["abc,def", "1=abc,def", "x=abc", "1=", "=abc", "1=abc,1=def", "1=abc,2=abc", "1=abc,"] {
            let Err(why) = keys(bad) else { panic!("{bad} is refused") };
            assert!(!why.contains("abc"), "{why}");
        }
    }
}
