//! The built app on the same port (docs/contract.md §5): its files, its page for each of its routes, and a 404 for the rest. The
//! till is a separate build in a folder below the app's, with its own page for its routes.
//!
//! The build compresses each file once (frontend/scripts/precompress.mjs) and lays `x.js.br` and `x.js.gz` beside `x.js`. They go
//! out as they are: a server that compressed for each request would be saturated by a few dozen of them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use actix_files::HttpRange;
use actix_web::http::header::{
    self, AcceptEncoding, ContentEncoding, ContentRange, ContentRangeSpec, ETag, Encoding, EntityTag, Header, HeaderValue,
    IfNoneMatch, IfRange,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpRequest, HttpResponse, HttpResponseBuilder};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use dashmap::DashMap;
use sha2::{Digest, Sha256};

use nyala_web::http::error::AppError;

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
/// First segments of the pages of the app (frontend/src/shared/lib/page/paths.ts) and of the till.
const PAGES: [&str; 17] = [
    "login",
    "register",
    "otp",
    "forgotPasswordTelp",
    "forgotPasswordOtp",
    "changePassword",
    "dashboard",
    "scanPage",
    "pilihLayanan",
    "pilihEpay",
    "pembayaran",
    "riwayatPage",
    "akun",
    "topUpPage",
    "outlet",
    "privasi",
    TILL,
];
/// First segments that are never the app's.
const RESERVED: [&str; 6] = ["scan", "ops", "dev", "docs", "socket.io", "assets"];

const NOT_BUILT: &str = "<!doctype html><html lang=\"id\"><meta charset=\"utf-8\"><title>Nyala</title>\
    <h1>Aplikasi belum dibangun</h1><p>Server berjalan, tetapi berkas aplikasi tidak ada. Jalankan <code>make build</code>, \
    atau arahkan <code>http.app_dir</code> ke hasil build, lalu muat ulang halaman ini.</p></html>";

/// Files of the build that were asked for, in memory: some megabytes, as many as the build has. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Built(Arc<DashMap<PathBuf, BuiltFile>>);

#[derive(Debug, Clone)]
struct BuiltFile {
    bytes: Bytes,
    /// By content, so that all servers and copies of one build agree.
    tag: EntityTag,
    encoding: Option<ContentEncoding>,
    /// Of the file on disk when it was read: another one is read again.
    modified: SystemTime,
    length: u64,
}

impl Built {
    /// The file `name` of the build in `dir`, or of the one in the program where there is no such folder. `None` for what is no readable file.
    fn read(&self, dir: &Path, name: &Path, encoding: Option<ContentEncoding>) -> Option<BuiltFile> {
        let path = dir.join(name);
        if !dir.is_dir() {
            return embedded::get(name.to_str()?, encoding);
        }
        let on_disk = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        let (modified, length) = (on_disk.modified().ok()?, on_disk.len());
        if let Some(file) = self.0.get(&path).filter(|file| (file.modified, file.length) == (modified, length)) {
            return Some(file.clone());
        }
        let bytes = Bytes::from(fs::read(&path).ok()?);
        let tag = EntityTag::new_strong(tag_of(&Sha256::digest(&bytes)));
        let file = BuiltFile { bytes, tag, encoding, modified, length };
        self.0.insert(path, file.clone());
        Some(file)
    }
}

/// The build in the program: an installed program needs no folder. A build for development has none.
mod embedded {
    use super::{BuiltFile, ContentEncoding};

    #[cfg(debug_assertions)]
    pub fn get(_: &str, _: Option<ContentEncoding>) -> Option<BuiltFile> {
        None
    }

    #[cfg(not(debug_assertions))]
    pub fn get(name: &str, encoding: Option<ContentEncoding>) -> Option<BuiltFile> {
        use std::borrow::Cow;

        use super::{Bytes, EntityTag, SystemTime, tag_of};

        let file = App::get(name)?;
        let tag = EntityTag::new_strong(tag_of(&file.metadata.sha256_hash()));
        let bytes = match file.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        };
        Some(BuiltFile { length: bytes.len() as u64, bytes, tag, encoding, modified: SystemTime::UNIX_EPOCH })
    }

    #[cfg(not(debug_assertions))]
    #[derive(rust_embed::RustEmbed)]
    #[folder = "../../frontend/dist"]
    #[allow_missing = true]
    struct App;
}

fn tag_of(sha256: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(&sha256[..16])
}

/// The app's file or page that `req` asks for below `dir`; 404 for the rest.
pub fn serve(req: &HttpRequest, dir: &Path, built: &Built) -> Result<HttpResponse, AppError> {
    let unknown = AppError::NotFound("alamat tidak ditemukan");
    if req.method() != Method::GET {
        return Err(unknown);
    }
    let path = req.path().trim_start_matches('/');
    if path.is_empty() {
        return Ok(page(req, dir, built, PAGE));
    }
    if let Some(file) = file_of(path)
        && let Some(found) = open(req, built, dir, &file)
    {
        return Ok(answer(req, found, &file, if is_hashed(path) { IMMUTABLE } else { REVALIDATE }));
    }
    match page_of(path) {
        Some(found) if wants_page(req, path) => Ok(page(req, dir, built, found)),
        _ => Err(unknown),
    }
}

/// The file that `path` names below the app's directory: plain names only, so that none leads out of it or is hidden.
fn file_of(path: &str) -> Option<PathBuf> {
    path.split('/').all(is_plain).then(|| PathBuf::from(path))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.@~+".contains(&b))
}

fn is_hashed(path: &str) -> bool {
    HASHED.iter().any(|folder| path.starts_with(folder))
}

/// The page that draws a route. A name with a dot is a file that is not there, and so is what is missing among the built ones.
fn page_of(path: &str) -> Option<&'static str> {
    let first = path.split('/').next().unwrap_or_default();
    let last = path.rsplit('/').next().unwrap_or_default();
    if RESERVED.contains(&first) || first.starts_with('.') || last.contains('.') || is_hashed(path) {
        return None;
    }
    Some(if first == TILL { TILL_PAGE } else { PAGE })
}

/// Whether the request gets the page. Browsers accept HTML explicitly and get the page for any address. Link previews and monitors accept
/// anything, or send no `Accept`: they get it only for addresses of pages.
fn wants_page(req: &HttpRequest, path: &str) -> bool {
    let accepted: Vec<_> =
        req.headers().get_all(header::ACCEPT).map(|v| String::from_utf8_lossy(v.as_bytes()).to_lowercase()).collect();
    let names = |wanted: &[&str]| {
        let mut ranges = accepted.iter().flat_map(|value| value.split(','));
        ranges.any(|range| wanted.contains(&range.split(';').next().unwrap_or_default().trim()))
    };
    let anything = accepted.is_empty() || names(&["*/*", "text/*"]);
    names(&["text/html"]) || (anything && path.split('/').next().is_some_and(|first| PAGES.contains(&first)))
}

fn page(req: &HttpRequest, dir: &Path, built: &Built, name: &str) -> HttpResponse {
    let name = Path::new(name);
    match open(req, built, dir, name) {
        Some(file) => answer(req, file, name, REVALIDATE),
        None => HttpResponse::ServiceUnavailable().content_type("text/html; charset=utf-8").body(NOT_BUILT),
    }
}

/// The file, in the form that the caller likes best; a part of it is always one of the plain file. `None` for what is not a readable
/// file.
fn open(req: &HttpRequest, built: &Built, dir: &Path, name: &Path) -> Option<BuiltFile> {
    let plain = built.read(dir, name, None)?;
    let whole = !req.headers().contains_key(header::RANGE);
    Some(whole.then(|| open_packed(req, built, dir, name)).flatten().unwrap_or(plain))
}

/// `None` when the caller likes the plain file best, or the build has none that it likes better. Who accepts nothing of all this gets
/// the plain file too (RFC 9110 §12.5.3).
fn open_packed(req: &HttpRequest, built: &Built, dir: &Path, name: &Path) -> Option<BuiltFile> {
    let accepted = AcceptEncoding::parse(req).ok()?;
    let mut offered: Vec<_> = PACKED.iter().map(|(encoding, ending)| (Encoding::Known(*encoding), *encoding, *ending)).collect();
    let plain = Encoding::identity();
    loop {
        let chosen = accepted.negotiate(offered.iter().map(|(name, ..)| name).chain([&plain]))?;
        let at = offered.iter().position(|(name, ..)| *name == chosen)?;
        let (_, encoding, ending) = offered.remove(at);
        let mut packed = OsString::from(name);
        packed.push(ending);
        if let Some(file) = built.read(dir, Path::new(&packed), Some(encoding)) {
            return Some(file);
        }
    }
}

/// The file or a part of it (RFC 9110 §14), or 304 when the caller has it in this encoding: each encoding has its own tag. `path` decides
/// the type.
fn answer(req: &HttpRequest, file: BuiltFile, path: &Path, caching: HeaderValue) -> HttpResponse {
    let begin = |status: StatusCode| -> HttpResponseBuilder {
        let mut answer = HttpResponse::build(status);
        answer.insert_header(ETag(file.tag.clone())).insert_header((header::CACHE_CONTROL, caching.clone()));
        answer.insert_header((header::VARY, BY_ENCODING));
        answer
    };
    let has_it = match req.get_header::<IfNoneMatch>() {
        Some(IfNoneMatch::Any) => true,
        Some(IfNoneMatch::Items(tags)) => tags.iter().any(|tag| tag.weak_eq(&file.tag)),
        None => false,
    };
    if has_it {
        return begin(StatusCode::NOT_MODIFIED).finish();
    }
    let (mut status, mut bytes, length) = (StatusCode::OK, file.bytes.clone(), file.bytes.len() as u64);
    let mut part = None;
    if let Some(asked) = part_asked(req, &file) {
        let range =
            HttpRange::parse(&asked, length).ok().and_then(|ranges| ranges.first().map(|range| (range.start, range.length)));
        let Some((start, range_length)) = range else {
            let mut beyond = begin(StatusCode::RANGE_NOT_SATISFIABLE);
            return beyond.insert_header(ContentRange(bytes_of(None, length))).finish();
        };
        let (from, to) =
            (usize::try_from(start).unwrap_or(usize::MAX), usize::try_from(start + range_length).unwrap_or(usize::MAX));
        bytes = bytes.slice(from.min(bytes.len())..to.min(bytes.len()));
        part = Some(bytes_of(Some((start, start + range_length - 1)), length));
        status = StatusCode::PARTIAL_CONTENT;
    }
    let mut answer = begin(status);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let kind = actix_files::file_extension_to_mime(extension);
    let is_text = kind.type_() == "text" && kind.get_param("charset").is_none();
    answer.content_type(if is_text { format!("{kind}; charset=utf-8") } else { kind.to_string() });
    answer.insert_header((header::ACCEPT_RANGES, "bytes"));
    if let Some(encoding) = file.encoding {
        answer.insert_header((header::CONTENT_ENCODING, encoding.as_str()));
    }
    if let Some(part) = part {
        answer.insert_header(ContentRange(part));
    }
    answer.body(bytes)
}

/// The part of the file that is asked for. Where `If-Range` has another tag, and in other units than bytes, the whole file is.
fn part_asked(req: &HttpRequest, file: &BuiltFile) -> Option<String> {
    let asked = req.headers().get(header::RANGE)?.to_str().ok()?;
    let in_bytes = asked.split_once('=').is_none_or(|(unit, _)| unit.eq_ignore_ascii_case("bytes"));
    let same = match req.get_header::<IfRange>() {
        None => !req.headers().contains_key(header::IF_RANGE),
        Some(IfRange::EntityTag(tag)) => tag.strong_eq(&file.tag),
        Some(IfRange::Date(_)) => false,
    };
    (req.method() == Method::GET && in_bytes && same).then(|| asked.to_owned())
}

fn bytes_of(range: Option<(u64, u64)>, length: u64) -> ContentRangeSpec {
    ContentRangeSpec::Bytes { range, instance_length: Some(length) }
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
    fn every_page_of_the_app_is_known() {
        let paths = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../frontend/src/shared/lib/page/paths.ts"))
            .unwrap();
        let firsts = paths
            .split(['\'', '`'])
            .filter_map(|text| text.strip_prefix('/')?.split('/').next())
            .filter(|first| !first.is_empty());
        let firsts: Vec<_> = firsts.filter(|first| first.bytes().all(|b| b.is_ascii_alphabetic())).collect();
        assert_eq!(firsts, PAGES[..PAGES.len() - 1]);
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
