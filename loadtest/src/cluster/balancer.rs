//! HAProxy in front of the servers, with the example configuration of docs/cluster.

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use embedded_postgres::die_with_parent;
use nix::sys::signal::Signal;

use crate::http::SERVED_BY;
use crate::local::{free_port, installed};

pub const PROGRAM: &str = "haproxy";
const EXAMPLE: &str = include_str!("../../../docs/cluster/haproxy.cfg");
const LISTENS_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Ports of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerPorts {
    pub http: u16,
    pub mqtt: u16,
}

pub struct Balancer {
    child: Child,
    pub phones: SocketAddr,
    pub devices: SocketAddr,
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Balancer {
    /// # Errors
    /// One line: why it did not start.
    pub fn start(folder: &Path, servers: &[(&str, ServerPorts)]) -> Result<Self, String> {
        let port = || free_port().map_err(|e| e.to_string());
        let (phones, devices, redirect) = (port()?, port()?, port()?);
        let file = folder.join("haproxy.cfg");
        std::fs::write(&file, configuration(servers, phones, devices, redirect)?)
            .map_err(|e| format!("{}: {e}", file.display()))?;
        let log = File::create(folder.join("haproxy.log")).map_err(|e| e.to_string())?;
        let errors = log.try_clone().map_err(|e| e.to_string())?;
        let mut command = Command::new(installed(PROGRAM).ok_or("haproxy is not here")?);
        command.arg("-db").arg("-f").arg(&file).stdin(Stdio::null()).stdout(log).stderr(errors);
        die_with_parent(&mut command, Signal::SIGKILL);
        let child = command.spawn().map_err(|e| format!("{PROGRAM}: {e}"))?;
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let balancer = Self { child, phones: at(phones), devices: at(devices) };
        let since = Instant::now();
        while TcpStream::connect(balancer.phones).is_err() {
            if since.elapsed() > LISTENS_WITHIN {
                return Err(format!("{PROGRAM} does not listen, see {}", folder.join("haproxy.log").display()));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(balancer)
    }
}

/// The example configuration with these servers, without TLS, and with a header that names the server of each response.
fn configuration(servers: &[(&str, ServerPorts)], phones: u16, devices: u16, redirect: u16) -> Result<String, String> {
    let mut text = String::new();
    let mut binds = 0;
    let mut lines = EXAMPLE.lines().peekable();
    while let Some(line) = lines.next() {
        let written = line.trim_start();
        // Each further server is one more line in four places.
        let kind = ["server n", "use-server n"].into_iter().find(|kind| written.starts_with(kind));
        if let Some(kind) = kind {
            if lines.peek().is_some_and(|next| next.trim_start().starts_with(kind)) {
                continue;
            }
            for (name, ServerPorts { http, mqtt }) in servers {
                let tracks = if written.contains(" track ") { format!(" track calls/{name}") } else { String::new() };
                let rest = match kind {
                    "use-server n" => format!("use-server {name} if {{ url_param(sid) -m beg {name} }}"),
                    _ if written.contains(":8883") => format!("server {name} 127.0.0.1:{mqtt}{tracks} send-proxy-v2"),
                    _ => format!("server {name} 127.0.0.1:{http}{tracks}"),
                };
                text += &format!("    {rest}\n");
            }
            continue;
        }
        let bind = match written {
            "bind :80" => Some(redirect),
            "bind :8883" => Some(devices),
            _ if written.starts_with("bind :443 ssl ") => Some(phones),
            _ => None,
        };
        binds += usize::from(bind.is_some());
        text += &bind.map_or_else(|| format!("{line}\n"), |port| format!("    bind 127.0.0.1:{port}\n"));
        if bind == Some(phones) {
            text += &format!("    http-response set-header {SERVED_BY} %s\n");
        }
    }
    if binds != 3 {
        return Err("docs/cluster/haproxy.cfg has other doors than :80, :443 and :8883".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_gets_these_servers() {
        let ports = |n: u16| ServerPorts { http: 8000 + n, mqtt: 1880 + n };
        let text = configuration(&[("n1", ports(1)), ("n2", ports(2)), ("n3", ports(3))], 1, 2, 3).unwrap();
        for server in ["n1", "n2", "n3"] {
            assert_eq!(text.matches(&format!("    server {server} 127.0.0.1:")).count(), 3, "{text}");
            assert_eq!(text.matches(&format!("use-server {server} if")).count(), 1, "{text}");
        }
        assert_eq!(text.matches(SERVED_BY).count(), 1, "{text}");
        assert!(text.contains("bind 127.0.0.1:1\n") && !text.contains("10.0.0."), "{text}");
    }
}
