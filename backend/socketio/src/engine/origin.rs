//! Which web pages may talk to the server.

use actix_http::header::{HOST, HeaderMap, ORIGIN};

/// Checked on every request that carries an `Origin`, polling and websocket alike. Programs that are no browsers send
/// none and are let through: `Origin` protects customers from foreign pages, not the server from programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origins {
    /// Only pages served under the same `Host` as the request. The default.
    #[default]
    SameOrigin,
    /// The same host, and these origins (`https://app.example.com`), compared without regard to case.
    List(Vec<String>),
    /// Every page. Cookies are never allowed along with it.
    Any,
}

/// What the check says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No browser page, or one of the same host: nothing to add.
    Same,
    /// A foreign page that is allowed: answer with these CORS headers.
    Cross {
        /// `Access-Control-Allow-Origin`.
        allow: String,
        /// Whether credentials are allowed.
        credentials: bool,
    },
    /// A foreign page that is not allowed.
    Refused,
}

impl Origins {
    pub(crate) fn check(&self, headers: &HeaderMap) -> Verdict {
        let Some(origin) = headers.get(ORIGIN) else {
            return Verdict::Same;
        };
        let Ok(origin) = origin.to_str() else {
            return Verdict::Refused;
        };
        let host = headers.get(HOST).and_then(|h| h.to_str().ok());
        if host.is_some_and(|host| same_host(origin, host)) {
            return Verdict::Same;
        }
        match self {
            Self::Any => Verdict::Cross { allow: "*".into(), credentials: false },
            Self::List(list) if list.iter().any(|o| o.eq_ignore_ascii_case(origin)) => {
                Verdict::Cross { allow: origin.into(), credentials: true }
            }
            _ => Verdict::Refused,
        }
    }
}

/// Compares host and port; the scheme only tells the default port, as a proxy may have ended TLS.
fn same_host(origin: &str, host: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let default = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    let strip = |s: &str| s.strip_suffix(default).unwrap_or(s).to_ascii_lowercase();
    strip(authority) == strip(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_http::header::HeaderValue;

    fn check(origins: &Origins, origin: &'static str, host: &'static str) -> Verdict {
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, HeaderValue::from_static(origin));
        headers.insert(HOST, HeaderValue::from_static(host));
        origins.check(&headers)
    }

    #[test]
    fn same_host_passes_and_foreign_does_not() {
        let same = Origins::SameOrigin;
        assert_eq!(check(&same, "http://a.example:8080", "a.example:8080"), Verdict::Same);
        assert_eq!(check(&same, "https://A.example", "a.example:443"), Verdict::Same);
        assert_eq!(check(&same, "https://a.example", "a.example"), Verdict::Same);
        for origin in ["http://b.example", "http://a.example.evil.example", "null", "http://a.example:81"] {
            assert_eq!(check(&same, origin, "a.example"), Verdict::Refused, "{origin}");
        }
        assert_eq!(same.check(&HeaderMap::new()), Verdict::Same);
    }

    #[test]
    fn a_list_adds_origins_and_any_allows_all_without_credentials() {
        let list = Origins::List(vec!["https://app.example".into()]);
        let allowed = Verdict::Cross { allow: "https://app.example".into(), credentials: true };
        assert_eq!(check(&list, "https://app.example", "a.example"), allowed);
        assert_eq!(check(&list, "https://b.example", "a.example"), Verdict::Refused);
        let any = Verdict::Cross { allow: "*".into(), credentials: false };
        assert_eq!(check(&Origins::Any, "https://b.example", "a.example"), any);
    }
}
