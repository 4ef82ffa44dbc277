//! The file with an outlet's keys: CSV (RFC 4180), so that a spreadsheet opens it, one line a device; or what was printed of one key after
//! the other, lines of JSON.

use std::fs;
use std::path::Path;

use nyala_machines::device::mqtt::keys::DeviceLogin;
use serde::Deserialize;

use crate::cli::Failure;

/// What of a line is needed to let its device in, and where that finds the server.
#[derive(Debug, Deserialize)]
pub struct Key {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub secret: String,
    pub host: Option<String>,
    pub port: Option<u16>,
    pub ca: Option<String>,
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
    let text = fs::read_to_string(path).map_err(|e| Failure::new(format!("{}: {e}", path.display())))?;
    let keys = if text.trim_start().starts_with('{') {
        serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<Vec<Key>, _>>().map_err(|e| e.to_string())
    } else {
        csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>().map_err(|e| e.to_string())
    };
    let keys = keys.map_err(|e| Failure::new(format!("{} is not what `nyala device add` writes: {e}", path.display())))?;
    if keys.is_empty() { Err(Failure::new(format!("{} has no keys", path.display()))) } else { Ok(keys) }
}
