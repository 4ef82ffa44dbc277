//! Topics: `heartbeat/<idmesin>`.

use crate::domain::id::Id;

const PREFIX: &str = "heartbeat/";

/// The machine that a topic is about; `None` when the text is no topic.
pub fn parse(text: &str) -> Option<i64> {
    text.strip_prefix(PREFIX).and_then(Id::parse).map(Id::get)
}
