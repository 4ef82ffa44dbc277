//! Three connected NATS servers, and the connection of each Nyala server to all of them.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use embedded_postgres::die_with_parent;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::cut_proxy::CutProxy;
use crate::local::{free_port, installed};

const SERVERS: usize = 3;
const USER: &str = "nyala";
const LISTENS_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Path of the program; `None`: the package is not installed.
pub fn program() -> Option<PathBuf> {
    installed("nats-server")
}

struct NatsServer {
    name: String,
    port: u16,
    process: Option<Child>,
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

impl NatsServer {
    fn kill(&mut self) -> Result<(), String> {
        let Some(mut server) = self.process.take() else { return Ok(()) };
        server.kill().and_then(|()| server.wait()).map(drop).map_err(|e| e.to_string())
    }
}

pub struct Nats {
    program: PathBuf,
    dir: PathBuf,
    password: String,
    servers: Vec<NatsServer>,
    proxies: Vec<CutProxy>,
}

impl Nats {
    /// Starts them with their files in `dir`, which must not exist, and with connections for this many Nyala servers.
    ///
    /// # Errors
    /// One line: why it was not possible.
    pub async fn start(program: PathBuf, dir: PathBuf, proxies: usize) -> Result<Self, String> {
        fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let password = format!("{:032x}", rand::random::<u128>());
        let ports = || (0..SERVERS).map(|_| free_port()).collect::<Result<Vec<_>, _>>().map_err(|e| e.to_string());
        let (ports, routes) = (ports()?, ports()?);
        let mut all = Self { program, dir, password, servers: Vec::new(), proxies: Vec::new() };
        for (place, port) in ports.iter().enumerate() {
            let name = format!("nats{}", place + 1);
            let file = all.dir.join(format!("{name}.conf"));
            fs::write(&file, configuration(&name, *port, place, &routes, &all.password))
                .map_err(|e| format!("{}: {e}", file.display()))?;
            all.servers.push(NatsServer { name, port: *port, process: None });
        }
        for _ in 0..proxies {
            all.proxies.push(CutProxy::start(&ports).await?);
        }
        all.start_again().await?;
        Ok(all)
    }

    /// Value of `NYALA__CLUSTER__NATS_URL` for the server with this index.
    pub fn url(&self, node: usize) -> String {
        let ports = self.proxies[node].ports().iter();
        ports.map(|port| format!("nats://{USER}:{}@127.0.0.1:{port}", self.password)).collect::<Vec<_>>().join(",")
    }

    /// The connection of the server with this index.
    pub fn proxy(&self, node: usize) -> &CutProxy {
        &self.proxies[node]
    }

    /// # Errors
    /// When it cannot be done.
    pub fn kill(&mut self, place: usize) -> Result<(), String> {
        self.servers[place].kill()
    }

    /// # Errors
    /// When one of them cannot be.
    pub fn kill_all(&mut self) -> Result<(), String> {
        self.servers.iter_mut().try_for_each(NatsServer::kill)
    }

    /// Sends the signal to all of them.
    ///
    /// # Errors
    /// When one does not run.
    pub fn signal_all(&self, signal: Signal) -> Result<(), String> {
        let pids = self.servers.iter().filter_map(|s| s.process.as_ref()).map(|s| Pid::from_raw(s.id().cast_signed()));
        pids.into_iter().try_for_each(|pid| kill(pid, signal).map_err(|e| e.to_string()))
    }

    /// Starts those that do not run, and waits until they listen.
    ///
    /// # Errors
    /// When one does not.
    pub async fn start_again(&mut self) -> Result<(), String> {
        for server in self.servers.iter_mut().filter(|s| s.process.is_none()) {
            let log = self.dir.join(format!("{}.log", server.name));
            let failed = |e: std::io::Error| format!("{}: {e}", log.display());
            let file = File::options().create(true).append(true).open(&log).map_err(failed)?;
            let mut command = Command::new(&self.program);
            command.arg("-c").arg(self.dir.join(format!("{}.conf", server.name)));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
            die_with_parent(&mut command, Signal::SIGKILL);
            server.process = Some(command.spawn().map_err(failed)?);
            let since = Instant::now();
            while TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).is_err() {
                if since.elapsed() > LISTENS_WITHIN {
                    return Err(format!("{} does not listen, see {}", server.name, log.display()));
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
        Ok(())
    }
}

/// The other servers' own ports are not advertised to clients: they would bypass the connections that the test can cut.
fn configuration(name: &str, port: u16, place: usize, routes: &[u16], password: &str) -> String {
    let others = routes.iter().enumerate().filter(|(other, _)| *other != place);
    let others: Vec<String> = others.map(|(_, port)| format!("nats://{USER}:{password}@127.0.0.1:{port}")).collect();
    format!(
        "server_name: {name}\nlisten: 127.0.0.1:{port}\nauthorization {{ user: {USER}, password: \"{password}\" }}\n\
         cluster {{\n  name: nyala\n  listen: 127.0.0.1:{}\n  authorization {{ user: {USER}, password: \"{password}\" }}\n  \
         no_advertise: true\n  routes: [{}]\n}}\n",
        routes[place],
        others.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_routes_to_the_others_only() {
        let text = configuration("nats2", 4222, 1, &[1, 2, 3], "word");
        assert!(text.contains("routes: [nats://nyala:word@127.0.0.1:1, nats://nyala:word@127.0.0.1:3]"), "{text}");
    }
}
