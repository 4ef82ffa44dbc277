//! Customer sessions. A token is valid by its signature, its expiry and its version against the customer's current one, until the
//! customer logs out with it.

use std::collections::HashMap;
use std::sync::Arc;

use dashmap::DashMap;
use deadpool_postgres::GenericClient;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_store::db::error::DbError;
use nyala_store::db::pool::Db;
use tokio::sync::broadcast;
use tokio_postgres::Row;

use super::Auth;
use super::error::AuthError;
use super::token::{Claims, TokenId};

/// Customers whose token state is cached. When the cache is full, it is emptied and filled again by reads.
const MAX_CACHED: usize = 200_000;
/// How long a cached state is trusted. A change in this process takes effect at once; this bounds the delay of one by another process.
const MAX_AGE_MS: i64 = 30_000;
/// Ended tokens that a slow subscriber may fall behind. Beyond that it receives `Lagged` and must check every session that it holds.
const ENDED_BACKLOG: usize = 1024;

/// A logged-in customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    pub id: CustomerId,
    /// Expiry of the token.
    pub exp: Timestamp,
    /// The token's version.
    pub version: i32,
    pub token: TokenId,
}

/// Tokens of customer `id` have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenEnded {
    pub id: CustomerId,
    pub which: Ended,
}

/// Which tokens have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All tokens of a version below this one.
    Older(i32),
    One(TokenId),
}

/// Cached state of a customer's tokens.
#[derive(Debug, Clone)]
pub struct TokenState {
    version: i32,
    /// Tokens that were logged out, with the expiry of each.
    ended: Arc<[(TokenId, Timestamp)]>,
    /// Tokens that were made before are worthless.
    valid_from: Timestamp,
    read_at: Timestamp,
}

impl TokenState {
    fn lets(&self, claims: &Claims) -> bool {
        claims.ver == self.version
            && claims.iat.saturating_mul(1000) >= self.valid_from.ms()
            && !self.ends(claims.ver, claims.token_id())
    }

    /// Whether a token has ended; one that is newer than the cached state has not.
    pub fn ends(&self, version: i32, token: TokenId) -> bool {
        version < self.version || self.ended.iter().any(|(ended, _)| *ended == token)
    }

    /// Merges the states of two readers. Versions only rise and an ended token stays ended, so a slow reader cannot restore an older
    /// state.
    fn and(self, other: &Self) -> Self {
        if self.version != other.version {
            return if self.version > other.version { self } else { other.clone() };
        }
        let unread = other
            .ended
            .iter()
            .filter(|(token, exp)| self.read_at.ms_until(*exp) > 0 && !self.ended.iter().any(|(known, _)| known == token));
        let unread: Vec<_> = unread.copied().collect();
        let valid_from = self.valid_from.max(other.valid_from);
        let ended = if unread.is_empty() { self.ended } else { self.ended.iter().copied().chain(unread).collect() };
        Self { ended, valid_from, ..self }
    }
}

/// Token state by customer, and the notifications of tokens that ended. Code that ends tokens must call `changed` or `ended`: this
/// updates the cache and closes the sockets of this server. Tokens ended by other servers are found by [`read_again`].
pub struct Versions {
    known: DashMap<CustomerId, TokenState>,
    ended: broadcast::Sender<TokenEnded>,
}

impl Default for Versions {
    fn default() -> Self {
        Self { known: DashMap::new(), ended: broadcast::channel(ENDED_BACKLOG).0 }
    }
}

impl Versions {
    /// Receives each token that ends from now on; for code that holds sessions open (the socket).
    pub fn subscribe(&self) -> broadcast::Receiver<TokenEnded> {
        self.ended.subscribe()
    }

    /// A new version was committed: older tokens of `id` end at once in this process.
    pub fn changed(&self, id: CustomerId, version: i32, now: Timestamp) {
        // The new version's tokens are made from now on.
        self.remember(id, TokenState { version, ended: Arc::default(), valid_from: Timestamp::from_ms(0), read_at: now });
        self.notify(id, Ended::Older(version));
    }

    /// A logout in `session` was committed: its token ends at once in this process, without a query that could fail.
    pub fn ended(&self, session: &Session) {
        // This reveals nothing about the customer's other tokens: the cached state keeps its age, or counts as too old to be trusted.
        let read_at = self.known.get(&session.id).map_or(Timestamp::from_ms(0), |known| known.read_at);
        let ended = Arc::new([(session.token, session.exp)]);
        self.remember(session.id, TokenState { version: session.version, ended, valid_from: Timestamp::from_ms(0), read_at });
        self.notify(session.id, Ended::One(session.token));
    }

    fn notify(&self, id: CustomerId, which: Ended) {
        // Having no subscriber is not an error.
        let _ = self.ended.send(TokenEnded { id, which });
    }

    /// Whether a token with these claims is valid.
    async fn lets(&self, db: &Db, claims: &Claims, now: Timestamp) -> Result<bool, AuthError> {
        let id = claims.id_customer_global;
        if let Some(known) = self.known.get(&id)
            && (0..MAX_AGE_MS).contains(&known.read_at.ms_until(now))
            // a newer token than the cached state: another process changed the password
            && claims.ver <= known.version
        {
            return Ok(known.lets(claims));
        }
        let client = db.get().await?;
        let stmt = client.prepare_cached(OF_ONE).await?;
        let read = by_customer(&client.query(&stmt, &[&id, &now]).await?, now)?.remove(&id).ok_or(AuthError::Unauthorized)?;
        Ok(self.remember(id, read).lets(claims))
    }

    fn remember(&self, id: CustomerId, new: TokenState) -> TokenState {
        if self.known.len() >= MAX_CACHED {
            self.known.clear();
        }
        self.known.entry(id).and_modify(|known| *known = new.clone().and(known)).or_insert(new).clone()
    }
}

macro_rules! stored {
    ($which:literal) => {
        concat!(
            "SELECT c.id, c.token_version, e.token, e.expires_at, c.created_at, s.changed_at, s.not_before
             FROM customer_global c CROSS JOIN database_state s
             LEFT JOIN ended_token e ON e.id_customer_global = c.id AND e.expires_at > $2 WHERE c.id ",
            $which
        )
    };
}

/// A separate statement: one for many customers would be planned again at each purchase.
const OF_ONE: &str = stored!("= $1");
const OF_MANY: &str = stored!("= ANY($1) ORDER BY c.id");

/// The stored state of the customers of these rows; the rows of one customer are consecutive.
fn by_customer(rows: &[Row], now: Timestamp) -> Result<HashMap<CustomerId, TokenState>, AuthError> {
    let mut read = HashMap::new();
    for of_one in rows.chunk_by(|row, next| row.get::<_, CustomerId>(0) == next.get::<_, CustomerId>(0)) {
        let Some(first) = of_one.first() else { continue };
        let mut ended = Vec::new();
        for row in of_one {
            if let Some((token, exp)) = row.try_get::<_, Option<&[u8]>>(2)?.zip(row.try_get(3)?) {
                ended.push((TokenId(token.try_into().map_err(AuthError::broken)?), exp));
            }
        }
        let valid_from = valid_from(first.try_get(4)?, first.try_get(5)?, first.try_get(6)?);
        read.insert(first.try_get(0)?, TokenState { version: first.try_get(1)?, ended: ended.into(), valid_from, read_at: now });
    }
    Ok(read)
}

/// A token has whole seconds, and the clocks of servers differ by as much.
const OLDER_MS: i64 = 5_000;

/// From when on the tokens of a customer count. After a restore the id of a lost customer may have been given to another one: a token
/// of before the last `jump` that is older than its customer was the lost one's. `not_before`: an operator has logged everybody out.
fn valid_from(created_at: Timestamp, jump: Option<Timestamp>, not_before: Option<Timestamp>) -> Timestamp {
    let of_another = jump.map(|jump| jump.min(created_at.plus_ms(-OLDER_MS)));
    let whole_second = not_before.map(|at| Timestamp::from_ms(at.ms().div_euclid(1000) * 1000));
    of_another.max(whole_second).unwrap_or(Timestamp::from_ms(0))
}

/// Whether a text that was made for a customer at `made_at` was made for a lost customer who had the same id, or before an operator
/// logged everybody out.
///
/// # Errors
/// When the database does not answer.
pub async fn is_of_another(client: &impl GenericClient, id: CustomerId, made_at: Timestamp) -> Result<bool, DbError> {
    const READ: &str =
        "SELECT c.created_at, s.changed_at, s.not_before FROM customer_global c CROSS JOIN database_state s WHERE c.id = $1";
    let row = client.query_opt(&client.prepare_cached(READ).await?, &[&id]).await?;
    Ok(row.is_some_and(|row| made_at < valid_from(row.get(0), row.get(1), row.get(2))))
}

/// Reads which tokens of these customers have ended, at any server, and updates the cache.
///
/// # Errors
/// When the database does not answer.
pub async fn read_again(auth: &Auth, ids: &[CustomerId]) -> Result<HashMap<CustomerId, TokenState>, AuthError> {
    let client = auth.store.get().await?;
    let stmt = client.prepare_cached(OF_MANY).await?;
    let now = auth.store.now();
    let read = by_customer(&client.query(&stmt, &[&ids, &now]).await?, now)?;
    Ok(read.into_iter().map(|(id, known)| (id, auth.versions.remember(id, known))).collect())
}

/// The session of `token`, for requests and sockets alike.
///
/// # Errors
/// `Unauthorized` when the token is not ours, has expired, is older than the password, or was logged out.
pub async fn authenticate(auth: &Auth, token: &str) -> Result<Session, AuthError> {
    let now = auth.store.now();
    let claims = auth.tokens.read(token, now)?;
    if !auth.versions.lets(&auth.store.db, &claims, now).await? {
        return Err(AuthError::Unauthorized);
    }
    let exp = Timestamp::from_ms(claims.exp.saturating_mul(1000));
    Ok(Session { id: claims.id_customer_global, exp, version: claims.ver, token: claims.token_id() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(version: i32, ended: &[(u8, i64)], read_at: i64) -> TokenState {
        let ended = ended.iter().map(|(n, exp)| (TokenId([*n; 16]), Timestamp::from_ms(*exp))).collect();
        TokenState { version, ended, valid_from: Timestamp::from_ms(0), read_at: Timestamp::from_ms(read_at) }
    }

    fn ended(known: &TokenState) -> Vec<u8> {
        let mut all: Vec<u8> = known.ended.iter().map(|(token, _)| token.0[0]).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_slow_reader_restores_no_older_state() {
        let newer = known(2, &[(1, 100), (2, 100)], 10);
        assert_eq!(ended(&known(2, &[(1, 100)], 9).and(&newer)), [1, 2]);
        assert_eq!(known(1, &[], 9).and(&newer).version, 2);
        assert_eq!(ended(&known(3, &[(7, 100)], 11).and(&newer)), [7]);
    }

    #[test]
    fn only_a_token_from_before_a_jump_is_older_than_its_customer() {
        let at = Timestamp::from_ms;
        assert_eq!(valid_from(at(90_000), None, None), at(0), "no jump: a clock that went back ends no token");
        assert_eq!(valid_from(at(90_000), Some(at(60_000)), None), at(60_000), "made after the jump");
        assert_eq!(valid_from(at(30_000), Some(at(60_000)), None), at(25_000), "the customer's own of before the jump");
        assert_eq!(valid_from(at(30_000), Some(at(60_000)), Some(at(60_700))), at(60_000), "all of before are ended");
    }

    #[test]
    fn expired_tokens_are_removed_from_the_cache() {
        let older = known(2, &[(1, 50), (2, 100)], 10);
        assert_eq!(ended(&known(2, &[(2, 100)], 50).and(&older)), [2]);
    }
}
