//! The built app on the same port (contract §5): its files, its page for every route of its own, and a 404 for the rest.

use std::path::{Path, PathBuf};

use actix_files::NamedFile;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};

use crate::http::error::AppError;

const PAGE: &str = "index.html";
/// Files here are named after their contents.
const HASHED: &str = "assets/";
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// The page, the service worker and the manifest are asked about each time, and answered with 304 while they are the same.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
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
        return Ok(page(req, dir));
    }
    if let Some(file) = file_of(path)
        && let Some(found) = open(&dir.join(file))
    {
        return Ok(answer(req, found, if path.starts_with(HASHED) { IMMUTABLE } else { REVALIDATE }));
    }
    if is_app_route(path) && wants_page(req) { Ok(page(req, dir)) } else { Err(unknown) }
}

/// The file that `path` names below the app's directory: plain names only, so that none leads out of it or is hidden.
fn file_of(path: &str) -> Option<PathBuf> {
    let plain = |name: &str| {
        !name.is_empty() && !name.starts_with('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.@~+".contains(&b))
    };
    path.split('/').all(plain).then(|| PathBuf::from(path))
}

/// The app draws its routes itself; a name with a dot is a file that is not there.
fn is_app_route(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    !RESERVED.contains(&first) && !last.contains('.')
}

fn wants_page(req: &HttpRequest) -> bool {
    req.headers().get(header::ACCEPT).and_then(|v| v.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

fn page(req: &HttpRequest, dir: &Path) -> HttpResponse {
    match open(&dir.join(PAGE)) {
        Some(file) => answer(req, file, REVALIDATE),
        None => HttpResponse::ServiceUnavailable().content_type("text/html; charset=utf-8").body(NOT_BUILT),
    }
}

/// `None` for what is not a readable file.
fn open(path: &Path) -> Option<NamedFile> {
    let file = NamedFile::open(path).ok()?;
    file.metadata().is_file().then_some(file)
}

/// The file, or 304 when the caller has it. Its tag is weak, because the same file goes out compressed and plain.
fn answer(req: &HttpRequest, file: NamedFile, caching: HeaderValue) -> HttpResponse {
    let mut res = file.prefer_utf8(true).disable_content_disposition().into_response(req);
    let weak = res.headers().get(header::ETAG).and_then(|tag| HeaderValue::from_str(&format!("W/{}", tag.to_str().ok()?)).ok());
    if let Some(weak) = weak {
        res.headers_mut().insert(header::ETAG, weak);
    }
    res.headers_mut().insert(header::CACHE_CONTROL, caching);
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
    fn the_scan_page_is_the_apps_and_the_scan_prefix_is_not() {
        for (path, is) in [
            ("scanPage", true),
            ("otp/81234567890", true),
            ("scan/v1/x", false),
            ("scan", false),
            ("ops/v1", false),
            ("sw.js", false),
            ("assets/x", false),
        ] {
            assert_eq!(is_app_route(path), is, "{path}");
        }
    }
}
