//! Memory of devices that this process plays, in a file of lines: the last line of a machine counts. Unsynced on purpose: a device's
//! memory must survive a crash of the process that plays it, not of the whole host.

use nyala_core::domain::id::MachineId;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::memory::DeviceMemory;

/// Lines in a journal above which it is rewritten at the next start.
const COMPACT_LINES: usize = 10_000;

pub struct Journal(File);

#[derive(Serialize, Deserialize)]
struct JournalLine {
    idmesin: MachineId,
    memory: DeviceMemory,
}

impl Journal {
    /// Opens the journal at `path`, which need not exist, and reads the memory of every device.
    pub fn open(path: &Path) -> std::io::Result<(Self, HashMap<MachineId, DeviceMemory>)> {
        let (devices, lines) = read(path)?;
        if lines > COMPACT_LINES {
            compact(path, &devices)?;
        }
        Ok((Self(append_to(path)?), devices))
    }

    pub fn write(&mut self, idmesin: MachineId, memory: &DeviceMemory) -> std::io::Result<()> {
        self.0.write_all(&line(idmesin, memory)?)
    }
}

fn line(idmesin: MachineId, memory: &DeviceMemory) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&JournalLine { idmesin, memory: memory.clone() })?;
    line.push(b'\n');
    Ok(line)
}

fn read(path: &Path) -> std::io::Result<(HashMap<MachineId, DeviceMemory>, usize)> {
    let mut devices = HashMap::new();
    let mut lines = 0;
    match File::open(path) {
        Ok(file) => {
            for line in BufReader::new(file).lines() {
                lines += 1;
                // A crash may leave a torn last line; everything before it counts.
                if let Ok(line) = serde_json::from_str::<JournalLine>(&line?) {
                    devices.insert(line.idmesin, line.memory);
                }
            }
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    Ok((devices, lines))
}

/// Opens the journal for more lines. A torn last line is ended first, so that it does not swallow the next one.
fn append_to(path: &Path) -> std::io::Result<File> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn compact(path: &Path, devices: &HashMap<MachineId, DeviceMemory>) -> std::io::Result<()> {
    let beside = path.with_extension("jsonl.new");
    let mut file = File::create(&beside)?;
    for (idmesin, memory) in devices {
        file.write_all(&line(*idmesin, memory)?)?;
    }
    std::fs::rename(beside, path)
}
