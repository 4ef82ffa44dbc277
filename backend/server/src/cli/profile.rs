//! Databases that a profile accepts: production refuses one with publicly known passwords, development one that had customers.

use nyala_store::config::ServerSettings;
use nyala_store::db::profile;
use tokio_postgres::Client;

use super::Failure;
use crate::app::AppState;
use crate::demo;

/// For development, before anything is written: refuses a database that was served in production.
pub async fn refuse_production_database(config: &ServerSettings, client: &Client) -> Result<(), Failure> {
    if config.is_production() || !profile::was_in_production(client).await? {
        return Ok(());
    }
    Err(Failure::new(
        "the development profile refuses this database: it was served in production, and development shows the codes of its \
         customers to whoever asks; serve it with NYALA__PROFILE=production, or see \"A copy for tests\" in docs/operations.md",
    ))
}

/// For production, before customers are let in: refuses what only development has, and remembers where the database was served.
pub async fn enter_production(state: &AppState) -> Result<(), Failure> {
    if !state.config.is_production() {
        return Ok(());
    }
    if demo::has_public_passwords(&state.store.db).await? {
        return Err(Failure::new(
            "the production profile refuses this database: it has demo or load-test customers, whose password everybody knows; \
             begin with an empty one (data.dir or DATABASE_URL)",
        ));
    }
    if demo::has_simulated_machines(&state.store.db).await? {
        return Err(Failure::new(
            "the production profile refuses this database: it has simulated machines (driver sim), whose runs customers would pay \
             for and never get; begin with an empty one (data.dir or DATABASE_URL)",
        ));
    }
    Ok(profile::remember_production(&*state.store.get().await?, state.store.now()).await?)
}
