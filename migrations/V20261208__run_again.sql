-- What a device reports to run although no open purchase says so, and until when: the machine takes no purchase until the device reports no run.
ALTER TABLE mesin
    ADD COLUMN jalan_cmd_id UUID,
    ADD COLUMN jalan_sampai TIMESTAMPTZ CHECK ((jalan_cmd_id IS NULL) = (jalan_sampai IS NULL)),
    ADD COLUMN jalan_stop_at TIMESTAMPTZ CHECK (jalan_stop_at IS NULL OR jalan_cmd_id IS NOT NULL), -- an operator has asked to stop it
    ADD COLUMN boot BIGINT; -- of the device's last run; NULL: it has not said
CREATE INDEX mesin_jalan_stop ON mesin (idmesin) WHERE jalan_stop_at IS NOT NULL;
CREATE INDEX mesin_jalan_sampai ON mesin (jalan_sampai) WHERE jalan_sampai IS NOT NULL;
-- How often the end of a run was moved to a later time.
ALTER TABLE snap_transaksi ADD COLUMN mundur INT NOT NULL DEFAULT 0;
-- Whether a later purchase of the machine has started.
CREATE INDEX purchase_started ON snap_transaksi (idmesin, cmd_epoch) WHERE started_at IS NOT NULL;
