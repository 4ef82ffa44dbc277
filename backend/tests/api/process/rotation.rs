//! Keys that rotate beside a running server, with the phones, tills, stickers and devices that know the ones before.

use std::sync::Arc;

use actix_web::rt::task::spawn_blocking;
use actix_web::rt::time::{sleep, timeout};
use argon2::{Argon2, PasswordHash, PasswordVerifier};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use hmac::{Hmac, Mac};
use nix::sys::signal::Signal;
use nyala_loadtest::local::free_port;
use nyala_store::secrets::Secrets;
use nyala_web::ops::people::customers_bulk::PASSWORD;
use p256::SecretKey;
use p256::elliptic_curve::sec1::ToEncodedPoint;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use serde_json::{Value, json};
use sha2::Sha256;

use super::board::Board;
use super::{LOOK_EVERY, PATIENCE, PRICE, ProcessShop, Site};
use crate::realtime::phone::Phone;
use crate::support::helpers::{Answer, call};
use crate::till::rules::cookie_of;

const PIN: &str = "246810";
/// A file of release 0.1, with the bytes from 0 on.
const OLD_FILE: &str = "kid = \"1\"\ntoken = \"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\"\n\
                        otp = \"ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8\"\n\
                        qr_mesin = \"QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8\"\n\
                        qr_pelanggan = \"YGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn8\"\n";

impl Site {
    async fn secrets(&self, args: &[&str]) -> Result<String, String> {
        self.run(&[&["secrets"], args].concat()).await.map(|text| text.trim_end().to_owned())
    }

    /// The lines of `nyala secrets list` about one purpose, without their dates.
    async fn listed(&self, what: &str) -> Vec<String> {
        let all = self.secrets(&["list"]).await.unwrap();
        let lines = all.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let lines = lines.filter(|line| line[0] == what);
        lines.map(|line| format!("{} {}", line[1], line[3])).collect()
    }

    async fn open_call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Answer {
        let base_url = &self.server.as_ref().expect("a server").base_url;
        let body = body.map(|body| body.to_string().into_bytes());
        call(&self.http, base_url, method, path, None, headers, body).await.expect("an answer")
    }

    async fn dashboard(&self, token: &str) -> u16 {
        self.ask("GET", "/scan/v1/dashboard/get_dashboard", token, &json!({})).await.unwrap().status
    }

    /// Logs the shop's customer in.
    async fn login(&self) -> String {
        let telp: String = self.db.query_one("SELECT telp FROM customer_global", &[]).await.unwrap().get(0);
        let body = json!({"country_code": "62", "telp": telp, "password": PASSWORD});
        let answer = self.open_call("POST", "/scan/v1/auth/login", &[], Some(&body)).await.ok();
        answer["token"].as_str().expect("a token").to_owned()
    }

    /// A till of the shop's outlet: its cookie, and a kasir with a PIN of her own.
    pub(super) async fn till(&self, shop: &ProcessShop) -> PairedTill {
        let outlet = shop.body["idoutlet"].to_string();
        let code = self.run(&["perangkat", "pasang", "--outlet", &outlet]).await.unwrap();
        let paired = self.open_call("POST", "/ops/v1/pasang", &[], Some(&json!({ "kode": code.trim() }))).await;
        let first = self.run(&["petugas", "add", "--role", "kasir", "--outlet", &outlet, "--nama", "Rina"]).await.unwrap();
        let first: Value = serde_json::from_str(&first).unwrap();
        let till = PairedTill { cookie: cookie_of(&paired).0, person: first["id"].clone() };
        let body = json!({"idpetugas": till.person, "pin": first["pin_awal"], "pin_baru": PIN});
        self.open_call("POST", "/ops/v1/masuk", &[("Cookie", &till.cookie)], Some(&body)).await.ok();
        till
    }

    pub(super) async fn log_in(&self, till: &PairedTill) -> Answer {
        let body = json!({"idpetugas": till.person, "pin": PIN});
        self.open_call("POST", "/ops/v1/masuk", &[("Cookie", &till.cookie)], Some(&body)).await
    }

    pub(super) async fn is_at_till(&self, till: &PairedTill, session: &str) -> u16 {
        let bearer = format!("Bearer {session}");
        self.open_call("GET", "/ops/v1/shift", &[("Cookie", &till.cookie), ("Authorization", &bearer)], None).await.status
    }

    async fn pin_hash(&self) -> String {
        self.db.query_one("SELECT pin_hash FROM petugas", &[]).await.unwrap().get(0)
    }

    async fn ready(&self) -> Answer {
        self.open_call("GET", "/readyz", &[], None).await
    }

    async fn until_ready_says(&self, part: &str) {
        let printed = async {
            while !self.ready().await.message.contains(part) {
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, printed).await.unwrap_or_else(|_| panic!("/readyz never said {part:?}: {}", self.log()));
    }

    async fn until_log_says(&self, part: &str) {
        let printed = async {
            while !self.log().contains(part) {
                sleep(LOOK_EVERY).await;
            }
        };
        timeout(PATIENCE, printed).await.unwrap_or_else(|_| panic!("the log never said {part:?}: {}", self.log()));
    }
}

pub(super) struct PairedTill {
    cookie: String,
    person: Value,
}

fn kid(token: &str) -> String {
    jsonwebtoken::decode_header(token).unwrap().kid.unwrap()
}

#[actix_web::test]
async fn keys_rotate_while_a_countdown_and_a_till_go_on() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(600).await;
    let old = site.login().await;
    let till = site.till(&shop).await;
    let session = site.log_in(&till).await.ok()["token"].as_str().unwrap().to_owned();
    let machine = json!({"idoutlet": shop.body["idoutlet"], "nama": "Mesin 2", "driver": "sim"});
    let sticker = site.ops(&shop.key, "mesin", &machine).await["qr"].clone();
    let service = json!({"idoutlet": shop.body["idoutlet"], "nama": "Kering", "durasi": 600, "harga": PRICE});
    site.ops(&shop.key, "layanan", &service).await;
    let first_file = std::fs::read(Secrets::file(site.dir())).unwrap();
    site.buy(&shop).await.unwrap().ok();
    let mut phone = Phone::dial(site.address()).await;
    phone.connect(Some(&json!({ "token": old }))).await.expect("a session");
    phone.subscribe(nyala_core::domain::id::MachineId::new(shop.idmesin)).await;
    for what in ["tokens", "stickers", "devices", "pushes", "pins"] {
        assert_eq!(site.listed(what).await, ["1 good"], "{what}");
    }
    assert_eq!(std::fs::read(Secrets::file(site.dir())).unwrap(), first_file, "nothing changes before the first rotation");

    assert_eq!(site.secrets(&["rotate", "tokens"]).await.unwrap(), "tokens: 1 -> 2");
    let new = site.login().await;
    assert_eq!((kid(&old), kid(&new)), ("1".to_owned(), "2".to_owned()));
    assert_eq!((site.dashboard(&old).await, site.dashboard(&new).await), (200, 200));
    assert_eq!(site.listed("tokens").await, ["1 old", "2 good"]);

    assert_eq!(site.secrets(&["rotate", "stickers"]).await.unwrap(), "stickers: 1 -> 2");
    let made = site.ops(&shop.key, "mesin", &machine).await["qr"].clone();
    assert!(made.as_str().unwrap().starts_with("NYM1.2."), "{made}");
    for text in [&sticker, &made] {
        site.scan(&shop.token, text).await.ok();
    }
    assert_eq!(site.secrets(&["retire", "stickers", "1"]).await.unwrap(), "stickers: 1 retired");
    site.scan(&shop.token, &sticker).await.expect(404, "Mesin Not found");
    site.scan(&shop.token, &made).await.ok();
    assert_eq!(site.listed("stickers").await, ["2 good"]);

    assert_eq!(site.secrets(&["rotate", "pins"]).await.unwrap(), "pins: 1 -> 2");
    assert!(site.pin_hash().await.starts_with("$argon2id$"));
    let logins = futures_util::future::join(site.log_in(&till), site.log_in(&till)).await;
    logins.0.ok();
    logins.1.ok();
    assert!(site.pin_hash().await.starts_with("2$argon2id$"), "hashed again");
    site.secrets(&["retire", "pins", "1"]).await.unwrap();
    let again = site.log_in(&till).await.ok()["token"].as_str().unwrap().to_owned();
    let wrong = json!({"idpetugas": till.person, "pin": "135790"});
    let refused = site.open_call("POST", "/ops/v1/masuk", &[("Cookie", &till.cookie)], Some(&wrong)).await;
    assert_eq!(refused.message, "PIN salah, sisa 4 percobaan");

    assert_eq!((site.is_at_till(&till, &session).await, site.is_at_till(&till, &again).await), (200, 200));
    let (first, second) = (phone.tick().await, phone.tick().await);
    assert!(second.tl < first.tl && second.tl > 500_000, "it counted down all the time: {first:?} {second:?}");
    assert_eq!(site.ready().await.message, "OK");

    site.kill().await;
    site.start("").await;
    assert_eq!((site.dashboard(&old).await, site.dashboard(&new).await), (200, 200), "a restart changes nothing");
    assert_eq!(site.secrets(&["retire", "tokens", "1"]).await.unwrap(), "tokens: 1 retired");
    assert_eq!((site.dashboard(&old).await, site.dashboard(&new).await), (401, 200));
    let audited = "SELECT string_agg(aksi || ' ' || objek, ', ' ORDER BY id) FROM audit_log WHERE aksi LIKE 'kunci_server.%'";
    let audited: String = site.db.query_one(audited, &[]).await.unwrap().get(0);
    assert!(audited.starts_with("kunci_server.ganti kunci_server:tokens, kunci_server.ganti kunci_server:stickers"), "{audited}");
    site.assert_sound().await;
}

#[actix_web::test]
async fn somebody_whose_pin_has_a_retired_key_gets_a_new_first_pin() {
    let mut site = Site::new().await;
    site.start("").await;
    let shop = site.shop(600).await;
    let till = site.till(&shop).await;
    site.secrets(&["rotate", "pins"]).await.unwrap();
    site.secrets(&["retire", "pins", "1"]).await.unwrap();
    let refused = site.log_in(&till).await;
    assert_eq!(refused.message, "PIN awal kedaluwarsa, minta supervisor membuat yang baru");
    let tries: i64 = site.db.query_one("SELECT count(*) FROM pin_gagal", &[]).await.unwrap().get(0);
    assert_eq!(tries, 0, "nobody is locked out by that");
    let first = site.run(&["petugas", "reset-pin", &till.person.to_string()]).await.unwrap();
    let first: Value = serde_json::from_str(&first).unwrap();
    let body = json!({"idpetugas": till.person, "pin": first["pin_awal"], "pin_baru": PIN});
    site.open_call("POST", "/ops/v1/masuk", &[("Cookie", &till.cookie)], Some(&body)).await.ok();
}

#[actix_web::test]
async fn what_cannot_be_done_is_refused_with_what_can() {
    let mut site = Site::new().await;
    site.start("").await;
    let code = async |args: &[&str]| {
        let mut command = site.program(args);
        let out = spawn_blocking(move || command.output()).await.unwrap().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    for args in [&["secrets", "rotate", "hats"][..], &["secrets", "rotate"], &["secrets", "retire", "hats", "1"], &["secrets"]] {
        let (status, why) = code(args).await;
        assert_eq!(status, Some(2), "{args:?}: {why}");
    }
    let (_, why) = code(&["secrets", "rotate", "hats"]).await;
    assert!(why.contains("[possible values: tokens, stickers, devices, pushes, pins]"), "{why}");
    let before = std::fs::read(Secrets::file(site.dir())).unwrap();
    for (args, part) in [
        (["secrets", "retire", "tokens", "1"], "key 1 of tokens is the newest"),
        (["secrets", "retire", "stickers", "7"], "stickers has no good key 7; good are: 1"),
        (["secrets", "retire", "stickers", "01"], "stickers has no good key 01; good are: 1"),
    ] {
        let (status, why) = code(&args).await;
        assert!(status == Some(1) && why.contains(part) && why.trim().lines().count() == 1, "{args:?}: {why}");
    }
    // A server of a program from before, which knows nothing of rotated keys.
    let older = "INSERT INTO node (name, version, started_at, alive_until, late_since)
        SELECT 'n7', '0.1.0', created_at, created_at + INTERVAL '1000 years', created_at FROM kunci_operator LIMIT 1";
    site.root_key().await;
    site.db.execute(older, &[]).await.unwrap();
    let (status, why) = code(&["secrets", "rotate", "tokens"]).await;
    assert!(status == Some(1) && why.contains("server n7 runs 0.1.0, which cannot read a file with rotated keys"), "{why}");
    assert_eq!(std::fs::read(Secrets::file(site.dir())).unwrap(), before);
    site.db.execute("DELETE FROM node", &[]).await.unwrap();
    // A server of such a program that is alone says nothing of its keys.
    site.db.execute("UPDATE secrets_fingerprint SET loaded = NULL", &[]).await.unwrap();
    let (status, why) = code(&["secrets", "rotate", "tokens"]).await;
    assert!(status == Some(1) && why.contains("does not work with this secrets.toml"), "{why}");
    assert_eq!(std::fs::read(Secrets::file(site.dir())).unwrap(), before);
    site.signal(Signal::SIGHUP);
    site.secrets(&["rotate", "tokens"]).await.unwrap();
    let knows: i32 = site.db.query_one("SELECT knows FROM oldest_program", &[]).await.unwrap().get(0);
    assert_eq!(knows, 20_261_223, "a program from before is refused from now on");

    // A copy from before the rotation, and one that was rotated at another place.
    site.kill().await;
    let ours = std::fs::read(Secrets::file(site.dir())).unwrap();
    std::fs::write(Secrets::file(site.dir()), &before).unwrap();
    for args in [&["serve"][..], &["secrets", "rotate", "pins"]] {
        let why = site.run(args).await.unwrap_err();
        assert!(why.contains("lacks key 2 of tokens") && why.contains("Copy secrets.toml"), "{why}");
    }
    let mut other = Secrets::parse(std::str::from_utf8(&before).unwrap()).unwrap();
    let now = nyala_store::clock::wall_clock();
    other.rotate(nyala_store::secrets::What::Tokens, now, now);
    other.write(site.dir()).unwrap();
    let why = site.run(&["serve"]).await.unwrap_err();
    assert!(why.contains("has another key 2 of tokens"), "{why}");
    std::fs::write(Secrets::file(site.dir()), ours).unwrap();
    site.start("").await;
    // A database that does not answer is no fault of the file, which is compared again by itself: until then nothing is rotated.
    site.db.execute("ALTER TABLE secrets_kid RENAME TO away", &[]).await.unwrap();
    site.db.execute("UPDATE secrets_fingerprint SET loaded = NULL", &[]).await.unwrap();
    site.signal(Signal::SIGHUP);
    site.until_log_says("secrets.toml cannot be compared with the database").await;
    site.db.execute("ALTER TABLE away RENAME TO secrets_kid", &[]).await.unwrap();
    site.secrets(&["rotate", "pins"]).await.unwrap();
    assert!(!site.log().contains("secrets.toml is refused") && site.log().contains("pins 1 2"), "{}", site.log());
    // A file that a person broke does not stop the server, and is logged.
    std::fs::write(Secrets::file(site.dir()), "kid = 1\n").unwrap();
    site.until_log_says("secrets.toml is refused").await;
    assert_eq!(site.ready().await.status, 200);
}

/// HMAC-SHA256 with other code than the server's.
fn mac(key: &[u8], message: &str) -> [u8; 32] {
    let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(key).unwrap();
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().into()
}

/// The public part of a private key on P-256.
fn public(key: [u8; 32]) -> Vec<u8> {
    SecretKey::from_slice(&key).unwrap().public_key().to_encoded_point(false).as_bytes().to_vec()
}

/// What was made with this file by programs of before is good, and the same is made: before and after its first rotation.
#[actix_web::test]
async fn a_file_from_before_goes_on_and_its_derived_keys_become_their_own() {
    let mut site = Site::new().await;
    std::fs::write(Secrets::file(site.dir()), OLD_FILE).unwrap();
    let set = ["--set", "mqtt.tls=true", "--set", "mqtt.public_host=localhost"];
    let tls = [("NYALA__MQTT__TLS", "true"), ("NYALA__MQTT__PUBLIC_HOST", "localhost")];
    site.start_with(&tls).await;
    let shop = site.shop(60).await;
    let till = site.till(&shop).await;
    let machine = json!({"idoutlet": shop.body["idoutlet"], "nama": "Mesin 2", "driver": "mqtt"});
    let board = site.ops(&shop.key, "mesin", &machine).await["id"].to_string();
    let [token_key, otp, qr_mesin]: [Vec<u8>; 3] = [0..32, 32..64, 64..96].map(Iterator::collect);
    let picture = site.dir().join("stiker.png").display().to_string();
    let all_the_same = async |site: &Site, verb: &str| {
        let token = site.login().await;
        let mut validation = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::HS256);
        validation.validate_aud = false;
        let key = jsonwebtoken::DecodingKey::from_secret(&token_key);
        let claims: Value = jsonwebtoken::decode(&token, &key, &validation).expect("a token of this key").claims;
        assert!(claims["id_customer_global"].is_number() && kid(&token) == "1", "{claims}");
        let sticker = site.run(&["qr", &shop.idmesin.to_string(), "--out", &picture]).await.unwrap();
        let (printed, tag) = sticker.trim().split_once(' ').unwrap().1.rsplit_once('.').unwrap();
        assert_eq!((&printed[..7], tag), ("NYM1.1.", &*B64.encode(&mac(&qr_mesin, printed)[..16])));
        let kunci = site.ask("GET", "/scan/v1/push/kunci", &shop.token, &json!({})).await.unwrap().ok();
        assert_eq!(kunci["kunci"], B64.encode(public(mac(&token_key, "web push"))));
        let login: Value =
            serde_json::from_str(&site.run(&[&["device", verb, &board][..], &set].concat()).await.unwrap()).unwrap();
        let certificate = CertificateDer::from_pem_slice(login["ca"].as_str().unwrap().as_bytes()).unwrap();
        let point = public(mac(&otp, "device authority"));
        assert!(certificate.windows(point.len()).any(|part| part == point), "the certificate has this key");
        site.log_in(&till).await.ok();
        let mixed = mac(&mac(&otp, "pin"), &format!("{}:{PIN}", till.person));
        let mixed: String = mixed.iter().map(|b| format!("{b:02x}")).collect();
        let hash = site.pin_hash().await;
        Argon2::default().verify_password(mixed.as_bytes(), &PasswordHash::new(&hash).unwrap()).expect("this key's");
    };
    all_the_same(&site, "add").await;
    assert_eq!(std::fs::read_to_string(Secrets::file(site.dir())).unwrap(), OLD_FILE);
    // The customers' QR codes rotate with the tokens; the rest of the file only gets another form.
    site.secrets(&["rotate", "tokens"]).await.unwrap();
    let text = std::fs::read_to_string(Secrets::file(site.dir())).unwrap();
    assert!(text.starts_with("# Keys of this installation"), "{text}");
    for table in ["tokens", "stickers", "devices", "pushes", "pins"] {
        let times = if table == "tokens" { 2 } else { 1 };
        assert_eq!(text.matches(&format!("[[{table}]]\n")).count(), times, "{text}");
    }
    let (first, second) = (text.find("[[tokens]]\nkid = \"1\"\n"), text.find("[[tokens]]\nkid = \"2\"\n"));
    assert!(first < second && text.contains("token = \"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\""), "{text}");
    // Without the newest tokens' key again, everything is as before.
    let cut = format!("{}{}", &text[..second.unwrap()], &text[text.find("[[stickers]]").unwrap()..]);
    std::fs::write(Secrets::file(site.dir()), cut).unwrap();
    site.db.execute("DELETE FROM secrets_kid", &[]).await.unwrap();
    site.kill().await;
    site.start_with(&tls).await;
    all_the_same(&site, "rotate").await;
    let before = site.listed("pushes").await;
    site.secrets(&["rotate", "pushes"]).await.unwrap();
    assert_eq!((before, site.listed("pushes").await), (vec!["1 good".to_owned()], vec!["1 old".to_owned(), "2 good".to_owned()]));
    let kunci = site.ask("GET", "/scan/v1/push/kunci", &shop.token, &json!({})).await.unwrap().ok();
    assert_ne!(kunci["kunci"], B64.encode(public(mac(&token_key, "web push"))));
}

#[actix_web::test]
async fn a_device_finds_its_authority_until_that_is_retired() {
    let (mut site, port) = (Site::new().await, free_port().unwrap());
    let tls =
        [("NYALA__MQTT__PORT", &*port.to_string()), ("NYALA__MQTT__TLS", "true"), ("NYALA__MQTT__PUBLIC_HOST", "localhost")];
    site.start_with(&tls).await;
    let shop = site.shop(600).await;
    let machine = json!({"idoutlet": shop.body["idoutlet"], "nama": "Mesin 2", "driver": "mqtt"});
    let id = site.ops(&shop.key, "mesin", &machine).await["id"].to_string();
    let on_port = format!("mqtt.port={port}");
    let set = ["--set", "mqtt.tls=true", "--set", "mqtt.public_host=localhost", "--set", &on_port];
    let key = async |verb: &str| -> Value {
        let text = site.run(&[&["device", verb, &id][..], &set].concat()).await.unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let mut logins = vec![key("add").await];
    let folder = site.dir().join("board");
    let mut board = Board::start(&logins[0], &folder, true);
    if let Some(board) = &board {
        board.connects().await;
    }
    for (at, done) in ["devices: 1 -> 2", "devices: 2 -> 3"].iter().enumerate() {
        assert_eq!(site.secrets(&["rotate", "devices"]).await.unwrap(), *done);
        for login in &logins {
            assert!(is_trusted(port, login).await, "an older authority is served, too");
        }
        let next = key("rotate").await;
        assert_ne!(next["ca"], logins[at]["ca"], "a board gets the new authority with its next key");
        assert!(is_trusted(port, &next).await);
        if let Some(board) = &mut board {
            // Both keys count: the board with the old authority comes back, then the one with the new key.
            for login in [&logins[at], &next] {
                board.power_off();
                *board = Board::start(login, &folder, true).expect("a board");
                board.connects().await;
            }
        }
        logins.push(next);
    }
    assert_eq!(site.listed("devices").await, ["1 old", "2 old", "3 good"]);
    for (kid, trusted) in [("1", [false, true, true]), ("2", [false, false, true])] {
        assert_eq!(site.secrets(&["retire", "devices", kid]).await.unwrap(), format!("devices: {kid} retired"));
        for (login, is_good) in logins.iter().zip(trusted) {
            assert_eq!(is_trusted(port, login).await, is_good, "{kid} {login}");
        }
    }
    let certificates = |login: &Value| login["ca"].as_str().unwrap().matches("BEGIN CERTIFICATE").count();
    assert_eq!(logins.iter().map(certificates).collect::<Vec<_>>(), [1, 2, 3], "the new authority beside those that are served");
    assert_eq!(certificates(&key("rotate").await), 1, "a retired one is given to nobody");
    if let Some(board) = &mut board {
        board.power_off();
        let refused = Board::start(&logins[0], &folder, true).expect("a board").says("the server's TLS: ").await;
        assert!(refused.contains("Certificate verification failed"), "{refused}");
    }
}

/// Whether a device with this login takes the server at `port` for its own.
async fn is_trusted(port: u16, login: &Value) -> bool {
    let pem = login["ca"].as_str().expect("an authority").to_owned();
    let done = spawn_blocking(move || {
        let mut roots = RootCertStore::empty();
        CertificateDer::pem_slice_iter(pem.as_bytes()).for_each(|certificate| roots.add(certificate.unwrap()).unwrap());
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut session = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        while session.is_handshaking() {
            session.complete_io(&mut stream)?;
        }
        Ok::<_, std::io::Error>(())
    });
    match done.await.unwrap() {
        Ok(()) => true,
        Err(e) => {
            assert!(e.to_string().contains("certificate"), "{e}");
            false
        }
    }
}

#[actix_web::test]
async fn servers_of_a_cluster_use_a_new_key_when_all_have_it() {
    let mut first = Site::new().await;
    let cluster = |name| [("NYALA__CLUSTER__ENABLED", "true"), ("NYALA__CLUSTER__NAME", name), ("NYALA__MESIN__SIM_MIN_MS", "0")];
    first.start_with(&cluster("n1")).await;
    let mut second = first.beside().await;
    second.start_with(&cluster("n2")).await;
    let key = first.root_key().await;
    let idowner = first.ops(&key, "owner", &json!({"nama": "Bu Ani"})).await["idowner"].clone();
    let place = json!({"idowner": idowner, "nama": "Melati", "kota": "Bandung", "latitude": -6.9, "longitude": 107.6});
    let idoutlet = first.ops(&key, "outlet", &place).await["idoutlet"].clone();
    let many = json!({"jumlah": 1, "awalan_telp": "8120", "idoutlet": idoutlet, "saldo": PRICE});
    first.ops(&key, "pelanggan/bulk", &many).await;
    assert_eq!(first.ready().await.message, "OK");

    assert_eq!(first.secrets(&["rotate", "tokens"]).await.unwrap(), "tokens: 1 -> 2");
    // n1 has read its file: it has the new key, and does not use it.
    let has_it = async {
        let of_first = "SELECT keys -> 'tokens' = '[\"1\", \"2\"]' FROM node WHERE name = 'n1' ORDER BY idnode DESC LIMIT 1";
        while !first.db.query_one(of_first, &[]).await.unwrap().get::<_, bool>(0) {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, has_it).await.expect("the new key");
    for site in [&first, &second] {
        let ready = site.ready().await;
        assert_eq!((ready.status, &*ready.message), (200, "OK, tetapi kunci belum sama: n2 belum punya tokens 2"));
        let token = site.login().await;
        assert_eq!(kid(&token), "1", "what n2 could not check is not made");
        assert_eq!((first.dashboard(&token).await, second.dashboard(&token).await), (200, 200));
    }
    let why = first.secrets(&["retire", "tokens", "1"]).await.unwrap_err();
    assert!(why.contains("server n2 lacks key 2 of tokens"), "{why}");
    std::fs::copy(Secrets::file(first.dir()), Secrets::file(second.dir())).unwrap();
    second.signal(Signal::SIGHUP);
    let used = async {
        while kid(&first.login().await) != "2" || kid(&second.login().await) != "2" {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, used).await.expect("tokens of the new key");
    for site in [&first, &second] {
        let token = site.login().await;
        assert_eq!((first.dashboard(&token).await, second.dashboard(&token).await), (200, 200));
        assert_eq!(site.ready().await.message, "OK");
    }
    first.secrets(&["retire", "tokens", "1"]).await.unwrap();
    first.until_ready_says("n2 masih menerima tokens 1").await;
    std::fs::copy(Secrets::file(first.dir()), Secrets::file(second.dir())).unwrap();
    second.signal(Signal::SIGHUP);
    until_same(&first, &second).await;

    let machine = json!({"idoutlet": idoutlet, "nama": "Mesin 1", "driver": "mqtt"});
    for what in ["stickers", "devices", "pushes", "pins"] {
        assert_eq!(second.secrets(&["rotate", what]).await.unwrap(), format!("{what}: 1 -> 2"));
    }
    first.until_ready_says("n1 belum punya stickers 2").await;
    let of_both = async |prefix: &str| {
        let token = second.login().await;
        for maker in [&first, &second] {
            let made = async {
                loop {
                    let sticker = maker.ops(&key, "mesin", &machine).await["qr"].clone();
                    if sticker.as_str().unwrap().starts_with(prefix) {
                        return sticker;
                    }
                    sleep(LOOK_EVERY).await;
                }
            };
            let sticker = timeout(PATIENCE, made).await.expect("a sticker with the key that both have");
            for site in [&first, &second] {
                site.scan(&token, &sticker).await.ok();
            }
        }
    };
    of_both("NYM1.1.").await;
    std::fs::copy(Secrets::file(second.dir()), Secrets::file(first.dir())).unwrap();
    first.signal(Signal::SIGHUP);
    until_same(&first, &second).await;
    of_both("NYM1.2.").await;
}

async fn until_same(one: &Site, other: &Site) {
    let same = async {
        while one.ready().await.message != "OK" || other.ready().await.message != "OK" {
            sleep(LOOK_EVERY).await;
        }
    };
    timeout(PATIENCE, same).await.expect("the same keys");
}
