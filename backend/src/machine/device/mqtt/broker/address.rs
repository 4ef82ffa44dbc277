//! Where the broker is, and what the server shows it.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use super::password;
use crate::config::MqttSettings;
use crate::domain::secret::Secret;
use crate::machine::device::mqtt::tls;
use crate::secrets::Secrets;

#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    #[error("mqtt.broker_url = \"{0}\" is not like mqtt://host:1883 or mqtts://host:8883")]
    Url(String),
    #[error("mqtt.broker_ca = \"{path}\" has no certificate that could be trusted: {why}")]
    Ca { path: String, why: String },
}

#[derive(Clone)]
pub struct Broker {
    pub host: String,
    pub port: u16,
    pub password: Secret,
    /// With TLS: whom to trust, and whom to expect.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

/// Where `mqtt.broker_url` says that it is.
#[derive(Debug)]
pub struct Place {
    pub host: String,
    pub port: u16,
    pub tls: bool,
}

impl Place {
    /// `None`: devices connect to the server itself.
    ///
    /// # Errors
    /// When it is not written as a broker's address is.
    pub fn of(settings: &MqttSettings) -> Result<Option<Self>, BrokerError> {
        let url = &settings.broker_url;
        if url.is_empty() {
            return Ok(None);
        }
        let bad = || BrokerError::Url(url.clone());
        let (tls, rest) = match url.split_once("://") {
            Some(("mqtt", rest)) => (false, rest),
            Some(("mqtts", rest)) => (true, rest),
            _ => return Err(bad()),
        };
        let (host, port) = rest.rsplit_once(':').ok_or_else(bad)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = port.parse().map_err(|_| bad())?;
        if host.is_empty() || host.contains(['/', '@']) {
            return Err(bad());
        }
        Ok(Some(Self { host, port, tls }))
    }
}

impl Broker {
    /// The one that the settings name; `None`: devices connect to the server itself.
    ///
    /// # Errors
    /// When it is not written as a broker's address is, or its authority cannot be read.
    pub fn of(settings: &MqttSettings, secrets: &Secrets) -> Result<Option<Self>, BrokerError> {
        let Some(Place { host, port, tls }) = Place::of(settings)? else { return Ok(None) };
        let bad = || BrokerError::Url(settings.broker_url.clone());
        let tls = match tls {
            true => Some((trust(&settings.broker_ca)?, ServerName::try_from(host.clone()).map_err(|_| bad())?)),
            false => None,
        };
        let password = match settings.broker_password.is_empty() {
            true => Secret::new(password(secrets)),
            false => settings.broker_password.clone(),
        };
        Ok(Some(Self { host, port, password, tls }))
    }
}

/// The authorities of the file, or those that everybody trusts.
fn trust(ca: &str) -> Result<Arc<ClientConfig>, BrokerError> {
    let pem = authorities(ca)?;
    tls::client(pem.as_deref()).map_err(|e| BrokerError::Ca { path: ca.to_owned(), why: e.to_string() })
}

/// The text of that file, if one is named.
///
/// # Errors
/// When it cannot be read.
pub fn authorities(ca: &str) -> Result<Option<String>, BrokerError> {
    if ca.is_empty() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(ca);
    text.map(Some).map_err(|e| BrokerError::Ca { path: ca.to_owned(), why: e.to_string() })
}
