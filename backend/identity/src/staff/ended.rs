//! Notification that till sessions have ended, for code that holds sockets open.

/// Sessions that have ended; their sockets must close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnded {
    One(i64),
    /// All sessions of a person.
    Person(i64),
    /// All sessions in a browser.
    Browser(i64),
}
