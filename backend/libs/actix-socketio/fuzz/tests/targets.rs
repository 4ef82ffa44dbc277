//! Runs every target with its seeds, its kept inputs, and a bounded number of generated inputs that are the same on every run. The
//! search itself is `fuzz/run`.

use actix_socketio_fuzz::TARGETS;
use actix_socketio_fuzz::harness::{find, try_inputs};

fn try_it(name: &str) {
    try_inputs(&TARGETS, name, env!("CARGO_MANIFEST_DIR"));
}

#[test]
fn codec() {
    try_it("codec");
}

#[test]
fn websocket() {
    try_it("websocket");
}

#[test]
fn session() {
    try_it("session");
}

#[test]
fn each_target_is_tried_here() {
    assert_eq!(TARGETS.map(|t| t.name), ["codec", "websocket", "session"]);
}

#[test]
fn an_unknown_target_is_reported() {
    assert_eq!(find(&TARGETS, "x").err().as_deref(), Some("`x` is no target: there are codec, websocket, session"));
}
