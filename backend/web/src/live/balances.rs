//! Sends a balance that changed without the customer's action to the customer's sockets at once (docs/contract.md §3).

use std::sync::Arc;

use actix_socketio::SocketIo;
use nyala_cluster::notifications::{Notification, Notifier, Received};
use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{CustomerId, WalletId};
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use serde::Serialize;

use super::handler::Sockets;
use super::sessions::SocketSessions;

/// The event's name.
const EVENT: &str = "saldo";

/// A committed change of a balance.
#[derive(Debug, Clone, Copy)]
pub struct Moved {
    pub id_customer_global: CustomerId,
    pub idcustomer: WalletId,
    pub balance: i64,
    pub cause: Cause,
}

/// The customers' sockets, as code that moves money uses them. Cheap to clone.
#[derive(Clone)]
pub struct Balances {
    io: SocketIo<Sockets>,
    sessions: Arc<SocketSessions>,
    notifier: Notifier,
}

#[derive(Serialize)]
struct BalanceEvent {
    idcustomer: WalletId,
    saldo: i64,
    sebab: Cause,
}

impl Balances {
    pub fn new(io: SocketIo<Sockets>, sessions: Arc<SocketSessions>, notifier: Notifier) -> Self {
        Self { io, sessions, notifier }
    }

    /// Notifies the other servers and the customer's sockets of a movement after its commit, if there was one; never blocks. A client
    /// that is not connected reads the balance when it returns.
    pub fn notify(&self, moved: Option<Moved>) {
        let Some(moved) = moved else { return };
        self.notifier.notify(Notification::Balance {
            customer: moved.id_customer_global,
            account: moved.idcustomer,
            cause: moved.cause,
        });
        self.show(moved);
    }

    /// Sends movements that other servers have committed, until the server stops.
    pub async fn follow(&self, store: &Store) {
        let mut notifications = self.notifier.listen();
        loop {
            let Received::Notification { notification: Notification::Balance { customer, account, cause }, .. } =
                notifications.next().await
            else {
                continue;
            };
            if self.sessions.sockets(customer).is_empty() {
                continue;
            }
            match stored(store, account).await {
                Ok(Some(balance)) => self.show(Moved { id_customer_global: customer, idcustomer: account, balance, cause }),
                Ok(None) => {}
                Err(e) => {
                    tracing::warn!(error = %e, "a balance that another server has moved cannot be read; its phone sees it when it asks")
                }
            }
        }
    }

    fn show(&self, Moved { id_customer_global, idcustomer, balance, cause }: Moved) {
        let mut sockets = self.sessions.sockets(id_customer_global).into_iter();
        let Some(first) = sockets.next() else { return };
        let all = sockets.fold(self.io.to(first), |all, socket| all.to(socket));
        if let Err(error) = all.emit(EVENT, &BalanceEvent { idcustomer, saldo: balance, sebab: cause }) {
            tracing::error!(error = &error as &dyn std::error::Error, "balance not sent to the customer's sockets");
        }
    }
}

async fn stored(store: &Store, account: WalletId) -> Result<Option<i64>, DbError> {
    let client = store.get().await?;
    let stmt = client.prepare_cached("SELECT saldo FROM quota_emoney WHERE idcustomer = $1").await?;
    Ok(client.query_opt(&stmt, &[&account]).await?.map(|row| row.try_get(0)).transpose()?)
}
