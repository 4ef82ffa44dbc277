-- Keys of devices: what a machine's device logs in with (driver mqtt). Not `perangkat`: those are the tills' browsers.
CREATE TABLE device_key (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idmesin BIGINT NOT NULL REFERENCES mesin,
    -- at most two of a machine count: the one in use and the one that follows it
    slot SMALLINT NOT NULL CHECK (slot IN (1, 2)),
    hash BYTEA NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    created_at TIMESTAMPTZ NOT NULL,
    first_used_at TIMESTAMPTZ,
    revoked_at TIMESTAMPTZ,
    -- who has read up to a snapshot finds by this what was committed since; times and numbers come in another order than commits
    revoked_tx XID8,
    CONSTRAINT dicabut_oleh_transaksi CHECK ((revoked_at IS NULL) = (revoked_tx IS NULL))
);
CREATE UNIQUE INDEX dua_kunci_per_mesin ON device_key (idmesin, slot) WHERE revoked_at IS NULL;
CREATE INDEX device_key_dicabut ON device_key (revoked_tx) WHERE revoked_tx IS NOT NULL;
