//! The crash points, by name: of a purchase before and after each edge, and around the hold and the sending; and of other movements of money.

use super::step::Change;

/// Every crash point of a purchase: each lies between two things that a crash could separate. The simulation stops a server at each.
pub const POINTS: &[&str] = &[
    "before_hold",
    "after_hold",
    "after_send",
    "before_post",
    "after_post",
    "before_void",
    "after_void",
    "before_sent",
    "after_sent",
    "before_unsure",
    "after_unsure",
    "before_finish",
    "after_finish",
    "after_stop_request",
    "before_stop",
    "after_stop",
];

/// The crash points of other movements of money.
pub const MONEY_POINTS: &[&str] = &[
    "before_payout",
    "after_payout",
    "before_move",
    "after_move",
    "before_bill",
    "after_bill",
    "after_charge",
    "after_charged",
    "before_credit",
    "after_credit",
];

/// The crash points before and after a change.
pub const fn around(change: Change) -> (&'static str, &'static str) {
    match change {
        Change::MarkSent => ("before_sent", "after_sent"),
        Change::MarkUnsure => ("before_unsure", "after_unsure"),
        Change::Run { .. } | Change::RunAndFinish { .. } => ("before_post", "after_post"),
        Change::Finish | Change::Sooner { .. } | Change::Later { .. } => ("before_finish", "after_finish"),
        Change::Stop { .. } => ("before_stop", "after_stop"),
        Change::Refuse | Change::Cut | Change::Expire | Change::GiveUp => ("before_void", "after_void"),
    }
}
