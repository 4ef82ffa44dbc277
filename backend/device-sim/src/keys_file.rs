//! File of devices' keys, as `nyala device add` writes it: CSV with a row for each device, or the lines of JSON that it prints.

use std::fs;
use std::path::Path;

use nyala::cli::Failure;
use serde::Deserialize;

/// Part of a row that is needed to log in as the device.
#[derive(Debug, Deserialize)]
pub struct KeyRow {
    pub idmesin: i64,
    pub idoutlet: i64,
    pub secret: String,
    pub host: Option<String>,
    pub port: Option<u16>,
    pub ca: Option<String>,
}

/// # Errors
/// When the file cannot be read, has no keys, or has a line that is no key.
pub fn read(path: &Path) -> Result<Vec<KeyRow>, Failure> {
    let text = fs::read_to_string(path).map_err(|e| Failure::new(format!("{}: {e}", path.display())))?;
    let keys = if text.trim_start().starts_with('{') {
        serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<Vec<KeyRow>, _>>().map_err(|e| e.to_string())
    } else {
        csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>().map_err(|e| e.to_string())
    };
    let keys = keys.map_err(|e| Failure::new(format!("{} is not what `nyala device add` writes: {e}", path.display())))?;
    if keys.is_empty() { Err(Failure::new(format!("{} has no keys", path.display()))) } else { Ok(keys) }
}
