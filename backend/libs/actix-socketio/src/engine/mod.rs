//! Engine.IO 4: sessions over polling and websockets, and what runs on top of them.

mod admission;
mod body;
mod caller;
mod config;
mod error;
mod handle;
mod origin;
mod query;
mod server;
mod sid;
mod unjoined;

pub(crate) use admission::Admission;
#[cfg(feature = "host")]
pub use body::Bodies;
pub use caller::{Caller, Callers};
pub use config::Config;
pub use error::{CloseReason, EngineError};
pub use handle::{Closer, Handle, Upper, Violation};
pub(crate) use origin::Verdict;
pub use origin::{Origins, Site, Sites};
pub(crate) use query::{Query, Transport};
pub use server::Engine;
pub(crate) use sid::Sid;
