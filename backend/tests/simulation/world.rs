//! Virtual time: all events are in one queue, and one generator makes every random choice. So a seed is a whole history, and the same
//! seed is the same history.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use nyala_core::domain::id::PurchaseId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::machine::{Input, RequestId};
use nyala_core::purchase::rules::Decision;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::customer::Request;
use super::devices::Devices;
use super::server::{FIRST_STOP, SimulatedServer};
use super::several::{self, Halt, Several};
use super::statements::Write;
use super::store::{OrderRow, Store};

pub const MACHINES: usize = 3;
/// Customers during the faults; one more buys when all is over.
pub const CUSTOMERS: usize = 4;
/// How long faults are injected. Then everything is repaired, and the world must come to rest.
pub const TROUBLE_MS: i64 = 60 * 60_000;
/// Far more than any history needs: a history that never ends is found by this limit.
const MAX_HAPPENINGS: u64 = 500_000;
/// Small enough that some customers run out of money.
pub const BALANCE: i64 = 80_000;
pub const T0: Timestamp = Timestamp::from_ms(1_800_000_000_000);

#[derive(Debug)]
pub enum Happening<D> {
    /// A request reaches the server; its facts are read.
    Press {
        request: usize,
    },
    /// The customer's 8 s are over.
    Deadline {
        request: usize,
    },
    /// The decision about a request reaches the machine's actor.
    Decided {
        incarnation: u32,
        request: usize,
        decision: Box<Decision>,
    },
    Hold {
        incarnation: u32,
        machine: usize,
        order: OrderRow,
        at: Timestamp,
    },
    /// A write reaches the database; with several servers it has a fence.
    Write(Write),
    /// The write is committed; its fence matched when it began.
    Commit(Write),
    Load {
        incarnation: u32,
        machine: usize,
    },
    /// The result of a statement reaches the machine's actor.
    Input {
        incarnation: u32,
        machine: usize,
        input: Box<Input>,
    },
    Alarm {
        incarnation: u32,
        machine: usize,
        number: u32,
    },
    Reap {
        incarnation: u32,
        round: u64,
    },
    Crash,
    Boot,
    /// An event of the devices or of their network.
    Device(D),
    /// An event among several servers.
    Several(several::ClusterHappens),
    /// A fault of a device or its network.
    Trouble {
        machine: usize,
    },
    OperatorStops {
        machine: usize,
    },
    /// Staff open a machine that the server has closed.
    StaffOpens {
        machine: usize,
    },
    OperatorRefunds,
    /// Faults end for good.
    Peace,
}

struct Due<D> {
    at: Timestamp,
    number: u64,
    /// In a box, because the queue moves its items all the time.
    what: Box<Happening<D>>,
}

impl<D> PartialEq for Due<D> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}
impl<D> Eq for Due<D> {}
impl<D> PartialOrd for Due<D> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<D> Ord for Due<D> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

pub struct World<D: Devices> {
    pub now: Timestamp,
    pub rng: StdRng,
    pub store: Store,
    /// The server; with several, the one in whose name events happen.
    pub server: SimulatedServer,
    pub several: Option<Several>,
    /// The server stop at an edge that this history is about.
    pub halt: Option<Halt<D::Happening>>,
    pub devices: D,
    pub requests: Vec<Request>,
    /// Stops that operators have asked for.
    stops: u64,
    /// How often each event happened, so that a run can check that its histories covered enough.
    pub seen: BTreeMap<&'static str, u32>,
    /// Whether faults are still injected.
    pub troubled: bool,
    queue: BinaryHeap<Reverse<Due<D::Happening>>>,
    number: u64,
    /// Prints the history while it runs (`NYALA_SIM_SEED`).
    verbose: bool,
}

impl<D: Devices> World<D> {
    /// The history of `seed`, not begun.
    pub fn new(seed: u64, verbose: bool) -> Self {
        let mut world = Self::unplanned(seed, verbose);
        world.plan();
        world
    }

    pub(super) fn unplanned(seed: u64, verbose: bool) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let devices = D::new(&mut rng);
        Self {
            now: T0,
            rng,
            store: Store::new(CUSTOMERS + 1, MACHINES, BALANCE),
            server: SimulatedServer::new(MACHINES),
            several: None,
            halt: None,
            devices,
            requests: Vec::new(),
            stops: 0,
            seen: BTreeMap::new(),
            troubled: true,
            queue: BinaryHeap::new(),
            number: 0,
            verbose,
        }
    }

    fn plan(&mut self) {
        self.after(0, Happening::Boot);
        for receipt in 1..=D::PLAN.presses {
            let at = self.up_to(TROUBLE_MS);
            self.customer_comes(receipt, at);
        }
        D::plan(self);
        for _ in 0..5 {
            let at = self.up_to(TROUBLE_MS);
            self.after(at, Happening::OperatorRefunds);
        }
        self.after(TROUBLE_MS, Happening::Peace);
    }

    /// Runs until no event is left; checks the invariants after every step.
    pub fn run(&mut self) {
        while let Some(Reverse(due)) = self.queue.pop() {
            self.now = due.at;
            assert!(self.number < MAX_HAPPENINGS, "the world comes to rest");
            if self.verbose {
                println!("{:>9} {:?}", T0.ms_until(self.now), due.what);
            }
            self.happen(*due.what);
            self.check_step();
        }
        self.check_end();
    }

    pub fn after(&mut self, ms: i64, what: Happening<D::Happening>) {
        self.number += 1;
        self.queue.push(Reverse(Due { at: self.now.plus_ms(ms.max(0)), number: self.number, what: Box::new(what) }));
    }

    /// Removes all pending events.
    pub fn rest(&mut self) {
        self.queue.clear();
    }

    pub fn note(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    pub fn up_to(&mut self, ms: i64) -> i64 {
        self.rng.random_range(0..=ms)
    }

    pub fn chance(&mut self, of: f64) -> bool {
        self.rng.random_bool(of)
    }

    fn happen(&mut self, what: Happening<D::Happening>) {
        let Some(what) = self.in_its_place(what) else { return };
        match what {
            Happening::Press { request } => self.press(request),
            Happening::Deadline { request } => self.deadline(request),
            Happening::Several(what) => self.happen_among(what),
            Happening::Crash => self.crash(),
            Happening::Boot => self.boot(),
            Happening::Device(what) => D::happen(self, what),
            Happening::Trouble { machine } if self.troubled && !self.stays_silent(machine) => D::trouble(self, machine),
            Happening::Trouble { .. } => {}
            Happening::OperatorStops { machine } => self.operator_stops(machine),
            Happening::StaffOpens { machine } => self.store.open_machine(machine, self.now),
            Happening::OperatorRefunds => self.operator_refunds(),
            Happening::Peace => self.peace(),
            // A statement of a dead process may still be carried out by the database.
            Happening::Hold { incarnation, machine, order, at } => self.hold(incarnation, machine, order, at),
            Happening::Write(write) => self.writes(write),
            Happening::Commit(write) => self.commits(write, true),
            Happening::Load { incarnation, machine } if incarnation == self.server.incarnation => self.load(incarnation, machine),
            Happening::Decided { incarnation, request, decision } if incarnation == self.server.incarnation => {
                self.decided(request, *decision)
            }
            Happening::Input { incarnation, machine, input } if incarnation == self.server.incarnation => {
                self.send_input(machine, *input)
            }
            Happening::Alarm { incarnation, machine, number } if incarnation == self.server.incarnation => {
                self.alarm(machine, number)
            }
            Happening::Reap { incarnation, round } if incarnation == self.server.incarnation => self.reap(round),
            _ => {}
        }
    }

    pub(super) fn operator_stops(&mut self, machine: usize) {
        if self.server.up
            && let Some(purchase) = self.store.request_stop(machine, self.clock())
        {
            self.comes_to(machine, "after_stop_request");
            self.send_input(machine, Input::Stop { purchase_id: purchase, operator: Some(RequestId(FIRST_STOP + self.stops)) });
            self.stops += 1;
        }
    }

    fn operator_refunds(&mut self) {
        if self.store.purchases.is_empty() {
            return;
        }
        let purchase = self.rng.random_range(1..=self.store.purchases.len());
        let amount = self.rng.random_range(1..=super::store::PRICE);
        self.store.refund(PurchaseId::new(i64::try_from(purchase).unwrap()), amount, self.now);
    }

    /// Whether a message in transit may still report a run: from the device, between servers, or before it is stored.
    pub fn is_a_run_report_in_flight(&self) -> bool {
        let reports = |what: &Happening<D::Happening>| match what {
            Happening::Device(what) => D::reports_a_run(what),
            Happening::Several(what) => what.reports_a_run(),
            Happening::Write(write) | Happening::Commit(write) => write.reports_a_run(),
            _ => false,
        };
        self.queue.iter().any(|Reverse(due)| reports(&due.what)) || self.has_a_forwarded_run_report()
    }

    /// Ends all faults: what is broken is repaired, and a server that is down starts.
    fn peace(&mut self) {
        self.troubled = false;
        for machine in 0..MACHINES {
            if !self.stays_silent(machine) {
                D::peace(self, machine);
            }
            self.store.open_machine(machine, self.now);
        }
        if self.several.is_some() {
            return self.peace_among();
        }
        if !self.server.up {
            self.after(1_000, Happening::Boot);
        }
        for machine in 0..MACHINES {
            // After the longest run and the fifteen minutes of `GIVE_UP_MS` every customer can buy again.
            self.customer_tries(machine, 50 * 60_000);
        }
    }
}
