//! The whole server over HTTP, as an app or a device sees it: one binary, one file per feature.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where an expectation fails")]

mod access;
mod akun;
mod arrange;
mod auth;
mod dashboard;
mod detail;
mod dev_whatsapp;
mod epay;
mod helpers;
mod history;
mod hostile;
mod kode;
mod layanan;
mod login;
mod meta;
mod pembelian;
mod simulation;
mod token;
mod toko;
