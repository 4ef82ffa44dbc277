//! The run: customers and phones during the faults, then the audit.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::audit;
use super::buyer::{BuyerResult, Buyers};
use super::fault::{self, Schedule};
use super::nats::Nats;
use super::outcome::Outcome;
use super::phone::{Phone, PhoneReport};
use super::report;
use super::shards::{Owners, Shards};
use super::site::{NodeProxies, Site};
use super::{Cluster, NAMES};
use crate::crash::audit::{Devices, settle};
use crate::crash::payer::Payer;
use crate::crash::{Market, SETTLED_OVER_MQTT_WITHIN};
use crate::fleet::{Driver, Fleet, FleetOptions, Keys};
use crate::http::Pool;
use crate::shop::{Shop, Wish};
use crate::ui;

const JOURNAL: &str = "devices.jsonl";
/// Duration of a service in seconds: long enough for faults to happen during it, short enough for machines to become free.
const SERVICE_S: u32 = 6;
/// Number of machines that a phone watches.
const WATCHED: usize = 4;
/// One of this many phones only polls.
const POLLS_OF: usize = 3;
/// Time for phones, devices and shards to settle before the first fault.
const CALM: Duration = Duration::from_secs(5);
/// Time after the last purchase for every run to end and for its final tick.
const RUNS_OUT: Duration = Duration::from_secs(SERVICE_S as u64 + 2);

impl Cluster {
    pub async fn measure(&self, seed: u64, folder: &Path) -> Result<Outcome, String> {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut nats = self.nats(folder).await?;
        let mut site = self.start(folder, nats.as_ref().ok()).await?;
        let market = Arc::new(self.market(&site).await?);
        let journal = folder.join(JOURNAL);
        let fleet = self.devices(&site, &market, &journal, rng.random()).await?;
        let (over, is_over) = watch::channel(false);
        let mut phones = self.phones(&site, &market, &is_over, &mut rng);
        let (closed, is_closed) = watch::channel(false);
        let since = Instant::now() + CALM;
        let (seen, owners) = watch::channel(Owners::default());
        tokio::spawn(Owners::follow(site.database.config(), seen));
        let pause = Duration::from_secs_f64(self.customers as f64 / self.rate);
        let settings = Buyers { to: site.balancer.phones, pause, since, owners, closed: is_closed };
        let mut buyers = self.buyers(&settings, &market, &mut rng);
        drop(settings);
        tokio::time::sleep(CALM).await;
        if nats.is_ok() {
            site.wait_for_nats().await?;
        }

        let mut outcome = Outcome { seed, seconds: self.seconds, ..Outcome::default() };
        outcome.notifications = nats.as_ref().err().copied().unwrap_or("on");
        self.faults(&mut site, nats.as_mut().ok(), since, &mut outcome, &mut rng).await?;
        closed.send_replace(true);
        if nats.is_ok() {
            outcome.broken.extend(site.wait_for_nats().await.err());
        }
        let mut payers = Vec::new();
        while let Some(result) = buyers.join_next().await {
            let BuyerResult { payer, decided, broken } = result.map_err(|e| e.to_string())?;
            outcome.purchases.extend(decided);
            outcome.broken.extend(broken);
            payers.push(payer);
        }
        payers.sort_by_key(Payer::index);
        let mut devices = Devices::over_mqtt(journal, SETTLED_OVER_MQTT_WITHIN);
        match settle(&site.nodes[0], &market, payers, &mut [], &mut devices).await {
            Ok(payers) => {
                outcome.paid = payers.iter().map(|p| p.paid() as u64).sum();
                outcome.broken.extend(audit::answers(&site.database, &payers).await?);
                outcome.broken.extend(audit::starts(&fleet, &market.shop.machines, &devices).await?);
            }
            Err(why) => outcome.broken.push(why),
        }
        tokio::time::sleep(RUNS_OUT).await;
        outcome.ends = audit::ends(&site.database, since).await?;
        over.send_replace(true);
        while let Some(seen) = phones.join_next().await {
            outcome.add(seen.map_err(|e| e.to_string())?);
        }
        for node in &mut site.nodes {
            if let Err(why) = node.stop().await {
                outcome.broken.push(why);
            }
        }
        Ok(outcome)
    }

    async fn market(&self, site: &Site) -> Result<Market, String> {
        let key = site.nodes[0].root_key().await?;
        let pool = Pool::new(site.nodes[0].address(), 4);
        let wish = Wish {
            driver: Driver::Mqtt,
            machines: self.machines,
            machines_per_outlet: self.machines.div_ceil(self.outlets),
            customers: self.customers + self.phones,
            duration_s: SERVICE_S,
        };
        let shop = Shop::open(&pool, &key, wish).await?;
        Ok(Market { key, shop, services: Vec::new(), bills: false, moves: false })
    }

    async fn devices(&self, site: &Site, market: &Market, journal: &Path, seed: u64) -> Result<Fleet, String> {
        let pool = Pool::new(site.nodes[0].address(), 4);
        let keys = Arc::new(Keys::make(&pool, &market.key, &market.shop.machines).await?);
        let options = FleetOptions {
            program: site.nodes[0].program().to_owned(),
            server: Some(site.balancer.devices),
            journal: Some(journal.to_owned()),
            flags: vec!["--seed".to_owned(), seed.to_string()],
        };
        Fleet::start(keys, options).await
    }

    fn phones(&self, site: &Site, market: &Market, over: &watch::Receiver<bool>, rng: &mut StdRng) -> JoinSet<PhoneReport> {
        let mut phones = JoinSet::new();
        for n in 0..self.phones {
            let all = &market.shop.machines;
            let machines =
                rand::seq::index::sample(rng, all.len(), WATCHED.min(all.len())).iter().map(|i| all[i].idmesin).collect();
            let token = market.shop.customers[self.customers + n].token.clone();
            let polls = n % POLLS_OF == 0;
            let phone = Phone { to: site.balancer.phones, token, polls, machines, seed: rng.random() };
            phones.spawn(phone.watch(over.clone()));
        }
        phones
    }

    fn buyers(&self, settings: &Buyers, market: &Arc<Market>, rng: &mut StdRng) -> JoinSet<BuyerResult> {
        let mut buyers = JoinSet::new();
        for n in 0..self.customers {
            let payer = Payer::new(market, n, rng.random());
            buyers.spawn(settings.clone().buy(payer, StdRng::seed_from_u64(rng.random())));
        }
        buyers
    }

    /// The faults of the servers and PostgreSQL, and in parallel those of the load balancer's connections and of NATS.
    async fn faults(
        &self,
        site: &mut Site,
        nats: Option<&mut Nats>,
        since: Instant,
        outcome: &mut Outcome,
        rng: &mut StdRng,
    ) -> Result<(), String> {
        let length = Duration::from_secs(self.seconds);
        let nats_faults = fault::nats_faults(length, NAMES.len(), rng);
        let proxy_faults = fault::proxy_faults(length, NAMES.len(), rng);
        let proxies = site.proxies.clone();
        let mut schedule = Schedule::new(length, NAMES.len(), self.primary, rng);
        let to_site = async {
            let (mut all, mut broken) = (Vec::new(), Vec::new());
            let mut shards = Shards::new(site.database.config());
            while let Some(fault) = schedule.next(since.elapsed(), rng) {
                let at = since.elapsed();
                let (injected, why) = site.inject(fault, at, &mut shards).await.map_err(|why| format!("{fault}: {why}"))?;
                broken.extend(why.map(|why| format!("{fault} at {:.1} s: {why}", at.as_secs_f64())));
                ui::note(&report::line(&injected));
                all.push(injected);
                broken.extend(
                    shards
                        .at_rest(NAMES.len())
                        .await
                        .err()
                        .map(|why| format!("after {fault} at {:.1} s: {why}", at.as_secs_f64())),
                );
                tokio::time::sleep((at + Duration::from_secs(self.every)).saturating_sub(since.elapsed())).await;
            }
            Ok::<_, String>((all, broken))
        };
        let to_proxies = async {
            let mut all = Vec::new();
            for (moment, fault) in proxy_faults {
                tokio::time::sleep(moment.saturating_sub(since.elapsed())).await;
                let injected =
                    NodeProxies::inject(&proxies, fault, since.elapsed()).await.map_err(|why| format!("{fault}: {why}"))?;
                ui::note(&report::line(&injected));
                all.push(injected);
            }
            Ok::<_, String>(all)
        };
        let to_nats = async {
            let mut all = Vec::new();
            let Some(nats) = nats else { return Ok(all) };
            for (moment, fault) in nats_faults {
                tokio::time::sleep(moment.saturating_sub(since.elapsed())).await;
                let injected = nats.inject(fault, since.elapsed()).await.map_err(|why| format!("{fault}: {why}"))?;
                ui::note(&report::line(&injected));
                all.push(injected);
            }
            Ok::<_, String>(all)
        };
        let ((site_faults, broken), proxy_faults, nats_faults) = tokio::try_join!(to_site, to_proxies, to_nats)?;
        outcome.broken.extend(broken);
        outcome.faults = site_faults.into_iter().chain(proxy_faults).chain(nats_faults).collect();
        outcome.faults.sort_by_key(|f| f.at);
        Ok(())
    }
}
