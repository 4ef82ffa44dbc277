//! Connections that listeners of this machine dropped because their queue was full, from /proc/net/netstat (Linux).

use crate::target::Target;

/// Number of them since the machine started, for all listeners; `None` when the server is on another machine or the kernel does not
/// report it.
pub fn overflows(target: &Target) -> Option<u64> {
    let counters = std::fs::read_to_string("/proc/net/netstat").ok().filter(|_| target.address.ip().is_loopback())?;
    listen_overflows(&counters)
}

/// Finds a value in pairs of lines: names, then their values in the same order (proc_pid_net(5)).
fn listen_overflows(netstat: &str) -> Option<u64> {
    let mut lines = netstat.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let (names, values) = (lines.next()?.split_whitespace(), lines.next()?.split_whitespace());
    names.zip(values).find(|(name, _)| *name == "ListenOverflows")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::listen_overflows;

    #[test]
    fn the_value_below_its_name_is_found() {
        let netstat = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 23 45\nIpExt: InNoRoutes\nIpExt: 6\n";
        assert_eq!(listen_overflows(netstat), Some(23));
        assert_eq!(listen_overflows("IpExt: InNoRoutes\nIpExt: 6\n"), None);
        assert_eq!(listen_overflows("TcpExt: SyncookiesSent\nTcpExt: 1\n"), None);
    }
}
