//! Connections of the device, and its presence.

use nyala_core::domain::timestamp::Timestamp;

use super::{Conversation, Effect, LinkId, SILENCE_MS};

/// Greatest number of a device's connections that may have subscribed to its commands.
const LINKS: usize = 4;

impl Conversation {
    /// Records that a connection subscribed to `cmd`.
    pub fn linked(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        let before = self.link();
        if let Err(at) = self.links.binary_search(&link) {
            self.links.insert(at, link);
        }
        if self.links.len() > LINKS {
            self.links.remove(0);
        }
        self.newest_since(before, now);
        self.done()
    }

    /// Records that a connection is closed.
    pub fn unlinked(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        self.drop_link(link, now);
        self.done()
    }

    /// Records a packet that is no message, for example a ping: any packet on a connection is a sign of life.
    pub fn alive(&mut self, link: LinkId, now: Timestamp) -> Vec<Effect> {
        self.lives(link, now);
        self.ask_for_the_time(now);
        self.done()
    }

    /// When [`Conversation::wake`] is due: the device is offline then.
    pub fn silent_at(&self) -> Option<Timestamp> {
        (self.present == Some(true)).then(|| self.alive_at.plus_ms(SILENCE_MS))
    }

    /// Closes the connection of a device that has been silent for too long.
    pub fn wake(&mut self, now: Timestamp) -> Vec<Effect> {
        if let Some(link) = self.link().filter(|_| self.silent_at().is_some_and(|at| at <= now)) {
            self.out.push(Effect::Close(link));
            self.drop_link(link, now);
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

    /// Called when the connections have changed. A new newest connection decides the device's presence and begins with no state.
    fn newest_since(&mut self, before: Option<LinkId>, now: Timestamp) {
        let link = self.link();
        if link == before {
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

    /// A packet arrived on `link`. Only the newest connection shows that the device is reachable.
    pub(super) fn lives(&mut self, link: LinkId, now: Timestamp) {
        if self.link() == Some(link) {
            self.alive_at = now;
            self.present(true);
        }
    }
}
