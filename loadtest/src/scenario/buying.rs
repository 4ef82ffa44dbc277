//! Purchases at an arrival rate that does not depend on the server, for `purchase` and `soak`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use rand::Rng;
use tokio::task::JoinSet;

use super::errand::{self, Errand, Refused};
use super::steps::{drain, join_all, open_shop};
use super::watching::MAX_TOPICS;
use crate::engine::{EngineCommand, EngineReport, Plan, SessionEngine, TickKind, Topic};
use crate::fleet::{Driver, Fleet};
use crate::http::Pool;
use crate::options::{Common, at_least_1};
use crate::report::metrics::shown;
use crate::run::Measurement;
use crate::shop::{Shop, Wish};
use crate::target::{Target, make_room};

/// Greatest number of concurrent requests. Further purchases wait, and their time still counts from the planned moment.
const REQUESTS_AT_ONCE: usize = 1_024;
/// Time after a run at which its final tick is no longer waited for: the engine has counted it as missing by then.
const FINAL_WITHIN: Duration = Duration::from_secs(10);
/// Time of a purchase beside its run, in seconds, for the number of machines and customers.
const AROUND_S: f64 = 3.0;

#[derive(Debug, Clone, Args)]
pub struct Buying {
    /// Purchases that arrive in a second
    #[arg(long, default_value_t = 20.0, value_name = "N")]
    pub rate: f64,
    /// Seconds that each machine runs
    #[arg(long, default_value_t = 5, value_name = "S")]
    pub durasi: u32,
    /// Arrivals exactly one after the other, instead of by chance (Poisson)
    #[arg(long)]
    pub even: bool,
    /// What drives the machines; mqtt: `nyala device sim`, by the program of --nyala
    #[arg(long, value_enum, default_value_t = Driver::Sim)]
    pub driver: Driver,
    /// Machines to buy; as many as the rate needs, when not given
    #[arg(long)]
    pub machines: Option<usize>,
    /// Machines of one outlet: they tick in one phase
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = at_least_1())]
    pub machines_per_outlet: usize,
}

/// Purchase with a running machine.
struct Running {
    machine: usize,
    /// Moment of the payment; the run began no earlier.
    since: Instant,
}

/// State of a measurement of purchases.
pub struct Checkout {
    pub shop: Arc<Shop>,
    pub pool: Pool,
    engine: SessionEngine,
    errands: JoinSet<Errand>,
    free_machines: VecDeque<usize>,
    free_customers: VecDeque<usize>,
    /// Purchases by session; a session has the index of its customer.
    running: HashMap<usize, Running>,
    durasi: Duration,
    /// What customers do whom the overloaded server refuses.
    pub refused: Refused,
    /// Purchases that were paid while further ones arrived.
    pub paid_in_time: u64,
    /// Played devices, which end with this.
    _fleet: Option<Fleet>,
}

impl Buying {
    /// Number of machines that the rate keeps busy, and half as many again.
    pub fn machine_count(&self) -> usize {
        let busy = self.rate * (f64::from(self.durasi) + AROUND_S) * 1.5;
        self.machines.unwrap_or((busy.ceil() as usize).saturating_add(10))
    }

    /// Creates the shop, and lets its customers and `watchers` join. Each watcher watches `per_session` machines all the time. `None`
    /// after Ctrl-C.
    ///
    /// # Errors
    /// One line with the cause.
    pub async fn open(
        &self,
        run: &mut Measurement,
        common: &Common,
        target: &Target,
        watchers: usize,
        per_session: usize,
    ) -> Result<Option<Checkout>, String> {
        if !(self.rate > 0.0 && self.rate <= 100_000.0) || self.durasi == 0 {
            return Err("--rate must be above 0 and at most 100,000, --durasi at least 1".to_owned());
        }
        let machines = self.machine_count();
        if machines == 0 || machines < per_session {
            return Err(format!("--machines must be at least {}", per_session.max(1)));
        }
        if per_session > MAX_TOPICS {
            return Err(format!("--per-session must be at most {MAX_TOPICS}"));
        }
        let (buyers, per_session) = (machines, per_session.max(1));
        make_room(buyers + watchers + REQUESTS_AT_ONCE)?;
        let key = common.root_key()?;
        run.ui.part("preparing", 1);
        let pool = run.prepare(target.ready()).await?;
        let wish = Wish {
            driver: self.driver,
            machines,
            machines_per_outlet: self.machines_per_outlet,
            customers: buyers + watchers,
            duration_s: self.durasi,
        };
        let shop = open_shop(run, &pool, &key, wish).await?;
        let fleet = match self.driver {
            Driver::Sim => None,
            Driver::Mqtt => Some(run.prepare(Fleet::of_shop(&pool, &key, &shop, common.program())).await?),
        };
        let sessions = shop.customers.len();
        run.values.count("sessions", sessions as u64);
        run.values.count("machines", machines as u64);
        run.before_sessions();
        let topics = |s: usize| -> Vec<Topic> {
            let first = s.checked_sub(buyers).map(|watcher| watcher * per_session);
            first.map_or_else(Vec::new, |first| (0..per_session).map(|k| shop.machines[(first + k) % machines].topic()).collect())
        };
        let mut engine = SessionEngine::start(Plan {
            address: target.address,
            host: target.host.clone(),
            tokens: shop.customers.iter().map(|c| c.token.clone()).collect(),
            topics: (0..sessions).map(topics).collect(),
            topics_per_session: per_session,
            groups: shop.groups,
            period_ms: 1000,
            bare: false,
            in_flight: 256,
        })?;
        if !join_all(run, &mut engine, sessions).await? {
            return Ok(None);
        }
        engine.send(EngineCommand::CountRuns);
        Ok(Some(Checkout {
            pool: Pool::new(target.address, REQUESTS_AT_ONCE),
            engine,
            errands: JoinSet::new(),
            free_machines: (0..machines).collect(),
            free_customers: (0..buyers).collect(),
            running: HashMap::new(),
            durasi: Duration::from_secs(u64::from(self.durasi)),
            refused: Refused::Leaves,
            paid_in_time: 0,
            _fleet: fleet,
            shop,
        }))
    }

    /// Time from one arrival to the next.
    fn gap(&self) -> Duration {
        let mean = 1.0 / self.rate;
        // The number is above 0 and at most 1.
        let chance = 1.0 - rand::rng().random::<f64>();
        Duration::from_secs_f64(if self.even { mean } else { -chance.ln() * mean })
    }
}

/// How purchases arrive.
#[derive(Debug, Clone, Copy)]
pub enum Arrivals<'a> {
    /// At the rate, whatever the server does.
    AtRate(&'a Buying),
    /// So many are under way at once: the next one arrives when one is paid.
    AtOnce(usize),
}

impl Arrivals<'_> {
    /// Time from one arrival to the next.
    fn gap(self) -> Duration {
        match self {
            Self::AtRate(buying) => buying.gap(),
            Self::AtOnce(_) => Duration::from_millis(1),
        }
    }

    fn has_room(self, under_way: usize) -> bool {
        match self {
            Self::AtRate(_) => true,
            Self::AtOnce(most) => under_way < most,
        }
    }
}

impl Checkout {
    /// Lets purchases arrive for this time, then waits until all are decided.
    ///
    /// # Errors
    /// When the engine has ended without a command.
    pub async fn serve(&mut self, run: &mut Measurement, arrivals: Arrivals<'_>, length: Duration) -> Result<(), String> {
        run.begin();
        run.ui.part("buying", length.as_secs());
        let interrupt = run.interrupt.clone();
        let began = Instant::now();
        let (mut next, end) = (began + arrivals.gap(), began + length);
        self.paid_in_time = 0;
        while !run.interrupt.came() && (next < end || !self.is_idle()) {
            tokio::select! {
                () = tokio::time::sleep_until(next.into()), if next < end => {
                    // Planned moments depend neither on each other nor on the server.
                    while next <= Instant::now() && next < end {
                        if arrivals.has_room(self.errands.len()) {
                            self.arrives(run, next);
                        }
                        next += arrivals.gap();
                    }
                }
                Some(errand) = self.errands.join_next(), if !self.errands.is_empty() => {
                    let errand = errand.map_err(|e| e.to_string())?;
                    self.paid_in_time += u64::from(errand.outcome.is_ok() && Instant::now() < end);
                    self.paid(run, errand);
                    if Instant::now() < end && matches!(arrivals, Arrivals::AtOnce(_)) {
                        self.arrives(run, Instant::now());
                    }
                }
                report = self.engine.next() => {
                    self.on_report(run, &report.ok_or("the engine of the sessions ended by itself")?, length);
                }
                () = interrupt.wait() => {}
            }
        }
        let measured = run.elapsed().as_secs_f64();
        run.values.set("done_per_s", run.deeds.done as f64 / measured.max(0.001));
        self.shop.undecided.add_to(&mut run.values);
        run.end();
        drain(run, &mut self.engine, |_, report| matches!(report, EngineReport::Second(_))).await;
        Ok(())
    }

    fn is_idle(&self) -> bool {
        self.errands.is_empty() && self.running.is_empty()
    }

    fn arrives(&mut self, run: &mut Measurement, planned: Instant) {
        run.deeds.planned += 1;
        let (Some(machine), Some(customer)) = (self.free_machines.pop_front(), self.free_customers.pop_front()) else {
            return failed(run, "no machine was free: give more --machines");
        };
        self.errands.spawn(errand::buy(self.pool.clone(), self.shop.clone(), (customer, machine), planned, self.refused));
    }

    /// Processes a decided purchase: its customer begins to watch the machine.
    fn paid(&mut self, run: &mut Measurement, errand: Errand) {
        run.deeds.behind.took(errand.behind);
        match errand.outcome {
            Ok(took) => {
                run.deeds.scan.took(took.scan);
                run.deeds.pay.took(took.pay);
                run.deeds.total.took(took.total);
                run.latest.1.took(took.total);
                let since = Instant::now().checked_sub(took.pay).unwrap_or_else(Instant::now);
                self.running.insert(errand.customer, Running { machine: errand.machine, since });
                let topic = self.shop.machines[errand.machine].topic();
                self.engine.send(EngineCommand::Subscribe { session: errand.customer, topic });
            }
            Err(why) => {
                failed(run, &why);
                self.free_machines.push_back(errand.machine);
                self.free_customers.push_back(errand.customer);
            }
        }
    }

    fn on_report(&mut self, run: &mut Measurement, report: &EngineReport, length: Duration) {
        match report {
            EngineReport::Second(second) => {
                run.second(second);
                let under_way = self.errands.len() + self.running.len();
                let line = run.line(&format!("{under_way} under way, {} done, ", shown(run.deeds.done as f64, "")), second);
                let elapsed = run.elapsed().as_secs();
                run.ui.progress(elapsed, length.as_secs(), elapsed, &line);
                self.give_up(run);
            }
            // A late report about the customer's previous machine is not about this one.
            EngineReport::Tick { session, idmesin, .. } | EngineReport::Subscribed { session, idmesin, .. }
                if !self.is_of(*session, *idmesin) => {}
            EngineReport::Tick { session, what: TickKind::Final, .. } => {
                if self.finished(*session) {
                    done(run);
                }
            }
            EngineReport::Subscribed { session, status: 200, runs: false, .. } => {
                // The run may be over already after a late answer; then no final tick follows.
                let is_over = self.running.get(session).is_some_and(|r| r.since.elapsed() >= self.durasi);
                match (self.finished(*session), is_over) {
                    (true, true) => done(run),
                    (true, false) => failed(run, "paid, but the machine does not run"),
                    (false, _) => {}
                }
            }
            EngineReport::Subscribed { session, status, .. } if *status != 200 => {
                if self.finished(*session) {
                    failed(run, "paid, but the countdown could not be watched");
                }
            }
            EngineReport::Tick { .. } | EngineReport::Subscribed { .. } | EngineReport::Settled { .. } => {}
        }
    }

    fn is_of(&self, session: usize, idmesin: i64) -> bool {
        self.running.get(&session).is_some_and(|running| self.shop.machines[running.machine].idmesin == idmesin)
    }

    /// Frees machine and customer. Returns `false` when they were free.
    fn finished(&mut self, session: usize) -> bool {
        let Some(running) = self.running.remove(&session) else { return false };
        let idmesin = self.shop.machines[running.machine].idmesin;
        self.engine.send(EngineCommand::Unsubscribe { session, idmesin });
        self.free_machines.push_back(running.machine);
        self.free_customers.push_back(session);
        true
    }

    fn give_up(&mut self, run: &mut Measurement) {
        let late = |(session, r): (&usize, &Running)| (r.since.elapsed() > self.durasi + FINAL_WITHIN).then_some(*session);
        let late: Vec<usize> = self.running.iter().filter_map(late).collect();
        for session in late {
            self.finished(session);
            failed(run, "paid, but no final tick came");
        }
    }
}

fn done(run: &mut Measurement) {
    run.deeds.done += 1;
    run.latest.0 += 1;
}

fn failed(run: &mut Measurement, why: &str) {
    run.deeds.failed += 1;
    run.errors.add(why, 1);
}
