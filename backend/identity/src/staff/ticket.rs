//! Tickets that open a session's socket, valid once and for a minute. A browser's socket cannot send the session's token beside its
//! cookie, and a token in a socket's `auth` would remain in logs. A ticket names its session and is signed, because the socket may reach
//! another server than the one that issued it. Each server accepts a ticket once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use nyala_core::domain::id::{OutletId, StaffId, TillId, TillSessionId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::secrets::{CustomerKeys, Key, Keyring};

use super::browser::PairedBrowser;
use super::operator::AtTill;

const VALID_MS: i64 = 60 * 1000;
/// Used tickets per session that are remembered, each for its minute. When this many are remembered, that session's further tickets are
/// refused.
const MAX_USED: usize = 64;

const RANDOM_BYTES: usize = 16;
const BODY_BYTES: usize = 5 * 8 + RANDOM_BYTES;
const TAG_BYTES: usize = 16;
/// In a ticket of a tablet's board.
const NO_SESSION: TillSessionId = TillSessionId::new(0);
/// In a ticket of a person's own browser.
const NO_OUTLET: OutletId = OutletId::new(0);

/// Holder of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketOf {
    /// A person's session.
    Session(SessionTicket),
    /// A tablet without a session, for the board of its outlet.
    Board(BoardTicket),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionTicket {
    /// The person.
    pub person: StaffId,
    pub till: AtTill,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardTicket {
    pub paired: PairedBrowser,
    pub idoutlet: OutletId,
}

/// The key of the tickets.
fn signing(keys: &CustomerKeys) -> Key {
    keys.token.derive("till ticket")
}

/// Used tickets by their random bytes, with the end of each one's validity.
type UsedTickets = HashMap<[u8; RANDOM_BYTES], Timestamp>;

/// Issues the tickets, and accepts each once.
#[derive(Debug)]
pub struct Tickets {
    keyring: Keyring,
    /// By session and browser.
    used: Mutex<HashMap<(TillSessionId, TillId), UsedTickets>>,
}

impl Tickets {
    pub fn new(keyring: Keyring) -> Self {
        Self { keyring, used: Mutex::default() }
    }

    pub fn issue(&self, of: TicketOf, now: Timestamp) -> String {
        // In place of the person, a board's ticket has the moment of the pairing.
        let (person, session, browser, idoutlet) = match of {
            TicketOf::Session(SessionTicket { person, till }) => (person.get(), till.session, till.browser, till.idoutlet),
            TicketOf::Board(BoardTicket { paired, idoutlet }) => (paired.at.ms(), NO_SESSION, paired.id, Some(idoutlet)),
        };
        let mut bytes = Vec::with_capacity(BODY_BYTES + TAG_BYTES);
        bytes.extend_from_slice(&now.plus_ms(VALID_MS).ms().to_be_bytes());
        bytes.extend_from_slice(&person.to_be_bytes());
        bytes.extend_from_slice(&session.to_be_bytes());
        bytes.extend_from_slice(&browser.to_be_bytes());
        bytes.extend_from_slice(&idoutlet.unwrap_or(NO_OUTLET).to_be_bytes());
        bytes.extend_from_slice(&rand::random::<[u8; RANDOM_BYTES]>());
        let tag = signing(&self.keyring.get().tokens.in_use().key).mac(&bytes);
        bytes.extend_from_slice(&tag[..TAG_BYTES]);
        B64.encode(bytes)
    }

    /// Uses up a ticket; `None` when it is invalid, used, or expired.
    pub fn take(&self, text: &str, now: Timestamp) -> Option<TicketOf> {
        let mut bytes = [0; BODY_BYTES + TAG_BYTES];
        let whole = B64.decode_slice(text, &mut bytes).ok()? == bytes.len();
        let (body, tag) = bytes.split_first_chunk::<BODY_BYTES>()?;
        let is_ours = || self.keyring.get().tokens_at(now).any(|good| signing(&good.key).verifies(body, tag));
        if !whole || !is_ours() {
            return None;
        }
        let (numbers, random) = body.split_last_chunk::<RANDOM_BYTES>()?;
        let [until, person, session, browser, idoutlet] = *numbers.as_chunks().0 else { return None };
        let until = Timestamp::from_ms(i64::from_be_bytes(until));
        let (person, session) = (i64::from_be_bytes(person), TillSessionId::from_be_bytes(session));
        let (browser, idoutlet) = (TillId::from_be_bytes(browser), OutletId::from_be_bytes(idoutlet));
        let idoutlet = (idoutlet != NO_OUTLET).then_some(idoutlet);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, of_session| {
            of_session.retain(|_, until| *until > now);
            !of_session.is_empty()
        });
        if until <= now {
            return None;
        }
        let of_session = used.entry((session, browser)).or_default();
        let is_good = of_session.len() < MAX_USED && of_session.insert(*random, until).is_none();
        let of = match idoutlet {
            Some(idoutlet) if session == NO_SESSION => {
                TicketOf::Board(BoardTicket { paired: PairedBrowser { id: browser, at: Timestamp::from_ms(person) }, idoutlet })
            }
            _ => TicketOf::Session(SessionTicket { person: StaffId::new(person), till: AtTill { session, browser, idoutlet } }),
        };
        is_good.then_some(of)
    }
}

#[cfg(test)]
mod tests {
    use nyala_store::secrets::Secrets;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_795_000_000_000);
    const OF: TicketOf = of_session(2, None);

    const fn of_session(session: i64, idoutlet: Option<OutletId>) -> TicketOf {
        let till = AtTill { session: TillSessionId::new(session), browser: TillId::new(3), idoutlet };
        TicketOf::Session(SessionTicket { person: StaffId::new(1), till })
    }

    #[test]
    fn a_ticket_is_good_once_and_for_a_minute() {
        let tickets = Tickets::new(Secrets::random().into());
        let ticket = tickets.issue(OF, NOW);
        assert_eq!(tickets.take("another", NOW), None);
        assert_eq!(tickets.take(&ticket, NOW), Some(OF));
        assert_eq!(tickets.take(&ticket, NOW), None);
        let late = tickets.issue(OF, NOW);
        assert_eq!(tickets.take(&late, NOW.plus_ms(VALID_MS)), None);
        for _ in 0..MAX_USED {
            tickets.take(&tickets.issue(OF, NOW), NOW);
        }
        assert_eq!(tickets.take(&tickets.issue(OF, NOW), NOW), None, "as many in a minute");
        let other = of_session(4, None);
        assert_eq!(tickets.take(&tickets.issue(other, NOW), NOW), Some(other), "another session has its own");
        let later = NOW.plus_ms(VALID_MS);
        assert!(tickets.take(&tickets.issue(OF, later), later).is_some());
        assert_eq!(tickets.used.lock().unwrap().len(), 1, "nothing is kept of what is over");
    }

    #[test]
    fn it_is_valid_only_where_the_keys_are_the_same() {
        let (secrets, of) = (Secrets::random(), of_session(2, Some(OutletId::new(9))));
        let paired = PairedBrowser { id: TillId::new(3), at: NOW };
        let board = TicketOf::Board(BoardTicket { paired, idoutlet: OutletId::new(9) });
        let tickets = Tickets::new(secrets.clone().into());
        assert_eq!(tickets.take(&tickets.issue(board, NOW), NOW), Some(board));
        let ticket = Tickets::new(secrets.clone().into()).issue(of, NOW);
        assert_eq!(Tickets::new(secrets.clone().into()).take(&ticket, NOW), Some(of));
        assert_eq!(Tickets::new(Secrets::random().into()).take(&ticket, NOW), None);
        for at in 0..BODY_BYTES + TAG_BYTES {
            let mut bytes = B64.decode(&ticket).unwrap();
            bytes[at] ^= 1;
            assert_eq!(Tickets::new(secrets.clone().into()).take(&B64.encode(bytes), NOW), None, "byte {at}");
        }
    }
}
