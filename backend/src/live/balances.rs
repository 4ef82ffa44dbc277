//! A balance that somebody else moved is told to its customer's sockets at once (docs/contract.md §3).

use std::sync::Arc;

use actix_socketio::SocketIo;
use serde::Serialize;

use super::handler::Sockets;
use super::seats::Seats;

/// The event's name.
const EVENT: &str = "saldo";

/// Who moved it.
#[derive(Debug, Clone, Copy, Serialize)]
pub enum Cause {
    #[serde(rename = "topup")]
    TopUp,
    #[serde(rename = "batal")]
    Void,
    #[serde(rename = "refund")]
    Refund,
    #[serde(rename = "hapus")]
    Deletion,
}

/// A balance that is committed.
#[derive(Debug, Clone, Copy)]
pub struct Moved {
    pub id_customer_global: i64,
    pub idcustomer: i64,
    pub balance: i64,
    pub cause: Cause,
}

/// The customers' sockets, as whoever moves money sees them. Cheap to clone.
#[derive(Clone)]
pub struct Balances {
    io: SocketIo<Sockets>,
    seats: Arc<Seats>,
}

#[derive(Serialize)]
struct Told {
    idcustomer: i64,
    saldo: i64,
    sebab: Cause,
}

impl Balances {
    pub fn new(io: SocketIo<Sockets>, seats: Arc<Seats>) -> Self {
        Self { io, seats }
    }

    /// Tells a movement after its commit, if there was one; never blocks. Whoever is away asks for the balance when coming back.
    pub fn tell(&self, moved: Option<Moved>) {
        let Some(Moved { id_customer_global, idcustomer, balance, cause }) = moved else { return };
        let mut sockets = self.seats.sockets(id_customer_global).into_iter();
        let Some(first) = sockets.next() else { return };
        let all = sockets.fold(self.io.to(first), |all, socket| all.to(socket));
        if let Err(error) = all.emit(EVENT, &Told { idcustomer, saldo: balance, sebab: cause }) {
            tracing::error!(error = &error as &dyn std::error::Error, "a balance could not be told");
        }
    }
}
