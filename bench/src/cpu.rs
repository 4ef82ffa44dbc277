//! Who used the processor: the server, the database, this program.

use std::time::Duration;

use crate::Error;

/// Processor time used so far, user and system together.
#[derive(Debug, Clone, Copy)]
pub struct Used {
    pub server: Duration,
    /// The postmaster and its processes, those that ended too.
    pub postgres: Duration,
    pub bench: Duration,
}

impl Used {
    /// Processor time that one process has used.
    ///
    /// # Errors
    /// When it no longer runs.
    pub fn of(pid: i32) -> Result<Duration, Error> {
        Ok(ticks(Stat::of(pid)?.own))
    }

    /// # Errors
    /// When one of the two no longer runs.
    pub fn now(server: i32, postmaster: i32) -> Result<Self, Error> {
        let mut postgres = Stat::of(postmaster)?.with_ended();
        for entry in std::fs::read_dir("/proc")?.flatten() {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
            // one that ends meanwhile is counted by the postmaster the next time
            if let Some(stat) = pid.and_then(|pid| Stat::of(pid).ok()).filter(|stat| stat.parent == postmaster) {
                postgres += stat.own;
            }
        }
        let bench = Stat::of(std::process::id().cast_signed())?;
        Ok(Self { server: ticks(Stat::of(server)?.own), postgres: ticks(postgres), bench: ticks(bench.own) })
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            server: self.server.saturating_sub(before.server),
            postgres: self.postgres.saturating_sub(before.postgres),
            bench: self.bench.saturating_sub(before.bench),
        }
    }
}

/// Resident memory of a process, in KiB.
///
/// # Errors
/// When it no longer runs.
pub fn resident_kib(pid: i32) -> Result<f64, Error> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kib = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).and_then(|rest| rest.split_whitespace().next());
    Ok(kib.ok_or("a /proc/<pid>/status without VmRSS")?.parse()?)
}

/// What proc(5) says in `/proc/<pid>/stat`, in ticks.
struct Stat {
    parent: i32,
    own: u64,
    ended: u64,
}

impl Stat {
    fn of(pid: i32) -> Result<Self, Error> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // the name before it may hold anything, a parenthesis too
        let (_, fields) = text.rsplit_once(')').ok_or("an unreadable /proc/<pid>/stat")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |i: usize| fields.get(i).and_then(|f| f.parse::<u64>().ok()).unwrap_or(0);
        let parent = fields.get(1).and_then(|f| f.parse().ok()).unwrap_or(0);
        Ok(Self { parent, own: number(11) + number(12), ended: number(13) + number(14) })
    }

    fn with_ended(&self) -> u64 {
        self.own + self.ended
    }
}

/// Linux tells a hundredth of a second to programs, whatever the kernel counts in (`USER_HZ`).
fn ticks(n: u64) -> Duration {
    Duration::from_millis(n * 10)
}
