//! Check of the web pages that may use the server.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use actix_http::header::{HOST, HeaderMap, ORIGIN};

/// Header with the relation of a request's page to the server. Browsers send it even without `Origin` (Fetch Metadata, W3C).
const FETCH_SITE: &str = "sec-fetch-site";

/// Allowed origins, checked on every request, for polling and websockets. Programs other than browsers send neither `Origin` nor
/// `Sec-Fetch-Site` and are allowed: the check protects customers from foreign pages, not the server from programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origins {
    /// Only pages of the [`Site`] of the request. The default.
    #[default]
    SameOrigin,
    /// The same site, and these origins (`https://app.example.com`), compared without regard to case.
    List(Vec<String>),
    /// Every page. Cookies are never allowed along with it.
    Any,
}

/// The site that a request was sent to, as the browser sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Site<'r> {
    /// Host, and port unless it is the scheme's default. None: unknown, so every page counts as foreign.
    pub host: Option<&'r str>,
    /// True if the site is known to use TLS, so that an `http://` page of the same host is foreign.
    pub tls: bool,
}

/// Result of the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not a browser's page, or one of the same site: no headers to add.
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
    /// Whether a page may send a request with these headers to `site`.
    #[cfg(any(test, feature = "host"))]
    pub fn allow(&self, headers: &HeaderMap, site: Site<'_>) -> bool {
        self.check(headers, site) != Verdict::Refused
    }

    pub(crate) fn check(&self, headers: &HeaderMap, site: Site<'_>) -> Verdict {
        let foreign = headers.get(FETCH_SITE).is_some_and(|v| v == "cross-site");
        let Some(origin) = headers.get(ORIGIN) else {
            return if foreign && *self != Self::Any { Verdict::Refused } else { Verdict::Same };
        };
        let Ok(origin) = origin.to_str() else {
            return Verdict::Refused;
        };
        if !foreign && site.has(origin) {
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

impl Site<'_> {
    /// Whether `origin` is this site. If TLS is not certain, the scheme only determines the default port, because a proxy may have
    /// terminated TLS.
    fn has(self, origin: &str) -> bool {
        let (Some(host), Some((scheme, authority))) = (self.host, origin.split_once("://")) else {
            return false;
        };
        let encrypted = scheme.eq_ignore_ascii_case("https");
        let default = if encrypted { ":443" } else { ":80" };
        let strip = |s: &str| s.strip_suffix(default).unwrap_or(s).to_ascii_lowercase();
        (encrypted || !self.tls) && strip(authority) == strip(host)
    }
}

type FindSite = dyn for<'r> Fn(&'r HeaderMap, Option<SocketAddr>) -> Site<'r> + Send + Sync;

/// Determines the site of a request from its headers and its peer. The default is its `Host`, and trusts no proxy.
#[derive(Clone)]
pub struct Sites(Arc<FindSite>);

impl Sites {
    /// Calls `find` at each request of a page.
    pub fn new(find: impl for<'r> Fn(&'r HeaderMap, Option<SocketAddr>) -> Site<'r> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    pub(crate) fn find<'r>(&self, headers: &'r HeaderMap, peer: Option<SocketAddr>) -> Site<'r> {
        (self.0)(headers, peer)
    }
}

impl Default for Sites {
    fn default() -> Self {
        Self::new(|headers, _| Site { host: headers.get(HOST).and_then(|h| h.to_str().ok()), tls: false })
    }
}

impl fmt::Debug for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sites")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_http::header::{HeaderName, HeaderValue};

    fn check_with(origins: &Origins, headers: &[(&'static str, &'static str)], site: Site<'_>) -> Verdict {
        let pairs = headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        origins.check(&pairs.collect(), site)
    }

    fn check(origins: &Origins, origin: &'static str, host: &'static str) -> Verdict {
        check_with(origins, &[("origin", origin)], Site { host: Some(host), tls: false })
    }

    #[test]
    fn the_same_site_passes_and_a_foreign_one_does_not() {
        let same = Origins::SameOrigin;
        assert_eq!(check(&same, "http://a.example:8080", "a.example:8080"), Verdict::Same);
        assert_eq!(check(&same, "https://A.example", "a.example:443"), Verdict::Same);
        assert_eq!(check(&same, "https://a.example", "a.example"), Verdict::Same);
        for origin in ["http://b.example", "http://a.example.evil.example", "null", "http://a.example:81", "a.example", ""] {
            assert_eq!(check(&same, origin, "a.example"), Verdict::Refused, "{origin}");
        }
        assert_eq!(check_with(&same, &[("origin", "http://a.example")], Site::default()), Verdict::Refused);
        assert_eq!(check_with(&same, &[], Site::default()), Verdict::Same);
    }

    #[test]
    fn behind_tls_a_plain_page_is_foreign() {
        let tls = Site { host: Some("a.example"), tls: true };
        assert_eq!(check_with(&Origins::SameOrigin, &[("origin", "https://a.example")], tls), Verdict::Same);
        assert_eq!(check_with(&Origins::SameOrigin, &[("origin", "http://a.example")], tls), Verdict::Refused);
    }

    #[test]
    fn a_browser_that_names_no_page_says_whether_it_is_foreign() {
        let (a, same) = (Site { host: Some("a.example"), tls: false }, Origins::SameOrigin);
        for (fetch_site, verdict) in [
            ("cross-site", Verdict::Refused),
            ("same-origin", Verdict::Same),
            ("same-site", Verdict::Same),
            ("none", Verdict::Same),
        ] {
            assert_eq!(check_with(&same, &[(FETCH_SITE, fetch_site)], a), verdict, "{fetch_site}");
        }
        let both = [("origin", "https://a.example"), (FETCH_SITE, "cross-site")];
        assert_eq!(check_with(&same, &both, a), Verdict::Refused, "a name that the browser contradicts");
        let list = Origins::List(vec!["https://app.example".into()]);
        let listed = [("origin", "https://app.example"), (FETCH_SITE, "cross-site")];
        assert!(list.allow(&listed.iter().map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v))).collect(), a));
        assert_eq!(check_with(&list, &[(FETCH_SITE, "cross-site")], a), Verdict::Refused);
        assert_eq!(check_with(&Origins::Any, &[(FETCH_SITE, "cross-site")], a), Verdict::Same);
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
