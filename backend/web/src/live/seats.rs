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
    seats: DashMap<CustomerId, Vec<SocketSlot>>,
    next: AtomicU64,
    /// Number of sockets at the other servers.
    pub(super) other_servers: OtherServers,
}

/// A taken slot; dropping it releases the slot.
#[derive(Debug)]
pub struct Seated {
    seats: Arc<SocketSessions>,
    id: CustomerId,
    number: u64,
}

impl SocketSessions {
    /// Takes a slot for one more socket of the customer. `None` when `max` are taken here and, as far as reported, at the other servers.
    pub fn take(self: &Arc<Self>, session: &Session, socket: &Socket, max: usize) -> Option<Seated> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut seats = self.seats.entry(session.id).or_default();
        if seats.len() + self.other_servers.of(session.id) >= max {
            let unused = seats.is_empty();
            drop(seats);
            if unused {
                self.seats.remove_if(&session.id, |_, seats| seats.is_empty());
            }
            return None;
        }
        seats.reserve_exact(1); // most customers have one phone
        let Session { version, token, .. } = *session;
        seats.push(SocketSlot { number, version, token, socket: socket.id(), closer: socket.closer() });
        self.other_servers.changed(session.id);
        Some(Seated { seats: self.clone(), id: session.id, number })
    }

    /// The ids of a customer's sockets.
    pub fn sockets(&self, id_customer_global: CustomerId) -> Vec<String> {
        let seats = self.seats.get(&id_customer_global);
        seats.map_or_else(Vec::new, |seats| seats.iter().map(|seat| seat.socket.clone()).collect())
    }

    /// Closes the sockets whose token has ended, until the server stops. `among_others`: also tokens that other servers have ended.
    /// Notifies the other servers of tokens that end here.
    pub async fn watch(self: Arc<Self>, auth: &Auth, among_others: bool, news: &Notifier) {
        let (mut ended, mut changes) = (auth.versions.subscribe(), news.listen());
        let mut look = tokio::time::interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let looked = tokio::select! {
                end = ended.recv() => match end {
                    Ok(end) => {
                        news.notify(Notification::Tokens { customer: end.id });
                        self.seats.get(&end.id).iter().for_each(|seats| close(seats, end.which));
                        Ok(())
                    }
                    // Which tokens ended is unknown now. Clients reconnect and present theirs again.
                    Err(RecvError::Lagged(_)) => {
                        self.close_all();
                        Ok(())
                    }
                    Err(RecvError::Closed) => return,
                },
                _ = look.tick(), if among_others => self.look(auth).await,
                change = changes.next() => match change {
                    Received::Notification { hint: Notification::Tokens { customer }, .. } => self.look_at(auth, &[customer]).await,
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
        self.seats.get(&id_customer_global).map_or(0, |seats| seats.len())
    }

    /// Customers that have a socket here.
    pub(super) fn seated(&self) -> Vec<CustomerId> {
        self.seats.iter().map(|seats| *seats.key()).collect()
    }

    /// Reads which tokens have ended by now, and closes their sockets.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn look(&self, auth: &Auth) -> Result<(), AuthError> {
        self.look_at(auth, &self.seated()).await
    }

    async fn look_at(&self, auth: &Auth, seated: &[CustomerId]) -> Result<(), AuthError> {
        for some in seated.chunks(READ_AT_ONCE) {
            let known = read_again(auth, some).await?;
            for id in some {
                let is_over = |seat: &&SocketSlot| known.get(id).is_none_or(|known| known.ends(seat.version, seat.token));
                self.seats.get(id).iter().for_each(|seats| seats.iter().filter(is_over).for_each(|seat| seat.closer.close()));
            }
        }
        Ok(())
    }

    /// Closes every socket; clients reconnect.
    pub fn close_all(&self) {
        self.seats.iter().for_each(|seats| close(&seats, Ended::Older(i32::MAX)));
    }
}

/// Closes the sockets whose token is among the ended ones.
fn close(seats: &[SocketSlot], ended: Ended) {
    let has_ended = |seats: &&SocketSlot| match ended {
        Ended::Older(version) => seats.version < version,
        Ended::One(token) => seats.token == token,
    };
    seats.iter().filter(has_ended).for_each(|seats| seats.closer.close());
}

impl Drop for Seated {
    fn drop(&mut self) {
        if let Some(mut seats) = self.seats.seats.get_mut(&self.id) {
            seats.retain(|seats| seats.number != self.number);
        }
        self.seats.other_servers.changed(self.id);
        self.seats.seats.remove_if(&self.id, |_, seats| seats.is_empty());
    }
}
