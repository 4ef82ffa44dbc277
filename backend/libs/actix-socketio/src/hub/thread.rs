//! A hub's state on one thread: its value, the messages gathered for other threads, and the task that receives theirs.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::mpsc;

use super::{Hub, HubState, Local, MAX_BATCHES, MAX_WAITING, ThreadInbox};
use crate::vital;

pub(super) struct ThreadState<L: Local> {
    /// Weak, because this exists until the runtime ends: dropping the last handle of a hub must free its values on all threads.
    hub: Weak<HubState<L>>,
    pub number: usize,
    pub local: L,
    pending: BTreeMap<usize, Pending<L>>,
    /// A task waits for the end of this event-loop turn.
    sending: bool,
}

/// Messages that wait for another thread.
struct Pending<L: Local> {
    target: Weak<ThreadInbox<L>>,
    messages: Vec<L::Message>,
    /// A task waits for space in the inbox.
    waiting: bool,
}

thread_local! {
    /// Hubs' state on this thread, by the number of the hub.
    static HERE: RefCell<Vec<(usize, Rc<dyn Any>)>> = const { RefCell::new(Vec::new()) };
}

/// Removes the hub's state at the end of the runtime. The next runtime of this thread (tests start several) creates a new one.
struct HubStopped(usize);

impl Drop for HubStopped {
    fn drop(&mut self) {
        let gone = HERE.try_with(|all| {
            let mut all = all.borrow_mut();
            all.iter().position(|(number, _)| *number == self.0).map(|at| all.swap_remove(at))
        });
        drop(gone); // after the borrow of the list ends: dropping the state may access the list
    }
}

impl<L: Local> ThreadState<L> {
    /// The state of `hub` on this thread, if it exists.
    pub fn get(hub: &Hub<L>) -> Option<Rc<RefCell<Self>>> {
        let there_is = HERE.try_with(|all| {
            let all = all.borrow();
            all.iter().find(|(number, _)| *number == hub.0.number).map(|(_, here)| here.clone())
        });
        there_is.ok()??.downcast().ok()
    }

    /// The same, created if needed.
    pub fn get_or_create(hub: &Hub<L>) -> Rc<RefCell<Self>> {
        Self::get(hub).unwrap_or_else(|| Self::start(hub))
    }

    fn start(hub: &Hub<L>) -> Rc<RefCell<Self>> {
        let (inbox, messages) = mpsc::channel(MAX_BATCHES);
        let lost = Arc::new(AtomicBool::new(false));
        let target = Arc::new(ThreadInbox { sender: inbox, lost: lost.clone() });
        let mut inboxes = hub.0.inboxes.write().unwrap_or_else(PoisonError::into_inner);
        let number = inboxes.len();
        inboxes.push(target);
        drop(inboxes);
        let local = (hub.0.make)();
        let here =
            Rc::new(RefCell::new(Self { hub: Arc::downgrade(&hub.0), number, local, pending: BTreeMap::new(), sending: false }));
        HERE.with_borrow_mut(|all| all.push((hub.0.number, here.clone())));
        vital::spawn("hub", take_in(here.clone(), hub.0.number, lost, messages));
        here
    }

    /// Keeps a message until the end of this event-loop turn.
    pub fn gather(&mut self, thread: usize, message: &L::Message) {
        let Some(hub) = self.hub.upgrade().map(Hub) else { return };
        let Some(pending) = self.pending_for(&hub, thread) else { return };
        if pending.messages.len() >= MAX_WAITING {
            if let Some(target) = pending.target.upgrade() {
                hub.drop_or_mark_lost(&target, message);
            }
            return;
        }
        pending.messages.push(message.clone());
        if !std::mem::replace(&mut self.sending, true) {
            let hub = self.hub.clone();
            // Runs after all other tasks of this turn, so that it sends everything they publish.
            vital::spawn("hub", async move {
                tokio::task::yield_now().await;
                if let Some(hub) = hub.upgrade().map(Hub) {
                    Self::get_or_create(&hub).borrow_mut().send_pending(&hub);
                }
            });
        }
    }

    fn pending_for(&mut self, hub: &Hub<L>, thread: usize) -> Option<&mut Pending<L>> {
        Some(match self.pending.entry(thread) {
            Entry::Occupied(pending) => pending.into_mut(),
            Entry::Vacant(free) => {
                let target = Arc::downgrade(&hub.inbox(thread)?);
                free.insert(Pending { target, messages: Vec::new(), waiting: false })
            }
        })
    }

    fn send_pending(&mut self, hub: &Hub<L>) {
        self.sending = false;
        for (&thread, pending) in &mut self.pending {
            if pending.messages.is_empty() {
                continue;
            }
            let (Some(target), messages) = (pending.target.upgrade(), std::mem::take(&mut pending.messages)) else { continue };
            let Err(mpsc::error::TrySendError::Full(mut messages)) = target.sender.try_send(messages) else { continue };
            let before = messages.len();
            messages.retain(|message| !L::is_volatile(message));
            (hub.0.dropped)((before - messages.len()) as u64);
            pending.messages = messages;
            if !pending.messages.is_empty() && !std::mem::replace(&mut pending.waiting, true) {
                vital::spawn("hub", send_when_there_is_room(self.hub.clone(), thread, target.sender.clone()));
            }
        }
    }
}

/// Sends the waiting messages once the inbox has space. One task for each full inbox, however many messages wait.
async fn send_when_there_is_room<L: Local>(hub: Weak<HubState<L>>, thread: usize, inbox: mpsc::Sender<Vec<L::Message>>) {
    let room = inbox.reserve().await;
    let Some(hub) = hub.upgrade().map(Hub) else { return };
    let here = ThreadState::get_or_create(&hub);
    let mut here = here.borrow_mut();
    let Some(pending) = here.pending.get_mut(&thread) else { return };
    pending.waiting = false;
    let messages = std::mem::take(&mut pending.messages);
    if let (Ok(room), false) = (room, messages.is_empty()) {
        room.send(messages);
    }
}

async fn take_in<L: Local>(
    here: Rc<RefCell<ThreadState<L>>>,
    hub: usize,
    lost: Arc<AtomicBool>,
    mut inbox: mpsc::Receiver<Vec<L::Message>>,
) {
    let _stopped = HubStopped(hub);
    while let Some(messages) = inbox.recv().await {
        let local = &mut here.borrow_mut().local;
        messages.iter().for_each(|message| local.deliver(message));
        if lost.swap(false, Relaxed) {
            local.lost();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use tokio::task::yield_now;

    use super::*;

    /// Received messages, and whether a loss was reported.
    #[derive(Default)]
    struct CountingLocal {
        messages: Vec<u32>,
        lost: bool,
    }

    impl Local for CountingLocal {
        type Message = u32;

        fn deliver(&mut self, message: &u32) {
            self.messages.push(*message);
        }

        /// Even numbers.
        fn is_volatile(message: &u32) -> bool {
            message.is_multiple_of(2)
        }

        fn lost(&mut self) {
            self.lost = true;
        }
    }

    fn hub() -> (Hub<CountingLocal>, Arc<AtomicU64>) {
        let dropped = Arc::<AtomicU64>::default();
        let count = dropped.clone();
        (Hub::new(CountingLocal::default, move |n| _ = count.fetch_add(n, Relaxed)), dropped)
    }

    /// A thread that does not read its inbox.
    fn stalled(hub: &Hub<CountingLocal>) -> (Arc<ThreadInbox<CountingLocal>>, mpsc::Receiver<Vec<u32>>) {
        let (inbox, messages) = mpsc::channel(MAX_BATCHES);
        let target = Arc::new(ThreadInbox { sender: inbox, lost: Arc::default() });
        hub.0.inboxes.write().unwrap().push(target.clone());
        (target, messages)
    }

    #[actix_web::test]
    async fn a_thread_that_stalls_loses_volatile_parcels_which_are_counted_but_no_other_one() {
        let (hub, dropped) = hub();
        assert_eq!(hub.thread(), 0);
        let (target, mut inbox) = stalled(&hub);

        for batches in 1..=MAX_BATCHES {
            hub.publish(&0, [0, 1]);
            while inbox.len() < batches {
                yield_now().await;
            }
        }
        assert_eq!(hub.here(|seen| seen.messages.len()), Some(MAX_BATCHES), "this thread's are not held up");
        assert_eq!(dropped.load(Relaxed), 0);
        for message in [2, 1, 4, 3] {
            hub.publish(&message, [1]);
        }
        while dropped.load(Relaxed) < 2 {
            yield_now().await;
        }
        hub.publish(&5, [1]);

        for _ in 0..MAX_BATCHES {
            assert_eq!(inbox.recv().await.unwrap(), [0]);
        }
        let mut waited = Vec::new();
        while waited.len() < 3 {
            waited.extend(inbox.recv().await.unwrap());
        }
        assert_eq!(waited, [1, 3, 5], "in the order in which they were published");
        assert!(!target.lost.load(Relaxed));
    }

    #[actix_web::test]
    async fn waiting_parcels_are_limited_and_their_thread_is_notified_of_losses() {
        let (hub, dropped) = hub();
        hub.thread();
        let (target, _inbox) = stalled(&hub);
        for _ in 0..MAX_WAITING {
            hub.publish(&1, [1]);
        }
        assert!(!target.lost.load(Relaxed));
        hub.publish(&2, [1]);
        assert_eq!((dropped.load(Relaxed), target.lost.load(Relaxed)), (1, false));
        hub.publish(&3, [1]);
        assert!(target.lost.load(Relaxed));
    }

    #[actix_web::test]
    async fn a_thread_receives_parcels_of_others_and_is_notified_of_losses() {
        let (hub, _) = hub();
        assert_eq!(hub.here(|seen| seen.lost), Some(false));
        let target = hub.inbox(0).unwrap();
        target.lost.store(true, Relaxed);
        let other = hub.clone();
        std::thread::spawn(move || {
            other.publish(&7, [0]); // without a runtime
            actix_web::rt::System::new().block_on(async move {
                assert_eq!(other.thread(), 1);
                other.publish(&8, 0..other.threads());
                yield_now().await;
                yield_now().await;
                assert_eq!(other.here(|seen| seen.messages.clone()), Some(vec![8]));
            });
        });
        while hub.here(|seen| seen.messages.len() < 2).unwrap() {
            yield_now().await;
        }
        assert_eq!(hub.here(|seen| (seen.messages.clone(), seen.lost)), Some((vec![7, 8], true)));
    }

    #[actix_web::test]
    async fn with_its_last_handle_a_hub_is_gone_from_every_thread() {
        let (hub, _) = hub();
        let here = ThreadState::get_or_create(&hub);
        let gone = Rc::downgrade(&here);
        drop(here);
        assert!(gone.upgrade().is_some());
        drop(hub);
        while gone.upgrade().is_some() {
            yield_now().await;
        }
    }
}
