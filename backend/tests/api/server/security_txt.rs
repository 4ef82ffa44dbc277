//! `/.well-known/security.txt` (RFC 9116).

use nyala_core::domain::timestamp::Timestamp;

use crate::server::listener::raw;
use crate::support::helpers::{Setup, TestApp};

const PATH: &str = "/.well-known/security.txt";
const DAY_S: i64 = 24 * 60 * 60;

/// The values of `field`, whose names RFC 9116 compares without case.
fn fields<'t>(text: &'t str, field: &str) -> Vec<&'t str> {
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(name, _)| name.eq_ignore_ascii_case(field)).map(|(_, value)| value).collect()
}

#[actix_web::test]
async fn the_contact_of_the_installation_is_named_and_never_has_expired() {
    let app = Setup::new().with(|c| c.http.security_contact = "mailto:security@laundry.example".to_owned()).start().await;
    for years in [0, 5] {
        app.advance_s(years * 365 * DAY_S);
        let file = raw(&app, "GET", PATH, &[]).await;
        assert_eq!((file.status.as_u16(), file.header("content-type")), (200, "text/plain; charset=utf-8"));
        assert_eq!(fields(&file.body, "contact"), ["mailto:security@laundry.example"]);
        let [expires] = fields(&file.body, "expires")[..] else { panic!("one Expires: {}", file.body) };
        let days = app.now().ms_until(Timestamp::parse_rfc3339(expires).expect("an instant")) / (DAY_S * 1000);
        assert!((30..365).contains(&days), "{days} days: {}", file.body);
    }
}

#[actix_web::test]
async fn without_a_contact_there_is_no_file() {
    let app = Setup::new().with(|c| c.http.security_contact.clear()).start().await;
    app.get(PATH, None).await.expect(404, "alamat tidak ditemukan");
}

#[actix_web::test]
async fn development_names_a_contact_of_its_own() {
    let app = TestApp::spawn().await;
    assert_eq!(fields(&raw(&app, "GET", PATH, &[]).await.body, "contact"), ["mailto:security@localhost"]);
}
