//! Cookies of ours in a request. Browsers send those of every server on the same host, whatever bytes are in them and whatever its port.

/// A cookie with a name of ours and a value in plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookie<'l> {
    pub value: &'l str,
    /// Its name carries no installation, as all did before there were such names.
    pub is_old: bool,
}

/// The cookies of one `Cookie` line with the name `name`, or `name` followed by any installation; the value identifies the installation. The
/// line is split first, and each cookie is parsed separately, so that invalid bytes of another cookie have no effect.
pub fn named<'l>(line: &'l [u8], name: &'l str) -> impl Iterator<Item = Cookie<'l>> {
    line.split(|b| *b == b';').filter_map(move |cookie| {
        let rest = cookie.trim_ascii().strip_prefix(name.as_bytes())?;
        let at = rest.iter().position(|b| *b == b'=')?;
        let (installation, value) = (&rest[..at], &rest[at + 1..]);
        let is_ours =
            installation.split_first().is_none_or(|(mark, id)| *mark == b'_' && id.iter().all(u8::is_ascii_alphanumeric));
        let value = std::str::from_utf8(value).ok().filter(|value| is_ours && value.is_ascii())?;
        Some(Cookie { value, is_old: installation.is_empty() })
    })
}

/// The name of an installation's cookie.
pub fn name_of(name: &str, installation: &str) -> String {
    format!("{name}_{installation}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cookie_is_judged_by_itself() {
        let of = |line: &[u8]| named(line, "n").map(|c| (c.value.to_owned(), c.is_old)).collect::<Vec<_>>();
        assert_eq!(of(b"a=\xff; n=x ;n_7f=y"), [("x".to_owned(), true), ("y".to_owned(), false)]);
        assert_eq!(of(b"n=\xc3\xa9; n_7f=y; nx=z; n_7-f=z; n; n_7f"), [("y".to_owned(), false)]);
        assert_eq!(of(b""), []);
    }
}
