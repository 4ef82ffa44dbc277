//! Destination of the answer to an input.

use nyala_core::machine::Waiter;
use tokio::sync::oneshot;

/// Sending end of one answer. When it is dropped without an answer, the receiver sees that nothing was decided.
#[derive(Debug)]
pub struct Reply<T>(oneshot::Sender<T>);

/// A reply, and the receiver that awaits it.
pub fn channel<T>() -> (Reply<T>, oneshot::Receiver<T>) {
    let (sender, receiver) = oneshot::channel();
    (Reply(sender), receiver)
}

impl<T> Reply<T> {
    /// Does nothing when the receiver is gone.
    pub fn send(self, answer: T) {
        let _ = self.0.send(answer);
    }
}

impl<T> Waiter for Reply<T> {
    fn gone(&self) -> bool {
        self.0.is_closed()
    }
}
