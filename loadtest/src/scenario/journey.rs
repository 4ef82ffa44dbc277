//! `journey`: new customers register with a code, get a top-up from a cashier, buy, and read their history.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use rand::Rng;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::errand::{asked, scan};
use super::steps::open_shop;
use super::{Verdict, run};
use crate::fleet::Driver;
use crate::http::Pool;
use crate::interrupt::Interrupt;
use crate::money;
use crate::options::{Common, length_s};
use crate::report::Report;
use crate::report::metrics::shown;
use crate::run::Measurement;
use crate::shop::{BALANCE, PRICE, Shop, TestCustomer, TestMachine, Wish, ops};
use crate::target::make_room;

const REQUESTS_AT_ONCE: usize = 256;
const PASSWORD: &str = "Rahasia123";
/// Prefix of these customers' phone numbers; nine random digits follow, so two equal numbers are unlikely.
const TELP_PREFIX: &str = "8198";
const HISTORY: &str = "/scan/v1/transaksi/list_history";

#[derive(Debug, Clone, Args)]
#[command(after_help = "Example:
  # else 60 codes an hour go to one address, and 2,000 to all
  NYALA__AUTH__OTP_PER_IP_HOUR=100000 NYALA__AUTH__OTP_PER_HOUR=100000 nyala serve
  nyala-loadtest journey --rate 2 --seconds 60 --fail-if 'failed > 0'

Only against a server in development: codes are read from /dev/whatsapp.")]
pub struct Journey {
    #[command(flatten)]
    pub common: Common,
    /// New customers in a second
    #[arg(long, default_value_t = 1.0, value_name = "N")]
    pub rate: f64,
    /// Length of the measurement
    #[arg(long, short, default_value_t = 30, value_name = "S", value_parser = length_s())]
    pub seconds: u64,
}

/// Result of a journey.
struct Ended {
    behind: Duration,
    /// Customer with a wallet, whatever the result.
    customer: Option<Arc<TestCustomer>>,
    /// Time since the planned moment, or the kind of error.
    outcome: Result<Duration, String>,
}

impl Journey {
    /// # Errors
    /// One line with the cause.
    pub fn run(&self) -> Result<Verdict, String> {
        run(&self.common, |interrupt| self.measure(interrupt))
    }

    async fn measure(&self, interrupt: Interrupt) -> Result<Report, String> {
        if !(self.rate > 0.0 && self.rate <= 1_000.0) {
            return Err("--rate must be above 0 and at most 1,000".to_owned());
        }
        make_room(REQUESTS_AT_ONCE)?;
        let target = self.common.target()?;
        let key = self.common.root_key()?;
        let mut run = Measurement::new("journey", &self.common, interrupt)?;
        let planned = (self.rate * self.seconds as f64).ceil() as usize;
        run.ui.part("preparing", 1);
        let ready = run.prepare(target.ready()).await?;
        // Each journey has its own machine. The shop has one customer, because an outlet's first wallet is opened with one.
        let wish = Wish {
            driver: Driver::Sim,
            machines: planned.max(1),
            machines_per_outlet: planned.max(1),
            customers: 1,
            duration_s: 60,
        };
        let shop = open_shop(&mut run, &ready, &key, wish).await?;
        run.values.count("machines", planned as u64);
        let pool = Pool::new(target.address, REQUESTS_AT_ONCE);
        let customers = self.all(&mut run, &pool, &shop, &key, planned).await?;
        money::check(&mut run, &pool, &self.common, &customers).await;
        Ok(run.report(&target))
    }

    /// Customers who got a top-up: their money must be right, whatever happened then.
    async fn all(
        &self,
        run: &mut Measurement,
        pool: &Pool,
        shop: &Arc<Shop>,
        key: &str,
        planned: usize,
    ) -> Result<Vec<Arc<TestCustomer>>, String> {
        run.begin();
        run.ui.part("journeys", planned as u64);
        let (began, interrupt) = (Instant::now(), run.interrupt.clone());
        let mut second = tokio::time::interval(Duration::from_secs(1));
        let (mut journeys, mut begun, mut customers) = (JoinSet::new(), 0_usize, Vec::new());
        while !run.interrupt.came() && (begun < planned || !journeys.is_empty()) {
            let next = began + Duration::from_secs_f64(begun as f64 / self.rate);
            tokio::select! {
                () = tokio::time::sleep_until(next.into()), if begun < planned => {
                    let (pool, shop, key, machine) = (pool.clone(), shop.clone(), key.to_owned(), begun);
                    journeys.spawn(async move {
                        let behind = next.elapsed();
                        let machine = &shop.machines[machine];
                        let opened = open(&pool, machine, &key).await;
                        let customer = opened.as_ref().ok().cloned();
                        let gone = match opened {
                            Ok(customer) => buy(&pool, machine, &shop, &customer).await,
                            Err(why) => Err(why),
                        };
                        Ended { behind, customer, outcome: gone.map(|()| next.elapsed()) }
                    });
                    begun += 1;
                    run.deeds.planned += 1;
                }
                Some(ended) = journeys.join_next(), if !journeys.is_empty() => {
                    let ended = ended.map_err(|e| e.to_string())?;
                    run.deeds.behind.took(ended.behind);
                    customers.extend(ended.customer);
                    match ended.outcome {
                        Ok(took) => {
                            run.deeds.done += 1;
                            run.deeds.total.took(took);
                            run.latest.0 += 1;
                            run.latest.1.took(took);
                        }
                        Err(why) => {
                            run.deeds.failed += 1;
                            run.errors.add(&why, 1);
                        }
                    }
                    let line = format!("{} failed", shown(run.deeds.failed as f64, ""));
                    run.ui.progress(run.deeds.done, planned as u64, began.elapsed().as_secs(), &line);
                }
                _ = second.tick() => run.sample()?,
                () = interrupt.wait() => {}
            }
        }
        run.values.set("done_per_s", run.deeds.done as f64 / run.elapsed().as_secs_f64().max(0.001));
        shop.undecided.add_to(&mut run.values);
        run.end();
        Ok(customers)
    }
}

/// Registers a customer, who gets a top-up.
async fn open(pool: &Pool, machine: &TestMachine, key: &str) -> Result<Arc<TestCustomer>, String> {
    let telp = format!("{TELP_PREFIX}{:09}", rand::rng().random_range(0..1_000_000_000));
    let token = register(pool, &telp).await?;
    let topup = json!({ "telp": telp, "idoutlet": machine.idoutlet, "nominal": BALANCE });
    let account = ops(pool, key, "topup", &topup).await.map_err(|e| format!("top-up: {e}"))?;
    let idcustomer = account["idcustomer"].as_i64().ok_or("top-up: no account")?;
    Ok(Arc::new(TestCustomer::new(token.into(), None, idcustomer, telp)))
}

/// Buys, and reads the history.
async fn buy(pool: &Pool, machine: &TestMachine, shop: &Shop, customer: &TestCustomer) -> Result<(), String> {
    scan(pool, &customer.token, machine).await?;
    shop.buy(pool, customer, machine).await?;
    history(pool, customer).await
}

/// Registers a customer and returns the token.
async fn register(pool: &Pool, telp: &str) -> Result<String, String> {
    let who = json!({ "telp": telp, "country_code": "62" });
    asked("request_otp", pool.call("POST", "/scan/v1/auth/request_otp", "", &who).await)?;
    let sent = asked("whatsapp", pool.call("GET", &format!("/dev/whatsapp?telp={telp}"), "", &Value::Null).await)?;
    let code = sent[0]["code"].as_str().ok_or("whatsapp: no code")?;
    let form = json!({ "otp": code, "telp": telp, "country_code": "62", "password": PASSWORD, "nama": "Uji Beban" });
    let made = asked("register", pool.call("POST", "/scan/v1/auth/register", "", &form).await)?;
    Ok(made["token"].as_str().ok_or("register: no token")?.to_owned())
}

/// Checks that the history has both movements and nothing else.
async fn history(pool: &Pool, customer: &TestCustomer) -> Result<(), String> {
    let page = json!({ "skip": 0, "limit": 20, "jenis": "", "outlet": "" });
    let data = asked("history", pool.call("POST", HISTORY, &customer.token, &page).await)?;
    let values: Vec<i64> =
        data["history_data"].as_array().into_iter().flatten().filter_map(|row| row["value"].as_i64()).collect();
    let right = [-(PRICE as i64), BALANCE as i64];
    if values == right { Ok(()) } else { Err("history: not one top-up and one purchase".to_owned()) }
}
