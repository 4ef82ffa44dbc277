//! Processor time and memory of a process, from /proc.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Linux reports times to programs in hundredths of a second (`USER_HZ`).
const US_PER_TICK: u64 = 10_000;

/// Use of a process until a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// Processor time of all threads, user and system, in microseconds.
    pub cpu_us: u64,
    /// Resident memory, in KiB.
    pub rss_kib: u64,
}

impl Used {
    /// # Errors
    /// One line when the process does not exist.
    pub fn of(pid: u32) -> Result<Self, String> {
        let stat = Stat::of(pid)?;
        let status = read(pid, "status")?;
        // A process that has ended has no memory, even before its parent has waited for it.
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let rss = rss.ok_or_else(|| format!("process {pid} has ended"))?;
        let rss_kib = rss.trim().trim_end_matches("kB").trim().parse().unwrap_or(0);
        Ok(Self { cpu_us: stat.own_us, rss_kib })
    }
}

/// Processor time of a process and its children, ended ones included, in microseconds.
///
/// # Errors
/// One line when the process does not exist.
pub fn family_cpu_us(pid: u32) -> Result<u64, String> {
    let parent = Stat::of(pid)?;
    // A child that ends during this is counted at its parent by the next call.
    let children = children(pid).into_iter().filter_map(|child| Stat::of(child).ok());
    Ok(parent.own_us + parent.ended_us + children.map(|stat| stat.own_us).sum::<u64>())
}

/// Processes that a process has started, and that run.
pub fn children(pid: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|child| Stat::of(*child).is_ok_and(|stat| stat.parent == u64::from(pid))).collect()
}

/// Fields of proc_pid_stat(5).
struct Stat {
    parent: u64,
    own_us: u64,
    /// Processor time of its children that have ended.
    ended_us: u64,
}

impl Stat {
    fn of(pid: u32) -> Result<Self, String> {
        let stat = read(pid, "stat")?;
        // The name before it may contain any character, also a parenthesis.
        let fields: Vec<&str> = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
        let number = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
        let us = |i: usize| number(i) * US_PER_TICK;
        Ok(Self { parent: number(1), own_us: us(11) + us(12), ended_us: us(13) + us(14) })
    }
}

/// Processor time of the calling thread so far, in microseconds.
pub fn thread_cpu_us() -> u64 {
    let used = getrusage(UsageWho::RUSAGE_THREAD).map(|u| u.user_time().num_microseconds() + u.system_time().num_microseconds());
    used.map_or(0, |us| u64::try_from(us).unwrap_or(0))
}

/// Time that the calling thread has waited for a processor so far, in microseconds; 0 when the kernel does not report it.
pub fn thread_wait_us() -> u64 {
    // Fields: nanoseconds on a processor, nanoseconds on a run queue, and number of time slices.
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split_whitespace().nth(1).and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0) / 1_000
}

fn read(pid: u32, what: &str) -> Result<String, String> {
    let path = format!("/proc/{pid}/{what}");
    std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::{Used, family_cpu_us, thread_wait_us};

    #[test]
    fn the_kernel_tells_how_long_a_thread_waited() {
        // A thread that has run has also waited, at least for microseconds.
        let before = thread_wait_us();
        std::thread::yield_now();
        assert!(thread_wait_us() >= before);
        assert!(std::path::Path::new("/proc/thread-self/schedstat").exists());
    }

    #[test]
    fn this_process_has_used_something() {
        let used = Used::of(std::process::id()).unwrap();
        assert!(used.rss_kib > 100, "{used:?}");
        assert!(family_cpu_us(std::process::id()).unwrap() >= used.cpu_us);
        assert!(Used::of(u32::MAX).unwrap_err().contains("/proc/4294967295/"));
    }
}
