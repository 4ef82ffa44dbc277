//! The demo's machines that a real device can be (docs/contract.md §6): their keys are public, and `serve` shows how to play one.

use std::net::SocketAddr;

use deadpool_postgres::Transaction;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{MachineId, OutletId, OwnerId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::mqtt::keys::{self, By};
use nyala_store::db::pool::Db;
use nyala_store::secrets::Secrets;
use nyala_web::http::error::AppError;
use nyala_web::ops::machine::install::{self as mesin, NewMachines};

use super::{PRINCIPAL, open_outlet};

const OUTLET: (&str, &str, f64, f64) = ("Nyala Bengkel", "Bogor", -6.5971, 106.8060);
/// Machines, and the secret of each one's device.
pub const MACHINES: [(&str, &str); 2] =
    [("Mesin Cuci 1", "de300000000000000000000000000001"), ("Mesin Cuci 2", "de300000000000000000000000000002")];

/// Adds the outlet with MQTT machines where it is missing, as in demos of earlier versions.
pub async fn outlet(tx: &Transaction<'_>, secrets: &Secrets, idowner: OwnerId, now: Timestamp) -> Result<(), AppError> {
    let known: Vec<Vec<u8>> = MACHINES.iter().map(|(_, secret)| keys::hash(secret.as_bytes())).collect();
    const THERE: &str = "SELECT EXISTS (SELECT FROM device_key WHERE hash = ANY($1))";
    if tx.query_one(THERE, &[&known]).await?.get(0) {
        return Ok(());
    }
    let outlet = open_outlet(tx, idowner, OUTLET, now).await?;
    let names = MACHINES.map(|(name, _)| name.to_owned());
    let new = NewMachines { names: &names, driver: DriverKind::Mqtt, kind: None, size: None };
    let made = mesin::install(tx, secrets, outlet, &new, now).await?;
    for (machine, (_, secret)) in made.iter().zip(MACHINES) {
        keys::insert_known(tx, machine.id, secret, By { principal: PRINCIPAL, now }).await?;
    }
    Ok(())
}

/// The keys of the demo's machines that still count: outlet, machine, secret.
///
/// # Errors
/// When the database does not answer.
pub async fn keys(db: &Db) -> Result<Vec<(OutletId, MachineId, &'static str)>, AppError> {
    const OF: &str = "
        SELECT m.idoutlet, k.idmesin FROM device_key k JOIN mesin m USING (idmesin) WHERE k.hash = $1 AND k.revoked_at IS NULL";
    let client = db.get().await?;
    let mut found = Vec::new();
    for (_, secret) in MACHINES {
        let row = client.query_opt(OF, &[&keys::hash(secret.as_bytes())]).await?;
        found.extend(row.map(|row| (row.get(0), row.get(1), secret)));
    }
    Ok(found)
}

/// How to be the demo's first real machine with two terminals, at the server that listens for devices at `address`.
///
/// # Errors
/// When the database does not answer.
pub async fn play(db: &Db, address: SocketAddr) -> Result<Option<String>, AppError> {
    let keys = keys(db).await?;
    let [(idoutlet, idmesin, secret), others @ ..] = keys.as_slice() else { return Ok(None) };
    let at = format!("-h {} -p {} -u {idmesin} -P {secret}", address.ip(), address.port());
    let topic = format!("-t nyala/v1/{idoutlet}/{idmesin}");
    // It prints its commands and answers each with a sign of life at once, as a device does.
    let subscribe = format!(
        "mosquitto_sub {at} -k 20 {topic}/cmd | tee /dev/stderr | sed -u 's/.*/{{}}/' | mosquitto_pub {at} -k 20 -l {topic}/hb"
    );
    let publish = format!(r#"mosquitto_pub {at} {topic}/ack -m '{{"cmd_id":"…","result":"started"}}'"#);
    let others: String =
        others.iter().map(|(outlet, id, secret)| format!("    machine {id} of outlet {outlet}: -u {id} -P {secret}\n")).collect();
    Ok(Some(format!(
        "  be machine {idmesin}, in two terminals; the second answers a start within 10 s:\n    {subscribe}\n    {publish}\n{others}"
    )))
}
