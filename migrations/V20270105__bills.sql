-- Bills that are paid by QRIS (docs/money.md). `oldest_program` stays: what is new has a default or a table of its own.
-- `make migration-locks` measured 118 ms on 1,000,000 rows.
ALTER TABLE outlet ADD COLUMN qris TEXT NOT NULL DEFAULT 'manual' CHECK (qris IN ('off', 'manual', 'midtrans', 'simulated'));
-- The last four characters of the bank's reference, of a QRIS payment that the kasir saw.
ALTER TABLE pembelian_emoney ADD COLUMN ref_bayar TEXT;

-- `dibuat`: the provider was not reached yet; `tertahan`: paid, and not credited.
CREATE TABLE tagihan (
    -- random, and the order's id at the provider: a number can repeat after a restore
    id TEXT PRIMARY KEY CHECK (id ~ '^NYL[0-9A-Z]{20}$'),
    id_customer_global BIGINT NOT NULL REFERENCES customer_global,
    idowner BIGINT NOT NULL,
    idoutlet BIGINT NOT NULL,
    -- the browser of the till; NULL: a customer's phone
    id_perangkat BIGINT REFERENCES perangkat,
    -- the customer's own id of the request; the till's are in `idempotensi`
    id_permintaan UUID,
    nominal BIGINT NOT NULL CHECK (nominal BETWEEN 1 AND 10000000),
    quota BIGINT NOT NULL CHECK (quota BETWEEN 1 AND 20000000),
    nama_paket TEXT NOT NULL CHECK (nama_paket <> ''),
    idpaket BIGINT REFERENCES paket,
    -- NULL: plain, or for ever; days from the payment on
    masa_hari INTEGER,
    penyedia TEXT NOT NULL CHECK (penyedia IN ('midtrans', 'simulated')),
    ref_penyedia TEXT UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('dibuat', 'menunggu', 'dibayar', 'kedaluwarsa', 'batal', 'tertahan')),
    -- why it is held back
    sebab TEXT,
    qr TEXT,
    deeplink TEXT,
    kedaluwarsa_at TIMESTAMPTZ NOT NULL,
    -- when the provider is asked next; NULL: never again
    tanya_at TIMESTAMPTZ,
    dibayar_at TIMESTAMPTZ,
    jumlah_dibayar BIGINT,
    idpembelian_emoney BIGINT UNIQUE REFERENCES pembelian_emoney,
    -- since when the owner has to look at it: it is held, or was refunded by the provider after it was credited
    tertahan_at TIMESTAMPTZ,
    -- the owner has dealt with it
    selesai_at TIMESTAMPTZ,
    catatan TEXT,
    aktor TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    FOREIGN KEY (idoutlet, idowner) REFERENCES outlet (idoutlet, idowner),
    UNIQUE (id_customer_global, id_permintaan),
    CHECK ((status = 'dibayar') = (idpembelian_emoney IS NOT NULL)),
    CHECK ((status = 'tertahan') <= (sebab IS NOT NULL)),
    CHECK ((sebab IS NULL) = (tertahan_at IS NULL))
);
CREATE INDEX tagihan_tanya ON tagihan (tanya_at) WHERE tanya_at IS NOT NULL;
CREATE INDEX tagihan_outlet ON tagihan (idoutlet, created_at);
CREATE INDEX tagihan_pelanggan ON tagihan (id_customer_global, created_at);
CREATE INDEX tagihan_perangkat ON tagihan (id_perangkat, created_at) WHERE id_perangkat IS NOT NULL;
-- A customer's bills are also those of the numbers that moved there.
CREATE INDEX pelanggan_pindah ON customer_global (pindah_ke) WHERE pindah_ke IS NOT NULL;
CREATE INDEX tagihan_tertahan ON tagihan (idoutlet, tertahan_at) WHERE tertahan_at IS NOT NULL AND selesai_at IS NULL;

-- Payments that no bill was made for: their bill was lost by a restore. Kept as the provider reported them.
CREATE TABLE pembayaran_asing (
    penyedia TEXT NOT NULL,
    order_id TEXT NOT NULL,
    -- whose key signed it
    idowner BIGINT NOT NULL REFERENCES owner_usaha,
    isi JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    -- the owner has dealt with it
    selesai_at TIMESTAMPTZ,
    catatan TEXT,
    PRIMARY KEY (penyedia, order_id)
);
CREATE INDEX pembayaran_asing_baru ON pembayaran_asing (idowner, created_at) WHERE selesai_at IS NULL;

-- Orders of the provider `simulated` (development), which is part of the server.
CREATE TABLE qris_simulasi (
    order_id TEXT PRIMARY KEY,
    jumlah BIGINT NOT NULL,
    -- what was paid
    dibayar BIGINT,
    status TEXT NOT NULL CHECK (status IN ('menunggu', 'dibayar', 'kedaluwarsa', 'batal')),
    kedaluwarsa_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX qris_simulasi_baru ON qris_simulasi (created_at);

CREATE VIEW pelanggaran_tagihan AS
SELECT 'tagihan dibayar tanpa satu top-up' AS aturan, t.id AS kunci FROM tagihan t LEFT JOIN pembelian_emoney p ON p.id = t.idpembelian_emoney
WHERE t.status = 'dibayar' AND (p.harga_paket, p.quota, p.idoutlet, p.cara_bayar) IS DISTINCT FROM (t.nominal, t.quota, t.idoutlet, 'qris');

CREATE OR REPLACE VIEW pelanggaran AS
SELECT aturan, kunci FROM pelanggaran_saldo UNION ALL SELECT aturan, kunci FROM pelanggaran_akun UNION ALL
SELECT aturan, kunci FROM pelanggaran_kas UNION ALL SELECT aturan, kunci FROM pelanggaran_kasir UNION ALL
SELECT aturan, kunci FROM pelanggaran_mesin UNION ALL SELECT aturan, kunci FROM pelanggaran_keluar UNION ALL
SELECT aturan, kunci FROM pelanggaran_tagihan;
