//! The whole server over HTTP, as an app or a device sees it: one binary, one file per feature.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where an expectation fails")]

mod access;
mod akun;
mod app_files;
mod arrange;
mod auth;
mod cli;
mod dashboard;
mod database;
mod detail;
mod dev_whatsapp;
mod epay;
mod helpers;
mod history;
mod hostile;
mod kode;
mod layanan;
mod ledger;
mod login;
mod meta;
mod openapi;
mod operator;
mod ops_idempotensi;
mod ops_kembali;
mod ops_mesin;
mod ops_outlet;
mod ops_pelanggan_bulk;
mod ops_role;
mod ops_topup;
mod pembelian;
mod process;
mod races;
mod server;
mod simulation;
mod token;
mod toko;
