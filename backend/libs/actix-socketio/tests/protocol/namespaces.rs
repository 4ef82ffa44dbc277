//! Socket.IO protocol, "Connection to a namespace" and "Disconnection from a namespace".

use std::time::Duration;

use actix_socketio::{CloseReason, Limits, Origins};

use super::{start, start_with};
use crate::http::Polling;
use crate::server::{SeenEvents, eventually, limits};
use crate::ws::Ws;

#[test]
fn a_client_joins_with_and_without_auth() {
    let server = start();
    for (connect, joined, auth) in [
        ("40", "40{", r#"42["auth",{}]"#),
        (r#"40{"token":"123"}"#, "40{", r#"42["auth",{"token":"123"}]"#),
        ("40/custom,", "40/custom,{", r#"42/custom,["auth",{}]"#),
        ("40/custom", "40/custom,{", r#"42/custom,["auth",{}]"#),
        (r#"40/custom,{"token":"slow"}"#, "40/custom,{", r#"42/custom,["auth",{"token":"slow"}]"#),
    ] {
        let mut ws = Ws::open(&server, "/socket.io/");
        ws.send(connect);
        let answer = ws.text();
        assert!(answer.starts_with(joined), "{answer}");
        assert_eq!(ws.text(), auth, "what the host emits while it connects comes after the answer");
    }
}

#[test]
fn a_socket_has_an_id_of_its_own() {
    let server = start();
    let session = Polling::open(&server, "/socket.io/");
    assert_eq!(session.post("40\u{1e}40/custom,").status, 200);
    let mut packets = String::new();
    while packets.matches("[\"auth\"").count() < 2 {
        packets.push_str(&session.get().body);
        packets.push('\u{1e}');
    }
    let ids: Vec<_> = packets.split('\u{1e}').filter_map(|p| Some(p.split_once("\"sid\":\"")?.1.to_string())).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    assert!(!packets.contains(&session.sid), "the session's id is a secret of its transport");
}

#[test]
fn a_refusal_says_why_and_the_session_goes_on() {
    let server = start();
    let mut ws = Ws::open(&server, "/socket.io/");
    ws.send("40/random");
    assert_eq!(ws.text(), r#"44/random,{"message":"Invalid namespace"}"#);
    ws.send(r#"40{"token":"wrong"}"#);
    assert_eq!(ws.text(), r#"44{"message":"unauthorized"}"#);
    ws.send(r#"40{"token":"expired"}"#);
    assert_eq!(ws.text(), r#"44{"message":"unauthorized","data":{"code":7}}"#);
    ws.join("40");
}

#[test]
fn the_first_packet_must_join() {
    let server = start();
    for packet in [r#"42["message",1]"#, "41", "431[]", r#"42/custom,["message",1]"#] {
        let mut ws = Ws::open(&server, "/socket.io/");
        ws.send(packet);
        assert_eq!(ws.closed(), Some(1002), "{packet}");
    }
    let mut ws = Ws::open(&server, "/socket.io/");
    ws.send(r#"40{"token":"never"}"#);
    ws.send(r#"42["message",1]"#);
    assert_eq!(ws.closed(), Some(1002), "a request is not yet a connection");
}

#[test]
fn joining_again_gives_the_same_answer_again() {
    let server = start();
    let mut ws = Ws::open(&server, "/socket.io/");
    let id = ws.join("40");
    ws.send("40");
    assert_eq!(ws.text(), format!(r#"40{{"sid":"{id}"}}"#));
    ws.send(r#"42["message",1]"#);
    assert_eq!(ws.text(), r#"42["message-back",1]"#);
    // The second request waits until the first one is answered.
    let mut ws = Ws::open(&server, "/socket.io/");
    ws.send(r#"40{"token":"slow"}"#);
    ws.send(r#"40{"token":"slow"}"#);
    assert!(ws.text().starts_with("40{"));
    assert!(ws.text().starts_with("42[\"auth\""));
    ws.send(r#"42["message",1]"#);
    assert_eq!(ws.text(), r#"42["message-back",1]"#);
}

#[test]
fn a_session_that_joins_nothing_is_closed() {
    let limits = Limits { connect_timeout: Duration::from_millis(40), ..limits() };
    let server = start_with(limits, Origins::SameOrigin);
    let mut ws = Ws::open(&server, "/socket.io/");
    assert_eq!(ws.closed(), Some(1000));
    let mut ws = Ws::open(&server, "/socket.io/");
    ws.send(r#"40{"token":"never"}"#);
    assert_eq!(ws.closed(), Some(1000), "a host that does not decide is bounded too");
    let session = Polling::open(&server, "/socket.io/");
    assert_eq!(session.get().body, "1");
    let mut ws = Ws::joined(&server);
    std::thread::sleep(Duration::from_millis(80)); // twice the time-out
    ws.send(r#"42["message",1]"#);
    assert_eq!(ws.text(), r#"42["message-back",1]"#);
}

#[test]
fn a_client_leaves_one_namespace_and_keeps_the_other() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.join("40/custom,");
    ws.send("41/custom,");
    assert_eq!(server.left(), ("/custom".into(), CloseReason::ClientLeft));
    ws.send(r#"42/custom,["message",1]"#);
    ws.send(r#"42["message",2]"#);
    assert_eq!(ws.text(), r#"42["message-back",2]"#, "and nothing for the namespace that was left");
    ws.join("40/custom,");
    ws.send("41");
    assert_eq!(server.left(), ("/".into(), CloseReason::ClientLeft));
    ws.send(r#"42/custom,["message",3]"#);
    assert_eq!(ws.text(), r#"42/custom,["message-back",3]"#);
}

#[test]
fn a_client_that_leaves_while_it_joins_is_forgotten() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.send(r#"40/custom,{"token":"never"}"#);
    ws.send("41/custom,");
    ws.join("40/custom,");
    assert!(matches!(server.seen(), SeenEvents::Joined { .. }));
    assert!(matches!(server.seen(), SeenEvents::Joined { .. }), "the handler never heard of the first try's end");
}

#[test]
fn the_host_leaves_a_namespace() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.join("40/custom,");
    ws.send(r#"42/custom,["disconnect-me"]"#);
    assert_eq!(ws.text(), "41/custom,");
    assert_eq!(server.left(), ("/custom".into(), CloseReason::ServerLeft));
    ws.send(r#"42/custom,["message",1]"#); // may have crossed the server's packet
    ws.send("41/custom,");
    ws.send(r#"42["message",2]"#);
    assert_eq!(ws.text(), r#"42["message-back",2]"#);
}

#[test]
fn the_end_of_a_session_is_reported_for_each_socket() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.join("40/custom,");
    drop(ws);
    let mut left = [server.left(), server.left()];
    left.sort_by(|a, b| a.0.cmp(&b.0));
    let gone = CloseReason::TransportGone;
    assert_eq!(left, [("/".into(), gone), ("/custom".into(), gone)]);
}

#[test]
fn the_host_closes_the_transport() {
    let server = start();
    let mut ws = Ws::joined(&server);
    ws.send(r#"42["hang-up"]"#);
    assert_eq!(ws.closed(), Some(1000));
    assert_eq!(server.left(), ("/".into(), CloseReason::ServerLeft));
}

#[test]
fn the_host_closes_a_session_from_another_thread() {
    let server = start();
    let mut ws = Ws::joined(&server);
    let closer = server.closer();
    closer.close();
    assert_eq!(ws.closed(), Some(1000));
    assert_eq!(server.left(), ("/".into(), CloseReason::ServerLeft));
    closer.close(); // the session has ended: no effect
}

#[test]
fn a_handler_that_panics_ends_its_session_alone_and_in_order() {
    let server = start();
    let mut bystander = Ws::joined(&server);
    let mut ws = Ws::open(&server, "/socket.io/");
    ws.send(r#"40{"token":"panic"}"#);
    assert_eq!(ws.text(), r#"44{"message":"server error"}"#);
    ws.join("40");
    ws.send(r#"421["join","x"]"#);
    assert_eq!(ws.text(), "431[true]");
    ws.send(r#"42["panic"]"#);
    assert_eq!(ws.closed(), Some(1011));
    assert_eq!(server.left(), ("/".into(), CloseReason::Panicked));
    server.sockets.to("x").emit("to nobody", &()).unwrap();
    bystander.send(r#"42["message",1]"#);
    assert_eq!(bystander.text(), r#"42["message-back",1]"#);
    drop(bystander);
    eventually("no session is left behind", || server.metrics().sessions_open.get() == 0);
}

#[test]
fn what_is_emitted_to_a_socket_that_joins_is_held_within_a_bound() {
    let server = start();
    let mut ws = Ws::open(&server, "/socket.io/");
    ws.send(r#"40{"token":"much"}"#);
    assert!(ws.text().starts_with("40{"));
    for n in 0..1000 {
        assert_eq!(ws.text(), format!(r#"42["early",{n}]"#));
    }
    let mut ws = Ws::open(&server, "/socket.io/");
    ws.send(r#"40{"token":"too much"}"#);
    assert_eq!(ws.closed(), None, "broken off");
    eventually("it is counted", || server.metrics().stalled.get() == 1);
}

#[test]
fn a_host_that_leaves_while_a_client_joins_refuses_it() {
    let server = start();
    let mut ws = Ws::open(&server, "/socket.io/");
    ws.send(r#"40{"token":"leaves"}"#);
    assert_eq!(ws.text(), r#"44{"message":"the server left"}"#);
    assert_eq!(server.left(), ("/".into(), CloseReason::ServerLeft));
    ws.join("40");
}
