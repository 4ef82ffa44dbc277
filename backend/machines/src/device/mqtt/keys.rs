//! Keys of devices: creation, replacement and revocation. A secret is shown once. They belong to the driver and not to `staff`, because only
//! the driver checks them, and `staff` is in a layer above it.

use deadpool_postgres::Transaction;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{DeviceKeyId, MachineId, OutletId};
use nyala_core::domain::scope::Scope;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::config::ServerSettings;
use nyala_store::db::error::DbError;
use rand::RngCore;
use serde::Serialize;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

const SECRET_BYTES: usize = 16;
/// Slot of a machine's first key.
const FIRST: i16 = 1;
/// The other slot; a succeeding key takes the slot that is free.
const SECOND: i16 = 2;

/// What a device needs to log in, shown once. No `Debug`, so that it reaches no log.
#[derive(Serialize, ToSchema)]
pub struct DeviceLogin {
    /// MQTT's user name: `idmesin` as a text.
    pub user: String,
    /// MQTT's password, 32 hexadecimal digits; only its hash is stored.
    pub secret: String,
    /// Where the server is for devices.
    pub host: String,
    pub port: u16,
    #[schema(value_type = i64)]
    pub idoutlet: OutletId,
    #[schema(value_type = i64)]
    pub idmesin: MachineId,
    /// The authorities of which one signed the certificate there, as PEM; null without TLS.
    #[schema(required)]
    pub ca: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("there is no machine {0}")]
    NoMachine(MachineId),
    #[error("there is no outlet {0}")]
    NoOutlet(OutletId),
    #[error("machine {idmesin} has the driver {}; only devices of machines with the driver mqtt log in", driver.as_str())]
    OtherDriver { idmesin: MachineId, driver: DriverKind },
    #[error("machine {0} has a key; `nyala device rotate {0}` makes the one that follows it")]
    HasKey(MachineId),
    #[error("machine {0} has no key that counts; `nyala device add {0}` makes one")]
    NoKey(MachineId),
    #[error("mqtt.public_host is not set: a device would not be told where the server is")]
    NoHost,
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<tokio_postgres::Error> for KeyError {
    fn from(e: tokio_postgres::Error) -> Self {
        DbError::from(e).into()
    }
}

/// Key that is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedKey {
    /// The key of a machine that has none.
    First,
    /// The succeeding key: both count until its first use. A key that already waits for its first use is ended, because its secret was
    /// lost.
    Next,
    /// The first or the succeeding key, as the machine needs.
    Either,
}

/// Principal for the audit log, and the time of the act.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    pub principal: &'a str,
    pub now: Timestamp,
}

/// Address of the server for devices, and the certificate that they trust.
#[derive(Debug, Clone)]
pub struct DeviceEndpoint {
    host: String,
    port: u16,
    ca: Option<String>,
}

impl DeviceEndpoint {
    /// Address from the settings. `ca` are the authorities that devices trust when they are served with TLS.
    ///
    /// # Errors
    /// `NoHost` when the settings name no host that a device could find.
    pub fn of(settings: &ServerSettings, ca: Option<String>) -> Result<Self, KeyError> {
        let host = settings.device_host().ok_or(KeyError::NoHost)?.to_owned();
        let port = match settings.mqtt.port {
            0 => std::fs::read_to_string(settings.device_port_file()).ok().and_then(|port| port.trim().parse().ok()).unwrap_or(0),
            port => port,
        };
        Ok(Self { host, port, ca })
    }

    fn login(&self, idoutlet: OutletId, idmesin: MachineId, secret: String) -> DeviceLogin {
        let Self { host, port, ca } = self.clone();
        DeviceLogin { user: idmesin.to_string(), secret, host, port, idoutlet, idmesin, ca }
    }
}

/// Stored hash of a secret, as a device sends it.
pub fn hash(secret: &[u8]) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}

fn generate() -> (String, Vec<u8>) {
    let mut bytes = [0; SECRET_BYTES];
    rand::rng().fill_bytes(&mut bytes);
    let secret: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let stored = hash(secret.as_bytes());
    (secret, stored)
}

/// Makes a key for a machine within `scope`.
///
/// # Errors
/// `NoMachine`, `OtherDriver`; `HasKey` and `NoKey` when the machine's keys do not permit the requested one.
pub async fn make(
    tx: &Transaction<'_>,
    (idmesin, scope): (MachineId, Scope),
    turn: RequestedKey,
    endpoint: &DeviceEndpoint,
    by: By<'_>,
) -> Result<DeviceLogin, KeyError> {
    let idoutlet = lock(tx, idmesin, scope).await?;
    let counting = counting(tx, idmesin).await?;
    let slot = match (turn, counting.as_slice()) {
        (RequestedKey::First | RequestedKey::Either, []) => FIRST,
        (RequestedKey::First, _) => return Err(KeyError::HasKey(idmesin)),
        (RequestedKey::Next, []) => return Err(KeyError::NoKey(idmesin)),
        (RequestedKey::Next | RequestedKey::Either, [(_, in_use), waiting @ ..]) => {
            let waiting: Vec<DeviceKeyId> = waiting.iter().map(|(id, _)| *id).collect();
            end(tx, &waiting, "diganti sebelum dipakai", by).await?;
            FIRST + SECOND - in_use
        }
    };
    let (secret, stored) = generate();
    insert(tx, &[(idmesin, slot, stored)], by).await?;
    Ok(endpoint.login(idoutlet, idmesin, secret))
}

/// Stores a key whose secret is already known, for a machine that has none.
///
/// # Errors
/// When the database does not answer.
pub async fn insert_known(tx: &Transaction<'_>, idmesin: MachineId, secret: &str, by: By<'_>) -> Result<(), KeyError> {
    insert(tx, &[(idmesin, FIRST, hash(secret.as_bytes()))], by).await
}

/// Makes keys for all machines of an outlet that have the driver mqtt and no key.
///
/// # Errors
/// `NoOutlet`.
pub async fn make_missing(
    tx: &Transaction<'_>,
    idoutlet: OutletId,
    endpoint: &DeviceEndpoint,
    by: By<'_>,
) -> Result<Vec<DeviceLogin>, KeyError> {
    const LOCK: &str = "SELECT idmesin FROM mesin WHERE idoutlet = $1 AND driver = 'mqtt' ORDER BY idmesin FOR NO KEY UPDATE";
    const WITHOUT: &str = "
        SELECT idmesin FROM unnest($1::BIGINT[]) AS m (idmesin)
        WHERE NOT EXISTS (SELECT FROM device_key k WHERE k.idmesin = m.idmesin AND k.revoked_at IS NULL) ORDER BY idmesin";
    tx.query_opt("SELECT FROM outlet WHERE idoutlet = $1", &[&idoutlet]).await?.ok_or(KeyError::NoOutlet(idoutlet))?;
    let machines: Vec<MachineId> = tx.query(LOCK, &[&idoutlet]).await?.iter().map(|row| row.get(0)).collect();
    let (mut logins, mut keys) = (Vec::new(), Vec::new());
    for row in tx.query(WITHOUT, &[&machines]).await? {
        let (secret, stored) = generate();
        logins.push(endpoint.login(idoutlet, row.get(0), secret));
        keys.push((row.get(0), FIRST, stored));
    }
    insert(tx, &keys, by).await?;
    Ok(logins)
}

/// Makes keys for all machines of an outlet that are not retired, have the driver mqtt and no key that was ever used. A key that waits for its
/// first use is ended, because its secret was lost.
///
/// # Errors
/// When the database does not answer.
pub async fn make_unused(
    tx: &Transaction<'_>,
    idoutlet: OutletId,
    endpoint: &DeviceEndpoint,
    by: By<'_>,
) -> Result<Vec<DeviceLogin>, KeyError> {
    const LOCK: &str =
        "SELECT idmesin FROM mesin WHERE idoutlet = $1 AND driver = 'mqtt' AND aktif ORDER BY idmesin FOR NO KEY UPDATE";
    const UNUSED: &str = "
        SELECT idmesin, ARRAY(SELECT id FROM device_key k WHERE k.idmesin = m.idmesin AND k.revoked_at IS NULL)
        FROM unnest($1::BIGINT[]) AS m (idmesin)
        WHERE NOT EXISTS (SELECT FROM device_key k WHERE k.idmesin = m.idmesin AND k.revoked_at IS NULL AND k.first_used_at IS NOT NULL)
        ORDER BY idmesin";
    let machines: Vec<MachineId> = tx.query(LOCK, &[&idoutlet]).await?.iter().map(|row| row.get(0)).collect();
    let (mut logins, mut keys, mut lost) = (Vec::new(), Vec::new(), Vec::<DeviceKeyId>::new());
    for row in tx.query(UNUSED, &[&machines]).await? {
        let (secret, stored) = generate();
        logins.push(endpoint.login(idoutlet, row.get(0), secret));
        keys.push((row.get(0), FIRST, stored));
        lost.extend(row.get::<_, Vec<DeviceKeyId>>(1));
    }
    end(tx, &lost, "diganti sebelum dipakai", by).await?;
    insert(tx, &keys, by).await?;
    Ok(logins)
}

/// Ends every key of a machine and returns how many were valid.
///
/// # Errors
/// `NoMachine`; `NoKey` when none was valid.
pub async fn revoke(tx: &Transaction<'_>, idmesin: MachineId, by: By<'_>) -> Result<usize, KeyError> {
    // A valid key can be ended whatever the machine's driver is.
    find(tx, idmesin, Scope::default()).await?;
    let keys: Vec<DeviceKeyId> = counting(tx, idmesin).await?.iter().map(|(id, _)| *id).collect();
    if keys.is_empty() {
        return Err(KeyError::NoKey(idmesin));
    }
    end(tx, &keys, "dicabut", by).await?;
    Ok(keys.len())
}

/// Outlet and driver of a machine within `scope`. Locks its row, so that its keys change one after the other.
async fn find(tx: &Transaction<'_>, idmesin: MachineId, scope: Scope) -> Result<(OutletId, DriverKind), KeyError> {
    const LOCK: &str = "
        SELECT idoutlet, driver FROM mesin
        WHERE idmesin = $1 AND aktif AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3) FOR NO KEY UPDATE";
    let row = tx.query_opt(LOCK, &[&idmesin, &scope.owner, &scope.outlet]).await?.ok_or(KeyError::NoMachine(idmesin))?;
    Ok((row.get(0), row.get(1)))
}

/// Does the same for a machine whose device logs in; returns its outlet.
async fn lock(tx: &Transaction<'_>, idmesin: MachineId, scope: Scope) -> Result<OutletId, KeyError> {
    match find(tx, idmesin, scope).await? {
        (idoutlet, DriverKind::Mqtt) => Ok(idoutlet),
        (_, driver) => Err(KeyError::OtherDriver { idmesin, driver }),
    }
}

/// Valid keys of a machine with their slots, the older one first.
async fn counting(tx: &Transaction<'_>, idmesin: MachineId) -> Result<Vec<(DeviceKeyId, i16)>, KeyError> {
    const COUNTING: &str = "SELECT id, slot FROM device_key WHERE idmesin = $1 AND revoked_at IS NULL ORDER BY id";
    Ok(tx.query(COUNTING, &[&idmesin]).await?.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Stores keys (machine, slot, hash), each with its line in the audit log.
async fn insert(tx: &Transaction<'_>, keys: &[(MachineId, i16, Vec<u8>)], by: By<'_>) -> Result<(), KeyError> {
    const INSERT: &str = "
        WITH made AS (
            INSERT INTO device_key (idmesin, slot, hash, created_at)
            SELECT idmesin, slot, hash, $4::TIMESTAMPTZ FROM unnest($1::BIGINT[], $2::SMALLINT[], $3::BYTEA[]) AS given (idmesin, slot, hash)
            RETURNING id, idmesin
        )
        INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at)
        SELECT $5, 'kunci_mesin.buat', 'mesin:' || idmesin, jsonb_build_object('id', made.id), m.idoutlet, $4
        FROM made JOIN mesin m USING (idmesin)";
    let machines: Vec<MachineId> = keys.iter().map(|key| key.0).collect();
    let slots: Vec<i16> = keys.iter().map(|key| key.1).collect();
    let hashes: Vec<&[u8]> = keys.iter().map(|key| key.2.as_slice()).collect();
    tx.execute(INSERT, &[&machines, &slots, &hashes, &by.now, &by.principal]).await?;
    Ok(())
}

/// Ends valid keys, each with its line in the audit log.
pub(super) async fn end(tx: &Transaction<'_>, keys: &[DeviceKeyId], why: &str, by: By<'_>) -> Result<(), KeyError> {
    const END: &str = "
        WITH ended AS (
            UPDATE device_key SET revoked_at = $2, revoked_tx = pg_current_xact_id() WHERE id = ANY($1) AND revoked_at IS NULL
            RETURNING id, idmesin
        )
        INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at)
        SELECT $3, 'kunci_mesin.cabut', 'mesin:' || idmesin, jsonb_build_object('id', ended.id, 'alasan', $4::TEXT), m.idoutlet, $2
        FROM ended JOIN mesin m USING (idmesin)";
    tx.execute(END, &[&keys, &by.now, &by.principal, &why]).await?;
    Ok(())
}
