//! Programs and ports of this machine.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Range of ports below those that systems assign to connections.
const PORTS: Range<u16> = 20_000..32_000;

/// Path of a program from the system's packages.
pub fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // Debian installs daemons in folders that only root's PATH has.
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    places.map(|place| place.join(program)).find(|file| file.is_file())
}

/// Free port for a program that needs one in its settings. It is different at each call in this process, and the system assigns it to no
/// connection.
///
/// # Errors
/// When no port is free.
pub fn free_port() -> io::Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let free = |port: &u16| !given.contains(port) && TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let port = (0..PORTS.len()).map(|_| rand::random_range(PORTS)).find(free);
    let port = port.ok_or_else(|| io::Error::new(ErrorKind::AddrInUse, format!("no free port in {PORTS:?}")))?;
    given.insert(port);
    Ok(port)
}
