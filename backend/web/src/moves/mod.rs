//! Moves to a new number (docs/money.md): the message to the old number, the page on which its owner says no, and the pass that lets moves happen
//! when their time has come.

pub mod page;

use std::sync::Arc;
use std::time::Duration;

use nyala_core::domain::id::MoveId;
use nyala_core::domain::secret::Secret;
use nyala_identity::auth::Auth;
use nyala_identity::auth::number_move::{self, Begin, MoveError, Notice};
use nyala_identity::whatsapp::{Content, MoveNotice, OutgoingMessage, SendError, WhatsApp};
use nyala_ledger::error::LedgerError;
use nyala_ledger::newer_kinds;
use nyala_store::config::ServerSettings;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;

use crate::http::error::AppError;

const EVERY: Duration = Duration::from_secs(1);
/// Messages, and moves, of one pass.
const AT_ONCE: i64 = 20;

/// What moves need.
pub struct Moves {
    pub store: Store,
    pub auth: Arc<Auth>,
    pub whatsapp: WhatsApp,
    pub settings: Arc<ServerSettings>,
}

impl Moves {
    /// Sends the messages that are due and lets moves happen, until the server stops. Each is done by one server.
    pub async fn run(self) {
        loop {
            if let Err(e) = self.pass().await {
                tracing::warn!(error = %e, "cannot read moves to new numbers, retrying");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn pass(&self) -> Result<(), DbError> {
        let client = self.store.get().await?;
        let (to_notify, to_do) = number_move::due(&*client, AT_ONCE, self.store.now()).await?;
        // Balances move by rows that a server of the previous release cannot read.
        let to_do = match newer_kinds::check(&client).await {
            Ok(()) => to_do,
            Err(LedgerError::Db(DbError::Busy)) => Vec::new(),
            Err(e) => return Err(DbError::broken(e)),
        };
        drop(client);
        for id in to_notify {
            notify(&self.store, &self.whatsapp, &self.settings, id).await?;
        }
        for id in to_do {
            if let Err(e) = number_move::happen(&self.auth, &Begin::Due(id), &self.settings.dev.fault_point).await {
                tracing::warn!(error = %e, idpindah = id.get(), "move to a new number failed, retrying");
            }
        }
        Ok(())
    }
}

/// Notifies the old number of a move. What could not be sent is sent again by a later pass, and until then the move does not happen. A number that
/// WhatsApp does not reach is notified by push and in the app only.
pub async fn notify(store: &Store, whatsapp: &WhatsApp, settings: &ServerSettings, id: MoveId) -> Result<(), DbError> {
    let (client, now) = (store.get().await?, store.now());
    let Some(Notice { telp, to, when, secret, .. }) = number_move::notice(&*client, id, now).await? else { return Ok(()) };
    drop(client);
    let link = format!("{}/pindah/{secret}", settings.http.public_url);
    let content = Content::Move(MoveNotice { to, when, link, secret: Secret::new(secret) });
    match whatsapp.send(&OutgoingMessage { telp, content, at: now }).await {
        Ok(()) | Err(SendError::Undeliverable) => {
            number_move::notified(&*store.get().await?, id, settings.moves.wait_s * 1000, store.now()).await
        }
        Err(e) => {
            tracing::warn!(error = %e, idpindah = id.get(), "the old number was not notified of its move, retrying");
            Ok(())
        }
    }
}

impl From<MoveError> for AppError {
    fn from(e: MoveError) -> Self {
        match e {
            MoveError::Ledger(e) => e.into(),
            MoveError::Auth(e) => e.into(),
        }
    }
}
