//! `hot`: hundreds of customers press pay on one machine at the same moment. Exactly one may win it.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::steps::open_shop;
use super::{Verdict, run};
use crate::fleet::Driver;
use crate::http::{KeptConnection, ServerAnswer};
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::{Common, at_least_1};
use crate::report::Report;
use crate::run::Measurement;
use crate::shop::{PAY, Shop, TestCustomer, TestMachine, Undecided, Wish, order};
use crate::target::{Target, make_room};

const IN_USE: &str = "mesin sedang digunakan";
/// Time limit of a payment; the server answers after 8 s at the latest.
const PRESS_WITHIN: Duration = Duration::from_secs(12);
/// Number of repeats of a payment that is not decided, and the pause before each.
const MAX_ATTEMPTS: usize = 20;
const AGAIN: Duration = Duration::from_millis(100);
/// Duration of a service, longer than every measurement.
const DURATION_S: u32 = 3_600;

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  nyala-loadtest hot --customers 500 --rounds 10 --fail-if 'pay_p99_ms > 2000'")]
pub struct Hot {
    #[command(flatten)]
    pub common: Common,
    /// Customers who press pay together
    #[arg(long, default_value_t = 300, value_parser = at_least_1())]
    pub customers: usize,
    /// Machines that are fought for, one after the other
    #[arg(long, default_value_t = 5, value_parser = at_least_1())]
    pub rounds: usize,
}

/// Result of a press.
enum Press {
    Won(Duration),
    InUse(Duration),
    Failed(String),
}

impl Hot {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        make_room(self.customers)?;
        let target = self.common.target()?;
        let key = self.common.root_key()?;
        let mut run = Measurement::new("hot", &self.common, interrupt)?;
        run.ui.part("preparing", 1);
        let pool = run.prepare(target.ready()).await?;
        let wish = Wish {
            driver: Driver::Sim,
            machines: self.rounds,
            machines_per_outlet: self.rounds,
            customers: self.customers,
            duration_s: DURATION_S,
        };
        let shop = open_shop(&mut run, &pool, &key, wish).await?;
        run.values.count("machines", self.rounds as u64);
        run.ui.part("pressing", self.rounds as u64);
        run.begin();
        let (mut winners, mut unfair) = (0, 0);
        for (n, machine) in shop.machines.iter().enumerate() {
            if run.interrupt.came() {
                break;
            }
            let won = self.round(&mut run, &target, &shop, machine).await?;
            winners += won;
            unfair += u64::from(won != 1);
            run.sample()?;
            let elapsed = run.elapsed().as_secs();
            run.ui.progress(n as u64 + 1, self.rounds as u64, elapsed, &format!("{won} of {} won", self.customers));
        }
        run.end();
        run.values.count("presses", run.deeds.planned);
        run.values.count("winners", winners);
        run.values.count("rounds_without_one_winner", unfair);
        shop.undecided.add_to(&mut run.values);
        money::check(&mut run, &pool, &self.common, &shop.customers).await;
        Ok(run.report(&target))
    }

    /// Number of winners.
    async fn round(&self, run: &mut Measurement, target: &Target, shop: &Shop, machine: &TestMachine) -> Result<u64, String> {
        // Connections are opened before, so that all requests are sent together.
        let mut ready = Vec::with_capacity(shop.customers.len());
        for customer in &shop.customers {
            run.deeds.planned += 1;
            match KeptConnection::open(target.address).await {
                Ok(connection) => ready.push((connection, customer.clone(), order(&customer.receipt(), customer, machine))),
                Err(e) => {
                    run.deeds.failed += 1;
                    run.errors.add(&format!("connect: {e}"), 1);
                }
            }
        }
        if ready.is_empty() {
            return Err("cannot connect: nobody could press".to_owned());
        }
        // All times count from the moment of the first press, so the time that the tool needs for the others is included.
        let (start, planned) = (Arc::new(Barrier::new(ready.len())), Arc::new(OnceLock::new()));
        let mut presses = JoinSet::new();
        for (connection, customer, order) in ready {
            let (start, planned, undecided) = (start.clone(), planned.clone(), shop.undecided.clone());
            presses.spawn(async move {
                start.wait().await;
                let planned = *planned.get_or_init(Instant::now);
                (planned.elapsed(), press(connection, &customer, &order, &undecided, planned).await)
            });
        }
        let mut won = 0;
        while let Some(pressed) = presses.join_next().await {
            let (behind, press) = pressed.map_err(|e| e.to_string())?;
            run.deeds.behind.took(behind);
            match press {
                Press::Won(took) => {
                    won += 1;
                    run.deeds.done += 1;
                    run.latest.0 += 1;
                    run.deeds.pay.took(took);
                }
                Press::InUse(took) => {
                    run.deeds.done += 1;
                    run.latest.0 += 1;
                    run.deeds.pay.took(took);
                }
                Press::Failed(why) => {
                    run.deeds.failed += 1;
                    run.errors.add(&why, 1);
                }
            }
        }
        Ok(won)
    }
}

/// Repeats a payment until it is decided. A repeat has the same receipt number, so it is the same press; repeats are counted.
async fn press(
    connection: KeptConnection,
    customer: &TestCustomer,
    order: &Value,
    undecided: &Undecided,
    planned: Instant,
) -> Press {
    let auth = format!("Bearer {}", customer.token);
    let (address, mut kept) = (connection.address(), Some(connection));
    let mut last = String::new();
    customer.pays();
    for _ in 0..MAX_ATTEMPTS {
        let asked = async {
            let mut open = match kept.take() {
                Some(open) => open,
                None => KeptConnection::open(address).await?,
            };
            let answer = open.ask("POST", PAY, &[("authorization", &auth)], order, PRESS_WITHIN).await?;
            Ok::<(KeptConnection, ServerAnswer), std::io::Error>((open, answer))
        };
        match asked.await {
            Ok((_, answer)) if answer.status == 200 => {
                customer.has_paid();
                return Press::Won(planned.elapsed());
            }
            Ok((_, answer)) if answer.status == 409 && answer.message == IN_USE => {
                customer.has_not_paid();
                return Press::InUse(planned.elapsed());
            }
            Ok((open, answer)) if matches!(answer.status, 503 | 504) => {
                undecided.add(Some(answer.status));
                last = answer.refusal_of("pay");
                kept = Some(open);
            }
            Ok((_, answer)) => {
                customer.has_not_paid();
                return Press::Failed(answer.refusal_of("pay"));
            }
            Err(e) => {
                undecided.add(None);
                last = format!("pay: {e}");
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
    Press::Failed(last)
}
