//! Engine.IO 4: sessions over polling and websockets, and what runs on top of them.

mod error;
mod handle;
mod origin;
mod query;
mod server;
mod sid;

pub use error::{CloseReason, EngineError};
pub use handle::{Closer, Handle, Upper, Violation};
pub use origin::Origins;
pub(crate) use origin::Verdict;
pub(crate) use query::{Query, Transport};
pub use server::{Config, Engine};
pub(crate) use sid::Sid;
