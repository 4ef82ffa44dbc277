//! Resource limits of a session.

use std::time::{Duration, Instant};

use actix_socketio::{CloseReason, Limits, Origins};

use super::start_with;
use crate::http::{self, Polling};
use crate::server::{Server, eventually, limits};
use crate::ws::{Ws, refused};

fn limited(limits: Limits) -> Server {
    start_with(limits, Origins::SameOrigin)
}

#[test]
fn sessions_are_counted() {
    let server = limited(Limits { max_sessions: 2, ..limits() });
    let (first, mut second) = (Polling::joined(&server), Ws::joined(&server));
    let polling = http::get(server.address, "/socket.io/?EIO=4&transport=polling");
    assert_eq!((polling.status, polling.body.as_str()), (503, r#"{"code":6,"message":"Too many sessions"}"#));
    let websocket = refused(&server, "/socket.io/?EIO=4&transport=websocket", "");
    assert_eq!(websocket.status, 503);
    assert_eq!(server.metrics().sessions_refused.get(), 2);
    let mut upgraded = Ws::upgrade(&server, &first);
    upgraded.send("2probe");
    assert_eq!(upgraded.text(), "3probe", "an upgrade is no new session");
    second.send("1");
    assert_eq!(second.closed(), Some(1000));
    eventually("there is room again", || server.metrics().sessions_open.get() == 1);
    Ws::joined(&server);
}

#[test]
fn namespaces_are_counted() {
    let server = limited(Limits { max_namespaces: 2, ..limits() });
    let mut ws = Ws::joined(&server);
    ws.join("40/custom,");
    for _ in 0..2 {
        ws.send("40/third,");
        assert_eq!(ws.text(), r#"44/third,{"message":"too many namespaces"}"#);
    }
    ws.send("40/third,");
    assert_eq!(ws.text(), r#"44/third,{"message":"too many namespaces"}"#);
    assert_eq!(ws.closed(), Some(1000), "a client that asks on and on is closed");
}

#[test]
fn a_namespace_is_short() {
    let server = limited(Limits { max_namespace_bytes: 16, ..limits() });
    let mut ws = Ws::joined(&server);
    ws.send(&format!("40/{},", "x".repeat(16)));
    assert_eq!(ws.closed(), Some(1002));
}

#[test]
fn attachments_are_few_and_small() {
    let server = limited(Limits { max_attachments: 2, max_attachment_bytes: 10, ..limits() });
    let mut ws = Ws::joined(&server);
    ws.send(r#"453-["message"]"#);
    assert_eq!(ws.closed(), Some(1002), "too many");
    let mut ws = Ws::joined(&server);
    ws.send(r#"452-["message"]"#);
    ws.send_binary(&[0; 6]);
    ws.send_binary(&[0; 5]);
    assert_eq!(ws.closed(), Some(1002), "too large together");
    let mut ws = Ws::joined(&server);
    ws.send(r#"452-["message"]"#);
    ws.send_binary(&[0; 6]);
    ws.send_binary(&[0; 4]);
    assert_eq!(ws.text(), r#"452-["message-back"]"#);
}

#[test]
fn answers_that_are_waited_for_are_counted() {
    let server = limited(Limits { max_pending_acks: 3, max_queued_frames: 200, ..limits() });
    let mut ws = Ws::joined(&server);
    ws.send(r#"42["ask"]"#);
    assert_eq!(ws.text(), r#"420["question",1]"#);
    ws.send(r#"42["ask-many"]"#);
    let mut asked = ws.text();
    let mut questions = 0;
    while asked.contains("question") {
        questions += 1;
        asked = ws.text();
    }
    assert_eq!((questions, asked.as_str()), (2, r#"42["asked",2]"#));
}

#[test]
fn polling_packets_wait_within_bounds() {
    let server = limited(Limits { max_waiting_packets: 100, max_queued_frames: 10, ..limits() });
    let session = Polling::joined(&server);
    // Volatile packets past their limit are dropped.
    assert_eq!(session.post(r#"42["flood",50,10,true]"#).status, 200);
    let got = session.get().body;
    assert_eq!(got.split('\u{1e}').count(), 10);
    assert!(got.starts_with(r#"42["tick",[0,"#));
    assert_eq!(server.metrics().frames_dropped.get(), 40);
    // Others close the session.
    assert_eq!(session.post(r#"42["flood",101,10,false]"#).status, 200);
    assert_eq!(server.left(), ("/".into(), CloseReason::Stalled));
    assert_eq!(session.get().status, 400);
    assert_eq!(server.metrics().stalled.get(), 1);
}

#[test]
fn polling_bytes_wait_within_bounds() {
    let server = limited(Limits { max_waiting_bytes: 10_000, ..limits() });
    let session = Polling::joined(&server);
    assert_eq!(session.post(r#"42["flood",1,20000,false]"#).status, 200);
    assert!(session.get().body.len() > 20_000, "one large packet alone fits");
    assert_eq!(session.post(r#"42["flood",3,4000,false]"#).status, 200);
    assert_eq!(server.left(), ("/".into(), CloseReason::Stalled));
}

#[test]
fn a_server_that_shuts_down_closes_its_sessions_and_takes_no_new_ones() {
    let server = limited(limits());
    let (session, mut ws) = (Polling::joined(&server), Ws::joined(&server));
    let get = session.begin_get();
    let sockets = server.sockets.clone();
    let all_gone = actix_web::rt::System::new().block_on(async move { sockets.shut_down(Duration::from_secs(20)).await });
    assert!(all_gone);
    let answer = get.answer();
    assert!(answer.status == 400 || answer.body == "1", "{answer:?}");
    assert_eq!(ws.closed(), Some(1000));
    assert_eq!(http::get(server.address, "/socket.io/?EIO=4&transport=polling").status, 503);
}

#[test]
fn one_of_several_servers_closes_its_sessions_little_by_little() {
    let server = limited(limits());
    let mut phones: Vec<_> = (0..20).map(|_| Ws::joined(&server)).collect();
    let (sockets, began) = (server.sockets.clone(), Instant::now());
    let (spread, within) = (Duration::from_secs(1), Duration::from_secs(20));
    let all_gone = actix_web::rt::System::new().block_on(async move { sockets.shut_down_over(spread, within).await });
    assert!(all_gone);
    assert!(began.elapsed() >= Duration::from_millis(100), "sixteen, and after a pause the others");
    phones.iter_mut().for_each(|phone| assert_eq!(phone.closed(), Some(1000)));
    assert_eq!(http::get(server.address, "/socket.io/?EIO=4&transport=polling").status, 503);
}
