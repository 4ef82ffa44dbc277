//! `nyala device`: keys of the machines' devices. A secret is printed once, when its key is made.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand};
use nyala_core::domain::id::{MachineId, OutletId};
use nyala_core::domain::scope::Scope;
use nyala_core::domain::timestamp::Timestamp;
use nyala_machines::device::mqtt::keys::{self, By, DeviceEndpoint, DeviceLogin, RequestedKey};
use nyala_machines::device::mqtt::tls;

use super::context::{self, CommandContext, PRINCIPAL};
use super::{CommonArgs, DEVICE_SIM, Failure, output};

#[derive(Debug, Subcommand)]
pub enum DeviceCommand {
    /// Make the key of a machine that has none, or of every such machine of an outlet; one line of JSON, printed once
    Add(AddDevice),
    /// Make the key that follows a machine's: both count until the new one was used; one line of JSON, printed once
    Rotate { mesin_id: MachineId },
    /// Make all keys of a machine worthless; its device is cut off
    Revoke { mesin_id: MachineId },
    /// List the keys
    List,
    /// Play devices, as many as there are keys, with the program nyala-device-sim: it takes the arguments
    #[command(disable_help_flag = true)]
    Sim {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
pub struct AddDevice {
    #[arg(required_unless_present = "outlet", conflicts_with_all = ["outlet", "out"])]
    mesin_id: Option<MachineId>,
    /// For every machine of the driver mqtt of this outlet that has no key
    #[arg(long, value_name = "ID", requires = "out")]
    outlet: Option<OutletId>,
    /// The file for an outlet's keys; it must not be there yet
    #[arg(long, value_name = "FILE.csv", requires = "outlet")]
    out: Option<PathBuf>,
}

impl DeviceCommand {
    pub fn run(self, common: &CommonArgs) -> Result<(), Failure> {
        match self {
            Self::Add(AddDevice { mesin_id: Some(id), .. }) => {
                context::run(common, async |k| make(k, id, RequestedKey::First).await)
            }
            Self::Add(AddDevice { outlet: Some(outlet), out: Some(out), .. }) => {
                context::run(common, async |k| make_missing(k, outlet, &out).await)
            }
            Self::Add(_) => Err(Failure::new("name a machine, or --outlet and --out")),
            Self::Rotate { mesin_id } => context::run(common, async |k| make(k, mesin_id, RequestedKey::Next).await),
            Self::Revoke { mesin_id } => context::run(common, async |k| revoke(k, mesin_id).await),
            Self::List => context::run(common, list),
            Self::Sim { arguments } => Err(exec_sim(common, &arguments)),
        }
    }
}

const fn by(k: &CommandContext) -> By<'static> {
    By { principal: PRINCIPAL, now: k.now }
}

async fn configured_endpoint(k: &CommandContext) -> Result<DeviceEndpoint, Failure> {
    let ca = if k.config.mqtt.tls { Some(tls::trusted(&k.secrets().await?)?) } else { None };
    Ok(DeviceEndpoint::of(&k.config, ca)?)
}

async fn make(k: &CommandContext, id: MachineId, turn: RequestedKey) -> Result<(), Failure> {
    let endpoint = configured_endpoint(k).await?;
    let mut client = k.client().await?;
    let tx = client.transaction().await?;
    let login = keys::make(&tx, (id, Scope::default()), turn, &endpoint, by(k)).await?;
    tx.commit().await?;
    let done = format!("a key of machine {id} was made, but nobody has seen it: make another with `nyala device rotate {id}`");
    output::print(&serde_json::to_string(&login)?, &done)
}

async fn make_missing(k: &CommandContext, outlet: OutletId, out: &Path) -> Result<(), Failure> {
    let endpoint = configured_endpoint(k).await?;
    let mut client = k.client().await?;
    let tx = client.transaction().await?;
    let logins = keys::make_missing(&tx, outlet, &endpoint, by(k)).await?;
    if logins.is_empty() {
        return Err(Failure::new(format!("outlet {outlet} has no machine of the driver mqtt without a key")));
    }
    write_new(out, &csv_of(&logins)?)?;
    // A file with keys that do not count would be taken for one with keys that do.
    if let Err(e) = tx.commit().await {
        fs::remove_file(out)?;
        return Err(e.into());
    }
    let done = format!("{} keys are in {}", logins.len(), out.display());
    output::print(&done, &done)
}

/// Keys as CSV (RFC 4180), a row for each device.
fn csv_of(logins: &[DeviceLogin]) -> Result<String, Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for login in logins {
        table.serialize(login).map_err(|e| Failure::new(e.to_string()))?;
    }
    let bytes = table.into_inner().map_err(|e| Failure::new(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| Failure::new(e.to_string()))
}

/// Writes a file that only its owner can read, whole or not at all, and never over another one.
fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Failure::new(format!("{} is there already; no key was made", path.display())),
        _ => Failure::new(format!("{} cannot be written: {e}", path.display())),
    })?;
    if let Err(e) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
        fs::remove_file(path)?;
        return Err(Failure::new(format!("{} cannot be written: {e}", path.display())));
    }
    Ok(())
}

async fn revoke(k: &CommandContext, id: MachineId) -> Result<(), Failure> {
    let mut client = k.client().await?;
    let tx = client.transaction().await?;
    let count = keys::revoke(&tx, id, by(k)).await?;
    tx.commit().await?;
    let done = format!("machine {id}: keys revoked: {count}");
    output::print(&done, &done)
}

async fn list(k: &CommandContext) -> Result<(), Failure> {
    const ALL: &str = "
        SELECT k.id, k.idmesin, m.idoutlet, m.nama, k.created_at, k.first_used_at, k.revoked_at
        FROM device_key k JOIN mesin m USING (idmesin) ORDER BY k.idmesin, k.id";
    let mut text = "key\tmachine\toutlet\tnama\tmade\tfirst used\trevoked\n".to_owned();
    for row in k.client().await?.query(ALL, &[]).await? {
        let at = |i: usize| row.get::<_, Option<Timestamp>>(i).map_or_else(|| "-".to_owned(), Timestamp::rfc3339);
        let (key, machine, outlet, name): (i64, MachineId, OutletId, &str) = (row.get(0), row.get(1), row.get(2), row.get(3));
        text += &format!("{key}\t{machine}\t{outlet}\t{name}\t{}\t{}\t{}\n", at(4), at(5), at(6));
    }
    output::print(&text, output::NOTHING)
}

/// Replaces this process with `nyala-device-sim`: the one beside this program, or the first one on PATH. Returns only why it could not.
fn exec_sim(common: &CommonArgs, arguments: &[OsString]) -> Failure {
    let folder = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned())).unwrap_or_default();
    for program in [folder.join(DEVICE_SIM), DEVICE_SIM.into()] {
        let failed = Command::new(&program).args(common.to_arguments()).args(arguments).exec();
        if failed.kind() != ErrorKind::NotFound {
            return Failure::new(format!("{} cannot be started: {failed}", program.display()));
        }
    }
    Failure::new(format!(
        "{DEVICE_SIM} plays the devices, and it is neither in {} nor on PATH: in a checkout of this version, `cargo build --release \
         -p {DEVICE_SIM}` makes target/release/{DEVICE_SIM}; copy that into one of them",
        folder.display()
    ))
}
