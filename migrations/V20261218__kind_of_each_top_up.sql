-- Each top-up keeps the kind and expiry that it was sold with; a plain one has none of its own. Null kind: sold by a program of before.
ALTER TABLE pembelian_emoney
    ADD COLUMN jenis_emoney SMALLINT CHECK (jenis_emoney IN (1, 2)),
    ADD COLUMN masa_aktif TIMESTAMPTZ;

-- What the account had from top-ups of before, as it was at the first one that keeps its own; the newest top-up that stands; and when money
-- last came back after the expiry, and until when that made the account good.
ALTER TABLE quota_emoney
    ADD COLUMN jenis_dulu SMALLINT CHECK (jenis_dulu IN (1, 2)),
    ADD COLUMN masa_aktif_dulu TIMESTAMPTZ,
    ADD COLUMN topup_at TIMESTAMPTZ,
    ADD COLUMN kembali_at TIMESTAMPTZ,
    ADD COLUMN kembali_sampai TIMESTAMPTZ;

-- For how many days a sale makes an account good; null: for ever. And money that comes back to an expired account.
ALTER TABLE paket ADD COLUMN berlaku_hari INTEGER CHECK (berlaku_hari BETWEEN 1 AND 3650);
ALTER TABLE outlet
    ADD COLUMN berlaku_hari INTEGER CHECK (berlaku_hari BETWEEN 1 AND 3650),
    ADD COLUMN kembali_hari INTEGER NOT NULL DEFAULT 7 CHECK (kembali_hari BETWEEN 1 AND 3650);
