-- The till: who stands at it, what a shift holds, and top-ups that can be taken back.

-- People. A petugas is an operator's key whose secret nobody has, and a PIN.
CREATE TABLE petugas (
    id_kunci BIGINT PRIMARY KEY REFERENCES kunci_operator,
    pin_hash TEXT NOT NULL,
    -- until then a first PIN, which is only good to make one's own; NULL: it is one's own
    pin_awal_sampai TIMESTAMPTZ,
    -- ten wrong PINs in a day: until a supervisor opens it
    dikunci_at TIMESTAMPTZ,
    -- wrong PINs from before count no more
    dihitung_sejak TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- A paired browser: a tablet of an outlet, or a phone of one petugas.
CREATE TABLE perangkat (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    nama TEXT NOT NULL CHECK (nama <> ''),
    idoutlet BIGINT REFERENCES outlet,
    id_kunci BIGINT REFERENCES petugas,
    -- the pairing code, gone with its use
    kode_hash BYTEA UNIQUE,
    kode_sampai TIMESTAMPTZ,
    -- the cookie
    token_hash BYTEA UNIQUE,
    token_sampai TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    dipasang_at TIMESTAMPTZ,
    dicabut_at TIMESTAMPTZ,
    CONSTRAINT milik_outlet_atau_petugas CHECK ((idoutlet IS NULL) <> (id_kunci IS NULL)),
    CONSTRAINT kode_ada_waktu CHECK ((kode_hash IS NULL) = (kode_sampai IS NULL)),
    CONSTRAINT token_ada_waktu CHECK ((token_hash IS NULL) = (token_sampai IS NULL))
);
CREATE INDEX perangkat_outlet ON perangkat (idoutlet) WHERE dicabut_at IS NULL;

-- Counted before the PIN is looked at, and taken back when it is right.
CREATE TABLE pin_gagal (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id_kunci BIGINT NOT NULL REFERENCES petugas,
    id_perangkat BIGINT NOT NULL REFERENCES perangkat,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX pin_gagal_petugas ON pin_gagal (id_kunci, created_at);
CREATE INDEX pin_gagal_perangkat ON pin_gagal (id_perangkat, created_at);
CREATE INDEX pin_gagal_waktu ON pin_gagal (created_at);

CREATE TABLE sesi_petugas (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id_kunci BIGINT NOT NULL REFERENCES petugas,
    id_perangkat BIGINT NOT NULL REFERENCES perangkat,
    hash BYTEA NOT NULL UNIQUE,
    created_at TIMESTAMPTZ NOT NULL,
    -- moves at most once a minute
    dipakai_at TIMESTAMPTZ NOT NULL,
    sampai TIMESTAMPTZ NOT NULL,
    keluar_at TIMESTAMPTZ
);
CREATE INDEX sesi_petugas_waktu ON sesi_petugas (sampai);
CREATE INDEX sesi_petugas_kunci ON sesi_petugas (id_kunci) WHERE keluar_at IS NULL;

-- A supervisor's yes to one action on one object, asked for in one session.
CREATE TABLE izin (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash BYTEA NOT NULL UNIQUE,
    id_kunci BIGINT NOT NULL REFERENCES petugas,
    id_sesi BIGINT NOT NULL REFERENCES sesi_petugas ON DELETE CASCADE,
    aksi TEXT NOT NULL CHECK (aksi IN ('topup', 'batal', 'refund', 'hapus', 'kas')),
    objek TEXT NOT NULL CHECK (objek <> ''),
    created_at TIMESTAMPTZ NOT NULL,
    sampai TIMESTAMPTZ NOT NULL,
    dipakai_at TIMESTAMPTZ
);
CREATE INDEX izin_waktu ON izin (sampai);
CREATE INDEX izin_sesi ON izin (id_sesi);

-- Where a month begins.
ALTER TABLE outlet ADD COLUMN zona TEXT NOT NULL DEFAULT 'Asia/Jakarta';

CREATE TABLE paket (
    idpaket BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    nama TEXT NOT NULL CHECK (nama <> ''),
    harga BIGINT NOT NULL CHECK (harga BETWEEN 1 AND 20000000),
    quota BIGINT NOT NULL CHECK (quota BETWEEN 1 AND 20000000),
    aktif BOOLEAN NOT NULL DEFAULT TRUE,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX paket_outlet ON paket (idoutlet);

-- One open shift a till. The first count stands; a note may come after it.
CREATE TABLE shift (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id_perangkat BIGINT NOT NULL REFERENCES perangkat,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    dibuka_oleh BIGINT NOT NULL REFERENCES petugas,
    modal BIGINT NOT NULL CHECK (modal BETWEEN 0 AND 1000000000),
    dibuka_at TIMESTAMPTZ NOT NULL,
    ditutup_oleh BIGINT REFERENCES petugas,
    ditutup_at TIMESTAMPTZ,
    diharapkan BIGINT,
    dihitung BIGINT CHECK (dihitung BETWEEN 0 AND 1000000000),
    selisih BIGINT GENERATED ALWAYS AS (dihitung - diharapkan) STORED,
    pecahan JSONB,
    catatan TEXT CHECK (catatan <> ''),
    CONSTRAINT ditutup_dihitung CHECK (
        (ditutup_at IS NULL) = (ditutup_oleh IS NULL) AND (ditutup_at IS NULL) = (diharapkan IS NULL)
        AND (ditutup_at IS NULL) = (dihitung IS NULL) AND (ditutup_at IS NOT NULL OR (pecahan IS NULL AND catatan IS NULL)))
);
CREATE UNIQUE INDEX satu_shift_per_perangkat ON shift (id_perangkat) WHERE ditutup_at IS NULL;
CREATE INDEX shift_outlet ON shift (idoutlet, id);

-- Only what a session at a till sold has a shift; only that may have been paid in cash into a drawer that is counted.
ALTER TABLE pembelian_emoney
    ADD COLUMN cara_bayar TEXT CHECK (cara_bayar IN ('tunai', 'qris', 'transfer')),
    ADD COLUMN idshift BIGINT REFERENCES shift,
    ADD COLUMN idpaket BIGINT REFERENCES paket,
    ADD COLUMN batal_at TIMESTAMPTZ,
    ADD CONSTRAINT shift_tahu_cara_bayar CHECK (idshift IS NULL OR cara_bayar IS NOT NULL);
CREATE INDEX pembelian_emoney_shift ON pembelian_emoney (idshift, id) WHERE idshift IS NOT NULL;
CREATE INDEX pembelian_emoney_outlet ON pembelian_emoney (idoutlet, id);
CREATE INDEX pembelian_emoney_pelanggan ON pembelian_emoney (id_customer_global, id);
CREATE INDEX snap_transaksi_outlet ON snap_transaksi (idoutlet, id);

-- Cash that went into a drawer or out of it. What is expected in it is the sum of its shift's rows.
CREATE TABLE kas_gerak (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idshift BIGINT NOT NULL REFERENCES shift,
    jenis TEXT NOT NULL CHECK (jenis IN ('modal', 'topup', 'batal', 'masuk', 'keluar', 'setor')),
    nominal BIGINT NOT NULL CHECK (nominal >= 0),
    -- rupiah more in the drawer
    jumlah BIGINT GENERATED ALWAYS AS (CASE WHEN jenis IN ('modal', 'topup', 'masuk') THEN nominal ELSE -nominal END) STORED,
    idpembelian_emoney BIGINT REFERENCES pembelian_emoney,
    alasan TEXT CHECK (alasan <> ''),
    aktor TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CHECK ((jenis IN ('topup', 'batal')) = (idpembelian_emoney IS NOT NULL)),
    CHECK ((jenis IN ('masuk', 'keluar', 'setor')) <= (alasan IS NOT NULL))
);
CREATE INDEX kas_gerak_shift ON kas_gerak (idshift);
CREATE UNIQUE INDEX kas_gerak_sekali ON kas_gerak (idpembelian_emoney, jenis) WHERE idpembelian_emoney IS NOT NULL;
CREATE UNIQUE INDEX kas_modal_sekali ON kas_gerak (idshift) WHERE jenis = 'modal';
CREATE TRIGGER kas_hanya_tambah BEFORE UPDATE OR DELETE OR TRUNCATE ON kas_gerak
    FOR EACH STATEMENT EXECUTE FUNCTION tolak_ubah();

-- Which outlet a change was about, where it was about one.
ALTER TABLE audit_log ADD COLUMN idoutlet BIGINT REFERENCES outlet;

-- A void takes a top-up back, whole and once: the wallet pays the outlet that issued it.
ALTER TABLE ledger_transfer
    DROP CONSTRAINT ledger_transfer_kind_check,
    DROP CONSTRAINT ledger_transfer_check2,
    DROP CONSTRAINT ledger_transfer_check3,
    DROP CONSTRAINT ledger_transfer_check4,
    ADD CONSTRAINT ledger_transfer_kind_check CHECK (kind IN ('pending', 'post', 'void', 'topup', 'hapus', 'refund', 'batal')),
    ADD CONSTRAINT ledger_transfer_check2 CHECK ((kind IN ('topup', 'batal')) = (idpembelian_emoney IS NOT NULL)),
    ADD CONSTRAINT ledger_transfer_check3 CHECK ((kind IN ('topup', 'batal')) = (idtransaksi IS NULL)),
    ADD CONSTRAINT ledger_transfer_check4 CHECK ((kind IN ('hapus', 'refund', 'batal')) <= (alasan IS NOT NULL));
CREATE UNIQUE INDEX batal_sekali ON ledger_transfer (idpembelian_emoney) WHERE kind = 'batal';
-- How often money went back in a month is counted at each time.
CREATE INDEX kembali_outlet ON ledger_transfer (idoutlet, created_at) WHERE kind IN ('hapus', 'refund');
DROP INDEX riwayat_topup;
CREATE INDEX riwayat_topup ON ledger_transfer (id_customer_global, id) WHERE kind IN ('topup', 'batal');

CREATE OR REPLACE VIEW pelanggaran_saldo AS
WITH gerak AS (
    SELECT idcustomer,
           COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('topup', 'hapus', 'refund')), 0) AS kredit,
           COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('post', 'batal')), 0) AS debit,
           COALESCE(SUM(jumlah) FILTER (WHERE kind = 'pending'), 0)
               - COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('post', 'void')), 0) AS tertahan,
           COALESCE(SUM(CASE WHEN kind IN ('pending', 'batal') THEN -jumlah WHEN kind = 'post' THEN 0 ELSE jumlah END), 0) AS riwayat
    FROM ledger_transfer GROUP BY idcustomer
), kembali AS (
    SELECT idtransaksi, SUM(jumlah) AS jumlah FROM ledger_transfer WHERE kind IN ('hapus', 'refund') GROUP BY idtransaksi
), selesai AS (
    SELECT p.idtransaksi, p.jumlah, s.kind AS akhir, s.jumlah AS jumlah_akhir
    FROM ledger_transfer p LEFT JOIN ledger_transfer s ON s.pending_id = p.id WHERE p.kind = 'pending'
)
SELECT 'saldo tidak sama dengan buku besar' AS aturan, q.idcustomer::TEXT AS kunci
FROM quota_emoney q LEFT JOIN gerak g USING (idcustomer)
WHERE (q.credits_posted, q.debits_posted, q.debits_pending)
    IS DISTINCT FROM (COALESCE(g.kredit, 0), COALESCE(g.debit, 0), COALESCE(g.tertahan, 0))
   OR q.saldo <> COALESCE(g.riwayat, 0)
UNION ALL
SELECT 'gerak tanpa dompet', g.idcustomer::TEXT FROM gerak g WHERE NOT EXISTS (SELECT FROM quota_emoney q WHERE q.idcustomer = g.idcustomer)
UNION ALL
SELECT 'pembelian tanpa uang tertahan', t.id::TEXT FROM snap_transaksi t LEFT JOIN selesai s ON s.idtransaksi = t.id
WHERE s.idtransaksi IS NULL OR s.jumlah <> t.grandtotal
UNION ALL
SELECT 'keadaan tidak sesuai uang', t.id::TEXT FROM snap_transaksi t JOIN selesai s ON s.idtransaksi = t.id
WHERE s.akhir IS DISTINCT FROM CASE
    WHEN t.state IN ('RUNNING', 'FINISHED', 'STOPPED') THEN 'post'
    WHEN t.state IN ('REFUSED', 'EXPIRED') THEN 'void' END
   OR s.jumlah_akhir <> s.jumlah
UNION ALL
SELECT 'pengembalian tidak sesuai', t.id::TEXT FROM snap_transaksi t LEFT JOIN kembali k ON k.idtransaksi = t.id
WHERE t.dikembalikan <> COALESCE(k.jumlah, 0)
   OR (t.dihapus_at IS NOT NULL) <> EXISTS (SELECT FROM ledger_transfer l WHERE l.idtransaksi = t.id AND l.kind = 'hapus')
   OR (t.dihapus_at IS NOT NULL AND t.dikembalikan <> t.grandtotal)
   OR (t.dikembalikan > 0 AND t.state NOT IN ('RUNNING', 'FINISHED', 'STOPPED'))
UNION ALL
SELECT 'nota ditolak tetapi dibeli', t.id::TEXT FROM snap_transaksi t JOIN nota n USING (id_customer_global, no_nota) WHERE n.tolak IS NOT NULL
UNION ALL
SELECT 'top-up tidak sesuai', p.id::TEXT FROM pembelian_emoney p LEFT JOIN ledger_transfer l ON l.idpembelian_emoney = p.id AND l.kind = 'topup'
WHERE l.jumlah IS DISTINCT FROM p.quota OR l.idcustomer IS DISTINCT FROM p.idcustomer
UNION ALL
SELECT 'akun dompet salah arah', l.id::TEXT FROM ledger_transfer l JOIN quota_emoney q USING (idcustomer)
WHERE q.idakun <> CASE WHEN l.kind IN ('pending', 'post', 'batal') THEN l.debit_akun ELSE l.credit_akun END;

CREATE OR REPLACE VIEW pelanggaran_akun AS
SELECT 'akun lawan salah' AS aturan, l.id::TEXT AS kunci
FROM ledger_transfer l
JOIN akun a ON a.idakun = CASE WHEN l.kind IN ('pending', 'post', 'batal') THEN l.credit_akun ELSE l.debit_akun END
WHERE a.jenis <> CASE WHEN l.kind IN ('topup', 'batal') THEN 'K' ELSE 'R' END OR a.idoutlet <> l.idoutlet
UNION ALL
SELECT 'gerak milik pelanggan lain', l.id::TEXT FROM ledger_transfer l JOIN customer c USING (idcustomer)
WHERE l.id_customer_global <> c.id_customer_global
UNION ALL
SELECT 'gerak bukan milik pembeliannya', l.id::TEXT FROM ledger_transfer l JOIN snap_transaksi t ON t.id = l.idtransaksi
WHERE (l.idcustomer, l.idoutlet) <> (t.idcustomer, t.idoutlet)
UNION ALL
SELECT 'gerak bukan milik pembeliannya', l.id::TEXT FROM ledger_transfer l JOIN pembelian_emoney p ON p.id = l.idpembelian_emoney
WHERE l.idoutlet <> p.idoutlet;

-- Cash and ledger together.
CREATE VIEW pelanggaran_kas AS
WITH laci AS (
    SELECT idshift, SUM(jumlah) AS isi, SUM(nominal) FILTER (WHERE jenis = 'modal') AS modal, MAX(created_at) AS terakhir
    FROM kas_gerak GROUP BY idshift
)
SELECT 'kas tidak sesuai' AS aturan, s.id::TEXT AS kunci FROM shift s LEFT JOIN laci l ON l.idshift = s.id
WHERE s.modal IS DISTINCT FROM l.modal OR l.isi < 0
   OR (s.ditutup_at IS NOT NULL AND (s.diharapkan <> l.isi OR l.terakhir > s.ditutup_at))
UNION ALL
SELECT 'top-up tunai tidak sesuai kas', p.id::TEXT FROM pembelian_emoney p
LEFT JOIN kas_gerak g ON g.idpembelian_emoney = p.id AND g.jenis = 'topup'
WHERE (p.idshift IS NOT NULL AND p.cara_bayar = 'tunai') <> (g.id IS NOT NULL)
   OR g.nominal <> p.harga_paket OR g.idshift <> p.idshift
UNION ALL
SELECT 'pembatalan tidak sesuai', p.id::TEXT FROM pembelian_emoney p
LEFT JOIN ledger_transfer b ON b.idpembelian_emoney = p.id AND b.kind = 'batal'
LEFT JOIN ledger_transfer t ON t.idpembelian_emoney = p.id AND t.kind = 'topup'
LEFT JOIN kas_gerak g ON g.idpembelian_emoney = p.id AND g.jenis = 'batal'
WHERE (p.batal_at IS NOT NULL) <> (b.id IS NOT NULL)
   OR (b.id IS NOT NULL AND (b.jumlah <> t.jumlah OR b.debit_akun <> t.credit_akun OR b.credit_akun <> t.debit_akun
       OR b.idcustomer <> t.idcustomer))
   OR (g.id IS NOT NULL) <> (b.id IS NOT NULL AND p.idshift IS NOT NULL AND p.cara_bayar = 'tunai')
   OR g.nominal <> p.harga_paket
UNION ALL
SELECT 'shift di outlet lain', p.id::TEXT FROM pembelian_emoney p JOIN shift s ON s.id = p.idshift WHERE s.idoutlet <> p.idoutlet
UNION ALL
SELECT 'shift di outlet lain', p.id::TEXT FROM kas_gerak g JOIN shift s ON s.id = g.idshift JOIN pembelian_emoney p ON p.id = g.idpembelian_emoney
WHERE s.idoutlet <> p.idoutlet AND g.idshift IS DISTINCT FROM p.idshift
UNION ALL
SELECT 'top-up sesudah shift ditutup', p.id::TEXT FROM pembelian_emoney p JOIN shift s ON s.id = p.idshift WHERE p.created_at > s.ditutup_at;

CREATE OR REPLACE VIEW pelanggaran AS
SELECT aturan, kunci FROM pelanggaran_saldo UNION ALL SELECT aturan, kunci FROM pelanggaran_akun UNION ALL
SELECT aturan, kunci FROM pelanggaran_kas;
