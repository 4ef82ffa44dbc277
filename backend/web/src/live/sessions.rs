//! Registry of the customers' sockets. A customer has a limited number of them (docs/contract.md §3), and each ends with the token that
//! opened it.

use nyala_core::domain::id::CustomerId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix_socketio::{Closer, Socket};
use dashmap::DashMap;
use nyala_cluster::notifications::{Notification, Notifier, Received};
use nyala_identity::auth::Auth;
use nyala_identity::auth::error::AuthError;
use nyala_identity::auth::session::{Ended, Session, read_again};
use nyala_identity::auth::token::TokenId;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::MissedTickBehavior;

use super::LOOK_EVERY;
use super::other_servers::OtherServers;

/// Customers that one statement reads.
const READ_AT_ONCE: usize = 1_000;

#[derive(Debug)]
struct SocketSlot {
    number: u64,
    version: i32,
    token: TokenId,
    /// The socket's id.
    socket: String,
    closer: Closer,
}

/// Every open socket, by customer.
#[derive(Debug, Default)]
pub struct SocketSessions {
    slots: DashMap<CustomerId, Vec<SocketSlot>>,
    next: AtomicU64,
    /// Number of sockets at the other servers.
    pub(super) other_servers: OtherServers,
}

/// A taken slot; dropping it releases the slot.
#[derive(Debug)]
pub struct SocketGuard {
    sessions: Arc<SocketSessions>,
    id: CustomerId,
    number: u64,
}

impl SocketSessions {
    /// Takes a slot for one more socket of the customer. `None` when `max` are taken here and, as far as reported, at the other servers.
    pub fn take(self: &Arc<Self>, session: &Session, socket: &Socket, max: usize) -> Option<SocketGuard> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut slots = self.slots.entry(session.id).or_default();
        if slots.len() + self.other_servers.of(session.id) >= max {
            let unused = slots.is_empty();
            drop(slots);
            if unused {
                self.slots.remove_if(&session.id, |_, slots| slots.is_empty());
            }
            return None;
        }
        slots.reserve_exact(1); // most customers have one phone
        let Session { version, token, .. } = *session;
        slots.push(SocketSlot { number, version, token, socket: socket.id(), closer: socket.closer() });
        self.other_servers.changed(session.id);
        Some(SocketGuard { sessions: self.clone(), id: session.id, number })
    }

    /// The ids of a customer's sockets.
    pub fn sockets(&self, id_customer_global: CustomerId) -> Vec<String> {
        let slots = self.slots.get(&id_customer_global);
        slots.map_or_else(Vec::new, |slots| slots.iter().map(|slot| slot.socket.clone()).collect())
    }

    /// Closes the sockets whose token has ended, until the server stops. `among_others`: also tokens that other servers have ended.
    /// Notifies the other servers of tokens that end here.
    pub async fn watch(self: Arc<Self>, auth: &Auth, among_others: bool, notifier: &Notifier) {
        let (mut ended, mut changes) = (auth.versions.subscribe(), notifier.listen());
        let mut look = tokio::time::interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let looked = tokio::select! {
                end = ended.recv() => match end {
                    Ok(end) => {
                        notifier.notify(Notification::Tokens { customer: end.id });
                        self.slots.get(&end.id).iter().for_each(|slots| close(slots, end.which));
                        Ok(())
                    }
                    // It is unknown which tokens have ended. Clients reconnect and present their tokens again.
                    Err(RecvError::Lagged(_)) => {
                        self.close_all();
                        Ok(())
                    }
                    Err(RecvError::Closed) => return,
                },
                _ = look.tick(), if among_others => self.look(auth).await,
                change = changes.next() => match change {
                    Received::Notification { notification: Notification::Tokens { customer }, .. } => self.look_at(auth, &[customer]).await,
                    Received::Missed => self.look(auth).await,
                    Received::Notification { .. } | Received::Own(_) => Ok(()),
                },
            };
            if let Err(e) = looked {
                let error = &e as &dyn std::error::Error;
                tracing::warn!(error, "which tokens other servers have ended could not be asked; it is asked again");
            }
        }
    }

    /// How many sockets the customer has here.
    pub(super) fn count(&self, id_customer_global: CustomerId) -> usize {
        self.slots.get(&id_customer_global).map_or(0, |slots| slots.len())
    }

    /// Customers that have a socket here.
    pub(super) fn customers(&self) -> Vec<CustomerId> {
        self.slots.iter().map(|slots| *slots.key()).collect()
    }

    /// Reads which tokens have ended by now, and closes their sockets.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn look(&self, auth: &Auth) -> Result<(), AuthError> {
        self.look_at(auth, &self.customers()).await
    }

    async fn look_at(&self, auth: &Auth, customers: &[CustomerId]) -> Result<(), AuthError> {
        for some in customers.chunks(READ_AT_ONCE) {
            let known = read_again(auth, some).await?;
            for id in some {
                let is_over = |slot: &&SocketSlot| known.get(id).is_none_or(|known| known.ends(slot.version, slot.token));
                self.slots.get(id).iter().for_each(|slots| slots.iter().filter(is_over).for_each(|slot| slot.closer.close()));
            }
        }
        Ok(())
    }

    /// Closes every socket; clients reconnect.
    pub fn close_all(&self) {
        self.slots.iter().for_each(|slots| close(&slots, Ended::Older(i32::MAX)));
    }
}

/// Closes the sockets whose token is among the ended ones.
fn close(slots: &[SocketSlot], ended: Ended) {
    let has_ended = |slot: &&SocketSlot| match ended {
        Ended::Older(version) => slot.version < version,
        Ended::One(token) => slot.token == token,
    };
    slots.iter().filter(has_ended).for_each(|slot| slot.closer.close());
}

impl Drop for SocketGuard {
    fn drop(&mut self) {
        if let Some(mut slots) = self.sessions.slots.get_mut(&self.id) {
            slots.retain(|slot| slot.number != self.number);
        }
        self.sessions.other_servers.changed(self.id);
        self.sessions.slots.remove_if(&self.id, |_, slots| slots.is_empty());
    }
}
