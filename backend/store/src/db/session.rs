//! What every connection sets for itself, so that nothing set at the database, or for its role, changes how a statement runs.

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, Error};

use super::pool::StatementLimits;

/// In the startup message, which overrides what is set at the database and for the role, before the first statement.
/// The limits of statements are beside them.
const OPTIONS: &str = "-c default_transaction_isolation=read\\ committed -c default_transaction_deferrable=off \
                       -c idle_session_timeout=0 -c timezone=UTC -c datestyle=ISO -c intervalstyle=postgres \
                       -c standard_conforming_strings=on";

/// Of the session's parameters those that are not as they must be, separated by commas: a pooler between this program and the database may
/// drop what the startup message asked for. It also sets what depends on the database: PostgreSQL 17 knows a limit of transactions, and a
/// database whose answers are not on disk would forget money that was answered. The last column is the session's first schema, if that holds
/// a shop.
const FIRST_LOOK: &str = "
SELECT coalesce(string_agg(name || ' is ' || current_setting(name) || ' and not ' || wanted, ', '), ''),
    CASE WHEN current_setting('transaction_timeout', TRUE) IS NOT NULL THEN set_config('transaction_timeout', '0', FALSE) END,
    CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', FALSE) END,
    CASE WHEN to_regclass(quote_ident(current_schema()) || '.refinery_schema_history') IS NOT NULL
        AND to_regclass(quote_ident(current_schema()) || '.ledger_transfer') IS NOT NULL THEN current_schema()::TEXT END
FROM (VALUES ('default_transaction_isolation', 'read committed'), ('idle_session_timeout', '0'), ('TimeZone', 'UTC'),
    ('client_encoding', 'UTF8')) AS needed (name, wanted)
WHERE current_setting(name) <> wanted";

/// The schemas that hold a shop, the one that the session would find first. Planning it takes a millisecond in each new session.
const SHOPS: &str = "
SELECT n.nspname::TEXT, array_position(current_schemas(FALSE), n.nspname) AS place
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = 'refinery_schema_history' AND n.nspname !~ '^pg_'
    AND EXISTS (SELECT FROM pg_class t WHERE t.relnamespace = n.oid AND t.relname = 'ledger_transfer')
ORDER BY place NULLS LAST, n.oid LIMIT 8";
const USE_SCHEMA: &str = "SELECT set_config('search_path', quote_ident($1), FALSE), current_schema()::TEXT";

/// Why a connection is refused.
#[derive(Debug)]
pub enum SessionError {
    Database(Error),
    Refused(String),
}

impl From<Error> for SessionError {
    fn from(e: Error) -> Self {
        Self::Database(e)
    }
}

/// The same connection with what its sessions set at their beginning; without `limits` a statement may take as long as it does.
pub fn with_options(config: &Config, limits: Option<StatementLimits>) -> Config {
    let mut config = config.clone();
    let (whole, lock) = limits.map_or((0, 0), |limits| (limits.whole.as_millis(), limits.lock.as_millis()));
    let asked = config.get_options().unwrap_or_default().to_owned();
    config.options(format!(
        "{asked} {OPTIONS} -c statement_timeout={whole} -c lock_timeout={lock} -c idle_in_transaction_session_timeout={whole}"
    ));
    config
}

/// Sets what depends on the database's answers, and refuses a session with wrong settings. A statement that is used once is one round trip
/// with the types of its parameters, and two and a close without.
///
/// # Errors
/// What could not be set, and what to do.
pub async fn begin(client: &Client) -> Result<(), SessionError> {
    let row = client.query_typed_one(FIRST_LOOK, &[]).await?;
    let (wrong, first): (String, Option<String>) = (row.get(0), row.get(3));
    if !wrong.is_empty() {
        return Err(SessionError::Refused(format!(
            "its sessions do not take what this program sets ({wrong}): connect to PostgreSQL itself, not through a pooler that \
             drops startup options"
        )));
    }
    let schema = match first {
        Some(first) => first,
        None => schema(client).await?,
    };
    let in_use: Option<String> = client.query_typed_one(USE_SCHEMA, &[(&schema, Type::TEXT)]).await?.get(1);
    // The row was computed before the setting: ask once more.
    let in_use = match in_use {
        Some(in_use) if in_use == schema => Some(in_use),
        _ => client.query_typed_one("SELECT current_schema()::TEXT", &[]).await?.get(0),
    };
    if in_use.as_deref() != Some(&schema) {
        return Err(SessionError::Refused(format!(
            "its schema \"{schema}\" is closed to this role: GRANT USAGE, CREATE ON SCHEMA \"{schema}\" to it"
        )));
    }
    Ok(())
}

/// The schema that has the shop, or would have a new one.
async fn schema(client: &Client) -> Result<String, SessionError> {
    let shops = client.query_typed(SHOPS, &[]).await?;
    let (names, first_place): (Vec<String>, Option<i32>) =
        (shops.iter().map(|row| row.get(0)).collect(), shops.first().and_then(|row| row.get(1)));
    match names.as_slice() {
        [only] => Ok(only.clone()),
        [first, ..] if first_place.is_some() => Ok(first.clone()),
        [] => {
            let row = client.query_one("SELECT current_schema()::TEXT, current_setting('search_path')", &[]).await?;
            row.get::<_, Option<String>>(0).ok_or_else(|| {
                let path: String = row.get(1);
                SessionError::Refused(format!(
                    "its search_path ({path}) names no schema that is there and open to this role: create the schema, or set \
                     another search_path"
                ))
            })
        }
        several => Err(SessionError::Refused(format!(
            "shops are in several of its schemas ({}), and its search_path names none of them: write \
             options=-c%20search_path%3D<schema> into DATABASE_URL",
            several.join(", ")
        ))),
    }
}
