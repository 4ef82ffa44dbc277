//! The whole server over HTTP, as an app or a device sees it: one binary, one file per feature.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod arrange;
mod dashboard;
mod detail;
mod epay;
mod helpers;
mod history;
mod layanan;
mod pembelian;
mod token;
mod toko;
