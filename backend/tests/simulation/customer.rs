//! Customers: they press, press again, wait eight seconds, repeat requests without an answer, and keep the answers they received.

use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Input, Outcome, RequestId, Start};
use nyala_core::purchase::rules::{Decision, Refusal};
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::times::ANSWER_WAIT_MS;
use rand::Rng;

use super::devices::Devices;
use super::store::OrderRow;
use super::world::{CUSTOMERS, Happening, MACHINES, World};

/// Maximum number of reads of the facts for one request, as in `create_snap_transaksi`.
const MAX_ATTEMPTS: u32 = 4;

/// The answer that a customer received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomerAnswer {
    /// 200.
    Runs,
    /// 409: the money is back.
    DidNotStart,
    /// A refusal of the table.
    Refused(Refusal),
    /// 503, 504, or the connection broke.
    Unknown,
}

#[derive(Debug)]
pub struct Request {
    pub order: OrderRow,
    pub answer: Option<CustomerAnswer>,
    /// With several servers: the server at which the request waits, and the number of that server's start.
    pub(super) at: Option<(usize, u32)>,
    /// When the request began to wait there.
    pub(super) since: Timestamp,
    tries: u32,
    /// How often the request is sent again when it received no answer.
    patience: u32,
}

impl<D: Devices> World<D> {
    /// A customer buys something in `after_ms`, perhaps with two presses.
    pub fn customer_comes(&mut self, receipt: u32, after_ms: i64) {
        let customer = self.rng.random_range(0..CUSTOMERS);
        let order = OrderRow {
            customer,
            // Customers may share receipt numbers; one in ten sends an old number with another body.
            receipt: if self.chance(0.1) { receipt / 2 } else { receipt },
            machine: self.rng.random_range(0..MACHINES),
            service: self.rng.random_range(0..self.services()),
        };
        let patience = self.rng.random_range(0..6);
        self.order(order, after_ms, patience);
        // A fault has the largest effect while a purchase is under way.
        D::plan_press(self, order.machine, after_ms);
        if self.chance(0.3) {
            let again_ms = after_ms + self.up_to(12_000);
            self.order(order, again_ms, 0);
        }
    }

    /// A purchase after all faults are over: a short cycle must be possible again.
    pub fn customer_tries(&mut self, machine: usize, after_ms: i64) {
        let order = OrderRow { customer: CUSTOMERS, receipt: 900 + u32::try_from(machine).unwrap(), machine, service: 0 };
        self.order(order, after_ms, 0);
    }

    pub(super) fn order(&mut self, order: OrderRow, after_ms: i64, patience: u32) {
        self.requests.push(Request { order, answer: None, at: None, since: self.now, tries: 0, patience });
        self.after(after_ms, Happening::Press { request: self.requests.len() - 1 });
    }

    pub fn press(&mut self, request: usize) {
        if !self.server.up {
            return self.receive(request, CustomerAnswer::Unknown);
        }
        if self.requests[request].tries == 0 {
            self.after(ANSWER_WAIT_MS, Happening::Deadline { request });
        }
        self.read_facts(request);
    }

    /// One round of `create_snap_transaksi`.
    fn read_facts(&mut self, request: usize) {
        let Request { order, tries, .. } = &mut self.requests[request];
        *tries += 1;
        if *tries > MAX_ATTEMPTS {
            return self.receive(request, CustomerAnswer::Unknown);
        }
        let order = *order;
        let decision = self.store.decide(order, self.clock());
        let delay_ms = if self.chance(0.1) { self.up_to(2_000) } else { self.up_to(5) };
        let incarnation = self.server.incarnation;
        self.after(delay_ms, Happening::Decided { incarnation, request, decision: Box::new(decision) });
    }

    pub fn decided(&mut self, request: usize, decision: Decision) {
        if self.requests[request].answer.is_some() {
            return;
        }
        self.requests[request].since = self.now;
        let order = self.requests[request].order;
        match decision {
            // This refusal is not stored: the receipt number belongs to another body.
            Decision::ReceiptTaken => self.receive(request, CustomerAnswer::Unknown),
            Decision::RefusedBefore(why) => self.receive(request, CustomerAnswer::Refused(why)),
            Decision::Refused(why) => self.answer(request, Outcome::Refused(why)),
            Decision::Purchased { state: PurchaseState::Refused | PurchaseState::Expired, .. } => {
                self.receive(request, CustomerAnswer::DidNotStart)
            }
            Decision::Purchased { state: PurchaseState::Running | PurchaseState::Finished | PurchaseState::Stopped, .. } => {
                self.receive(request, CustomerAnswer::Runs)
            }
            Decision::Purchased { purchase_id, .. } => {
                let buyer = RequestId(request as u64);
                self.send_input(order.machine, Input::Await { purchase_id, buyer });
            }
            Decision::Allowed { machine, service } => {
                let start = Start { order: order.order(), machine, service, buyers: vec![RequestId(request as u64)] };
                D::buy(self, request, order.machine, start);
            }
        }
    }

    /// The actor's answer to a request.
    pub fn answer(&mut self, request: usize, outcome: Outcome) {
        if self.requests[request].answer.is_some() {
            return;
        }
        self.check_answered_soon(request, outcome);
        match outcome {
            Outcome::Started => self.receive(request, CustomerAnswer::Runs),
            Outcome::NotStarted => self.receive(request, CustomerAnswer::DidNotStart),
            Outcome::Busy => self.receive(request, CustomerAnswer::Unknown),
            Outcome::ReadAgain => self.read_facts(request),
            Outcome::Ended => panic!("no customer waits for a stop"),
            Outcome::Refused(why) => {
                if self.store.refuse(self.requests[request].order, why, self.clock()) {
                    self.receive(request, CustomerAnswer::Refused(why));
                } else {
                    self.read_facts(request);
                }
            }
        }
    }

    pub fn deadline(&mut self, request: usize) {
        if self.requests[request].answer.is_none() {
            self.receive(request, CustomerAnswer::Unknown);
        }
    }

    /// The server died: all requests that wait there lose their connection.
    pub fn connections_break(&mut self) {
        for request in 0..self.requests.len() {
            let here = self.is_here(self.requests[request].at);
            if here && self.requests[request].tries > 0 && self.requests[request].answer.is_none() {
                self.receive(request, CustomerAnswer::Unknown);
            }
        }
    }

    fn receive(&mut self, request: usize, answer: CustomerAnswer) {
        self.requests[request].answer = Some(answer);
        let Request { order, patience, .. } = self.requests[request];
        let again = answer == CustomerAnswer::Unknown && patience > 0 || answer == CustomerAnswer::Runs && self.chance(0.1);
        if again {
            let after_ms = self.up_to(20_000);
            self.order(order, after_ms, patience.saturating_sub(1));
        }
    }
}
