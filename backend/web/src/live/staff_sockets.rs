//! Registry of the tills' sockets. A socket is opened with a ticket and closed with its till session, or with its tablet (docs/till.md).

use nyala_core::domain::id::{TillId, TillSessionId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix_socketio::Closer;
use dashmap::DashMap;
use nyala_cluster::notifications::{Notification, Notifier, Received};
use nyala_identity::staff::ended::SessionEnded;
use nyala_identity::staff::error::StaffError;
use nyala_identity::staff::ticket::TicketOf;
use nyala_identity::staff::{Staff, browser, session};

use super::LOOK_EVERY;

/// Sockets per session, and per tablet without one. A page has one, and a page that was just reloaded may still have its former one.
const PER_SESSION: usize = 4;

/// All open sockets of tills.
#[derive(Debug, Default)]
pub struct StaffSockets {
    sockets: DashMap<u64, (TicketOf, Closer)>,
    next: AtomicU64,
}

/// A taken slot; dropping it releases the slot.
#[derive(Debug)]
pub struct StaffSocketGuard {
    sockets: Arc<StaffSockets>,
    number: u64,
}

impl StaffSockets {
    /// Takes a slot for one more socket of a session or a tablet; `None` when it has four.
    pub fn take(self: &Arc<Self>, of: TicketOf, closer: Closer) -> Option<StaffSocketGuard> {
        if self.sockets.iter().filter(|socket| socket.value().0 == of).count() >= PER_SESSION {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.sockets.insert(number, (of, closer));
        Some(StaffSocketGuard { sockets: self.clone(), number })
    }

    /// Closes the sockets whose session has ended, until the server stops.
    pub async fn watch(self: Arc<Self>, staff: &Staff, notifier: &Notifier) {
        let (mut ended, mut changes) = (staff.subscribe(), notifier.listen());
        let mut look = tokio::time::interval(LOOK_EVERY);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let looked = tokio::select! {
                end = ended.recv() => match end {
                    Ok(end) => {
                        notifier.notify(Notification::Tills);
                        self.close_where(|of| is_over(of, end));
                        Ok(())
                    }
                    // Which sessions ended is unknown now. Pages reconnect with a new ticket if theirs is still valid.
                    Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {
                        self.close_all();
                        Ok(())
                    }
                    Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
                },
                _ = look.tick() => self.look(staff).await,
                change = changes.next() => match change {
                    Received::Missed | Received::Notification { notification: Notification::Tills, .. } => self.look(staff).await,
                    Received::Notification { .. } | Received::Own(_) => Ok(()),
                },
            };
            if let Err(e) = looked {
                let error = &e as &dyn std::error::Error;
                tracing::warn!(error, "whether tills' sessions are over could not be asked; it is asked again");
            }
        }
    }

    /// Reads which sessions have ended by now, and closes their sockets.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn look(&self, staff: &Staff) -> Result<(), StaffError> {
        let (mut sessions, mut browsers) = (Vec::<TillSessionId>::new(), Vec::<TillId>::new());
        for socket in &self.sockets {
            match socket.value().0 {
                TicketOf::Session(of) => sessions.push(of.till.session),
                TicketOf::Board(of) => browsers.push(of.paired.id),
            }
        }
        if sessions.is_empty() && browsers.is_empty() {
            return Ok(());
        }
        let (client, now) = (staff.store.get().await?, staff.store.now());
        let good = session::good(&*client, &sessions, now).await?;
        let paired = browser::paired(&*client, &browsers, now).await?;
        self.close_where(|of| match of {
            TicketOf::Session(of) => sessions.contains(&of.till.session) && !good.contains(&of.till.session),
            TicketOf::Board(of) => browsers.contains(&of.paired.id) && !paired.contains(&of.paired),
        });
        Ok(())
    }

    /// Closes every socket; pages reconnect.
    pub fn close_all(&self) {
        self.close_where(|_| true);
    }

    fn close_where(&self, which: impl Fn(TicketOf) -> bool) {
        self.sockets.iter().filter(|socket| which(socket.value().0)).for_each(|socket| socket.value().1.close());
    }
}

fn is_over(of: TicketOf, end: SessionEnded) -> bool {
    match (of, end) {
        (TicketOf::Session(of), SessionEnded::One(session)) => of.till.session == session,
        (TicketOf::Session(of), SessionEnded::Person(person)) => of.person == person,
        (TicketOf::Session(of), SessionEnded::Browser(browser)) => of.till.browser == browser,
        (TicketOf::Board(of), SessionEnded::Browser(browser)) => of.paired.id == browser,
        (TicketOf::Board(_), SessionEnded::One(_) | SessionEnded::Person(_)) => false,
    }
}

impl Drop for StaffSocketGuard {
    fn drop(&mut self) {
        self.sockets.sockets.remove(&self.number);
    }
}
