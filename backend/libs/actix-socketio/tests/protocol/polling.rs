//! Engine.IO protocol, "HTTP long-polling".

use std::time::Duration;

use actix_socketio::{CloseReason, Limits, Origins};

use super::{start, start_with};
use crate::http::{PendingAnswer, Polling};
use crate::server::{SeenEvents, Server, eventually, limits};

fn closed_for(server: &Server) -> CloseReason {
    match server.seen() {
        SeenEvents::EchoClosed(reason) => reason,
        other => panic!("expected a closed session, got {other:?}"),
    }
}

#[test]
fn packets_go_by_post_and_come_by_get() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    for body in ["4hello", "4\u{e9}\u{1f9fa}", "4test1\u{1e}4test2\u{1e}4test3", "4hello\u{1e}bAQIDBA==", "b"] {
        let posted = session.post(body);
        assert_eq!((posted.status, posted.body.as_str()), (200, "ok"));
        let got = session.get();
        assert_eq!((got.status, got.body.as_str()), (200, body));
        assert_eq!(got.header("content-type"), Some("text/plain; charset=UTF-8"));
    }
}

#[test]
fn a_get_waits_for_packets() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let get = session.begin_get();
    assert_eq!(session.post("4late").status, 200);
    assert_eq!(get.answer().body, "4late");
}

#[test]
fn an_answer_stays_within_max_payload() {
    let server = start_with(Limits { max_payload: 1000, ..limits() }, Origins::SameOrigin);
    let session = Polling::open(&server, "/engine.io/");
    let packet = format!("4{}", "x".repeat(399));
    for _ in 0..3 {
        assert_eq!(session.post(&packet).status, 200);
    }
    assert_eq!(session.get().body, format!("{packet}\u{1e}{packet}"));
    assert_eq!(session.get().body, packet);
    // Base64 makes a binary packet larger: one that exceeds the limit is sent alone.
    let binary = "b".to_string() + &"AAAA".repeat(249);
    assert_eq!(session.post(&binary).status, 200);
    assert_eq!(session.get().body, binary);
}

#[test]
fn a_broken_payload_closes_the_session() {
    let server = start();
    for body in [&b"abc"[..], b"", b"4a\x1e", b"0", b"7", b"b!", b"2", b"5"] {
        let session = Polling::open(&server, "/engine.io/");
        assert_eq!(session.post(body).status, 400, "{body:?}");
        assert_eq!(closed_for(&server), CloseReason::Violation);
        assert_eq!(session.get().status, 400);
        assert_eq!(session.post("4a").status, 400);
    }
    assert_eq!(server.echo.violations.get(), 8);
}

#[test]
fn a_body_that_is_not_text_is_refused() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    assert_eq!(session.post([b'4', 0xff]).status, 400);
    assert_eq!(session.post("4a").status, 200, "it was no payload at all, so the session goes on");
}

#[test]
fn a_second_get_closes_the_session() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let first = session.begin_get();
    // The server's threads determine which of the two arrives second.
    let second = session.begin_get();
    let mut answers = [first.answer(), second.answer()].map(|a| (a.status, a.body));
    answers.sort();
    assert_eq!(answers[0], (200, "1".into()));
    assert_eq!(answers[1].0, 400);
    assert_eq!(closed_for(&server), CloseReason::Violation);
    assert_eq!(session.get().status, 400);
}

#[test]
fn a_second_post_closes_the_session() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let received = session.begin_post("4hel", 6);
    let mut second = session.post("4a");
    while second.status == 200 {
        second = session.post("4a"); // the first has not arrived yet
    }
    assert_eq!(second.status, 400);
    assert_eq!(closed_for(&server), CloseReason::Violation);
    drop(received);
    assert_eq!(session.get().status, 400);
}

/// A session that is closed because the client aborted a request. Each attempt has its own session and gives the server twice as long
/// to start: a request that is aborted earlier has no effect, and a second request in parallel would be a violation. Returns how many sessions of
/// earlier attempts stay open, too.
fn closed_by_hanging_up(server: &Server, begin: impl Fn(&Polling) -> PendingAnswer) -> (Polling, u64) {
    const ATTEMPTS: u64 = 12;
    for attempt in 0..ATTEMPTS {
        let wait_ms = 5 << attempt;
        let session = Polling::open(server, "/engine.io/");
        let pending = begin(&session);
        std::thread::sleep(Duration::from_millis(wait_ms));
        drop(pending);
        if let Some(SeenEvents::EchoClosed(CloseReason::TransportGone)) = server.seen_within(Duration::from_secs(1)) {
            return (session, attempt);
        }
    }
    panic!("no session was closed")
}

#[test]
fn a_cancelled_get_closes_the_session() {
    let server = start();
    let (session, others) = closed_by_hanging_up(&server, Polling::begin_get);
    assert_eq!(session.get().status, 400);
    eventually("the session is gone", || server.echo.sessions_open.get() == others);
}

#[test]
fn a_cancelled_post_closes_the_session() {
    let server = start();
    let (session, _) = closed_by_hanging_up(&server, |session| session.begin_post("4hel", 6));
    assert_eq!(session.get().status, 400);
}

#[test]
fn an_oversize_post_is_413_and_the_session_goes_on() {
    let server = start_with(Limits { max_payload: 100, ..limits() }, Origins::SameOrigin);
    let session = Polling::open(&server, "/engine.io/");
    let answer = session.post(format!("4{}", "x".repeat(100)));
    assert_eq!(answer.status, 413);
    assert_eq!(session.post(format!("4{}", "x".repeat(99))).status, 200);
    assert_eq!(session.get().body.len(), 100);
}

#[test]
fn a_post_that_does_not_arrive_is_408() {
    let server = start_with(Limits { post_timeout: Duration::from_millis(50), ..limits() }, Origins::SameOrigin);
    let session = Polling::open(&server, "/engine.io/");
    assert_eq!(session.begin_post("4hel", 6).answer().status, 408);
    assert_eq!(session.post("4a").status, 200);
}

#[test]
fn a_close_packet_is_answered_by_a_noop() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    let get = session.begin_get();
    assert_eq!(session.post("1").status, 200);
    let answer = get.answer();
    assert_eq!((answer.status, answer.body.as_str()), (200, "6"), "whichever of the two arrived first");
    assert_eq!(closed_for(&server), CloseReason::ClientLeft);
    assert_eq!(session.get().status, 400);
}

#[test]
fn a_noop_is_nothing() {
    let server = start();
    let session = Polling::open(&server, "/engine.io/");
    assert_eq!(session.post("6\u{1e}4a").status, 200);
    assert_eq!(session.get().body, "4a");
}

#[test]
fn a_session_that_the_server_closes_says_so_after_what_waits() {
    let server = start();
    let session = Polling::joined(&server);
    assert_eq!(session.post("42[\"message\",1]\u{1e}42[\"hang-up\"]").status, 200);
    assert_eq!(session.get().body, "42[\"message-back\",1]\u{1e}1");
    assert_eq!(server.left(), ("/".into(), CloseReason::ServerLeft));
    assert_eq!(session.get().status, 400);
}
