-- The boots of a machine's board before the counted one, the newest first, and their highest numbers of coins: what another server hands in late of
-- them is no new series of coins.
ALTER TABLE koin_seri
    ADD COLUMN boot_lama BIGINT[] NOT NULL DEFAULT '{}',
    ADD COLUMN koin_lama BIGINT[] NOT NULL DEFAULT '{}';
