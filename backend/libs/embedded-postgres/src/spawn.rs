//! Child processes that end with this process. The only `unsafe` code of the crate.

use std::{io, os::unix::process::CommandExt, process::Command};

use nix::{
    sys::{prctl::set_pdeathsig, signal::Signal},
    unistd::{Pid, getppid},
};

/// Makes the child get `signal` when the *thread* that spawns it ends (prctl(2), PR_SET_PDEATHSIG). The child also gets its own
/// process group, so that Ctrl-C reaches only the parent, which then stops the child in order.
#[allow(unsafe_code)]
pub fn die_with_parent(command: &mut Command, signal: Signal) {
    let parent = Pid::this();
    command.process_group(0);
    // SAFETY: the closure runs between fork and exec, where only async-signal-safe calls are allowed: prctl and getppid are
    // plain system calls, and nothing is allocated or locked (an error of a raw code allocates nothing).
    unsafe {
        command.pre_exec(move || {
            set_pdeathsig(signal).map_err(|errno| io::Error::from_raw_os_error(errno as i32))?;
            // If the parent died before the line above, the kernel never sends the signal.
            if getppid() != parent {
                return Err(io::Error::from_raw_os_error(nix::errno::Errno::ESRCH as i32));
            }
            Ok(())
        });
    }
}
