-- Cycles by business day, which reports read (docs/board.md, Figures). `oldest_program` stays: triggers keep them, whichever program writes.
-- `make migration-locks` measured 670 ms for which others wait, of 5 s, on 1,000,000 posts beside other work.
-- `idoutlet_akun`: where the account was opened that paid. The machine is part of the key, so that two posts never change one row at once.
CREATE TABLE siklus_hari (
    idoutlet BIGINT NOT NULL,
    hari DATE NOT NULL,
    idmesin BIGINT NOT NULL,
    idoutlet_akun BIGINT NOT NULL,
    siklus INTEGER NOT NULL,
    jumlah BIGINT NOT NULL,
    PRIMARY KEY (idoutlet, hari, idmesin, idoutlet_akun)
);
CREATE INDEX siklus_hari_akun ON siklus_hari (idoutlet_akun, hari);

-- When a business day begins: the first instant at which the wall clock shows its start or more (`Calendar::begin`).
CREATE FUNCTION awal_hari(hari DATE, zona TEXT, hari_mulai INTEGER) RETURNS TIMESTAMPTZ LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    jam TIMESTAMP = hari + make_interval(mins => hari_mulai);
    biasa TIMESTAMPTZ = jam AT TIME ZONE zona;
    kemarin TIMESTAMPTZ = biasa - INTERVAL '24 hours';
    -- With the offset of the day before: where clocks are put back, that is the first of two.
    awal TIMESTAMPTZ = (jam - ((kemarin AT TIME ZONE zona) - (kemarin AT TIME ZONE 'UTC'))) AT TIME ZONE 'UTC';
BEGIN
    IF awal AT TIME ZONE zona = jam THEN
        RETURN awal;
    ELSIF biasa AT TIME ZONE zona = jam THEN
        RETURN biasa;
    END IF;
    -- The clock skips it.
    RETURN (SELECT min(t) FROM generate_series(awal - INTERVAL '24 hours', awal, INTERVAL '1 minute') t WHERE t AT TIME ZONE zona >= jam);
END $$;

-- The business day that goes on at an instant (`Calendar::day_of`).
CREATE FUNCTION hari_usaha(at TIMESTAMPTZ, zona TEXT, hari_mulai INTEGER) RETURNS DATE LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    besok DATE = ((at AT TIME ZONE zona) - make_interval(mins => hari_mulai))::DATE + 1;
BEGIN
    RETURN besok - (at < awal_hari(besok, zona, hari_mulai))::INTEGER;
END $$;

-- What the ledger says of an outlet's days from one on and before another; NULL: no such limit.
CREATE FUNCTION siklus_buku(p_outlet BIGINT, sejak DATE, sebelum DATE)
RETURNS TABLE (hari DATE, idmesin BIGINT, idoutlet_akun BIGINT, siklus INTEGER, jumlah BIGINT) LANGUAGE plpgsql STABLE SET jit = off AS $$
#variable_conflict use_column
DECLARE
    o RECORD;
    pertama DATE;
    batas TIMESTAMPTZ[];
BEGIN
    SELECT zona, hari_mulai, (SELECT min(created_at) FROM ledger_transfer WHERE kind = 'post' AND idoutlet = p_outlet) AS dari,
        (SELECT max(created_at) FROM ledger_transfer WHERE kind = 'post' AND idoutlet = p_outlet) AS sampai
    INTO o FROM outlet WHERE idoutlet = p_outlet;
    pertama = GREATEST(hari_usaha(o.dari, o.zona, o.hari_mulai), sejak);
    batas = ARRAY(SELECT awal_hari(pertama + n, o.zona, o.hari_mulai)
        FROM generate_series(0, LEAST(hari_usaha(o.sampai, o.zona, o.hari_mulai), sebelum - 1) - pertama + 1) n ORDER BY n);
    RETURN QUERY
    SELECT pertama - 1 + width_bucket(l.created_at, batas),
        COALESCE(l.idmesin, (SELECT t.idmesin FROM snap_transaksi t WHERE t.id = l.idtransaksi)),
        c.idoutlet, count(*)::INTEGER, SUM(l.jumlah)::BIGINT
    FROM ledger_transfer l JOIN customer c USING (idcustomer)
    WHERE l.kind = 'post' AND l.idoutlet = p_outlet AND l.created_at >= batas[1] AND l.created_at < batas[cardinality(batas)]
        AND (l.jumlah > 0 OR NOT EXISTS (SELECT FROM customer_global g WHERE g.id = c.id_customer_global AND g.internal))
    GROUP BY 1, 2, 3;
END $$;

-- Counts the cycles of an outlet's days again.
CREATE FUNCTION hitung_siklus(p_outlet BIGINT, sejak DATE, sebelum DATE) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM siklus_hari s
    WHERE s.idoutlet = p_outlet AND s.hari >= COALESCE(sejak, '-infinity') AND s.hari < COALESCE(sebelum, 'infinity');
    INSERT INTO siklus_hari SELECT p_outlet, b.* FROM siklus_buku(p_outlet, sejak, sebelum) b;
END $$;

-- The first of the days that posts may be writing: earlier ones are counted without a lock. NULL: it never sold anything.
CREATE FUNCTION hari_terbuka(p_outlet BIGINT) RETURNS DATE LANGUAGE sql STABLE AS $$
    SELECT hari_usaha((SELECT max(created_at) FROM ledger_transfer WHERE kind = 'post' AND idoutlet = p_outlet), zona, hari_mulai) - 2
    FROM outlet WHERE idoutlet = p_outlet
$$;

-- The machine and the day of a post. The lock: its day is that of the outlet's days at its commit (`ubah_hari`).
CREATE FUNCTION catat_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.idmesin IS NULL THEN
        NEW.idmesin = (SELECT idmesin FROM snap_transaksi WHERE id = NEW.idtransaksi);
    END IF;
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('hari:' || NEW.idoutlet, 0));
    INSERT INTO siklus_hari AS s (idoutlet, hari, idmesin, idoutlet_akun, siklus, jumlah)
    SELECT NEW.idoutlet, hari_usaha(NEW.created_at, o.zona, o.hari_mulai), NEW.idmesin, c.idoutlet, 1, NEW.jumlah
    FROM outlet o, customer c
    WHERE o.idoutlet = NEW.idoutlet AND c.idcustomer = NEW.idcustomer
        AND (NEW.jumlah > 0 OR NOT EXISTS (SELECT FROM customer_global g WHERE g.id = c.id_customer_global AND g.internal))
    ON CONFLICT (idoutlet, hari, idmesin, idoutlet_akun) DO UPDATE SET siklus = s.siklus + 1, jumlah = s.jumlah + EXCLUDED.jumlah;
    RETURN NEW;
END $$;

-- Posts that have read the days of before are committed when this has its lock, and later ones read the new days.
CREATE FUNCTION ubah_hari() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    terbuka DATE = hari_terbuka(NEW.idoutlet);
BEGIN
    PERFORM hitung_siklus(NEW.idoutlet, NULL, terbuka);
    PERFORM pg_advisory_xact_lock(hashtextextended('hari:' || NEW.idoutlet, 0));
    PERFORM hitung_siklus(NEW.idoutlet, terbuka, NULL);
    RETURN NULL;
END $$;

-- First all posts without a lock, then those of the last days again, and outlets whose days were changed meanwhile, while nobody posts.
CREATE TEMPORARY TABLE dulu ON COMMIT DROP AS SELECT idoutlet, zona, hari_mulai FROM outlet;
SELECT hitung_siklus(idoutlet, NULL, NULL) FROM outlet;
ANALYZE siklus_hari;
LOCK TABLE ledger_transfer, outlet IN SHARE ROW EXCLUSIVE MODE;
-- What else changes balances, with all that its sums need.
CREATE INDEX ledger_saldo ON ledger_transfer (idoutlet, created_at) INCLUDE (kind, jumlah, idcustomer) WHERE kind NOT IN ('pending', 'post', 'void');
SELECT hitung_siklus(o.idoutlet, CASE WHEN (o.zona, o.hari_mulai) = (d.zona, d.hari_mulai) THEN
    (SELECT max(s.hari) - 2 FROM siklus_hari s WHERE s.idoutlet = o.idoutlet) END, NULL)
FROM outlet o LEFT JOIN dulu d USING (idoutlet);
CREATE OR REPLACE TRIGGER ledger_mesin BEFORE INSERT ON ledger_transfer
    FOR EACH ROW WHEN (NEW.kind = 'post') EXECUTE FUNCTION catat_post();
ALTER TABLE ledger_transfer ENABLE ALWAYS TRIGGER ledger_mesin;
DROP FUNCTION isi_mesin();
CREATE TRIGGER outlet_hari AFTER UPDATE OF zona, hari_mulai ON outlet
    FOR EACH ROW WHEN ((NEW.zona, NEW.hari_mulai) IS DISTINCT FROM (OLD.zona, OLD.hari_mulai)) EXECUTE FUNCTION ubah_hari();

CREATE VIEW pelanggaran_siklus AS
SELECT 'siklus hari tidak sesuai' AS aturan, concat_ws(' ', idoutlet, hari, idmesin, idoutlet_akun) AS kunci
FROM (SELECT o.idoutlet, b.* FROM outlet o, siklus_buku(o.idoutlet, NULL, NULL) b) b
FULL JOIN siklus_hari s USING (idoutlet, hari, idmesin, idoutlet_akun)
WHERE (b.siklus, b.jumlah) IS DISTINCT FROM (s.siklus, s.jumlah);

CREATE OR REPLACE VIEW pelanggaran AS
SELECT aturan, kunci FROM pelanggaran_saldo UNION ALL SELECT aturan, kunci FROM pelanggaran_akun UNION ALL
SELECT aturan, kunci FROM pelanggaran_kas UNION ALL SELECT aturan, kunci FROM pelanggaran_kasir UNION ALL
SELECT aturan, kunci FROM pelanggaran_mesin UNION ALL SELECT aturan, kunci FROM pelanggaran_keluar UNION ALL
SELECT aturan, kunci FROM pelanggaran_tagihan UNION ALL SELECT aturan, kunci FROM pelanggaran_siklus;
