//! Who is logged in: a token's signature, its expiry, and its version against the customer's present one.

use dashmap::DashMap;
use tokio::sync::broadcast;

use crate::app::AppState;
use crate::db::pool::Db;
use crate::domain::waktu::Waktu;
use crate::http::error::AppError;

/// Customers whose version is remembered. Full: everything is forgotten and read again.
const MAX_CACHED: usize = 200_000;
/// How long a remembered version is believed. A change in this process is known at once; this bounds one by another process.
const MAX_AGE_MS: i64 = 30_000;
/// Ends that a slow listener may fall behind; past that it hears `Lagged` and must ask again for every session it holds.
const ENDED_BACKLOG: usize = 1024;

/// A logged-in customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sesi {
    /// `id_customer_global`.
    pub id: i64,
    /// When the token runs out.
    pub exp: Waktu,
    /// The token's version.
    pub version: i32,
}

/// Every token of customer `id` with a version below `version` is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBerakhir {
    pub id: i64,
    pub version: i32,
}

#[derive(Clone, Copy)]
struct Known {
    version: i32,
    read_at: Waktu,
}

/// Token versions by customer, and the news of those that changed.
pub struct Versi {
    known: DashMap<i64, Known>,
    ended: broadcast::Sender<TokenBerakhir>,
}

impl Default for Versi {
    fn default() -> Self {
        Self { known: DashMap::new(), ended: broadcast::channel(ENDED_BACKLOG).0 }
    }
}

impl Versi {
    /// The news of ended tokens from now on, for those who hold sessions open (the socket).
    pub fn subscribe(&self) -> broadcast::Receiver<TokenBerakhir> {
        self.ended.subscribe()
    }

    /// A password change was committed: older tokens of `id` end at once in this process.
    pub fn changed(&self, id: i64, version: i32, now: Waktu) {
        self.remember(id, Known { version, read_at: now });
        // Nobody listening is no error.
        let _ = self.ended.send(TokenBerakhir { id, version });
    }

    /// The version that a token of version `claimed` has to have.
    async fn current(&self, db: &Db, id: i64, claimed: i32, now: Waktu) -> Result<i32, AppError> {
        let known = self.known.get(&id).map(|k| *k);
        if let Some(k) = known
            && (0..MAX_AGE_MS).contains(&k.read_at.ms_until(now))
            // a newer token than ours: another process changed the password
            && claimed <= k.version
        {
            return Ok(k.version);
        }
        let client = db.get().await?;
        let stmt = client.prepare_cached("SELECT token_version FROM customer_global WHERE id = $1").await?;
        let version: i32 = client.query_opt(&stmt, &[&id]).await?.ok_or(AppError::Unauthorized)?.try_get(0)?;
        self.remember(id, Known { version, read_at: now });
        Ok(version)
    }

    /// Versions only rise, so a slow reader cannot put an older one back.
    fn remember(&self, id: i64, new: Known) {
        if self.known.len() >= MAX_CACHED {
            self.known.clear();
        }
        self.known.entry(id).and_modify(|k| *k = if new.version >= k.version { new } else { *k }).or_insert(new);
    }
}

/// The session of `token`, for requests and for the socket alike; `Unauthorized` when the token is not ours, has run out or
/// is older than the password.
pub async fn authenticate(state: &AppState, token: &str) -> Result<Sesi, AppError> {
    let now = state.jam.now();
    let claims = state.auth.tokens.read(token, now)?;
    let id = claims.id_customer_global;
    let current = state.auth.versi.current(&state.db, id, claims.ver, now).await?;
    if claims.ver != current {
        return Err(AppError::Unauthorized);
    }
    Ok(Sesi { id, exp: Waktu::from_ms(claims.exp.saturating_mul(1000)), version: claims.ver })
}
