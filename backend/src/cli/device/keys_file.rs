//! The file with an outlet's keys: CSV (RFC 4180), so that a spreadsheet opens it, one line a device.

use std::path::Path;

use serde::Deserialize;

use crate::cli::Failure;
use crate::machine::device::mqtt::keys::DeviceLogin;

/// What of a line is needed to let its device in.
#[derive(Debug, Deserialize)]
pub struct Key {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub secret: String,
}

pub fn text(logins: &[DeviceLogin]) -> Result<String, Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for login in logins {
        table.serialize(login).map_err(|e| Failure::new(e.to_string()))?;
    }
    let bytes = table.into_inner().map_err(|e| Failure::new(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| Failure::new(e.to_string()))
}

/// # Errors
/// When there is no such file, or a line of it is no key.
pub fn read(path: &Path) -> Result<Vec<Key>, Failure> {
    let unreadable = |e: csv::Error| Failure::new(format!("{} is not what `nyala device add --out` writes: {e}", path.display()));
    let keys = csv::Reader::from_path(path)
        .map_err(unreadable)?
        .into_deserialize()
        .collect::<Result<Vec<Key>, _>>()
        .map_err(unreadable)?;
    if keys.is_empty() { Err(Failure::new(format!("{} has no keys", path.display()))) } else { Ok(keys) }
}
