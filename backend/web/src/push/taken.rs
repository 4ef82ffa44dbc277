//! A push that this server has taken from one of the queues: customers' ([`nyala_ledger::push_queue`]) or staff's ([`crate::alerts::queue`]).

use nyala_core::calls::CALLED_MS;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::push_queue::{self, Browser, Cause};
use nyala_store::db::error::DbError;
use nyala_store::db::pool::DbClient;
use nyala_store::secrets::Secrets;

use super::message::{MOVE_TTL_S, Message, Object, TTL_S, tag};
use crate::alerts;
use crate::alerts::queue;
use crate::alerts::secret;
use crate::alerts::text::Content;

/// A push to a customer that was due longer ago is dropped: no server could send it in time.
const TOO_LATE_MS: i64 = TTL_S * 1000;

pub enum Taken {
    Customer(push_queue::Taken),
    Staff(queue::Taken),
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    Sent,
    Dropped,
    /// The browser no longer exists.
    Gone,
    Again(Timestamp),
}

/// Takes at most `limit` due rows of both queues, and keeps other servers from them until `until`.
pub async fn claim(client: &DbClient, now: Timestamp, limit: usize, until: Timestamp) -> Result<Vec<Taken>, DbError> {
    let room = |taken: usize| i64::try_from(limit - taken).unwrap_or(i64::MAX);
    let mut taken: Vec<_> = push_queue::claim(client, now, room(0), until).await?.into_iter().map(Taken::Customer).collect();
    if taken.len() < limit {
        taken.extend(queue::claim(client, now, room(taken.len()), until).await?.into_iter().map(Taken::Staff));
    }
    Ok(taken)
}

impl Taken {
    pub fn browser(&self) -> Option<&Browser> {
        match self {
            Self::Customer(taken) => taken.browser.as_ref(),
            Self::Staff(taken) => taken.browser.as_ref(),
        }
    }

    /// How often a server took it, this time included.
    pub fn tries(&self) -> usize {
        let tries = match self {
            Self::Customer(taken) => taken.tries,
            Self::Staff(taken) => taken.tries,
        };
        usize::try_from(tries).unwrap_or(usize::MAX)
    }

    /// Whether the notification is still useful.
    pub fn is_useful(&self, now: Timestamp) -> bool {
        match self {
            Self::Customer(taken) => {
                let due = taken.created_at.plus_ms(taken.cause.after_ms());
                let still = match taken.cause {
                    Cause::Waits => taken.waits,
                    Cause::Called => taken.called_until.is_some_and(|until| until > now),
                    Cause::Ended
                    | Cause::NotStarted
                    | Cause::TopUpReversed
                    | Cause::Balance
                    | Cause::Moves
                    | Cause::Answered
                    | Cause::NeverRan => true,
                };
                due.ms_until(now) <= TOO_LATE_MS && still
            }
            Self::Staff(taken) => taken.is_useful,
        }
    }

    /// When it may be sent, if its person is not to be disturbed now.
    pub fn quiet_until(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Customer(_) => None,
            Self::Staff(taken) => taken.quiet_until(now),
        }
    }

    /// For how many seconds its push service keeps it for a browser that is offline.
    pub fn ttl_s(&self) -> i64 {
        match self {
            Self::Customer(taken) if taken.cause == Cause::Called => CALLED_MS / 1000,
            Self::Customer(taken) if taken.cause == Cause::Moves => MOVE_TTL_S,
            Self::Customer(_) => TTL_S,
            Self::Staff(_) => alerts::text::TTL_S,
        }
    }

    pub fn tag(&self, secrets: &Secrets) -> String {
        tag(
            secrets,
            match self {
                Self::Customer(taken) => Object::of(taken.cause, taken.object),
                Self::Staff(taken) => match taken.content {
                    Content::Alert { alert, .. } => Object::Alert(alert.get()),
                    Content::Digest { idoutlet, .. } => Object::Digest(idoutlet.get()),
                },
            },
        )
    }

    /// The message, as JSON.
    pub fn message(&self, secrets: &Secrets) -> Result<Vec<u8>, serde_json::Error> {
        let tag = self.tag(secrets);
        match self {
            Self::Customer(taken) => serde_json::to_vec(&Message::new(taken, &tag)),
            Self::Staff(taken) => {
                serde_json::to_vec(&alerts::text::Message::new(&taken.content, secret::of(secrets, taken.id), &tag))
            }
        }
    }

    /// Stores what became of it.
    pub async fn settle(&self, client: &DbClient, settled: Settled, now: Timestamp) -> Result<(), DbError> {
        match self {
            Self::Customer(taken) => {
                if settled == Settled::Gone {
                    push_queue::forget(client, taken).await?;
                }
                let again = if let Settled::Again(at) = settled { Some(at) } else { None };
                push_queue::settle(client, taken, again).await
            }
            Self::Staff(taken) => {
                let settled = match settled {
                    Settled::Gone => return queue::forget(client, taken).await,
                    Settled::Sent => queue::Settled::Sent(now),
                    Settled::Dropped => queue::Settled::Dropped,
                    Settled::Again(at) => queue::Settled::Again(at),
                };
                queue::settle(client, taken, settled).await
            }
        }
    }

    /// Leaves it until the quiet hours of its person end.
    pub async fn postpone(&self, client: &DbClient, until: Timestamp) -> Result<(), DbError> {
        match self {
            Self::Customer(taken) => push_queue::settle(client, taken, Some(until)).await,
            Self::Staff(taken) => queue::settle(client, taken, queue::Settled::Quiet(until)).await,
        }
    }
}
