//! The built app on the server's own port (docs/contract.md §5).

use std::path::PathBuf;

use crate::server::listener::{Raw, raw};
use crate::support::helpers::{Setup, TestApp};

const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
const PAGE: &str = "<!doctype html><div id=\"root\"></div>";
const TILL: &str = "<!doctype html><div id=\"root\">kasir</div>";
const CODE: &str = "/assets/index-Ab12.js";
const TILL_CODE: &str = "/kasir/assets/index-Kl90.js";
/// Compressed files that the build puts beside `CODE`. The server sends their bytes unchanged.
const PACKED: [(&str, &str); 2] = [("br", "code in brotli"), ("gz", "code in gzip")];
/// A file without compressed versions: from an older build, or too small for one.
const OLD: &str = "/assets/old-Ef56.js";

/// A server whose app is in a separate folder, which is deleted with it.
struct AppSite {
    app: TestApp,
    dir: PathBuf,
}

impl AppSite {
    async fn start() -> Self {
        let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("app-{}", uuid::Uuid::new_v4().simple()));
        let built = dir.join("dist");
        std::fs::create_dir_all(built.join("assets")).unwrap();
        std::fs::create_dir_all(built.join("kasir/assets")).unwrap();
        std::fs::write(built.join("index.html"), PAGE).unwrap();
        std::fs::write(built.join("kasir/index.html"), TILL).unwrap();
        std::fs::write(built.join("kasir/manifest.webmanifest"), "{}").unwrap();
        std::fs::write(built.join("sw.js"), "self.skipWaiting()").unwrap();
        std::fs::write(built.join("manifest.webmanifest"), "{}").unwrap();
        std::fs::write(built.join(".hidden"), "hidden").unwrap();
        let code = "console.log(1);".repeat(500);
        for file in [CODE, OLD, TILL_CODE] {
            std::fs::write(built.join(&file[1..]), &code).unwrap();
        }
        for (ending, packed) in PACKED {
            std::fs::write(built.join(format!("{}.{ending}", &CODE[1..])), packed).unwrap();
        }
        std::fs::write(built.join("assets/zxing-Gh78.wasm"), [0; 9]).unwrap();
        std::fs::write(built.join("assets/zxing-Gh78.wasm.gz"), "wasm in gzip").unwrap();
        std::fs::write(dir.join("secret.txt"), "secret").unwrap();
        let app = Setup::new().with(|c| c.http.app_dir = built.clone()).start().await;
        Self { app, dir }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Raw {
        raw(&self.app, "GET", path, headers).await
    }
}

impl Drop for AppSite {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[actix_web::test]
async fn the_page_answers_every_route_of_the_app_and_is_asked_about_each_time() {
    let site = AppSite::start().await;
    for path in ["/", "/index.html", "/login", "/otp/81234567890", "/scanPage", "/riwayatPage", "/nothing/at/all", "/?from=home"]
    {
        let page = site.get(path, &[HTML]).await;
        assert_eq!((page.status.as_u16(), page.body.as_str()), (200, PAGE), "{path}");
        assert_eq!(
            (page.header("cache-control"), page.header("content-type")),
            ("no-cache", "text/html; charset=utf-8"),
            "{path}"
        );
    }
    assert_eq!(site.get("/", &[]).await.body, PAGE, "also for who does not say what it accepts");
}

/// Link previews and monitors accept any type, or send no `Accept`.
#[actix_web::test]
async fn a_page_is_served_to_clients_that_accept_anything_or_send_no_accept() {
    let site = AppSite::start().await;
    for (path, page) in [("/login", PAGE), ("/otp/81234567890", PAGE), ("/kasir/masuk", TILL)] {
        for accepts in [None, Some("*/*"), Some("image/webp, */*;q=0.1"), Some("text/*"), Some("Text/HTML;level=1")] {
            let headers: Vec<_> = accepts.map(|accepts| ("accept", accepts)).into_iter().collect();
            let (got, head) = (site.get(path, &headers).await, raw(&site.app, "HEAD", path, &headers).await);
            assert_eq!((got.status.as_u16(), got.body.as_str()), (200, page), "{path} {accepts:?}");
            assert_eq!((head.status.as_u16(), head.header("etag")), (200, got.header("etag")), "{path} {accepts:?}");
        }
    }
    for path in ["/scan/v1/nothing", "/ops/nothing", "/nothing", "/gone.png", "/log%00in", "/.well-known/change-password"] {
        site.app.call("GET", path, None, &[("accept", "*/*")], None).await.expect(404, "alamat tidak ditemukan");
    }
    site.app
        .call("GET", "/login", None, &[("accept", "application/json, image/*")], None)
        .await
        .expect(404, "alamat tidak ditemukan");
}

/// Files of two servers, or of a copied build, differ in inode and time.
#[actix_web::test]
async fn copies_of_one_build_have_the_same_etags() {
    let (first, second) = (AppSite::start().await, AppSite::start().await);
    for (path, coding) in [("/", ""), ("/kasir", ""), ("/sw.js", ""), (CODE, ""), (CODE, "br"), (CODE, "gzip")] {
        let headers = [HTML, ("accept-encoding", coding)];
        let one = first.get(path, &headers).await;
        assert!(!one.header("etag").is_empty());
        assert_eq!(one.header("etag"), second.get(path, &headers).await.header("etag"), "{path}");
        assert_eq!(
            second.get(path, &[headers[0], headers[1], ("if-none-match", one.header("etag"))]).await.status,
            304,
            "{path}"
        );
    }
    let page = first.get("/", &[HTML]).await;
    std::fs::write(first.dir.join("dist/index.html"), PAGE.replace("root", "next")).unwrap();
    let next = first.get("/", &[HTML, ("if-none-match", page.header("etag"))]).await;
    assert_eq!((next.status.as_u16(), next.body.contains("next")), (200, true), "a new build is seen");
}

#[actix_web::test]
async fn the_till_has_its_own_page_and_files_below_its_prefix() {
    let site = AppSite::start().await;
    for path in ["/kasir", "/kasir/", "/kasir/index.html", "/kasir/masuk", "/kasir/pasang", "/kasir/shift/7/x", "/kasir?x=1"] {
        let page = site.get(path, &[HTML]).await;
        assert_eq!((page.status.as_u16(), page.body.as_str()), (200, TILL), "{path}");
        assert_eq!(page.header("cache-control"), "no-cache", "{path}");
        assert_eq!(page.header("permissions-policy"), "camera=(self)", "{path}");
        assert!(page.header("content-security-policy").contains("default-src 'self'"), "{path}");
    }
    assert_eq!(site.get("/kasirPage", &[HTML]).await.body, PAGE, "the prefix is a whole segment");
    assert_eq!(site.get(TILL_CODE, &[]).await.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(site.get("/kasir/manifest.webmanifest", &[]).await.header("cache-control"), "no-cache");
}

#[actix_web::test]
async fn what_is_not_a_page_is_a_404_envelope_even_for_browsers() {
    let site = AppSite::start().await;
    for path in [
        "/scan/v1/nothing",
        "/scan",
        "/ops/nothing",
        "/dev/nothing",
        "/assets/gone-Cd34.js",
        "/gone.png",
        "/.hidden",
        "/assets/",
        "/assets",
        "/kasir/gone.png",
        "/kasir/.hidden",
        "/kasir/assets/gone-Cd34.js",
    ] {
        site.app.call("GET", path, None, &[HTML], None).await.expect(404, "alamat tidak ditemukan");
    }
    for method in ["POST", "PUT", "DELETE"] {
        site.app.call(method, "/login", None, &[HTML], None).await.expect(404, "alamat tidak ditemukan");
    }
    site.app.call("GET", "/login", None, &[("accept", "application/json")], None).await.expect(404, "alamat tidak ditemukan");
}

#[actix_web::test]
async fn nothing_outside_the_folder_is_served() {
    let site = AppSite::start().await;
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets/../../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/%00",
        "//etc/passwd",
        "/..\\secret.txt",
    ] {
        let answer = site.get(path, &[]).await;
        assert!(!answer.body.contains("secret") && !answer.body.contains("root:"), "{path}: {}", answer.body);
        assert_eq!(answer.status, 404, "{path}");
    }
}

#[actix_web::test]
async fn hashed_files_are_kept_for_good_and_the_service_worker_never() {
    let site = AppSite::start().await;
    let asset = site.get("/assets/index-Ab12.js", &[]).await;
    assert_eq!(asset.header("cache-control"), "public, max-age=31536000, immutable");
    assert!(
        asset.header("content-type").starts_with("text/javascript")
            || asset.header("content-type").starts_with("application/javascript")
    );
    for path in ["/sw.js", "/manifest.webmanifest"] {
        assert_eq!(site.get(path, &[]).await.header("cache-control"), "no-cache", "{path}");
    }
}

#[actix_web::test]
async fn a_file_is_served_in_the_encoding_that_its_client_prefers() {
    let site = AppSite::start().await;
    let plain = site.get(CODE, &[]).await;
    let cases = [
        ("gzip, deflate, br, zstd", "br"),
        ("br;q=0.5, gzip", "gzip"),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("br;q=0, gzip;q=0.1", "gzip"),
        ("identity, gzip;q=0.9", ""),
        ("deflate, zstd", ""),
        ("*", ""),
        ("identity;q=0", ""),
        ("br;q=0, gzip;q=0", ""),
        (";;;=", ""),
        ("", ""),
    ];
    for (accepts, coding) in cases {
        let answer = site.get(CODE, &[("accept-encoding", accepts)]).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-encoding")), (200, coding), "{accepts}");
        let body = match coding {
            "br" => PACKED[0].1,
            "gzip" => PACKED[1].1,
            _ => &plain.body,
        };
        assert_eq!(answer.body, body, "{accepts}");
        assert_eq!(answer.header("content-length"), body.len().to_string(), "as long as it is, and not in chunks");
        assert_eq!(answer.header("content-type"), plain.header("content-type"), "{accepts}");
        assert!(answer.header("vary").to_lowercase().contains("accept-encoding"), "{accepts}");
        assert_eq!(answer.header("cache-control"), plain.header("cache-control"));
    }
}

#[actix_web::test]
async fn an_encoding_missing_from_the_build_falls_back_to_another() {
    let site = AppSite::start().await;
    let all = [("accept-encoding", "br, gzip")];
    let old = site.get(OLD, &all).await;
    assert_eq!((old.status.as_u16(), old.header("content-encoding"), old.body.len()), (200, "", 7500));
    let wasm = site.get("/assets/zxing-Gh78.wasm", &all).await;
    assert_eq!((wasm.header("content-encoding"), wasm.header("content-type")), ("gzip", "application/wasm"));
}

#[actix_web::test]
async fn each_encoding_has_its_own_etag() {
    let site = AppSite::start().await;
    let packed = [("accept-encoding", "br")];
    let tags = [site.get(CODE, &[]).await, site.get(CODE, &packed).await].map(|answer| answer.header("etag").to_owned());
    assert_ne!(tags[0], tags[1]);
    let has = |tag: &str| [packed[0], ("if-none-match", tag)].map(|(name, value)| (name.to_owned(), value.to_owned()));
    for (tag, status) in [(&tags[1], 304), (&tags[0], 200)] {
        let headers = has(tag);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = site.get(CODE, &headers).await;
        assert_eq!(answer.status, status);
        assert!(answer.header("vary").to_lowercase().contains("accept-encoding"), "of a 304 too");
    }
}

#[actix_web::test]
async fn a_range_is_of_the_uncompressed_file() {
    let site = AppSite::start().await;
    let part = site.get(CODE, &[("accept-encoding", "br, gzip"), ("range", "bytes=0-6")]).await;
    assert_eq!((part.status.as_u16(), part.body.as_str(), part.header("content-encoding")), (206, "console", ""));
    assert_eq!(part.header("content-range"), "bytes 0-6/7500");
    let packed = site.get(CODE, &[("accept-encoding", "br")]).await;
    let resumed = [("accept-encoding", "br"), ("range", "bytes=5-"), ("if-range", packed.header("etag"))];
    let whole = site.get(CODE, &resumed).await;
    assert_eq!((whole.status.as_u16(), whole.body.len()), (200, 7500), "a part of another form cannot go on with this one");
    let beyond = site.app.call("GET", CODE, None, &[("range", "bytes=9000-")], None).await;
    beyond.expect(416, "bagian berkas yang diminta tidak ada");
}

#[actix_web::test]
async fn nothing_is_compressed_for_a_single_request() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let headers = [("accept-encoding", "br, gzip"), ("authorization", &*format!("Bearer {}", siti.token))];
    for path in ["/metrics", "/healthz", "/nothing", "/scan/v1/transaksi/get_qrcode"] {
        assert_eq!(raw(&app, "GET", path, &headers).await.header("content-encoding"), "", "{path}");
    }
}

#[actix_web::test]
async fn a_matching_etag_is_answered_304() {
    let site = AppSite::start().await;
    for path in ["/", "/sw.js", "/login", "/assets/index-Ab12.js"] {
        let first = site.get(path, &[HTML]).await;
        let tag = first.header("etag");
        assert!(tag.starts_with('"'), "{path}: {tag}");
        let again = site.get(path, &[HTML, ("if-none-match", tag)]).await;
        assert_eq!((again.status.as_u16(), again.body.as_str()), (304, ""), "{path}");
        let other = site.get(path, &[HTML, ("if-none-match", "\"other\"")]).await;
        assert_eq!(other.status, 200, "{path}");
    }
}

#[actix_web::test]
async fn head_has_the_headers_of_get() {
    let site = AppSite::start().await;
    for (path, accepts) in [("/", ""), ("/login", ""), (CODE, ""), (CODE, "gzip")] {
        let headers = [HTML, ("accept-encoding", accepts)];
        let (get, head) = (site.get(path, &headers).await, raw(&site.app, "HEAD", path, &headers).await);
        assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""), "{path}");
        for name in ["content-type", "content-length", "content-encoding", "etag", "cache-control", "vary"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
}

#[actix_web::test]
async fn a_missing_build_is_reported_on_a_page() {
    let app = Setup::new().with(|c| c.http.app_dir = PathBuf::from("no/such/folder")).start().await;
    for path in ["/", "/login", "/kasir", "/kasir/masuk"] {
        let page = raw(&app, "GET", path, &[HTML]).await;
        assert_eq!(page.status, 503);
        assert!(page.header("content-type").starts_with("text/html"));
        assert!(page.body.contains("make build"), "{}", page.body);
    }
    app.get("/healthz", None).await.ok();
}
