//! How many sockets and files this process may have open.

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit of open files to its maximum and returns it. Every socket is a descriptor, and most systems allow 1,024 by default.
pub fn raise() -> Result<u64, Errno> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map(|()| hard)
}
