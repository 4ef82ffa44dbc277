//! Address at which a browser's push service receives messages. It comes from the browser, so only addresses of known services are
//! accepted: otherwise a client could make the server call any host.

use std::net::IpAddr;

/// The longest endpoint; those of the services have about 200 characters.
pub const MAX_BYTES: usize = 1024;
/// Each of Google's services has one host, …
pub const HOSTS: [&str; 2] = ["fcm.googleapis.com", "jmt17.google.com"];
/// … Mozilla, Apple and Microsoft have several below these domains.
pub const DOMAINS: [&str; 3] = ["push.services.mozilla.com", "push.apple.com", "notify.windows.com"];
/// Characters beside letters and digits that an endpoint's path may contain (RFC 3986 §3.3, and a query).
pub const PATH_MARKS: &str = "-._~!$&'()*+,;=:@%/?";

/// The address of one browser at its push service. It is a secret of the customer, so it is not logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: String,
    /// Length of the origin within `url`.
    origin: usize,
}

impl Endpoint {
    /// `None` unless the host belongs to a known service or is one of `more`. A host of `more` on this machine may be called without
    /// TLS.
    pub fn parse(url: &str, more: &[String]) -> Option<Self> {
        let (secure, rest) = match url.strip_prefix("https://") {
            Some(rest) => (true, rest),
            None => (false, url.strip_prefix("http://")?),
        };
        let (authority, path) = rest.split_at(rest.find('/')?);
        let plain = path.bytes().all(|b| b.is_ascii_alphanumeric() || PATH_MARKS.as_bytes().contains(&b));
        let taken = if secure && is_known(authority) { true } else { is_one_of(authority, more, secure) };
        let origin = url.len() - path.len();
        (url.len() <= MAX_BYTES && plain && taken).then(|| Self { url: url.to_owned(), origin })
    }

    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// Scheme and authority: the audience of a signature (RFC 8292 §2).
    pub fn origin(&self) -> &str {
        &self.url[..self.origin]
    }
}

fn is_known(host: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    HOSTS.contains(&host)
        || DOMAINS.iter().any(|domain| {
            let below = host.strip_suffix(domain).and_then(|rest| rest.strip_suffix('.'));
            below.is_some_and(|labels| labels.split('.').all(is_label))
        })
}

fn is_one_of(authority: &str, more: &[String], secure: bool) -> bool {
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let on_this_machine = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    more.iter().any(|one| one == host) && port.bytes().all(|b| b.is_ascii_digit()) && (secure || on_this_machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str) -> Option<String> {
        let more = ["127.0.0.1".to_owned(), "push.example".to_owned()];
        Endpoint::parse(url, &more).map(|endpoint| endpoint.origin().to_owned())
    }

    #[test]
    fn known_services_and_listed_hosts_are_taken() {
        for (url, expected) in [
            ("https://fcm.googleapis.com/fcm/send/abc:APA91b-x_y", "https://fcm.googleapis.com"),
            ("https://jmt17.google.com/fcm/send/abc:APA91b-x_y", "https://jmt17.google.com"),
            ("https://updates.push.services.mozilla.com/wpush/v2/gAAA=", "https://updates.push.services.mozilla.com"),
            ("https://web.push.apple.com/QGuQyavXutnMH", "https://web.push.apple.com"),
            ("https://wns2-by3p.notify.windows.com/w/?token=BQYA%2b", "https://wns2-by3p.notify.windows.com"),
            ("http://127.0.0.1:9999/x", "http://127.0.0.1:9999"),
            ("https://push.example/x", "https://push.example"),
        ] {
            assert_eq!(origin(url).as_deref(), Some(expected), "{url}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        let long = format!("https://fcm.googleapis.com/{}", "x".repeat(MAX_BYTES));
        for url in [
            "",
            "https://fcm.googleapis.com",
            "http://fcm.googleapis.com/x",
            "https://fcm.googleapis.com:443/x",
            "https://user@fcm.googleapis.com/x",
            "https://fcm.googleapis.com@127.0.0.1/x",
            "https://fcm.googleapis.com.example/x",
            "https://evilnotify.windows.com/x",
            "https://notify.windows.com/x",
            "https://.notify.windows.com/x",
            "https://FCM.googleapis.com/x",
            "https://a_b.push.apple.com/x",
            "https://web.push.apple.com\\@10.0.0.1/x",
            "https://web.push.apple.com/x y",
            "https://web.push.apple.com/x#y",
            "https://169.254.169.254/latest",
            "http://push.example/x",
            "http://127.0.0.1:8x/x",
            "ftp://127.0.0.1/x",
            &long,
        ] {
            assert_eq!(origin(url), None, "{url}");
        }
    }
}
