//! The whole server over HTTP, as an app or a device sees it: one binary, one file per feature.

mod akun;
mod auth;
mod dev_whatsapp;
mod helpers;
mod hostile;
mod kode;
mod login;
mod meta;
mod token;
