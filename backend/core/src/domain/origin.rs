//! Origins of pages in the settings, as a browser writes them in `Origin` (RFC 6454 §6.1): scheme, host and a port that is not the scheme's.

use serde::{Deserialize, Serialize};
use url::Url;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Origin(String);

impl Origin {
    /// Takes what means one origin: a last slash, the scheme's own port, capitals and names that are not ASCII are brought into the form that
    /// browsers send.
    ///
    /// # Errors
    /// What is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let refuse =
            |why: &str| Err(format!("`{text}` in http.allowed_origins {why}; write an origin such as https://app.example.com"));
        if text.contains('*') {
            return refuse("names no origin: each one is listed by itself");
        }
        let Ok(url) = Url::parse(text) else { return refuse("is no origin") };
        let has_login = !url.username().is_empty() || url.password().is_some();
        match url.scheme() {
            "http" | "https" if has_login => refuse("has a login"),
            "http" | "https" if url.path() != "/" || url.query().is_some() || url.fragment().is_some() => {
                refuse("has a path, and an origin ends with its host and port")
            }
            "http" | "https" => Ok(Self(url.origin().ascii_serialization())),
            _ => refuse("does not begin with https:// or http://"),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Origin {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(d)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_one_origin_is_written_as_browsers_write_it() {
        for (text, written) in [
            ("https://app.example.com", "https://app.example.com"),
            ("https://app.example.com/", "https://app.example.com"),
            (" https://app.example.com:443 ", "https://app.example.com"),
            ("http://app.example.com:80", "http://app.example.com"),
            ("HTTPS://App.Example.COM:8443/", "https://app.example.com:8443"),
            ("https://m\u{fc}nchen.example", "https://xn--mnchen-3ya.example"),
            ("http://[::1]:5173", "http://[::1]:5173"),
        ] {
            assert_eq!(Origin::parse(text).map(|origin| origin.0).as_deref(), Ok(written), "{text}");
        }
    }

    #[test]
    fn what_can_never_match_is_refused_by_name() {
        for text in [
            "*",
            "https://*.example.com",
            "https://app.example.com/kasir",
            "https://app.example.com/?x",
            "https://app.example.com/#x",
            "https://user@app.example.com",
            "app.example.com",
            "app.example.com:443",
            "//app.example.com",
            "ftp://app.example.com",
            "null",
            "https://",
            "",
        ] {
            let refused = Origin::parse(text).unwrap_err();
            assert!(refused.contains(&format!("`{text}`")) && refused.contains("https://app.example.com"), "{refused}");
        }
    }
}
