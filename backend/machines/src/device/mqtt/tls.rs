//! TLS for devices: a private authority of this installation, whose certificate every device receives with its key, and a server
//! certificate that is made at each start. P-256, because small boards support no other curve that is as quick.

use std::net::IpAddr;
use std::sync::Arc;

use p256::SecretKey;
use p256::pkcs8::EncodePrivateKey;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring::{Ticketer, default_provider};
use rustls::pki_types::PrivateKeyDer;

use nyala_store::secrets::Secrets;

/// Purpose from which the authority's key is derived: the server's secrets contain the authority, so no separate file can be lost.
const PURPOSE: &str = "device authority";
const NAME: &str = "Nyala devices";
/// Dates of validity, so wide that they never matter. Boards without a battery take the day of their build for today, and certificates in
/// laundries are never replaced.
const FROM: (i32, u8, u8) = (2020, 1, 1);
const UNTIL: (i32, u8, u8) = (2120, 1, 1);
/// Bytes of a record: a board needs one such buffer, and its heap rarely has more in one piece.
const RECORD: usize = 1_024;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("mqtt.public_host = \"{0}\" is neither a name nor an address that a certificate could be for")]
    Host(String),
    #[error("the certificate of the devices' authority cannot be made: {0}")]
    Made(#[from] rcgen::Error),
    #[error("devices cannot be served with TLS: {0}")]
    Served(#[from] rustls::Error),
    #[error("the key of the devices' authority cannot be derived")]
    Derived,
}

/// The authority that signs the server's certificate.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    /// Authority that belongs to these secrets.
    ///
    /// # Errors
    /// When the libraries reject their input, which should never happen.
    pub fn of(secrets: &Secrets) -> Result<Self, TlsError> {
        let key = key_pair(&secrets.otp.p256(PURPOSE))?;
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, NAME);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        always(&mut params);
        let pem = params.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), pem })
    }

    /// Certificate of the authority, which devices trust. Each start makes another one with the same key and name; all are equally valid.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Configuration with which the server at `host` serves devices.
    ///
    /// # Errors
    /// `Host` when no certificate can be made for it.
    pub fn server(&self, host: &str) -> Result<Arc<ServerConfig>, TlsError> {
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
        let private = PrivateKeyDer::try_from(key.serialize_der()).map_err(|_| TlsError::Derived)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)?;
        config.max_fragment_size = Some(RECORD);
        // A device that reconnects saves two thirds of the work.
        config.ticketer = Ticketer::new()?;
        config.send_tls13_tickets = 1;
        Ok(Arc::new(config))
    }
}

fn always(params: &mut CertificateParams) {
    let day = |(year, month, day)| date_time_ymd(year, month, day);
    (params.not_before, params.not_after) = (day(FROM), day(UNTIL));
}

fn key_pair(secret: &SecretKey) -> Result<KeyPair, TlsError> {
    let der = secret.to_pkcs8_der().map_err(|_| TlsError::Derived)?;
    let der = rustls::pki_types::PrivatePkcs8KeyDer::from(der.as_bytes());
    Ok(KeyPair::from_pkcs8_der_and_sign_algo(&der, &PKCS_ECDSA_P256_SHA256)?)
}
