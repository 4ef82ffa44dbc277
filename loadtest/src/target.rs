//! Server under load, and the limit of open files that its sessions need.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::http::Pool;

const REACHED_WITHIN: Duration = Duration::from_secs(5);
/// Descriptors for everything but sessions: requests of the preparation, files, standard streams.
const OTHER_DESCRIPTORS: u64 = REQUESTS_AT_ONCE as u64 + 64;
/// Greatest number of concurrent requests of the preparation.
const REQUESTS_AT_ONCE: usize = 64;

#[derive(Debug, Clone)]
pub struct Target {
    pub address: SocketAddr,
    /// Value of the `Host` header.
    pub host: String,
    pub url: String,
}

impl Target {
    /// # Errors
    /// One line for a URL that is invalid, or that is another machine without `owned`.
    pub fn parse(url: &str, owned: bool) -> Result<Self, String> {
        let Some(rest) = url.strip_prefix("http://") else {
            return Err(format!("--url must begin with http://, not `{url}`; measure the server itself, not the proxy's TLS"));
        };
        let host = rest.trim_end_matches('/');
        if host.is_empty() || host.contains('/') {
            return Err(format!("--url must be http://HOST:PORT without a path, not `{url}`"));
        }
        let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
        if let Some(port) = port.filter(|port| port.parse::<u16>().is_err()) {
            return Err(format!("--url {url}: `{port}` is no port"));
        }
        let has_port = port.is_some();
        let with_port = if has_port { host.to_owned() } else { format!("{host}:80") };
        let found: Vec<SocketAddr> = with_port.to_socket_addrs().map_err(|e| format!("--url {url}: {e}"))?.collect();
        let address = *found.first().ok_or_else(|| format!("--url {url}: no address is known for it"))?;
        if !owned && !found.iter().all(|a| a.ip().is_loopback()) {
            return Err(format!(
                "{url} is not this machine; a load test can take a server down, so say --i-own-this-server if it is yours"
            ));
        }
        Ok(Self { address, host: host.to_owned(), url: format!("http://{host}") })
    }

    /// # Errors
    /// One line when no server listens there.
    pub async fn reach(&self) -> Result<(), String> {
        let tried = tokio::time::timeout(REACHED_WITHIN, tokio::net::TcpStream::connect(self.address)).await;
        match tried {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(e)) => Err(format!("cannot reach {}: {e}; `make run` starts a server", self.url)),
            Err(_) => Err(format!("cannot reach {}: no answer within {} s", self.url, REACHED_WITHIN.as_secs())),
        }
    }

    /// # Errors
    /// One line when it is no Nyala server, or does not accept requests.
    pub async fn ready(&self) -> Result<Pool, String> {
        self.reach().await?;
        let pool = Pool::new(self.address, REQUESTS_AT_ONCE);
        let answer = pool.call("GET", "/readyz", "", &serde_json::Value::Null).await;
        match answer {
            Ok(answer) if answer.status == 200 => Ok(pool),
            Ok(answer) => Err(format!("{} is not ready: {} {}", self.url, answer.status, answer.message)),
            Err(e) => Err(format!("{}/readyz does not answer like a Nyala server: {e}", self.url)),
        }
    }
}

/// Raises the limit of open files, also for child processes, and returns how many sessions it allows.
///
/// # Errors
/// When the system does not report the limit.
pub fn sessions_that_fit() -> Result<usize, String> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(|e| format!("cannot read the limit of open files: {e}"))?;
    if soft < hard {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).map_err(|e| format!("cannot raise the limit of open files: {e}"))?;
    }
    usize::try_from(hard.saturating_sub(OTHER_DESCRIPTORS)).map_err(|e| e.to_string())
}

/// Lets this process open `sessions` sockets.
///
/// # Errors
/// One line with the allowed number.
pub fn make_room(sessions: usize) -> Result<(), String> {
    let fit = sessions_that_fit()?;
    if sessions <= fit {
        return Ok(());
    }
    Err(format!(
        "{fit} sessions fit into the files that this process may open, not {sessions}: raise the limit (`ulimit -Hn`), or run a second \
         process beside this one"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_needs_the_flag() {
        assert_eq!(Target::parse("http://127.0.0.1:8080/", false).unwrap().host, "127.0.0.1:8080");
        assert_eq!(Target::parse("http://[::1]:80", false).unwrap().address.port(), 80);
        assert!(Target::parse("http://192.0.2.1:8080", false).unwrap_err().contains("--i-own-this-server"));
        assert!(Target::parse("http://192.0.2.1:8080", true).is_ok());
        for bad in ["https://127.0.0.1", "127.0.0.1:8080", "http://", "http://127.0.0.1/x", "http://127.0.0.1:99999"] {
            assert!(Target::parse(bad, true).is_err(), "{bad}");
        }
    }

    #[test]
    fn more_sessions_than_files_are_refused_with_the_allowed_number() {
        let error = make_room(100_000_000).unwrap_err();
        assert!(error.contains("sessions fit"), "{error}");
    }
}
