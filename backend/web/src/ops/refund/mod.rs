//! Money back for a purchase: the purchases of an outlet or a shift, refunds and deletions.

pub mod issue;
pub mod list;
