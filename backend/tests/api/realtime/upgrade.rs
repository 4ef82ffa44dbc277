//! The answers to a websocket request, which no middleware handles.

use actix_web::rt::net::TcpStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::phone::soon;
use super::setup;
use super::wire::upgrade_request;
use crate::support::helpers::TestApp;

pub const SOCKET: &str = "/socket.io/?EIO=4&transport=websocket";

/// The status and the headers of the answer, in lower case.
pub async fn asked(app: &TestApp, target: &str, more: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(app.address()).await.unwrap();
    stream.write_all(upgrade_request(app.address(), target, more).as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let head = loop {
        if let Some(at) = answer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 2;
        }
        assert!(soon("the answer", stream.read_buf(&mut answer)).await.unwrap() > 0, "the server hung up");
    };
    let head = String::from_utf8(answer[..head].to_vec()).unwrap().to_ascii_lowercase();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head)
}

#[actix_web::test]
async fn every_answer_has_a_request_id_and_the_security_headers() {
    let app = setup().start().await;
    let unknown = format!("{SOCKET}&sid=AAAAAAAAAAAAAAAAAAAA");
    for (status, target, more) in [
        (101, SOCKET, ""),
        (400, &*unknown, ""),
        (403, SOCKET, "Origin: https://evil.example\r\n"),
        (404, "/scan/v1/auth/login", ""),
        (404, "/", ""),
    ] {
        let (answered, head) = asked(&app, target, more).await;
        assert_eq!(answered, status, "{head}");
        for header in [
            "x-request-id: ",
            "content-security-policy: default-src 'self';",
            "x-content-type-options: nosniff\r\n",
            "referrer-policy: same-origin\r\n",
            "permissions-policy: camera=(self)\r\n",
        ] {
            assert_eq!(head.matches(&format!("\r\n{header}")).count(), 1, "{header} of {head}");
        }
    }
}
