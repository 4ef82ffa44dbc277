//! The whole server over HTTP, as an app or a device sees it: one binary, one file per feature.

mod helpers;
mod token;
