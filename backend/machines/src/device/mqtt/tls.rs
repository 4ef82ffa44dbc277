//! TLS for devices: a private authority of this installation, whose certificate every device receives with its key, and a server
//! certificate that is made at each start. P-256, because small boards support no other curve that is as quick.
//!
//! Rotation of the authority's key: a device that gets its key after the rotation also gets the certificates of all good authorities. The
//! oldest good authority signs the server's certificate, so devices from before and after the rotation accept it. When the oldest authority is
//! retired, the next one signs, and the devices from after the rotation accept that certificate too. A cross-signed certificate of the new
//! authority would avoid this, but mbedTLS counts it against the path length of the old authority, which is 0
//! (docs/decisions/0020-keys-lie-beside-the-data.md).

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use p256::SecretKey;
use p256::pkcs8::EncodePrivateKey;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring::{Ticketer, default_provider};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use nyala_store::secrets::{GoodKey, Key, Keyring, Kid, Secrets};

const NAME: &str = "Nyala devices";
/// Dates of validity, wide enough that no certificate ever expires: boards without a battery use the day of their build as the current date,
/// and certificates in laundries are never replaced.
const FROM: (i32, u8, u8) = (2020, 1, 1);
const UNTIL: (i32, u8, u8) = (2120, 1, 1);
/// Maximum size of a TLS record: a board needs one such buffer, and its heap rarely has a larger free block.
const RECORD: usize = 1_024;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("mqtt.public_host = \"{0}\" is neither a name nor an address that a certificate could be for")]
    Host(String),
    #[error("the certificate of the devices' authority cannot be made: {0}")]
    Made(#[from] rcgen::Error),
    #[error("devices cannot be served with TLS: {0}")]
    Served(#[from] rustls::Error),
    #[error("the key of the devices' authority cannot be used")]
    Key,
}

/// An authority that signs the server's certificate.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// Certificates of the good authorities of these secrets, the newest first, as PEM; a device trusts all of them. Each call creates new
/// certificates with the same keys and names; all are equally valid.
///
/// # Errors
/// When the libraries reject their input, which should never happen.
pub fn trusted(secrets: &Secrets) -> Result<String, TlsError> {
    secrets.devices.iter().map(|good| Ok(Authority::of(good)?.pem)).collect()
}

impl Authority {
    fn of(good: &GoodKey<Key>) -> Result<Self, TlsError> {
        let key = key_pair(&good.key.p256().ok_or(TlsError::Key)?)?;
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        // A device that trusts several of them finds the right one by its name.
        let name = if good.kid == Kid::FIRST { NAME.to_owned() } else { format!("{NAME} {}", good.kid) };
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        always(&mut params);
        let pem = params.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), pem })
    }

    /// A certificate for `host` and its private key.
    fn sign_server(&self, host: &str) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), TlsError> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        // The name must differ from the authority's, or a client takes this certificate for the authority's own.
        params.distinguished_name.push(DnType::CommonName, host);
        params.subject_alt_names = vec![match host.parse::<IpAddr>() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(host.try_into().map_err(|_| TlsError::Host(host.to_owned()))?),
        }];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        always(&mut params);
        let certificate = params.signed_by(&key, &self.issuer)?;
        let private = PrivateKeyDer::try_from(key.serialize_der()).map_err(|_| TlsError::Key)?;
        Ok((certificate.der().clone(), private))
    }
}

/// How the server at `host` serves devices. Follows the keys while the server runs.
pub struct DeviceTls {
    keyring: Keyring,
    host: String,
    made: Mutex<(Arc<Secrets>, Arc<ServerConfig>)>,
}

impl DeviceTls {
    /// # Errors
    /// `Host` when no certificate can be made for it.
    pub fn new(keyring: Keyring, host: &str) -> Result<Self, TlsError> {
        let secrets = keyring.get();
        let config = server(&secrets, host)?;
        Ok(Self { keyring, host: host.to_owned(), made: Mutex::new((secrets, config)) })
    }

    /// What devices with new keys trust, as [`trusted`].
    ///
    /// # Errors
    /// As [`trusted`].
    pub fn trusted(&self) -> Result<String, TlsError> {
        trusted(&self.keyring.get())
    }

    /// The configuration for a new connection. It is created again when the keys change, so that a device that trusts a retired authority
    /// cannot resume its session either.
    pub fn config(&self) -> Arc<ServerConfig> {
        let secrets = self.keyring.get();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !Arc::ptr_eq(&made.0, &secrets) {
            match server(&secrets, &self.host) {
                Ok(config) => *made = (secrets, config),
                Err(e) => tracing::error!(error = %e, "devices are served with the certificate from before"),
            }
        }
        made.1.clone()
    }
}

fn server(secrets: &Secrets, host: &str) -> Result<Arc<ServerConfig>, TlsError> {
    let (certificate, private) = Authority::of(secrets.devices.oldest())?.sign_server(host)?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], private)?;
    config.max_fragment_size = Some(RECORD);
    // A device that reconnects saves two thirds of the work.
    config.ticketer = Ticketer::new()?;
    config.send_tls13_tickets = 1;
    Ok(Arc::new(config))
}

fn always(params: &mut CertificateParams) {
    let day = |(year, month, day)| date_time_ymd(year, month, day);
    (params.not_before, params.not_after) = (day(FROM), day(UNTIL));
}

fn key_pair(secret: &SecretKey) -> Result<KeyPair, TlsError> {
    let der = secret.to_pkcs8_der().map_err(|_| TlsError::Key)?;
    let der = rustls::pki_types::PrivatePkcs8KeyDer::from(der.as_bytes());
    Ok(KeyPair::from_pkcs8_der_and_sign_algo(&der, &PKCS_ECDSA_P256_SHA256)?)
}
