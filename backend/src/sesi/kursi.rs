//! Seats: a customer has at most so many sockets (contract §3), and all of them end with the token they came with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix_socketio::Closer;
use dashmap::DashMap;
use tokio::sync::broadcast::error::RecvError;

use crate::auth::sesi::{Ended, Sesi, Versi};
use crate::auth::token::TokenId;

#[derive(Debug)]
struct Kursi {
    nomor: u64,
    version: i32,
    token: TokenId,
    closer: Closer,
}

/// Every open socket, by customer.
#[derive(Debug, Default)]
pub struct DaftarKursi {
    kursi: DashMap<i64, Vec<Kursi>>,
    next: AtomicU64,
}

/// A taken seat; dropping it frees it.
#[derive(Debug)]
pub struct Duduk {
    daftar: Arc<DaftarKursi>,
    id: i64,
    nomor: u64,
}

impl DaftarKursi {
    /// A seat for one more socket of the customer; `None` when `max` are taken.
    pub fn take(self: &Arc<Self>, sesi: &Sesi, closer: Closer, max: usize) -> Option<Duduk> {
        let nomor = self.next.fetch_add(1, Ordering::Relaxed);
        let mut seats = self.kursi.entry(sesi.id).or_default();
        if seats.len() >= max {
            return None;
        }
        seats.reserve_exact(1); // most customers have one phone
        seats.push(Kursi { nomor, version: sesi.version, token: sesi.token, closer });
        Some(Duduk { daftar: self.clone(), id: sesi.id, nomor })
    }

    /// Closes the sockets whose token has ended, as long as the server lives.
    pub async fn watch(self: Arc<Self>, versi: &Versi) {
        let mut ended = versi.subscribe();
        loop {
            match ended.recv().await {
                Ok(end) => self.kursi.get(&end.id).iter().for_each(|seats| close(seats, end.which)),
                // Whose tokens ended is not known any more; clients come back and show theirs again.
                Err(RecvError::Lagged(_)) => self.kursi.iter().for_each(|seats| close(&seats, Ended::Older(i32::MAX))),
                Err(RecvError::Closed) => return,
            }
        }
    }
}

/// Closes the sockets whose token is among the ended ones.
fn close(seats: &[Kursi], ended: Ended) {
    let has_ended = |kursi: &&Kursi| match ended {
        Ended::Older(version) => kursi.version < version,
        Ended::One(token) => kursi.token == token,
    };
    seats.iter().filter(has_ended).for_each(|kursi| kursi.closer.close());
}

impl Drop for Duduk {
    fn drop(&mut self) {
        if let Some(mut seats) = self.daftar.kursi.get_mut(&self.id) {
            seats.retain(|kursi| kursi.nomor != self.nomor);
        }
        self.daftar.kursi.remove_if(&self.id, |_, seats| seats.is_empty());
    }
}
