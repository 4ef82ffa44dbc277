//! The news that sessions are over, for those who hold sockets open.

/// Sessions are over, and their sockets with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnded {
    One(i64),
    /// All of a person.
    Person(i64),
    /// All in a browser.
    Browser(i64),
}
