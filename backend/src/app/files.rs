//! The built app on the same port (docs/contract.md §5): its files, its page for every route of its own, and a 404 for the rest. The
//! till is a build of its own in a folder below the app's, with a page of its own for its routes.
//!
//! The build compresses each file once (frontend/scripts/precompress.mjs) and lays `x.js.br` and `x.js.gz` beside `x.js`. They go
//! out as they are: a server that compressed for each request would be saturated by a few dozen of them.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use actix_files::NamedFile;
use actix_web::http::Method;
use actix_web::http::header::{self, AcceptEncoding, ContentEncoding, Encoding, Header, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};

use crate::http::error::AppError;

const PAGE: &str = "index.html";
/// The till's first segment, and the folder of its build.
const TILL: &str = "kasir";
const TILL_PAGE: &str = "kasir/index.html";
/// Files here are named after their contents.
const HASHED: [&str; 2] = ["assets/", "kasir/assets/"];
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// The page, the service worker and the manifest are asked about each time, and answered with 304 while they are the same.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
/// What the build has beside a file, with the ending of its name. A tie between them is the first one's.
const PACKED: [(ContentEncoding, &str); 2] = [(ContentEncoding::Brotli, ".br"), (ContentEncoding::Gzip, ".gz")];
const BY_ENCODING: HeaderValue = HeaderValue::from_static("Accept-Encoding");
/// First segments that are never the app's.
const RESERVED: [&str; 6] = ["scan", "ops", "dev", "docs", "socket.io", "assets"];

const NOT_BUILT: &str = "<!doctype html><html lang=\"id\"><meta charset=\"utf-8\"><title>Nyala</title>\
    <h1>Aplikasi belum dibangun</h1><p>Server berjalan, tetapi berkas aplikasi tidak ada. Jalankan <code>make build</code>, \
    atau arahkan <code>http.app_dir</code> ke hasil build, lalu muat ulang halaman ini.</p></html>";

/// The app's file or page that `req` asks for below `dir`; 404 for the rest.
pub fn serve(req: &HttpRequest, dir: &Path) -> Result<HttpResponse, AppError> {
    let unknown = AppError::NotFound("alamat tidak ditemukan");
    if req.method() != Method::GET {
        return Err(unknown);
    }
    let path = req.path().trim_start_matches('/');
    if path.is_empty() {
        return Ok(page(req, dir, PAGE));
    }
    if let Some(file) = file_of(path)
        && let Some(found) = open(req, &dir.join(file))
    {
        return Ok(answer(req, found, if is_hashed(path) { IMMUTABLE } else { REVALIDATE }));
    }
    match page_of(path) {
        Some(found) if wants_page(req) => Ok(page(req, dir, found)),
        _ => Err(unknown),
    }
}

/// The file that `path` names below the app's directory: plain names only, so that none leads out of it or is hidden.
fn file_of(path: &str) -> Option<PathBuf> {
    let plain = |name: &str| {
        !name.is_empty() && !name.starts_with('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.@~+".contains(&b))
    };
    path.split('/').all(plain).then(|| PathBuf::from(path))
}

fn is_hashed(path: &str) -> bool {
    HASHED.iter().any(|folder| path.starts_with(folder))
}

/// The page that draws a route. A name with a dot is a file that is not there, and so is what is missing among the built ones.
fn page_of(path: &str) -> Option<&'static str> {
    let first = path.split('/').next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    if RESERVED.contains(&first) || last.contains('.') || is_hashed(path) {
        return None;
    }
    Some(if first == TILL { TILL_PAGE } else { PAGE })
}

fn wants_page(req: &HttpRequest) -> bool {
    req.headers().get(header::ACCEPT).and_then(|v| v.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

fn page(req: &HttpRequest, dir: &Path, name: &str) -> HttpResponse {
    match open(req, &dir.join(name)) {
        Some(file) => answer(req, file, REVALIDATE),
        None => HttpResponse::ServiceUnavailable().content_type("text/html; charset=utf-8").body(NOT_BUILT),
    }
}

/// The file, in the form that the caller likes best; a part of it is always one of the plain file. `None` for what is not a readable
/// file.
fn open(req: &HttpRequest, path: &Path) -> Option<NamedFile> {
    let plain = NamedFile::open(path).ok().filter(|file| file.metadata().is_file())?;
    let whole = !req.headers().contains_key(header::RANGE);
    Some(whole.then(|| open_packed(req, path)).flatten().unwrap_or(plain))
}

/// `None` when the caller likes the plain file best, or the build has none that it likes better. Who accepts nothing of all this gets
/// the plain file too (RFC 9110 §12.5.3).
fn open_packed(req: &HttpRequest, path: &Path) -> Option<NamedFile> {
    let accepted = AcceptEncoding::parse(req).ok()?;
    let mut offered: Vec<_> = PACKED.iter().map(|(encoding, ending)| (Encoding::Known(*encoding), *encoding, *ending)).collect();
    let plain = Encoding::identity();
    loop {
        let chosen = accepted.negotiate(offered.iter().map(|(name, ..)| name).chain([&plain]))?;
        let at = offered.iter().position(|(name, ..)| *name == chosen)?;
        let (_, encoding, ending) = offered.remove(at);
        if let Some(file) = sibling(path, ending) {
            return Some(file.set_content_encoding(encoding));
        }
    }
}

/// What lies beside `path` with `ending` after its name, of the type that `path` has.
fn sibling(path: &Path, ending: &str) -> Option<NamedFile> {
    let mut name = OsString::from(path);
    name.push(ending);
    NamedFile::from_file(File::open(name).ok()?, path).ok()
}

/// The file, or 304 when the caller has it in this form: each form is a file with a tag of its own.
fn answer(req: &HttpRequest, file: NamedFile, caching: HeaderValue) -> HttpResponse {
    let mut res = file.prefer_utf8(true).disable_content_disposition().into_response(req);
    res.headers_mut().insert(header::CACHE_CONTROL, caching);
    res.headers_mut().insert(header::VARY, BY_ENCODING);
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_files() {
        assert_eq!(file_of("assets/index-Bx_1.js"), Some(PathBuf::from("assets/index-Bx_1.js")));
        for bad in [
            "..",
            "../secrets.toml",
            "assets/../../x",
            ".env",
            "assets/.hidden",
            "a//b",
            "/etc/passwd",
            "a%2e%2e",
            "a\\b",
            "a b",
            "a\0b",
            "",
        ] {
            assert_eq!(file_of(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn each_route_is_drawn_by_its_own_page_and_prefixes_of_the_server_by_none() {
        for (path, drawn_by) in [
            ("scanPage", Some(PAGE)),
            ("otp/81234567890", Some(PAGE)),
            ("kasirPage", Some(PAGE)),
            ("kasir", Some(TILL_PAGE)),
            ("kasir/", Some(TILL_PAGE)),
            ("kasir/shift/7", Some(TILL_PAGE)),
            ("kasir/assets/x", None),
            ("kasir/gone.png", None),
            ("scan/v1/x", None),
            ("scan", None),
            ("ops/v1", None),
            ("sw.js", None),
            ("assets/x", None),
        ] {
            assert_eq!(page_of(path), drawn_by, "{path}");
        }
    }
}
