//! `[attention]`.

use nyala_core::board::alert::Pacing;
use nyala_core::board::attention::Patience;
use serde::{Deserialize, Serialize};

/// When something needs a person.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AttentionSettings {
    /// Seconds for which a device is offline before that is an entry.
    pub offline_s: u32,
    /// Seconds for which it is online again before the entry ends.
    pub back_s: u32,
    /// Minutes after which a taken entry may be taken by another person.
    pub taken_min: u32,
    /// Minutes after which an alert that nobody has taken is sent once more.
    pub repeat_min: u32,
    /// Minutes without its cause after which an alert is over.
    pub calm_min: u32,
}

impl AttentionSettings {
    pub fn patience(&self) -> Patience {
        Patience { offline_ms: i64::from(self.offline_s) * 1_000, back_ms: i64::from(self.back_s) * 1_000 }
    }

    pub fn pacing(&self) -> Pacing {
        Pacing { repeat_ms: i64::from(self.repeat_min) * 60_000, calm_ms: i64::from(self.calm_min) * 60_000 }
    }
}
