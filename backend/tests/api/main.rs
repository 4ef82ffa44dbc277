//! The whole server over HTTP, as an app or a device sees it: one binary, one file per feature.

mod access;
mod arrange;
mod dashboard;
mod detail;
mod epay;
mod helpers;
mod history;
mod layanan;
mod token;
