//! Its connections, and whether anybody is at the other end.

use super::{Conversation, Effect, LinkId, Route};
use crate::domain::timestamp::Timestamp;

/// Connections of a device that may have subscribed to its commands.
const LINKS: usize = 4;

impl Conversation {
    /// A connection has subscribed to `cmd`; behind a broker: the server's own with that is there.
    pub fn linked(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        let before = self.link();
        // The server's own line is told of again with every word.
        if self.route == Route::Broker && before != Some(link) {
            self.links.clear();
            self.linked_at = now;
        }
        if let Err(at) = self.links.binary_search(&link) {
            self.links.insert(at, link);
        }
        if self.links.len() > LINKS {
            self.links.remove(0);
        }
        self.newest_since(before, now);
        self.done()
    }

    /// A connection is closed.
    pub fn unlinked(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        self.drop_link(link, now);
        self.done()
    }

    /// Any packet on a connection is a sign of life; this is for those that are no word.
    pub fn alive(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        self.lives(link, now);
        self.ask_for_the_time(now);
        self.done()
    }

    /// When [`Conversation::wake`] is due: nobody is there then.
    pub fn silent_at(&self) -> Option<Timestamp> {
        (self.present == Some(true)).then(|| self.alive_at.plus_ms(self.route.silence_ms()))
    }

    /// Looks whether the device has been silent for too long.
    pub fn wake(&mut self, now: Timestamp) -> Vec<Effect> {
        if self.silent_at().is_some_and(|at| at <= now) {
            match (self.route, self.link()) {
                (Route::Endpoint, Some(link)) => {
                    self.out.push(Effect::Close(link));
                    self.drop_link(link, now);
                }
                _ => self.present(false),
            }
        }
        self.done()
    }

    pub fn is_present(&self) -> bool {
        self.present == Some(true)
    }

    pub(super) fn link(&self) -> Option<LinkId> {
        self.links.last().copied()
    }

    fn drop_link(&mut self, link: LinkId, now: Timestamp) {
        let before = self.link();
        self.links.retain(|l| *l != link);
        self.newest_since(before, now);
    }

    /// After the connections are others than before: on the endpoint the newest is the device's presence, and begins from nothing.
    fn newest_since(&mut self, before: Option<LinkId>, now: Timestamp) {
        let link = self.link();
        if self.route == Route::Broker || link == before {
            return;
        }
        (self.linked_at, self.alive_at) = (now, now);
        (self.echo, self.answered_at, self.answered, self.asked_at) = (None, None, None, None);
        self.present(link.is_some());
    }

    pub(super) fn present(&mut self, present: bool) {
        if self.present != Some(present) {
            self.present = Some(present);
            self.out.push(Effect::Presence(present));
        }
    }

    /// The device is at the other end of that connection, or behind the broker.
    pub(super) fn lives(&mut self, link: LinkId, now: Timestamp) {
        if self.route == Route::Broker || self.link() == Some(link) {
            self.alive_at = now;
            self.present(true);
        }
    }
}
