-- Which database this is, and where in its history. A server compares it with PostgreSQL on each new connection: another identifier or timeline
-- means a restore or a failover, after which numbers that were given before may be given again (docs/operations.md, "After a restore").
CREATE TABLE database_state (
    one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    system_identifier BIGINT NOT NULL,
    timeline INTEGER NOT NULL,
    instance TEXT, -- of the private database's folder, as in its file nyala.instance
    jumps BIGINT NOT NULL DEFAULT 0,
    not_before TIMESTAMPTZ, -- tokens of customers from before are worthless
    changed_at TIMESTAMPTZ -- the last jump
);
INSERT INTO database_state (system_identifier, timeline)
SELECT system_identifier, ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::BIT(32)::INTEGER FROM pg_control_system();
