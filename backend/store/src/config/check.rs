//! What settings must keep that were read: ranges, what goes together, and what production refuses.

use std::net::IpAddr;

use nyala_core::purchase::edge::{MONEY_POINTS, POINTS};

use super::{ConfigError, SenderKind, ServerSettings, VITAL_TASKS, VITAL_TASKS_OF_A_CLUSTER, contact};

/// What a move at a till waits in production, at least.
const MOVE_WAIT_S: i64 = 86_400;

impl ServerSettings {
    /// # Errors
    /// What is wrong, and what would be right.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let refuse = |text: String| Err(ConfigError::Refused(text));
        if let Some((key, least, max, value)) = self.ranges().into_iter().find(|(_, least, max, n)| n < least || n > max) {
            return refuse(format!("{key} = {value} must be {least} to {max}"));
        }
        self.connections_per_thread()?;
        self.cluster.check(&self.database.url).or_else(refuse)?;
        self.push.check().or_else(refuse)?;
        self.qris.check().or_else(refuse)?;
        contact::check_address("http.public_url", &self.http.public_url).or_else(refuse)?;
        contact::check("http.security_contact", &self.http.security_contact).or_else(refuse)?;
        self.backup.check(&self.database.url, &self.data.dir).or_else(refuse)?;
        if self.database.lock_ms >= self.database.statement_ms {
            let (lock_ms, statement_ms) = (self.database.lock_ms, self.database.statement_ms);
            return refuse(format!("database.lock_ms = {lock_ms} must be below database.statement_ms = {statement_ms}"));
        }
        if self.http.metrics_port != 0 && [self.http.port, self.mqtt.port].contains(&self.http.metrics_port) {
            return refuse(format!(
                "http.metrics_port = {} is http.port or mqtt.port; choose a port of its own",
                self.http.metrics_port
            ));
        }
        self.log.filter()?;
        if self.mesin.sim_min_ms > self.mesin.sim_max_ms {
            return refuse("mesin.sim_min_ms must not be above mesin.sim_max_ms".to_owned());
        }
        if self.whatsapp.sender == SenderKind::Meta
            && (self.whatsapp.meta_access_token.is_empty()
                || self.whatsapp.meta_phone_number_id.is_empty()
                || self.whatsapp.meta_template.is_empty())
        {
            return refuse(
                "whatsapp.sender = \"meta\" needs whatsapp.meta_phone_number_id, meta_access_token and meta_template".to_owned(),
            );
        }
        if self.is_production() {
            return self.check_production();
        }
        let points = [POINTS, MONEY_POINTS].concat();
        if !self.dev.fault_point.is_empty() && !points.contains(&self.dev.fault_point.as_str()) {
            let (point, points) = (&self.dev.fault_point, points.join(", "));
            return refuse(format!("dev.fault_point = \"{point}\" is no crash point; there are: {points}"));
        }
        let tasks = [&VITAL_TASKS[..], &VITAL_TASKS_OF_A_CLUSTER].concat();
        if !self.dev.panic_task.is_empty() && !tasks.contains(&self.dev.panic_task.as_str()) {
            let (task, tasks) = (&self.dev.panic_task, tasks.join(", "));
            return refuse(format!("dev.panic_task = \"{task}\" is no task of the server; there are: {tasks}"));
        }
        let loopback = self.http.host == "localhost" || self.http.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        let device_loopback = self.mqtt.host == "localhost" || self.mqtt.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        if !device_loopback && !self.mqtt.tls && !self.dev.allow_lan {
            return refuse(format!(
                "mqtt.host = \"{}\" would let secrets of devices cross the network in the clear; set mqtt.tls = true, or dev.allow_lan = \
                 true if that is meant",
                self.mqtt.host
            ));
        }
        if !loopback && !self.dev.allow_lan {
            return refuse(format!(
                "http.host = \"{}\" would open development routes to the network; set dev.allow_lan = true if that is meant",
                self.http.host
            ));
        }
        Ok(())
    }

    fn check_production(&self) -> Result<(), ConfigError> {
        let refused = [
            (self.whatsapp.sender == SenderKind::Log, "whatsapp.sender = \"log\" is the development sender; set \"meta\""),
            (!self.mqtt.tls, "mqtt.tls must be true: devices' secrets never cross a network in the clear"),
            (
                self.moves.wait_s < MOVE_WAIT_S,
                "move.wait_s must be at least 86400: the owner of the old number needs the time to say no",
            ),
            (self.dev.routes, "dev.routes must be false"),
            (self.dev.allow_lan, "dev.allow_lan must be false"),
            (self.dev.seed_demo, "dev.seed_demo must be false"),
            (!self.dev.fault_point.is_empty(), "dev.fault_point must be empty"),
            (!self.dev.panic_task.is_empty(), "dev.panic_task must be empty"),
            (self.dev.ticks_per_second != 1, "dev.ticks_per_second must be 1"),
        ];
        let first = refused.iter().find(|(bad, _)| *bad).map(|(_, why)| (*why).to_owned());
        let parts = || self.push.check_production().and_then(|()| self.qris.check_production()).err();
        match first.or_else(parts) {
            Some(why) => Err(ConfigError::Refused(format!("the production profile refuses to start: {why}"))),
            None => Ok(()),
        }
    }
}
