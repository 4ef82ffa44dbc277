//! Money back for a use: the uses of a till, a refund, a deletion.

pub mod give_back;
pub mod part;
pub mod uses;
pub mod whole;
