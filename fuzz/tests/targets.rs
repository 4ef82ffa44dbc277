//! Every target with its seeds, with everything that was ever found, and with a bounded number of other inputs that are the same on
//! every run. The search itself is `make fuzz`.

use actix_socketio_fuzz::harness::try_inputs;
use nyala_fuzz::TARGETS;

fn try_it(name: &str) {
    try_inputs(&TARGETS, name, env!("CARGO_MANIFEST_DIR"));
}

#[test]
fn device() {
    try_it("device");
}

#[test]
fn mqtt() {
    try_it("mqtt");
}

#[test]
fn qr() {
    try_it("qr");
}

#[test]
fn token() {
    try_it("token");
}

#[test]
fn each_target_is_tried_here() {
    assert_eq!(TARGETS.map(|t| t.name), ["device", "mqtt", "qr", "token"]);
}
