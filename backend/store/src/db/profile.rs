//! The profile in which a database was served, as stored in it. One that had customers is never opened in development, which shows every
//! code, and with it every account, to any client.

use tokio_postgres::{Client, Error};

use nyala_core::domain::timestamp::Timestamp;

/// Whether this database, its schema of whatever age, was ever served in production.
pub async fn was_in_production(client: &Client) -> Result<bool, Error> {
    // A schema from before the table, or none at all, has nothing to remember.
    const KNOWN: &str = "SELECT to_regclass('served_in_production') IS NOT NULL";
    const SERVED: &str = "SELECT EXISTS (SELECT FROM served_in_production)";
    Ok(client.query_one(KNOWN, &[]).await?.get(0) && client.query_one(SERVED, &[]).await?.get(0))
}

/// From now on `was_in_production`.
pub async fn remember_production(client: &Client, now: Timestamp) -> Result<(), Error> {
    const REMEMBER: &str = "INSERT INTO served_in_production (first_at) VALUES ($1) ON CONFLICT DO NOTHING";
    client.execute(REMEMBER, &[&now]).await.map(drop)
}
