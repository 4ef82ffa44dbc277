//! Lifecycle of the devices: connections, commands, time and faults.

use std::ops::RangeInclusive;

use mio::Token;
use mio::net::TcpStream;
use nyala_core::domain::id::MachineId;
use nyala_core::purchase::device::Op;
use nyala_mqtt::client::{ClientConnection, ClientEvent, Login};
use nyala_mqtt::{Granted, Publish, Qos, Unsent, Will};
use rand::Rng;

use super::connection::{DeviceConnection, Loss, open};
use super::fault::{Fault, Share};
use super::member::{KEEP_ALIVE_MS, Member, Stage};
use super::{Fleet, FleetError, MAX_CONNECTING, MEMBERS, boot_id};
use crate::model::{Act, Device, Outgoing};
use nyala_machines::device::memory::{DeviceMemory, LATE_MS};
use nyala_machines::device::mqtt::cmd::Cmd;
use nyala_machines::device::mqtt::message::{DeviceMessage, State, Topic};

/// From SYN to SUBACK.
const CONNECT_WITHIN_MS: i64 = 10_000;
/// Greatest first pause before a new attempt to connect …
const FIRST_PAUSE_MS: i64 = 2_000;
/// … each pause is up to twice as long as the one before, up to this.
const LONGEST_PAUSE_MS: i64 = 30_000;
/// How long the power is off.
const POWER_OFF_MS: RangeInclusive<i64> = 1_000..=3_000;
/// Interval between two losses of a flapping connection, or of power.
const FLAP_MS: RangeInclusive<i64> = 1_000..=10_000;
const REBOOT_MS: RangeInclusive<i64> = 10_000..=60_000;
/// How long a message waits for another one to overtake it.
const HOLD_MS: i64 = 2_000;
/// Greatest number of messages that a late device keeps.
const MAX_DELAYED: usize = 16;
const MAKE: &str = "nyala device sim";

impl Fleet {
    // --- power ---

    /// Turns the device's power on.
    pub(super) fn power_on(&mut self, i: usize) {
        let member = &mut self.members[i];
        member.booted_at = self.now;
        let faulty = member.faults.has(Fault::Refuse);
        member.model.set_faulty(faulty);
        let acts = member.model.tick(0);
        self.count.went_on += u64::from(acts.contains(&Act::Relay(true)));
        self.perform(i, &acts, 0);
    }

    /// Cuts the device's power, which comes back soon. The connection is not closed.
    fn cut_power(&mut self, i: usize, forgets: bool) {
        if !self.members[i].has_power() {
            return;
        }
        self.leave_open(i);
        let until = self.random_time(POWER_OFF_MS);
        let board = self.plan.board();
        let member = &mut self.members[i];
        let memory = if forgets { DeviceMemory::default() } else { member.model.journal() };
        member.model = Device::boot(board, boot_id(), memory);
        // The machine continues; the board sees it when it has booted.
        member.machine.seen = false;
        (member.until, member.delayed) = (until, Vec::new());
        self.set_stage(i, Stage::PowerOff);
        if forgets {
            self.save(i);
        }
    }

    // --- connections ---

    pub(super) fn connect_some(&mut self) {
        while self.connecting < MAX_CONNECTING {
            let Some(i) = self.queue.pop_front() else { return };
            if self.members[i].stage != Stage::Queued {
                continue;
            }
            let opened = TcpStream::connect(self.plan.server).and_then(|stream| {
                let mut socket = open(stream, self.plan.tls.as_ref())?;
                socket.register(self.poll.registry(), Token(MEMBERS + i)).map(|()| socket)
            });
            self.members[i].until = self.now + CONNECT_WITHIN_MS;
            self.set_stage(i, Stage::Connecting);
            match opened {
                Ok(socket) => self.members[i].connection = Some(DeviceConnection::new(socket)),
                Err(e) => self.drop_connection(i, &e.into()),
            }
            self.arm(i);
        }
    }

    pub(super) fn on_socket_event(&mut self, i: usize, readable: bool, writable: bool) {
        let Some(member) = self.members.get_mut(i).filter(|member| member.stage != Stage::HalfOpen) else { return };
        let Some(connection) = &mut member.connection else { return };
        let done = match member.stage {
            Stage::Connecting => match connection.is_connected() {
                Ok(true) => self.log_in(i),
                Ok(false) => return,
                Err(loss) => Err(loss),
            },
            _ if writable => connection.flush(),
            _ => Ok(()),
        };
        match done {
            Err(loss) => self.drop_connection(i, &loss),
            Ok(()) if readable => self.read(i),
            Ok(()) => {}
        }
        self.arm(i);
    }

    fn log_in(&mut self, i: usize) -> Result<(), Loss> {
        self.set_stage(i, Stage::LoggingIn);
        let member = &mut self.members[i];
        member.model.connect();
        let (user, client_id) = (member.key.idmesin.to_string(), format!("nyala-{}", member.key.idmesin));
        let (secret, will) = (member.key.secret.clone(), member.model.will());
        let (topic, payload) = (topic(member, Topic::State.as_str()), will.json());
        self.send(i, |mqtt, out| {
            let login = Login {
                client_id: &client_id,
                user: Some(&user),
                password: Some(secret.as_bytes()),
                keep_alive: u16::try_from(KEEP_ALIVE_MS / 1000).unwrap_or(u16::MAX),
                will: Some(Will { topic: &topic, payload: &payload, qos: Qos::AtMostOnce, retain: true }),
            };
            mqtt.connect(&login, out)
        })
    }

    fn read(&mut self, i: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.read_all(i, &mut buffer);
        self.buffer = buffer;
        if let Err(loss) = read {
            self.drop_connection(i, &loss);
        }
    }

    /// Reads until nothing is left: the system reports a message and the end of the connection right after it only once.
    fn read_all(&mut self, i: usize, buffer: &mut [u8]) -> Result<(), Loss> {
        loop {
            let member = &mut self.members[i];
            let Some(connection) = &mut member.connection else { return Ok(()) };
            let Some(n) = connection.read(buffer)? else { return Ok(()) };
            member.received_at = self.now;
            let mut bytes = &buffer[..n];
            // Processing an event may cost the device its connection.
            while let Some(connection) = &mut self.members[i].connection {
                self.out.clear();
                let event = connection.mqtt.feed(&mut bytes, &mut self.out)?;
                connection.send(&self.out)?;
                let Some(event) = event else { break };
                self.event(i, event)?;
            }
        }
    }

    fn event(&mut self, i: usize, event: ClientEvent) -> Result<(), Loss> {
        match event {
            ClientEvent::Accepted => {
                self.set_stage(i, Stage::Subscribing);
                // The server now has a new connection of the device, and forgets the old one.
                self.members[i].unclosed = None;
                let topic = topic(&self.members[i], "cmd");
                self.send(i, |mqtt, out| mqtt.subscribe(&[(&topic, Qos::AtMostOnce)], out).map(drop))
            }
            ClientEvent::Refused(why) => {
                self.count.logins_refused += 1;
                Err(Loss::Refused(why))
            }
            ClientEvent::Subscribed(subscribed) if subscribed.granted.contains(&Granted::No) => Err(Loss::Denied),
            ClientEvent::Subscribed(_) => {
                self.on_subscribed(i);
                Ok(())
            }
            // A retained command may be of any age.
            ClientEvent::Publish(publish) if publish.retain() => {
                self.count.ignored += 1;
                Ok(())
            }
            ClientEvent::Publish(publish) => {
                self.on_publish(i, &publish);
                Ok(())
            }
            ClientEvent::Pong => {
                self.members[i].pinged_at = None;
                Ok(())
            }
            ClientEvent::Acknowledged(_) => Ok(()),
        }
    }

    fn on_subscribed(&mut self, i: usize) {
        self.set_stage(i, Stage::Live);
        let now = self.now;
        let member = &mut self.members[i];
        (member.received_at, member.pinged_at, member.tries) = (now, None, 0);
        member.model.subscribed(member.up_ms(now));
        let again = std::mem::replace(&mut member.was_live, true);
        self.count.device_connected(again, now);
        self.send_message(i, Outgoing::State);
        if self.members[i].faults.has(Fault::HalfOpen) && self.members[i].stage == Stage::Live {
            self.set_stage(i, Stage::HalfOpen);
        }
    }

    /// Drops the device's connection and plans a new attempt.
    pub(super) fn drop_connection(&mut self, i: usize, why: &Loss) {
        if self.members[i].connection.is_none() && !self.members[i].stage.is_connecting() {
            return;
        }
        let own = matches!(why, Loss::Cut);
        self.count.connection_lost(why.to_string(), self.ready && !own, self.now);
        self.members[i].connection = None;
        let tries = self.members[i].tries;
        let longest = FIRST_PAUSE_MS.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE_MS);
        let until = self.random_time(0..=longest);
        let member = &mut self.members[i];
        (member.until, member.tries, member.held_back) = (until, tries + 1, None);
        self.set_stage(i, Stage::Pausing);
        self.arm(i);
    }

    /// Leaves the device's connection open for the server only.
    fn leave_open(&mut self, i: usize) {
        let member = &mut self.members[i];
        member.held_back = None;
        if let Some(DeviceConnection { mut socket, .. }) = member.connection.take() {
            // A socket that cannot be deregistered is closed, which makes no difference to the device.
            member.unclosed = socket.deregister(self.poll.registry()).ok().map(|()| socket);
        }
    }

    fn set_stage(&mut self, i: usize, stage: Stage) {
        let before = std::mem::replace(&mut self.members[i].stage, stage);
        let (connecting, connected) = (&mut self.connecting, &mut self.count.connected);
        *connecting = *connecting + usize::from(stage.is_connecting()) - usize::from(before.is_connecting());
        *connected = *connected + usize::from(stage == Stage::Live) - usize::from(before == Stage::Live);
    }

    fn queue_up(&mut self, i: usize) {
        self.set_stage(i, Stage::Queued);
        self.queue.push_back(i);
    }

    // --- messages ---

    fn on_publish(&mut self, i: usize, publish: &Publish) {
        let Ok(cmd) = Cmd::parse(publish.payload()) else {
            self.count.ignored += 1;
            return;
        };
        self.count.command_received(&cmd);
        let now = self.now;
        let member = &mut self.members[i];
        if member.faults.has(Fault::Silent) {
            return;
        }
        let echo = cmd.echo.filter(|_| !member.faults.has(Fault::ClockOff));
        let acts = member.model.on_command(&Cmd { echo, ..cmd }, member.up_ms(now));
        let begins = acts.iter().any(|act| matches!(act, Act::Relay(true) | Act::Pulse(_)));
        member.starts += u64::from(begins);
        if cmd.op == Op::Start && acts.contains(&Act::Save) {
            self.count.decided(&acts);
        }
        let late = member.faults.has(Fault::Late) && !cmd.cmd_id.is_nil();
        if late && begins {
            member.late_until = now + LATE_MS;
        }
        let at = if late { member.late_until } else { now };
        self.perform(i, &acts, at);
    }

    /// Carries out the acts. Messages are sent at `at` at the earliest.
    pub(super) fn perform(&mut self, i: usize, acts: &[Act], at: i64) {
        for act in acts {
            match act {
                Act::Save => self.save(i),
                Act::Relay(_) => {}
                // What follows is decided now and sent when they are over.
                Act::Pulse(pulses) => {
                    let member = &mut self.members[i];
                    let up_ms = member.up_ms(self.now);
                    let acts = member.model.pulsed(up_ms);
                    if let Some(run) = member.model.run(up_ms).filter(|_| self.plan.sensor) {
                        member.machine.credit(run.left_ms, member.faults, self.now + pulses.total_ms(), &mut self.rng);
                    }
                    self.perform(i, &acts, at.max(self.now + pulses.total_ms()));
                }
                Act::Send(outgoing) if at <= self.now => self.send_message(i, *outgoing),
                Act::Send(outgoing) => {
                    let delayed = &mut self.members[i].delayed;
                    if delayed.len() < MAX_DELAYED {
                        delayed.push((at, *outgoing));
                    }
                }
            }
            if self.failed.is_some() {
                return;
            }
        }
        self.arm(i);
    }

    fn save(&mut self, i: usize) {
        let member = &self.members[i];
        if let Some(journal) = self.journal.as_mut().filter(|_| !member.is_clone)
            && let Err(e) = journal.write(MachineId::new(member.key.idmesin), &member.model.journal())
        {
            self.failed = Some(FleetError::Journal(self.plan.journal.clone().unwrap_or_default(), e));
        }
    }

    fn send_message(&mut self, i: usize, outgoing: Outgoing) {
        let member = &mut self.members[i];
        if member.stage != Stage::Live {
            return;
        }
        let up_ms = member.up_ms(self.now);
        let message = match member.model.message(outgoing, up_ms) {
            DeviceMessage::State(state) => {
                DeviceMessage::State(State { fw: Some(env!("CARGO_PKG_VERSION").to_owned()), hw: Some(MAKE.to_owned()), ..state })
            }
            message => message,
        };
        self.publish(i, message);
    }

    fn publish(&mut self, i: usize, message: DeviceMessage) {
        let until = self.now + HOLD_MS;
        let member = &mut self.members[i];
        if !member.faults.has(Fault::Reorder) {
            return self.publish_now(i, &message);
        }
        match member.held_back.take() {
            None => member.held_back = Some((until, message)),
            Some((_, before)) => {
                self.publish_now(i, &message);
                self.publish_now(i, &before);
            }
        }
    }

    fn publish_now(&mut self, i: usize, message: &DeviceMessage) {
        let member = &self.members[i];
        let (topic, payload, retain) = (topic(member, message.topic().as_str()), message.json(), message.topic() == Topic::State);
        let times = if member.faults.has(Fault::Duplicate) { 2 } else { 1 };
        for _ in 0..times {
            self.count.message_sent(message.topic());
            if let Err(loss) = self.send(i, |mqtt, out| mqtt.publish(&topic, &payload, Qos::AtMostOnce, retain, out).map(drop)) {
                return self.drop_connection(i, &loss);
            }
        }
    }

    fn send(
        &mut self,
        i: usize,
        write: impl FnOnce(&mut ClientConnection, &mut Vec<u8>) -> Result<(), Unsent>,
    ) -> Result<(), Loss> {
        let member = &mut self.members[i];
        let Some(connection) = &mut member.connection else { return Ok(()) };
        self.out.clear();
        write(&mut connection.mqtt, &mut self.out)?;
        member.sent_at = self.now;
        connection.send(&self.out)
    }

    // --- time ---

    /// Processes what is due for the device.
    pub(super) fn wake(&mut self, i: usize) {
        self.apply_recurring_fault(i);
        let (now, member) = (self.now, &self.members[i]);
        match member.stage {
            Stage::PowerOff if member.until <= now => {
                self.queue_up(i);
                self.power_on(i);
            }
            Stage::Pausing if member.until <= now => self.queue_up(i),
            stage if stage.is_connecting() && member.until <= now => self.drop_connection(i, &Loss::Slow),
            Stage::Live => self.keep_alive(i),
            _ => {}
        }
        if self.members[i].has_power() {
            self.watch_machine(i);
            let member = &mut self.members[i];
            let acts = member.model.tick(member.up_ms(now));
            self.perform(i, &acts, 0);
        }
        let due = self.members[i].delayed.iter().take_while(|(at, _)| *at <= now).count();
        let due_messages: Vec<_> = self.members[i].delayed.drain(..due).collect();
        due_messages.into_iter().for_each(|(_, outgoing)| self.send_message(i, outgoing));
        if let Some((_, message)) = self.members[i].held_back.take_if(|(at, _)| *at <= now) {
            self.publish_now(i, &message);
        }
    }

    /// Lets the board see its machine, and the coins that fall.
    fn watch_machine(&mut self, i: usize) {
        let now = self.now;
        let member = &mut self.members[i];
        let (level, up_ms) = (member.machine.level(member.faults, now), member.up_ms(now));
        member.machine.rest(now);
        if std::mem::replace(&mut member.machine.seen, level) != level {
            let acts = member.model.sense(level, up_ms);
            self.perform(i, &acts, 0);
        }
        let member = &mut self.members[i];
        if member.machine.next_coin.is_some_and(|at| at <= now) {
            let acts = member.model.coin(up_ms);
            self.plan_coin(i);
            self.perform(i, &acts, 0);
        }
    }

    pub(super) fn plan_coin(&mut self, i: usize) {
        let an_hour = self.plan.coins.unwrap_or(0);
        self.members[i].machine.plan_coin(an_hour, self.now, &mut self.rng);
    }

    /// Keeps the device's connection alive, and checks that the server answers.
    fn keep_alive(&mut self, i: usize) {
        let now = self.now;
        let member = &mut self.members[i];
        let silent = member.silent_at() <= now;
        if silent && member.pinged_at.is_some() {
            return self.drop_connection(i, &Loss::Silent);
        }
        if silent || member.sent_at + KEEP_ALIVE_MS <= now {
            member.pinged_at.get_or_insert(now);
            if let Err(loss) = self.send(i, |mqtt, out| mqtt.ping(out)) {
                self.drop_connection(i, &loss);
            }
        }
    }

    fn apply_recurring_fault(&mut self, i: usize) {
        let member = &self.members[i];
        if member.next_fault_at.is_none_or(|at| at > self.now) {
            return;
        }
        let fault = member.faults.recurring();
        match fault {
            Some(Fault::Flap) => self.drop_connection(i, &Loss::Cut),
            Some(fault) => self.cut_power(i, fault == Fault::Amnesia),
            None => {}
        }
        self.members[i].next_fault_at = fault.map(|fault| self.next_fault_time(fault));
    }

    fn next_fault_time(&mut self, fault: Fault) -> i64 {
        self.random_time(if fault == Fault::Flap { FLAP_MS } else { REBOOT_MS })
    }

    // --- orders ---

    /// Applies the faults that devices have from the start; recurring ones first occur a while later.
    pub(super) fn apply_first_faults(&mut self) -> Result<(), FleetError> {
        for (fault, share) in std::mem::take(&mut self.plan.faults) {
            let devices: Vec<usize> = match share {
                Share::Of(selection) => {
                    let devices = self.selected(&selection);
                    if devices.is_empty() {
                        return Err(FleetError::Nobody(selection));
                    }
                    devices
                }
                Share::Percent(percent) => (0..self.by_machine.len()).filter(|_| self.rng.random_bool(percent / 100.0)).collect(),
            };
            for i in devices {
                self.set_fault(i, fault, true);
                let at = self.next_fault_time(fault);
                self.members[i].next_fault_at = self.members[i].next_fault_at.map(|_| at);
                self.arm(i);
            }
        }
        Ok(())
    }

    /// Selected devices, in the order of the selection; never the second device of a key.
    pub(super) fn selected(&self, selection: &super::Selection) -> Vec<usize> {
        (0..self.by_machine.len()).filter(|i| selection.has(self.members[*i].key.idmesin)).collect()
    }

    pub(super) fn set_fault(&mut self, i: usize, fault: Fault, is: bool) {
        let now = self.now;
        let member = &mut self.members[i];
        let was = member.faults.has(fault);
        member.faults.set(fault, is);
        match fault {
            Fault::Refuse => member.model.set_faulty(is),
            Fault::ClockOff if is => member.model.forget_time(),
            Fault::Flap | Fault::Reboot | Fault::Amnesia if is => member.next_fault_at = Some(now),
            Fault::HalfOpen if is && member.stage == Stage::Live => self.set_stage(i, Stage::HalfOpen),
            Fault::HalfOpen if !is && member.stage == Stage::HalfOpen => {
                (member.received_at, member.pinged_at) = (now, None);
                self.set_stage(i, Stage::Live);
                self.read(i);
            }
            Fault::Clone if is != was => self.set_clone(i, is),
            Fault::StuckSensor if self.members[i].has_power() => self.watch_machine(i),
            _ => {}
        }
        self.arm(i);
    }

    /// Adds a second device with the same key, or removes it.
    fn set_clone(&mut self, i: usize, is: bool) {
        let known = self.clones.get(&i).copied();
        if !is {
            if let Some(clone) = known {
                self.members[clone].connection = None;
                self.set_stage(clone, Stage::Off);
            }
            return;
        }
        let model = Device::boot(self.plan.board(), boot_id(), DeviceMemory::default());
        let clone = Member { is_clone: true, ..Member::new(self.members[i].key.clone(), model) };
        let at = known.unwrap_or(self.members.len());
        match self.members.get_mut(at) {
            Some(before) => *before = clone,
            None => self.members.push(clone),
        }
        self.clones.insert(i, at);
        self.members[at].booted_at = self.now;
        self.queue_up(at);
    }

    /// Closes the device's connection at once.
    pub(super) fn cut(&mut self, i: usize) {
        self.drop_connection(i, &Loss::Cut);
    }

    /// Makes the device reconnect at once. One with a dead connection notices that and makes a new one while the server still has the
    /// old; one that pauses stops pausing.
    pub(super) fn reconnect(&mut self, i: usize) {
        match self.members[i].stage {
            Stage::HalfOpen => {
                self.members[i].faults.set(Fault::HalfOpen, false);
                self.leave_open(i);
                self.queue_up(i);
            }
            Stage::Pausing => self.queue_up(i),
            _ => {}
        }
    }
}

fn topic(member: &Member, leaf: &str) -> String {
    format!("nyala/v1/{}/{}/{leaf}", member.key.idoutlet, member.key.idmesin)
}
