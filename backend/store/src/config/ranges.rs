//! What each setting that is a number may be.

use super::ServerSettings;

impl ServerSettings {
    /// Key, least, most, and what it is set to.
    pub(super) fn ranges(&self) -> Vec<(&'static str, u64, u64, u64)> {
        const MANY: u64 = 1_000_000;
        const MINUTE_MS: u64 = 60_000;
        const FOR_EVER_S: u64 = 86_400 * 365;
        // A negative number becomes 0, and no range of these begins below 1.
        let n = |n: i64| u64::try_from(n).unwrap_or(0);
        let (http, db, real) = (&self.http, &self.database, &self.realtime);
        vec![
            ("http.workers", 0, 1024, http.workers as u64),
            ("http.max_connections", 1, MANY, http.max_connections as u64),
            ("http.backlog", 1, 65_535, u64::from(http.backlog)),
            ("http.unfinished_bodies_mb", 1, 65_536, http.unfinished_bodies_mb as u64),
            ("http.drain_s", 0, 20, http.drain_s),
            ("database.connections", 0, 10_000, db.connections as u64),
            ("database.wait_ms", 1, MINUTE_MS, db.wait_ms),
            ("database.admission_ms", 0, 10_000, db.admission_ms),
            ("database.connect_ms", 1, MINUTE_MS, db.connect_ms),
            ("database.statement_ms", 1, 10 * MINUTE_MS, db.statement_ms),
            ("database.lock_ms", 1, 10 * MINUTE_MS, db.lock_ms),
            ("database.clock_wait_s", 0, 300, db.clock_wait_s),
            ("backup.keep", 1, 1000, self.backup.keep as u64),
            ("backup.max_slot_wal_keep_mb", 64, MANY, self.backup.max_slot_wal_keep_mb),
            ("backup.alarm_s", 1, 86_400, self.backup.alarm_s),
            ("auth.token_days", 1, 3650, n(self.auth.token_days)),
            ("auth.otp_per_ip_hour", 1, MANY, n(self.auth.otp_per_ip_hour)),
            ("auth.otp_factor_v6_56", 1, MANY, n(self.auth.otp_factor_v6_56)),
            ("auth.otp_factor_v6_48", 1, MANY, n(self.auth.otp_factor_v6_48)),
            ("auth.otp_factor_v4_24", 1, MANY, n(self.auth.otp_factor_v4_24)),
            ("auth.otp_per_hour", 1, MANY, n(self.auth.otp_per_hour)),
            ("auth.otp_factor_day", 1, 24, n(self.auth.otp_factor_day)),
            ("auth.otp_known_per_hour", 1, MANY, n(self.auth.otp_known_per_hour)),
            ("auth.otp_per_telp_day", 1, MANY, n(self.auth.otp_per_telp_day)),
            ("auth.wrong_logins_per_phone", 1, MANY, self.auth.wrong_logins_per_phone as u64),
            ("auth.wrong_logins_per_number", 1, MANY, self.auth.wrong_logins_per_number as u64),
            ("auth.wrong_logins_per_address", 1, MANY, self.auth.wrong_logins_per_address as u64),
            ("auth.wrong_logins_address_refill_s", 1, 3600, n(self.auth.wrong_logins_address_refill_s)),
            ("auth.wrong_codes_per_address_hour", 1, MANY, self.auth.wrong_codes_per_address_hour as u64),
            ("auth.wrong_codes_per_site_hour", 1, MANY, self.auth.wrong_codes_per_site_hour as u64),
            ("auth.reset_alarm_wrong_per_hour", 1, 10_000, self.auth.reset_alarm_wrong_per_hour as u64),
            ("auth.reset_alarm_codes_per_hour", 1, MANY, n(self.auth.reset_alarm_codes_per_hour)),
            ("auth.reset_alarm_hours", 1, 8_760, n(self.auth.reset_alarm_hours)),
            ("move.wait_s", 1, 30 * 86_400, n(self.moves.wait_s)),
            ("attention.offline_s", 1, 86_400, self.attention.offline_s.into()),
            ("attention.back_s", 1, 3_600, self.attention.back_s.into()),
            ("attention.taken_min", 1, 1_440, self.attention.taken_min.into()),
            ("attention.repeat_min", 1, 1_440, self.attention.repeat_min.into()),
            ("attention.calm_min", 1, 1_440, self.attention.calm_min.into()),
            ("ledger.float_notice", 1, 1_000_000 * MANY, n(self.ledger.float_notice)),
            ("ledger.max_balance", 0, 1_000_000 * MANY, self.ledger.max_balance),
            ("qris.till_minutes", 1, 60, n(self.qris.till_minutes)),
            ("qris.phone_minutes", 1, 1_440, n(self.qris.phone_minutes)),
            ("purchase.per_customer_minute", 1, MANY, self.purchase.per_customer_minute as u64),
            ("mesin.idle_s", 0, FOR_EVER_S, self.mesin.idle_s),
            ("mesin.sim_max_ms", 0, MINUTE_MS, self.mesin.sim_max_ms),
            ("mqtt.max_connections", 1, MANY, self.mqtt.max_connections as u64),
            ("realtime.max_sessions", 1, 10 * MANY, real.max_sessions as u64),
            ("realtime.unjoined_per_address", 1, MANY, real.unjoined_per_address as u64),
            ("realtime.sockets_per_customer", 1, MANY, real.sockets_per_customer as u64),
            ("realtime.topics_per_session", 1, MANY, real.topics_per_session as u64),
            ("dev.ticks_per_second", 1, 8, n(self.dev.ticks_per_second)),
            ("realtime.ping_interval_s", 1, 3600, real.ping_interval_s),
            ("realtime.ping_timeout_s", 1, 3600, real.ping_timeout_s),
            ("cluster.failover_s", 0, 3600, self.cluster.failover_s),
            ("realtime.max_payload_bytes", 1024, 100 * MANY, real.max_payload_bytes as u64),
        ]
    }
}
