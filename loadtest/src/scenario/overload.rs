//! `overload`: purchases from half to three times what the server can serve. Customers come back when they are refused, up to three times.

use std::time::Duration;

use clap::Args;

use super::buying::{Arrivals, Buying, Checkout};
use super::errand::Refused;
use super::{Verdict, run};
use crate::engine::stats::{Spans, Times};
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::{Common, length_s};
use crate::report::Report;
use crate::run::{Deeds, Measurement};

/// Multiples of the capacity that are offered, one after the other.
const TIMES: [f64; 6] = [0.5, 0.75, 1.0, 1.5, 2.0, 3.0];
/// The multiple whose figures are in the report.
const TWICE: f64 = 2.0;
/// Purchases under way at once while the capacity is measured: more and more, until no more of them are paid. Most of a purchase is the wait for its
/// device.
const AT_ONCE: [usize; 6] = [32, 64, 128, 256, 512, 1024];
/// Growth of the paid purchases that is worth trying more of them at once.
const MORE: f64 = 1.1;
/// Purchases in a second for which machines are made when the capacity is not given.
const SUPPOSED_CAPACITY: f64 = 500.0;
/// Seconds for which a customer who is refused may keep a machine.
const RETURNS_S: f64 = 8.0;

#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  nyala-loadtest overload --seconds 20
  nyala-loadtest overload --capacity 400 --seconds 20 --fail-if 'twice_done_percent < 85' --fail-if 'twice_answer_p99_ms > 1000'

Customers scan, choose, pay, watch and finish. Refused ones come back after Retry-After, up to three times. Give the tool cores of
its own (taskset), or what it costs counts as the server's.")]
pub struct Overload {
    #[command(flatten)]
    common: Common,
    /// Purchases in a second that the server can serve; measured first, when not given
    #[arg(long, value_name = "N")]
    capacity: Option<f64>,
    /// Length of each step, and of the measurement of the capacity
    #[arg(long, short, default_value_t = 20, value_name = "S", value_parser = length_s())]
    seconds: u64,
    /// Seconds that each machine runs
    #[arg(long, default_value_t = 3, value_name = "S")]
    durasi: u32,
    /// Machines to buy; as many as three times the capacity needs, when not given
    #[arg(long)]
    machines: Option<usize>,
}

/// Figures of one step.
struct Step {
    times: f64,
    offered: f64,
    /// Paid in a second while purchases arrived.
    done: f64,
    refused: u64,
    failed: u64,
    deeds: Deeds,
    missed: u64,
    tick_p99_ms: f64,
}

impl Overload {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    /// Purchases at so many in a second.
    fn at(&self, rate: f64) -> Buying {
        let most = TIMES.iter().copied().fold(1.0, f64::max) * self.capacity.unwrap_or(SUPPOSED_CAPACITY);
        let machines = (most * (f64::from(self.durasi) + RETURNS_S)).ceil() as usize;
        Buying {
            rate,
            durasi: self.durasi,
            even: false,
            driver: crate::fleet::Driver::Sim,
            machines: Some(self.machines.unwrap_or(machines)),
            machines_per_outlet: 8,
        }
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        if self.capacity.is_some_and(|capacity| !(1.0..=30_000.0).contains(&capacity)) {
            return Err("--capacity must be 1 to 30,000 purchases in a second".to_owned());
        }
        let target = self.common.target()?;
        let mut run = Measurement::new("overload", &self.common, interrupt)?;
        let Some(mut counter) = self.at(1.0).open(&mut run, &self.common, &target, 0, 1).await? else {
            return Ok(run.report(&target));
        };
        counter.refused = Refused::ComesBack;
        let capacity = match self.capacity {
            Some(capacity) => capacity,
            None => self.find_capacity(&mut run, &mut counter).await?,
        };
        run.values.set("capacity_per_s", capacity);
        let mut steps = Vec::new();
        for times in TIMES {
            if run.interrupt.came() {
                break;
            }
            let step = self.step(&mut run, &mut counter, times, capacity).await?;
            run.ui.print(&step.line(capacity));
            steps.push(step);
        }
        self.conclude(&mut run, steps, capacity)?;
        let (pool, shop) = (counter.pool.clone(), counter.shop.clone());
        drop(counter);
        money::check(&mut run, &pool, &self.common, &shop.customers).await;
        Ok(run.report(&target))
    }

    /// Most purchases in a second that are paid when there are always some under way.
    async fn find_capacity(&self, run: &mut Measurement, counter: &mut Checkout) -> Result<f64, String> {
        let mut capacity = 0.0_f64;
        for at_once in AT_ONCE {
            counter.serve(run, Arrivals::AtOnce(at_once), Duration::from_secs(self.seconds)).await?;
            run.deeds = Deeds::new()?;
            let paid = counter.paid_in_time as f64 / self.seconds as f64;
            run.ui.print(&format!("{paid:.0} purchases in a second with {at_once} under way at once"));
            let is_most = paid < capacity * MORE || run.interrupt.came();
            capacity = capacity.max(paid);
            if is_most {
                break;
            }
        }
        if capacity < 1.0 && !run.interrupt.came() {
            return Err("not one purchase in a second was paid: nothing can be measured".to_owned());
        }
        Ok(capacity.max(1.0))
    }

    async fn step(&self, run: &mut Measurement, counter: &mut Checkout, times: f64, capacity: f64) -> Result<Step, String> {
        let (missed, refused) = (run.counters.missed, counter.shop.undecided.refused());
        run.deeds = Deeds::new()?;
        let spans_before = std::mem::replace(&mut run.spans, Spans::new()?);
        let buying = self.at(times * capacity);
        counter.serve(run, Arrivals::AtRate(&buying), Duration::from_secs(self.seconds)).await?;
        let tick_p99_ms = run.spans.tick.quantile_ms(0.99);
        run.spans.add(&spans_before);
        let deeds = std::mem::replace(&mut run.deeds, Deeds::new()?);
        Ok(Step {
            times,
            offered: deeds.planned as f64 / self.seconds as f64,
            done: counter.paid_in_time as f64 / self.seconds as f64,
            refused: counter.shop.undecided.refused() - refused,
            failed: deeds.failed,
            missed: run.counters.missed - missed,
            tick_p99_ms,
            deeds,
        })
    }

    /// Puts the curve into the report.
    fn conclude(&self, run: &mut Measurement, steps: Vec<Step>, capacity: f64) -> Result<(), String> {
        for step in &steps {
            run.note(&step.line(capacity));
        }
        if let Some(twice) = steps.iter().find(|step| (step.times - TWICE).abs() < f64::EPSILON) {
            run.values.set("twice_done_percent", twice.done / capacity * 100.0);
            run.values.set("twice_answer_p99_ms", twice.answered()?.quantile_ms(0.99));
        }
        for step in steps {
            run.deeds.add(&step.deeds);
        }
        Ok(())
    }
}

impl Step {
    /// Times of all answered scans and payments.
    fn answered(&self) -> Result<Times, String> {
        let mut all = Times::new()?;
        all.add(&self.deeds.scan);
        all.add(&self.deeds.pay);
        Ok(all)
    }

    fn line(&self, capacity: f64) -> String {
        let pair = |times: &Times| format!("{:.0}/{:.0}", times.quantile_ms(0.5), times.quantile_ms(0.99));
        format!(
            "{:.2} × capacity: {:.0}/s offered, {:.0}/s paid ({:.0} %), {} refusals, {} came to nothing, scan p50/p99 {} ms, pay {} ms, \
             whole {} ms, {} ticks missed, tick p99 {:.0} ms",
            self.times,
            self.offered,
            self.done,
            self.done / capacity * 100.0,
            self.refused,
            self.failed,
            pair(&self.deeds.scan),
            pair(&self.deeds.pay),
            pair(&self.deeds.total),
            self.missed,
            self.tick_p99_ms,
        )
    }
}
