//! Tests only for a server that hands connections over: its own answers to requests that no app sees.

use actix_socketio::Origins;

use crate::http::PendingAnswer;
use crate::server::{ServerKind, limits, start_on};
use crate::ws::refused;

#[test]
fn other_upgrade_requests_get_the_hosts_answer() {
    let server = start_on(ServerKind::Raw, limits(), Origins::SameOrigin);
    let answer = refused(&server, "/elsewhere", "");
    assert_eq!((answer.status, answer.body.as_str()), (404, "no websocket at /elsewhere"));
    assert_eq!(answer.header("x-answered-by"), Some("upgrades"));
    let answer = PendingAnswer::send(server.address, "CONNECT other.example:443 HTTP/1.1", b"").answer();
    assert_eq!(answer.status, 404);
}
