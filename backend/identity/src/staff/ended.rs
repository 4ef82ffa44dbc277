//! Notification that till sessions have ended, for code that holds sockets open.

use nyala_core::domain::id::{StaffId, TillId, TillSessionId};

/// Sessions that have ended; their sockets must close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnded {
    One(TillSessionId),
    /// All sessions of a person.
    Person(StaffId),
    /// All sessions in a browser.
    Browser(TillId),
}
