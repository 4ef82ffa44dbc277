//! The server itself: answers, limits, files, the document, the schema.

pub mod access;
pub mod answers;
pub mod app_files;
pub mod connections;
pub mod cross_site;
pub mod dev_guard;
pub mod hostile;
pub mod listener;
pub mod observability;
pub mod odd_headers;
pub mod openapi;
pub mod overload;
pub mod probes;
pub mod prune;
pub mod rules;
pub mod security_txt;
pub mod upgrade;
