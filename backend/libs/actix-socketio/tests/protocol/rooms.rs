//! Rooms and broadcast. The server has two workers, which accept connections in turn: two sockets are on different threads.

use actix_socketio::{Broadcast, Limits, NoAnswer, Origins};

use super::{start, start_with};
use crate::http::Polling;
use crate::server::{Server, eventually, limits};
use crate::ws::Ws;

/// A socket that is in `rooms`.
fn joined(server: &Server, rooms: &[&str]) -> (Ws, String) {
    let mut ws = Ws::open(server, "/socket.io/");
    let id = ws.join("40");
    for room in rooms {
        assert_eq!(ask(&mut ws, "join", room), "true");
    }
    (ws, id)
}

/// The handler's acknowledgement.
fn ask(ws: &mut Ws, what: &str, room: &str) -> String {
    ws.send(&format!(r#"421["{what}","{room}"]"#));
    let answer = ws.text();
    answer.strip_prefix("431[").and_then(|rest| rest.strip_suffix(']')).unwrap_or_else(|| panic!("{answer}")).into()
}

/// Sends a message to all sockets, and checks that it is the next one that each receives.
fn last(server: &Server, sockets: &mut [&mut Ws]) {
    server.sockets.emit("last", &()).unwrap();
    for ws in sockets {
        assert_eq!(ws.text(), r#"42["last",null]"#);
    }
}

fn ids(broadcast: &Broadcast) -> Result<Vec<String>, NoAnswer> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut ids = runtime.block_on(broadcast.ids())?;
    ids.sort();
    Ok(ids)
}

#[test]
fn a_room_hears_what_is_emitted_to_it_on_every_thread_and_nobody_else_does() {
    let server = start();
    let (mut a, _) = joined(&server, &["x"]);
    let (mut b, _) = joined(&server, &["x", "y"]);
    let (mut c, _) = joined(&server, &["y"]);
    let (mut d, _) = joined(&server, &[]);
    server.sockets.to("x").emit("to x", &1).unwrap();
    server.sockets.to("x").to("y").emit("to both", &2).unwrap();
    server.sockets.to("y").except("x").emit("to y alone", &3).unwrap();
    server.sockets.except("x").emit("not x", &4).unwrap();
    server.sockets.of("/custom").emit("elsewhere", &5).unwrap();
    server.sockets.to("nobody").emit("nowhere", &6).unwrap();
    for ws in [&mut a, &mut b] {
        assert_eq!(ws.text(), r#"42["to x",1]"#);
        assert_eq!(ws.text(), r#"42["to both",2]"#, "once, whatever rooms it is in");
    }
    assert_eq!(c.text(), r#"42["to both",2]"#);
    assert_eq!(c.text(), r#"42["to y alone",3]"#);
    for ws in [&mut c, &mut d] {
        assert_eq!(ws.text(), r#"42["not x",4]"#);
    }
    last(&server, &mut [&mut a, &mut b, &mut c, &mut d]);
}

#[test]
fn what_a_socket_broadcasts_reaches_the_others() {
    let server = start();
    let (mut a, _) = joined(&server, &["x"]);
    let (mut b, _) = joined(&server, &["x"]);
    let (mut c, _) = joined(&server, &[]);
    assert_eq!(ask(&mut a, "to", "x"), "true");
    assert_eq!(b.text(), r#"42["said","x"]"#);
    assert_eq!(ask(&mut a, "broadcast", "all"), "true");
    for ws in [&mut b, &mut c] {
        assert_eq!(ws.text(), r#"42["said","all"]"#);
    }
    a.send(r#"42["everyone","me too"]"#);
    for ws in [&mut a, &mut b, &mut c] {
        assert_eq!(ws.text(), r#"42["said","me too"]"#);
    }
    last(&server, &mut [&mut a, &mut b, &mut c]);
}

#[test]
fn each_socket_is_in_a_room_of_its_own() {
    let server = start();
    let (mut a, id) = joined(&server, &[]);
    let (mut b, other) = joined(&server, &[]);
    server.sockets.to(&id).emit("for you", &1).unwrap();
    assert_eq!(a.text(), r#"42["for you",1]"#);
    server.sockets.except(id).emit("not for you", &2).unwrap();
    assert_eq!(b.text(), r#"42["not for you",2]"#);
    server.sockets.to(other).disconnect();
    assert_eq!(b.text(), "41");
    last(&server, &mut [&mut a]);
}

#[test]
fn a_socket_that_leaves_a_room_hears_no_more_of_it() {
    let server = start();
    let (mut a, _) = joined(&server, &["x"]);
    let (mut b, _) = joined(&server, &["x"]);
    assert_eq!(ask(&mut a, "leave", "x"), "true");
    assert_eq!(ask(&mut a, "leave", "x"), "true", "twice is no error");
    server.sockets.to("x").emit("to x", &1).unwrap();
    assert_eq!(b.text(), r#"42["to x",1]"#);
    last(&server, &mut [&mut a, &mut b]);
    b.send("41");
    eventually("who has left the namespace is in no room", || ids(&server.sockets.to("x")).unwrap().is_empty());
}

#[test]
fn rooms_are_moved_and_listed_together() {
    let server = start();
    let ((mut a, first), (mut b, second)) = (joined(&server, &["x"]), joined(&server, &["x"]));
    let (mut c, third) = joined(&server, &[]);
    let mut both = vec![first.clone(), second];
    both.sort();
    assert_eq!(ids(&server.sockets.to("x")).unwrap(), both);
    server.sockets.to("x").join("y");
    server.sockets.to(first.clone()).leave("x");
    assert_eq!(ids(&server.sockets.to("y")).unwrap(), both);
    assert_eq!(ids(&server.sockets.to("y").except("x")).unwrap(), [first.as_str()]);
    assert_eq!(ids(&server.sockets.of("/").except("y")).unwrap(), [third]);
    assert_eq!(ask(&mut a, "rooms", ""), r#"["y"]"#);
    last(&server, &mut [&mut a, &mut b, &mut c]);
    server.sockets.to("y").disconnect();
    for ws in [&mut a, &mut b] {
        assert_eq!(ws.text(), "41");
    }
    eventually("both have left", || ids(&server.sockets.of("/")).unwrap().len() == 1);
    assert!(ids(&server.sockets.to(first)).unwrap().is_empty(), "nor is it in its own");
}

#[test]
fn a_broadcast_carries_attachments_over_both_transports() {
    let server = start();
    let (mut a, _) = joined(&server, &["x"]);
    let polling = Polling::open(&server, "/socket.io/");
    assert_eq!(polling.post("40").status, 200);
    assert!(polling.get().body.contains("\"sid\""));
    let args = actix_socketio::Args::default().with("picture").unwrap().with_binary(vec![1, 2, 3]).with(&7).unwrap();
    server.sockets.of("/").volatile().emit_args("seen", &args).unwrap();
    let text = r#"51-["seen","picture",{"_placeholder":true,"num":0},7]"#;
    assert_eq!(a.text(), format!("4{text}"));
    assert_eq!(a.binary(), [1, 2, 3]);
    let mut got = polling.get().body;
    while !got.contains("bAQID") {
        got.push_str(&polling.get().body);
    }
    assert!(got.contains(text), "{got}");
}

#[test]
fn a_socket_is_in_so_many_rooms_and_no_more() {
    let server = start_with(Limits { max_rooms: 2, ..limits() }, Origins::SameOrigin);
    let (mut a, id) = joined(&server, &["x", "y"]);
    assert_eq!(ask(&mut a, "join", "x"), "true", "it is in it");
    assert_eq!(ask(&mut a, "join", "z"), "false");
    server.sockets.to(id).join("z");
    assert!(ids(&server.sockets.to("z")).unwrap().is_empty());
    assert_eq!(ask(&mut a, "leave", "x"), "true");
    assert_eq!(ask(&mut a, "join", "z"), "true");
}

#[test]
fn volatile_broadcasts_are_dropped_for_who_is_slow() {
    let server = start();
    let (mut a, _) = joined(&server, &["x"]);
    let pad = "x".repeat(20_000);
    let dropped = || server.metrics().frames_dropped.get();
    eventually("the kernel takes no more", || {
        server.sockets.to("x").volatile().emit("tick", &pad).unwrap();
        dropped() > 0
    });
    server.sockets.to("x").emit("end", &()).unwrap();
    let end = loop {
        let text = a.text();
        if !text.contains("tick") {
            break text;
        }
    };
    assert_eq!(end, r#"42["end",null]"#);
}
