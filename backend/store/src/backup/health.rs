//! Since when the backup is not as it should be, for staff.

use std::sync::{Arc, Mutex, PoisonError};

use nyala_core::domain::timestamp::Timestamp;

/// A backup that is behind for less than this is not reported.
const PATIENCE_MS: i64 = 5 * 60 * 1000;

/// The last findings about the backup of this server. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct BackupHealth(Arc<Mutex<Option<Timestamp>>>);

impl BackupHealth {
    /// Records whether the backup is complete, in time, and has a verified base backup of the last 26 hours.
    pub fn record(&self, is_good: bool, now: Timestamp) {
        let mut bad_since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *bad_since = if is_good { None } else { bad_since.or(Some(now)) };
    }

    /// Since when it is not, if for at least five minutes.
    pub fn bad_since(&self, now: Timestamp) -> Option<Timestamp> {
        let bad_since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bad_since.filter(|since| since.ms_until(now) >= PATIENCE_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_reported_after_five_minutes_from_its_beginning_until_it_is_good_again() {
        let (health, at) = (BackupHealth::default(), |s: i64| Timestamp::from_ms(s * 1_000));
        assert_eq!(health.bad_since(at(1_000)), None, "without a backup there is nothing to report");
        health.record(false, at(10));
        health.record(false, at(200));
        assert_eq!(health.bad_since(at(309)), None);
        assert_eq!(health.bad_since(at(310)), Some(at(10)));
        health.record(true, at(320));
        assert_eq!(health.bad_since(at(321)), None);
        health.record(false, at(330));
        assert_eq!(health.bad_since(at(400)), None, "it begins again");
    }
}
