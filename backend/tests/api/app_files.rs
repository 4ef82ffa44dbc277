//! The built app on the server's own port (contract §5).

use std::path::PathBuf;

use crate::helpers::{Setup, TestApp};
use crate::server::{Raw, raw};

const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
const PAGE: &str = "<!doctype html><div id=\"root\"></div>";

/// A server whose app is in a folder of its own, which goes with it.
struct Site {
    app: TestApp,
    dir: PathBuf,
}

impl Site {
    async fn start() -> Self {
        let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("app-{}", uuid::Uuid::new_v4().simple()));
        let built = dir.join("dist");
        std::fs::create_dir_all(built.join("assets")).unwrap();
        std::fs::write(built.join("index.html"), PAGE).unwrap();
        std::fs::write(built.join("sw.js"), "self.skipWaiting()").unwrap();
        std::fs::write(built.join("manifest.webmanifest"), "{}").unwrap();
        std::fs::write(built.join(".hidden"), "hidden").unwrap();
        std::fs::write(built.join("assets/index-Ab12.js"), "console.log(1);".repeat(500)).unwrap();
        std::fs::write(dir.join("secret.txt"), "secret").unwrap();
        let app = Setup::new().with(|c| c.http.app_dir = built.clone()).start().await;
        Self { app, dir }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Raw {
        raw(&self.app, "GET", path, headers).await
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[actix_web::test]
async fn the_page_answers_every_route_of_the_app_and_is_asked_about_each_time() {
    let site = Site::start().await;
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

#[actix_web::test]
async fn what_is_not_a_page_is_a_404_envelope_even_for_browsers() {
    let site = Site::start().await;
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
    let site = Site::start().await;
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
    let site = Site::start().await;
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
async fn text_goes_out_compressed_to_who_takes_it() {
    let site = Site::start().await;
    let plain = site.get("/assets/index-Ab12.js", &[]).await;
    let packed = site.get("/assets/index-Ab12.js", &[("accept-encoding", "gzip, deflate, br")]).await;
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), ("", "gzip"));
    assert!(packed.body.len() < plain.body.len() / 4);
    assert!(packed.header("vary").to_lowercase().contains("accept-encoding"));
}

#[actix_web::test]
async fn who_has_it_is_told_so() {
    let site = Site::start().await;
    for path in ["/", "/sw.js", "/login", "/assets/index-Ab12.js"] {
        let first = site.get(path, &[HTML]).await;
        let tag = first.header("etag");
        assert!(tag.starts_with("W/\""), "{path}: {tag}");
        let again = site.get(path, &[HTML, ("if-none-match", tag)]).await;
        assert_eq!((again.status.as_u16(), again.body.as_str()), (304, ""), "{path}");
        let other = site.get(path, &[HTML, ("if-none-match", "\"other\"")]).await;
        assert_eq!(other.status, 200, "{path}");
    }
}

#[actix_web::test]
async fn head_tells_what_get_would() {
    let site = Site::start().await;
    for path in ["/", "/login", "/assets/index-Ab12.js"] {
        let (get, head) = (site.get(path, &[HTML]).await, raw(&site.app, "HEAD", path, &[HTML]).await);
        assert_eq!((head.status.as_u16(), head.body.as_str()), (200, ""), "{path}");
        for name in ["content-type", "content-length", "etag", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
}

#[actix_web::test]
async fn a_missing_build_is_told_on_a_page() {
    let app = Setup::new().with(|c| c.http.app_dir = PathBuf::from("no/such/folder")).start().await;
    for path in ["/", "/login"] {
        let page = raw(&app, "GET", path, &[HTML]).await;
        assert_eq!(page.status, 503);
        assert!(page.header("content-type").starts_with("text/html"));
        assert!(page.body.contains("make build"), "{}", page.body);
    }
    app.get("/healthz", None).await.ok();
}
