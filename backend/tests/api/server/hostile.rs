//! Malformed input to the calls without a login gets a 4xx in the envelope, never a 5xx (docs/contract.md §1).

use serde_json::{Value, json};

use crate::auth::register::{TELP, login_body, otp_body, register_body};
use crate::ops::operator::Scope;
use crate::support::helpers::{PASSWORD, TestApp};

const AUTH: &str = "/scan/v1/auth";

/// Each call with a well-formed body.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("login", login_body(TELP, PASSWORD)),
        ("register", register_body(TELP, "123456")),
        ("request_otp", otp_body(TELP)),
        ("request_otp_forgot_password", otp_body(TELP)),
        ("forgot_password", json!({"otp": "123456", "telp": TELP, "password": PASSWORD})),
    ]
}

fn account_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("update_nama", json!({"nama": "Siti Rahma"})),
        ("update_password", json!({"otp": "123456", "password_lama": PASSWORD, "password_baru": "SandiBaru1"})),
    ]
}

#[actix_web::test]
async fn what_is_no_json_object_is_400() {
    let app = TestApp::spawn().await;
    let token = app.register_customer("81299999999", "Siti", "Rahma").await.token;
    let paths = calls().into_iter().map(|(call, _)| format!("{AUTH}/{call}"));
    for path in paths.chain(account_calls().into_iter().map(|(call, _)| format!("/scan/v1/akun/{call}"))) {
        let bodies: Vec<Vec<u8>> = vec![
            b"".to_vec(),
            b"{".to_vec(),
            b"[]".to_vec(),
            b"null".to_vec(),
            b"\"x\"".to_vec(),
            b"\xff\xfe{}".to_vec(),
            b"{\"telp\":\"\xc3\x28\",\"nama\":\"\xc3\x28\",\"otp\":\"\xc3\x28\"}".to_vec(),
            b"{\"telp\":\"\\ud800\",\"nama\":\"\\ud800 b\",\"otp\":\"\\ud800\"}".to_vec(),
            b"[".repeat(30_000),
            [b"{\"x\":".repeat(10_000), b"1".to_vec(), b"}".repeat(10_000)].concat(),
            b" ".repeat(1 << 20),
        ];
        for body in bodies {
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            let answer = app.call("POST", &path, Some(&token), &[], Some(body)).await;
            assert_eq!(answer.status, 400, "{path} {shown}: {}", answer.message);
        }
    }
}

#[actix_web::test]
async fn a_missing_or_mistyped_field_is_400() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81299999999", "Siti", "Rahma").await;
    let all = calls().into_iter().map(|(call, body)| (format!("{AUTH}/{call}"), body));
    for (path, good) in all.chain(account_calls().into_iter().map(|(call, body)| (format!("/scan/v1/akun/{call}"), body))) {
        for key in good.as_object().unwrap().keys() {
            let mut bodies: Vec<Value> = [json!(null), json!(true), json!(1.5), json!([]), json!({}), json!([PASSWORD])]
                .into_iter()
                .map(|bad| {
                    let mut body = good.clone();
                    body[key] = bad;
                    body
                })
                .collect();
            let mut without = good.clone();
            without.as_object_mut().unwrap().remove(key);
            bodies.push(without);
            for body in bodies {
                let answer = app.post(&path, Some(&siti.token), &body).await;
                assert_eq!(answer.status, 400, "{path} {body}: {}", answer.message);
            }
        }
    }
}

#[actix_web::test]
async fn odd_texts_in_any_field_are_4xx() {
    let app = TestApp::spawn().await;
    let siti = app.register_customer("81299999999", "Siti", "Rahma").await;
    app.post("/scan/v1/akun/request_otp_password", Some(&siti.token), &Value::Null).await.ok();
    let texts =
        ["\u{0}", "a\u{0} b", "\u{0}\u{0} \u{0}", "\u{202e}\u{feff}", "'; DROP TABLE customer_global; --", "%00", "\u{10ffff}"];
    let long = "9".repeat(60_000);
    let all = calls().into_iter().map(|(call, body)| (format!("{AUTH}/{call}"), body));
    for (path, good) in all.chain(account_calls().into_iter().map(|(call, body)| (format!("/scan/v1/akun/{call}"), body))) {
        for key in good.as_object().unwrap().keys() {
            for text in texts.iter().copied().chain([long.as_str()]) {
                let mut body = good.clone();
                body[key] = text.into();
                let answer = app.post(&path, Some(&siti.token), &body).await;
                let shown: String = text.chars().take(20).collect();
                let name_may = path.ends_with("update_nama") && answer.status == 200;
                assert!(
                    (400..500).contains(&answer.status) || name_may,
                    "{path} {key}={shown:?}: {} {}",
                    answer.status,
                    answer.message
                );
            }
        }
    }
}

#[actix_web::test]
async fn a_body_in_another_coding_is_400_or_read() {
    let app = TestApp::spawn().await;
    for coding in ["gzip", "br", "x-nonsense"] {
        let answer = app
            .call("POST", &format!("{AUTH}/login"), None, &[("content-encoding", coding)], Some(b"\x1f\x8bnonsense".to_vec()))
            .await;
        assert_eq!(answer.status, 400, "{coding}");
    }
}

#[actix_web::test]
async fn more_fields_than_asked_for_do_no_harm() {
    let app = TestApp::spawn().await;
    let mut body = otp_body(TELP);
    body["tujuan"] = "forgot_password".into();
    body["nested"] = json!({"a": [[[{}]]]});
    app.post(&format!("{AUTH}/request_otp"), None, &body).await.ok();
}

/// A proxy and this server could each take another one of two values.
#[actix_web::test]
async fn a_field_or_parameter_that_comes_twice_is_400() {
    let app = TestApp::spawn().await;
    let body = br#"{"country_code": "62", "telp": "81234567890", "telp": "81299999999", "password": "Rahasia123"}"#;
    let twice = app.call("POST", &format!("{AUTH}/login"), None, &[], Some(body.to_vec())).await;
    assert_eq!(twice.status, 400, "{}", twice.message);
    let key = app.key(Scope::Root).await;
    let list = app.get("/ops/v1/topup?idoutlet=1&limit=1&limit=2", Some(&key)).await;
    assert_eq!(list.status, 400, "{}", list.message);
}
