//! How many sockets and files this process may have open.

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Every socket is a descriptor, and most systems allow 1,024 unless a program asks for more: asks for all, and tells how many.
pub fn raise() -> Result<u64, Errno> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map(|()| hard)
}
