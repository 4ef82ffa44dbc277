-- What an outlet is beside its name, when it sells, and what its services cost at which hour (docs/contract.md §4).
-- `oldest_program` stays: the release before knows none of these columns, and its rows fulfil their constraints.
-- An outlet without `dibuka_at` is being prepared. The default is for outlets that an older program makes during an upgrade.
ALTER TABLE outlet
    ADD COLUMN alamat TEXT NOT NULL DEFAULT '',
    ADD COLUMN hari_mulai SMALLINT NOT NULL DEFAULT 0 CHECK (hari_mulai BETWEEN 0 AND 720),
    ADD COLUMN jam_buka SMALLINT CHECK (jam_buka BETWEEN 0 AND 1440),
    ADD COLUMN jam_tutup SMALLINT CHECK (jam_tutup BETWEEN 0 AND 1440),
    ADD COLUMN dibuka_at TIMESTAMPTZ DEFAULT '1970-01-01Z',
    ADD COLUMN ditutup_sejak TIMESTAMPTZ,
    ADD COLUMN ditutup_sampai TIMESTAMPTZ,
    ADD COLUMN ditutup_alasan TEXT,
    ADD COLUMN ditutup_oleh BIGINT REFERENCES kunci_operator,
    -- one more with each change of the zone: a hold finds that its price was of another clock
    ADD COLUMN versi BIGINT NOT NULL DEFAULT 1,
    ADD CONSTRAINT outlet_tutup CHECK (
        (ditutup_sejak IS NULL) = (ditutup_alasan IS NULL)
        AND (ditutup_sejak IS NOT NULL OR (ditutup_sampai IS NULL AND ditutup_oleh IS NULL)));
UPDATE outlet SET dibuka_at = created_at;

ALTER TABLE mesin
    ADD COLUMN jenis TEXT NOT NULL DEFAULT 'cuci' CHECK (jenis IN ('cuci', 'kering', 'lain')),
    ADD COLUMN ukuran TEXT CHECK (ukuran <> ''),
    ADD COLUMN urut INTEGER,
    ADD COLUMN ditutup_sejak TIMESTAMPTZ,
    ADD COLUMN ditutup_alasan TEXT,
    -- NULL: the server itself
    ADD COLUMN ditutup_oleh BIGINT REFERENCES kunci_operator,
    ADD COLUMN servis_at TIMESTAMPTZ,
    ADD COLUMN servis_tiap INTEGER CHECK (servis_tiap > 0),
    ADD CONSTRAINT mesin_tutup CHECK (
        (ditutup_sejak IS NULL) = (ditutup_alasan IS NULL) AND (ditutup_sejak IS NOT NULL OR ditutup_oleh IS NULL));
UPDATE mesin SET jenis = 'kering' WHERE nama ILIKE '%ering%';

ALTER TABLE layanan
    ADD COLUMN jenis TEXT CHECK (jenis IN ('cuci', 'kering', 'lain')),
    ADD COLUMN ukuran TEXT CHECK (ukuran <> ''),
    -- one more with each change: a hold finds that its facts are old
    ADD COLUMN versi BIGINT NOT NULL DEFAULT 1,
    ADD COLUMN diganti_oleh BIGINT REFERENCES layanan,
    ADD COLUMN berhenti_at TIMESTAMPTZ;

-- Prices by hour. `hari`: 1 is Monday. Minutes of the day on the outlet's wall clock; where `sampai_menit` comes first, until the next day.
CREATE TABLE layanan_jam (
    idlayanan BIGINT NOT NULL REFERENCES layanan,
    hari SMALLINT[] NOT NULL CHECK (hari <@ ARRAY[1, 2, 3, 4, 5, 6, 7]::SMALLINT[] AND cardinality(hari) > 0),
    dari_menit SMALLINT NOT NULL CHECK (dari_menit BETWEEN 0 AND 1439),
    sampai_menit SMALLINT NOT NULL CHECK (sampai_menit BETWEEN 0 AND 1440 AND sampai_menit <> dari_menit),
    harga BIGINT NOT NULL CHECK (harga BETWEEN 0 AND 20000000)
);
CREATE INDEX layanan_jam_layanan ON layanan_jam (idlayanan);
