-- The boots of a machine's board before the counted one, the newest first: what another server hands in late of them is no new series of coins.
ALTER TABLE koin_seri ADD COLUMN boot_lama BIGINT[] NOT NULL DEFAULT '{}';
