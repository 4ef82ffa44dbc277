//! libFuzzer on one target of this package.
#![no_main]

use actix_socketio_fuzz::{TARGETS, harness};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: harness::begin(&TARGETS), |bytes: &[u8]| harness::run(bytes));
