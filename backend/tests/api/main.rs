//! The whole server over HTTP, as an app or a device sees it: one binary, one file per feature.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where an expectation fails")]

mod auth;
mod cli;
mod cluster;
mod devices;
mod manage;
mod ops;
mod process;
mod purchase;
mod push;
mod qris;
mod realtime;
mod server;
mod support;
mod till;
