//! Tickets for a socket: a session's way in, good once and for a minute. A browser's socket cannot show the session's token beside its
//! cookie, and a token in a socket's `auth` would outlive it in logs.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::key;
use super::operator::AtTill;
use crate::domain::timestamp::Timestamp;

const LIFE_MS: i64 = 60 * 1000;
/// Of all sessions together; a new one takes the place of the oldest.
const MOST: usize = 4096;

/// Whose ticket it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketOf {
    /// The person.
    pub person: i64,
    pub till: AtTill,
}

/// The tickets that are out, by what is kept of them.
#[derive(Debug, Default)]
pub struct Tickets(Mutex<HashMap<Vec<u8>, (Timestamp, TicketOf)>>);

impl Tickets {
    pub fn issue(&self, of: TicketOf, now: Timestamp) -> String {
        let (secret, hash) = key::generate();
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.retain(|_, (until, _)| *until > now);
        while out.len() >= MOST {
            let oldest = out.iter().min_by_key(|(_, (until, _))| *until).map(|(hash, _)| hash.clone());
            oldest.map(|hash| out.remove(&hash));
        }
        out.insert(hash, (now.plus_ms(LIFE_MS), of));
        secret
    }

    /// Uses a ticket up; `None` when it is none, used, or late.
    pub fn take(&self, text: &str, now: Timestamp) -> Option<TicketOf> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.remove(&key::hash(text)).filter(|(until, _)| *until > now).map(|(_, of)| of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_good_once_and_for_a_minute() {
        let (tickets, now) = (Tickets::default(), Timestamp::from_ms(1_795_000_000_000));
        let of = TicketOf { person: 1, till: AtTill { session: 2, browser: 3, idoutlet: None } };
        let ticket = tickets.issue(of, now);
        assert_eq!(tickets.take("another", now), None);
        assert_eq!(tickets.take(&ticket, now), Some(of));
        assert_eq!(tickets.take(&ticket, now), None);
        let late = tickets.issue(of, now);
        assert_eq!(tickets.take(&late, now.plus_ms(LIFE_MS)), None);
        for _ in 0..=MOST {
            tickets.issue(of, now);
        }
        assert_eq!(tickets.0.lock().unwrap().len(), MOST);
    }
}
