//! The conversations with devices behind a broker, in one task.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Fuse, FusedFuture};
use nyala_mqtt::Publish;
use nyala_mqtt::client::Event;
use rand::Rng;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::address::Broker;
use super::line::{KEEP_ALIVE_S, Line, LineError, Moved};
use crate::db::Store;
use crate::db::error::DbError;
use crate::domain::timestamp::Timestamp;
use crate::machine::device::mqtt::conversation::{Effect, LinkId, Route};
use crate::machine::device::mqtt::devices::{Devices, Request, location};
use crate::machine::device::mqtt::metrics::Dropped;
use crate::machine::device::mqtt::reports::Reports;
use crate::machine::device::mqtt::word::{Topic, Word};

/// How often silent devices are looked for.
const SWEEP: Duration = Duration::from_secs(1);
/// How often machines are read that were not there before, when words of unknown ones come.
const READ_EVERY: Duration = Duration::from_secs(5);
/// Before the first try to come back, and the longest pause; each is twice the one before, and every one is drawn from nothing to that.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A line that lasted so long was a good one.
const GOOD_AFTER: Duration = Duration::from_secs(60);
/// A broker that has not sent a byte for so long, pings' answers included, is gone.
const SILENCE: Duration = Duration::from_secs(45);

/// Where each machine over MQTT stands.
type Outlets = HashMap<i64, i64>;

struct Bridge {
    store: Store,
    reports: Arc<Reports>,
    requests: mpsc::Receiver<Request>,
    devices: Devices,
    outlets: Outlets,
    /// They are to be read.
    unknown: bool,
    link: Option<LinkId>,
    links: u64,
}

/// Speaks with the devices behind `broker`, until the process ends.
pub async fn run_forever(broker: Broker, store: Store, reports: Arc<Reports>, requests: mpsc::Receiver<Request>) {
    let devices = Devices::new(Route::Broker);
    let mut bridge = Bridge { store, reports, requests, devices, outlets: HashMap::new(), unknown: true, link: None, links: 0 };
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        let Err(why) = bridge.connected(&broker).await else { return };
        bridge.lost();
        tracing::warn!(error = %why, host = broker.host, port = broker.port, "no line to the devices' broker; trying again");
        pause = if began.elapsed() >= GOOD_AFTER { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
        let until = Instant::now() + pause.mul_f64(rand::rng().random_range(0.0..1.0));
        if bridge.meanwhile(sleep_until(until)).await.is_none() {
            return;
        }
    }
}

impl Bridge {
    fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// While there is no line machines are told that nobody is there, what they want is kept in mind, and devices fall silent. `None`:
    /// nobody asks any more.
    async fn meanwhile<T>(&mut self, done: impl Future<Output = T>) -> Option<T> {
        let (mut done, mut sweep) = (pin!(done), interval(SWEEP));
        loop {
            tokio::select! {
                done = &mut done => return Some(done),
                _ = sweep.tick() => self.sweep(None),
                request = self.requests.recv() => self.request(request?, None),
            }
        }
    }

    /// As long as the line lasts. `Ok`: nobody asks any more.
    async fn connected(&mut self, broker: &Broker) -> Result<(), LineError> {
        if self.unknown {
            // First, or what a broker tells at once would be of machines that nobody knows.
            self.unknown = false;
            let reading = read_machines(self.store.clone());
            let Some(found) = self.meanwhile(reading).await else { return Ok(()) };
            self.found(found);
        }
        let Some(line) = self.meanwhile(Line::connect(broker)).await else { return Ok(()) };
        let mut line = line?;
        tracing::info!(host = broker.host, port = broker.port, "the devices' broker is there");
        self.links += 1;
        let (link, now) = (LinkId(self.links), self.now());
        self.link = Some(link);
        for idmesin in self.devices.all() {
            let Some(device) = self.devices.get(idmesin) else { continue };
            let effects = device.conversation.linked(link, now);
            self.perform(idmesin, effects, Some(&mut line));
        }
        let mut sweep = interval(SWEEP);
        let mut ping = interval(Duration::from_secs(u64::from(KEEP_ALIVE_S) / 2));
        let mut read = interval(READ_EVERY);
        [&mut sweep, &mut ping, &mut read]
            .into_iter()
            .for_each(|every| every.set_missed_tick_behavior(MissedTickBehavior::Delay));
        let mut reading = pin!(Fuse::terminated());
        let mut heard_at = Instant::now();
        loop {
            tokio::select! {
                moved = line.turn() => if let Moved::Read(n) = moved? {
                    heard_at = Instant::now();
                    for event in line.events(n)? {
                        if let Event::Publish(publish) = event {
                            self.heard(&publish, link, &mut line);
                        }
                    }
                },
                request = self.requests.recv() => match request {
                    Some(request) => self.request(request, Some(&mut line)),
                    None => return Ok(()),
                },
                _ = sweep.tick() => self.sweep(Some(&mut line)),
                _ = ping.tick() => line.ping()?,
                // The database may take its time: nobody's word waits for it.
                _ = read.tick(), if self.unknown && reading.is_terminated() => {
                    self.unknown = false;
                    reading.set(read_machines(self.store.clone()).fuse());
                }
                found = reading.as_mut(), if !reading.is_terminated() => self.found(found),
                () = sleep_until(heard_at + SILENCE) => return Err(LineError::Silent),
            }
        }
    }

    /// The line is gone.
    fn lost(&mut self) {
        let Some(link) = self.link.take() else { return };
        let now = self.now();
        for idmesin in self.devices.all() {
            let Some(device) = self.devices.get(idmesin) else { continue };
            let effects = device.conversation.unlinked(link, now);
            self.perform(idmesin, effects, None);
        }
    }

    fn found(&mut self, machines: Result<Outlets, DbError>) {
        match machines {
            Ok(outlets) => self.outlets = outlets,
            Err(e) => {
                self.unknown = true;
                tracing::warn!(error = %e, "which machines are over MQTT cannot be read; it will be tried again");
            }
        }
    }

    /// A device has said something.
    fn heard(&mut self, publish: &Publish, link: LinkId, line: &mut Line) {
        let Some((idoutlet, idmesin, topic)) = parse_topic(publish.topic()) else {
            return self.reports.metrics.dropped(Dropped::Foreign);
        };
        if self.outlets.get(&idmesin) != Some(&idoutlet) {
            // It may have been put up since; then it says something again.
            self.unknown = true;
            return self.reports.metrics.dropped(Dropped::Foreign);
        }
        let now = self.now();
        let device = self.devices.get_or_make(location(idmesin, idoutlet));
        let mut effects = device.conversation.linked(link, now);
        match Word::parse(topic, publish.payload()) {
            _ if publish.retain() => effects.extend(device.conversation.hear_kept(now)),
            Ok(word) => {
                self.reports.metrics.word(&word);
                effects.extend(device.conversation.hear(link, &word, now));
            }
            Err(e) => {
                tracing::debug!(error = %e, idmesin, "a device's word is not understood");
                self.reports.metrics.dropped(Dropped::Malformed);
            }
        }
        self.perform(idmesin, effects, Some(line));
    }

    fn request(&mut self, request: Request, line: Option<&mut Line>) {
        let (link, now) = (self.link, self.now());
        if let (Request::Say(to, _), Some(link)) = (&request, link) {
            let _ = self.devices.get_or_make(*to).conversation.linked(link, now);
        }
        if let Some((idmesin, effects)) = self.devices.request(request, &self.reports, now) {
            self.perform(idmesin, effects, line);
        }
    }

    fn sweep(&mut self, mut line: Option<&mut Line>) {
        let now = self.now();
        for idmesin in self.devices.silent(now) {
            let Some(device) = self.devices.get(idmesin) else { continue };
            let effects = device.conversation.wake(now);
            self.perform(idmesin, effects, line.as_deref_mut());
        }
    }

    fn perform(&mut self, idmesin: i64, effects: Vec<Effect>, mut line: Option<&mut Line>) {
        let now = self.now();
        let Some(device) = self.devices.get(idmesin) else { return };
        let location = device.location;
        device.answer(now);
        for effect in effects {
            if let (Some(Effect::Write(_, cmd)), Some(line)) = (self.reports.carry(location, effect, now), line.as_deref_mut()) {
                let topic = format!("nyala/v1/{}/{idmesin}/cmd", location.idoutlet);
                if !line.publish(&topic, &cmd.json()) {
                    tracing::warn!(idmesin, "the broker takes no more: a command is lost, and said again when no answer comes");
                }
            }
        }
    }
}

async fn read_machines(store: Store) -> Result<Outlets, DbError> {
    const ALL: &str = "SELECT idmesin, idoutlet FROM mesin WHERE driver = 'mqtt'";
    let client = store.get().await?;
    Ok(client.query(ALL, &[]).await?.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Outlet, machine and kind of a device's topic.
fn parse_topic(topic: &str) -> Option<(i64, i64, Topic)> {
    let mut parts = topic.strip_prefix("nyala/v1/")?.split('/');
    let found = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, Topic::parse(parts.next()?)?);
    parts.next().is_none().then_some(found)
}
