//! Headers that third parties change: cookies of other servers on the same host, and lists that proxies append to.

use nyala_core::domain::address::Block;
use nyala_core::domain::role::Role;
use nyala_identity::staff::people::WorksFor;
use serde_json::json;

use crate::auth::register::{TELP, login_body};
use crate::support::helpers::{Answer, PASSWORD, Setup, TestApp};
use crate::till::rules::{Till, cookie_of};

const PIN: &str = "246810";
const LOGIN: &str = "/scan/v1/auth/login";

/// Every `Set-Cookie` of a response as name, value and attributes.
fn set_cookies(answer: &Answer) -> Vec<(String, String, String)> {
    let all = answer.headers.get_all("set-cookie").map(|set| set.to_str().unwrap());
    all.map(|set| {
        let (pair, attributes) = set.split_once("; ").unwrap();
        let (name, value) = pair.split_once('=').unwrap();
        (name.to_owned(), value.to_owned(), attributes.to_owned())
    })
    .collect()
}

/// Sends a request over a plain connection, since a `Cookie` may have any bytes, and returns the status.
async fn status(app: &TestApp, method: &str, path: &str, cookies: &[&[u8]], body: &str) -> u16 {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut client = actix_web::rt::net::TcpStream::connect(app.address()).await.unwrap();
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n").into_bytes();
    if method == "POST" {
        head.extend(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    for line in cookies {
        head.extend([b"Cookie: ", *line, b"\r\n"].concat());
    }
    head.extend(b"\r\n");
    head.extend(body.as_bytes());
    client.write_all(&head).await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap().parse().unwrap()
}

/// Cookies that other servers on the same host may have set, also under the name `name`.
fn junk(name: &str) -> Vec<Vec<u8>> {
    let hex = "0".repeat(64);
    vec![
        b"lain=\xc3\xa9".to_vec(),
        b"lain=\xff\xfe; \xe9=1; ".to_vec(),
        format!("{name}=x; {name}_deadbeef=y; {name}=; {name}=zz; {name}_00=q; {name}=7").into_bytes(),
        (0..60).map(|_| format!("{name}={hex}; ")).collect::<String>().into_bytes(),
    ]
}

#[actix_web::test]
async fn cookies_of_others_on_the_same_host_do_not_unpair_a_till() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let till = app.till(outlet.idoutlet).await;
    let own = till.cookie.as_bytes();
    for junk in junk("nyala_till") {
        for line in [[&junk[..], b"; ", own].concat(), [own, b"; ", &junk[..]].concat()] {
            assert_eq!(
                status(&app, "GET", "/ops/v1/perangkat/saya", &[&line], "").await,
                200,
                "{}",
                String::from_utf8_lossy(&line)
            );
        }
        assert_eq!(status(&app, "GET", "/ops/v1/perangkat/saya", &[&junk, own], "").await, 200);
        assert_eq!(status(&app, "GET", "/ops/v1/perangkat/saya", &[&junk], "").await, 401);
    }
}

#[actix_web::test]
async fn cookies_of_others_on_the_same_host_do_not_make_a_phone_unknown() {
    let app = TestApp::spawn().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let cookie = app.login(TELP, PASSWORD).await.cookie();
    for _ in 0..10 {
        app.login(TELP, "salah").await;
    }
    let body = login_body(TELP, PASSWORD).to_string();
    assert_eq!(status(&app, "POST", LOGIN, &[], &body).await, 429, "a stranger's limit is used up");
    for junk in junk("nyala_phone") {
        assert_eq!(status(&app, "POST", LOGIN, &[&[&junk[..], b"; ", cookie.as_bytes()].concat()], &body).await, 200);
        assert_eq!(status(&app, "POST", LOGIN, &[&junk, cookie.as_bytes()], &body).await, 200);
    }
}

#[actix_web::test]
async fn each_installation_has_its_own_cookies_and_its_servers_share_them() {
    let (app, other) = (TestApp::spawn().await, TestApp::spawn().await);
    for each in [&app, &other] {
        each.register_customer(TELP, "Siti", "Rahma").await;
    }
    let name = async |app: &TestApp| set_cookies(&app.login(TELP, PASSWORD).await)[0].0.clone();
    let (ours, others) = (name(&app).await, name(&other).await);
    assert!(ours.starts_with("nyala_phone_") && others.starts_with("nyala_phone_"), "{ours} {others}");
    assert_ne!(ours, others);
    assert_eq!(app.state.keyring.get().installation_name(), ours["nyala_phone_".len()..]);
    let stored: Vec<u8> = app.db.query_one("SELECT fingerprint FROM secrets_fingerprint", &[]).await.unwrap().get(0);
    let begins: String = stored[..4].iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(
        begins,
        app.state.keyring.get().installation_name(),
        "the database has it, so that its servers and a restored copy do"
    );
}

#[actix_web::test]
async fn a_till_with_the_old_cookie_name_works_and_gets_the_new_one_at_its_next_login() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let rina = app.person("Rina", Role::Kasir, WorksFor::Outlet(outlet.idoutlet), PIN).await;
    let till = app.till(outlet.idoutlet).await;
    let secret = till.cookie.strip_prefix("nyala_till=").unwrap();
    let body = json!({ "idpetugas": rina, "pin": PIN });
    let login = app.log_in(&till, &body).await;
    let set = set_cookies(&login);
    let installation = app.state.keyring.get().installation_name();
    assert_eq!((set[0].0.as_str(), set[0].1.as_str()), (&*format!("nyala_till_{installation}"), secret));
    assert_eq!((set[1].0.as_str(), set[1].1.as_str()), ("nyala_till", ""), "the old one goes");
    assert!(set[1].2.contains("Max-Age=0") && set[1].2.contains("Path=/ops/v1"), "{}", set[1].2);
    // From then on the new cookie is enough, and another installation's cookie of the old name is left alone.
    let foreign = format!("nyala_till={}", "a".repeat(64));
    let renewed = Till { cookie: format!("{foreign}; {}", cookie_of(&login).0), ..till };
    let again = app.log_in(&renewed, &body).await;
    assert_eq!(set_cookies(&again).len(), 1);
    assert_eq!(cookie_of(&again).0, cookie_of(&login).0);
}

#[actix_web::test]
async fn the_address_and_the_scheme_are_judged_item_by_item() {
    let proxy = Block::parse("127.0.0.1").unwrap();
    let app = Setup::new().with(|c| c.http.trusted_proxies = vec![proxy]).start().await;
    app.register_customer(TELP, "Siti", "Rahma").await;
    let body = login_body(TELP, PASSWORD).to_string().into_bytes();
    for (scheme, secure) in [("https, http", true), ("https", true), ("http, https", false), ("http", false)] {
        let answer = app.call("POST", LOGIN, None, &[("x-forwarded-proto", scheme)], Some(body.clone())).await;
        assert_eq!(set_cookies(&answer)[0].2.contains("Secure"), secure, "{scheme}");
    }
    // Wrong passwords count at the address that the proxy added, after any other text in the header.
    let wrong = login_body(TELP, "salah").to_string().into_bytes();
    for from in ["\u{e9}, 203.0.113.7", "203.0.113.7"] {
        for _ in 0..5 {
            app.call("POST", LOGIN, None, &[("x-forwarded-for", from)], Some(wrong.clone()))
                .await
                .expect(401, "password is incorrect");
        }
    }
    app.call("POST", LOGIN, None, &[("x-forwarded-for", "203.0.113.7")], Some(wrong.clone())).await.retry_after_s();
    app.call("POST", LOGIN, None, &[("x-forwarded-for", "203.0.113.8")], Some(wrong)).await.expect(401, "password is incorrect");
}
