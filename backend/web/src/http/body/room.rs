//! Room for bodies that are not complete yet (`http.unfinished_bodies_mb`): one limit over all connections. It is shared so that a slow
//! client takes room from itself, or from an address that holds even more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_socketio::host::fair_pool::FairPool;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::oneshot;

use nyala_core::domain::address::Address;

/// One instance for the whole process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Room(Arc<RoomState>);

#[derive(Debug)]
struct RoomState {
    max_bytes: usize,
    held: Mutex<Bodies>,
    /// Bytes held now.
    bytes: Gauge,
    /// Bodies that lost their room.
    given_up: Counter,
}

/// A body got no room, or lost it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

/// The room of one unfinished body; released when it is dropped.
#[derive(Debug)]
pub struct BodyPlace {
    room: Room,
    address: Address,
    number: u64,
    /// Completes when another body needs this one's room.
    lost: oneshot::Receiver<()>,
}

/// Weighed by their bytes. A body that is removed drops its sender, which notifies its `BodyPlace`.
type Bodies = FairPool<Address, oneshot::Sender<()>>;

impl Room {
    /// Limits unfinished bodies to `max_bytes` over all connections.
    pub fn new(max_bytes: usize) -> Self {
        Self(Arc::new(RoomState { max_bytes, held: Mutex::default(), bytes: Gauge::default(), given_up: Counter::default() }))
    }

    /// A place for a body from `address`; it holds nothing yet.
    pub fn enter(&self, address: Address) -> BodyPlace {
        let (notify, lost) = oneshot::channel();
        let number = self.held().insert(address, 0, notify);
        BodyPlace { room: self.clone(), address, number, lost }
    }

    pub fn bytes(&self) -> &Gauge {
        &self.0.bytes
    }

    pub fn given_up(&self) -> &Counter {
        &self.0.given_up
    }

    fn held(&self) -> MutexGuard<'_, Bodies> {
        // Every step that can panic leaves the data consistent.
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update_gauge(&self, held: &Bodies) {
        self.0.bytes.set(i64::try_from(held.total()).unwrap_or(i64::MAX));
    }
}

impl BodyPlace {
    /// Reserves room for `bytes` in total, taking it if necessary from the oldest body of the address that holds most.
    pub fn hold(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let (inner, mut held) = (&self.room.0, self.room.held());
        if !held.resize(self.address, self.number, bytes) {
            return Err(NoRoom);
        }
        while held.total() > inner.max_bytes
            && let Some(largest) = held.largest()
        {
            held.remove(largest.holder, largest.number);
            inner.given_up.inc();
        }
        self.room.update_gauge(&held);
        if held.contains(self.address, self.number) { Ok(()) } else { Err(NoRoom) }
    }

    /// Returns when another body has taken the room.
    pub async fn lost(&mut self) {
        let _ = (&mut self.lost).await;
    }
}

impl Drop for BodyPlace {
    fn drop(&mut self) {
        let mut held = self.room.held();
        held.remove(self.address, self.number);
        self.room.update_gauge(&held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(n: u8) -> Address {
        Address::V4(n.into())
    }

    fn is_lost(place: &mut BodyPlace) -> bool {
        place.lost.try_recv() != Err(oneshot::error::TryRecvError::Empty)
    }

    fn place(room: &Room, n: u8, bytes: usize) -> BodyPlace {
        let mut place = room.enter(ip(n));
        place.hold(bytes).unwrap();
        place
    }

    #[test]
    fn the_sum_is_never_above_its_bound() {
        let room = Room::new(100);
        let mut places: Vec<_> = (0..50).map(|n| place(&room, n % 7, 10)).collect();
        assert_eq!((room.bytes().get(), room.given_up().get()), (100, 40));
        assert_eq!(places.iter_mut().map(is_lost).filter(|lost| !lost).count(), 10);
        drop(places);
        let held = room.held();
        assert_eq!((held.total(), held.holders()), (0, 0));
        assert_eq!(room.bytes().get(), 0);
    }

    #[test]
    fn the_address_with_most_bytes_loses_its_oldest_body() {
        let room = Room::new(100);
        let mut quiet = place(&room, 1, 20);
        let (mut first, mut second) = (place(&room, 2, 40), place(&room, 2, 40));
        let mut third = place(&room, 3, 20);
        assert!(is_lost(&mut first) && !is_lost(&mut second) && !is_lost(&mut third) && !is_lost(&mut quiet));
        assert_eq!(first.hold(41), Err(NoRoom), "a lost place stays lost");
        // The body that grows may itself be the largest.
        assert_eq!(third.hold(70), Err(NoRoom));
        assert!(!is_lost(&mut second) && !is_lost(&mut quiet));
    }

    #[test]
    fn among_equal_addresses_the_one_with_the_oldest_body_loses_it() {
        let room = Room::new(30);
        let (mut oldest, mut young) = (place(&room, 9, 10), place(&room, 1, 10));
        let (mut third, mut fourth) = (place(&room, 2, 10), place(&room, 3, 10));
        assert!(is_lost(&mut oldest) && !is_lost(&mut young) && !is_lost(&mut third) && !is_lost(&mut fourth));
    }

    #[test]
    fn a_body_larger_than_the_whole_room_is_refused() {
        let room = Room::new(10);
        assert_eq!(room.enter(ip(1)).hold(11), Err(NoRoom));
        assert!(room.enter(ip(1)).hold(10).is_ok());
    }
}
