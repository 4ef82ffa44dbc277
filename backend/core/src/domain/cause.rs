//! Who moved a balance.

use serde::{Deserialize, Serialize};

/// Name of the cause in messages to phones (docs/contract.md §3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    #[serde(rename = "topup")]
    TopUp,
    #[serde(rename = "batal")]
    Reversal,
    #[serde(rename = "refund")]
    Refund,
    #[serde(rename = "hapus")]
    Deletion,
    #[serde(rename = "penarikan")]
    Payout,
}
