-- Balance that is paid out, moved to another customer, or brought along from another system (docs/money.md). What older programs read does not
-- change until such a row is written, which no server does while an older program lives: `oldest_program` stays.
-- `make migration-locks` measured 941 ms on 1,000,000 rows, beside a build.
CREATE TABLE penarikan (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idcustomer BIGINT NOT NULL REFERENCES customer,
    id_customer_global BIGINT NOT NULL REFERENCES customer_global,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    idshift BIGINT NOT NULL REFERENCES shift,
    -- rupiah that the customer got in cash, and rupiah of bonus that ended
    dibayar BIGINT NOT NULL CHECK (dibayar > 0),
    hangus BIGINT NOT NULL CHECK (hangus >= 0),
    -- the account's newest top-up: it and those before it are paid out, and no longer decide the account's kind
    sampai_topup BIGINT REFERENCES pembelian_emoney,
    aktor TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX penarikan_outlet ON penarikan (idoutlet, created_at);
CREATE INDEX penarikan_pelanggan ON penarikan (id_customer_global, id);
CREATE INDEX penarikan_akun ON penarikan (idcustomer, sampai_topup);

-- A customer's accounts go to a new number: the row of the old number (`dari`) stays and takes the number of the new one (`ke`), which retires.
-- `terjadi_at`: when it happens; a move at a till waits until then for a no of the old number.
CREATE TABLE pindah (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dari BIGINT NOT NULL REFERENCES customer_global,
    ke BIGINT NOT NULL REFERENCES customer_global,
    cara TEXT NOT NULL CHECK (cara IN ('aplikasi', 'kasir')),
    -- the outlet of the till; NULL: in the app
    idoutlet BIGINT REFERENCES outlet,
    -- both numbers as a counter shows them, with the middle digits hidden
    nomor_lama TEXT NOT NULL,
    nomor_baru TEXT NOT NULL,
    -- SHA-256 of the secret in the message to the old number
    rahasia_hash BYTEA UNIQUE,
    -- when that message is due; NULL: it was sent, or none is needed. The move waits for it.
    kabar_at TIMESTAMPTZ,
    diminta_at TIMESTAMPTZ NOT NULL,
    terjadi_at TIMESTAMPTZ NOT NULL,
    ditolak_at TIMESTAMPTZ,
    selesai_at TIMESTAMPTZ,
    -- why it ended without a move
    sebab TEXT,
    aktor TEXT NOT NULL,
    CHECK (dari <> ke),
    CHECK ((cara = 'kasir') = (idoutlet IS NOT NULL))
);
CREATE UNIQUE INDEX pindah_dari ON pindah (dari) WHERE ditolak_at IS NULL AND selesai_at IS NULL;
CREATE UNIQUE INDEX pindah_ke ON pindah (ke) WHERE ditolak_at IS NULL AND selesai_at IS NULL;
CREATE INDEX pindah_menunggu ON pindah (terjadi_at) WHERE ditolak_at IS NULL AND selesai_at IS NULL;
CREATE INDEX pindah_kabar ON pindah (kabar_at) WHERE kabar_at IS NOT NULL;
CREATE INDEX pindah_outlet ON pindah (idoutlet, ditolak_at) WHERE ditolak_at IS NOT NULL;
CREATE INDEX pindah_ditolak ON pindah (dari, ditolak_at) WHERE ditolak_at IS NOT NULL;

-- A balance of another system, a row of an imported file. The customer gets it when the number is registered.
CREATE TABLE saldo_awal (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    -- NULL: its customer was deleted
    telp TEXT,
    nama TEXT,
    jumlah BIGINT NOT NULL CHECK (jumlah > 0),
    -- SHA-256 of the file, in hexadecimal digits, and its line
    berkas TEXT NOT NULL,
    baris INTEGER NOT NULL,
    idcustomer BIGINT REFERENCES customer,
    diambil_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (idoutlet, berkas, baris),
    CHECK ((idcustomer IS NULL) = (diambil_at IS NULL))
);
CREATE INDEX saldo_awal_telp ON saldo_awal (telp) WHERE diambil_at IS NULL;

-- `telp` of a customer who moved or was deleted begins with 1, which no number does.
ALTER TABLE customer_global
    ADD COLUMN dihapus_at TIMESTAMPTZ,
    ADD COLUMN pindah_ke BIGINT REFERENCES customer_global;

-- `penarikan`, `hangus`, `pindah_keluar`: the wallet pays the outlet that issued its money (K). `pindah_masuk`, `saldo_awal`: the outlet issues.
-- `dibayar`: how much of it was paid for, the rest is bonus.
ALTER TABLE ledger_transfer
    ADD COLUMN idpenarikan BIGINT REFERENCES penarikan,
    ADD COLUMN idpindah BIGINT REFERENCES pindah,
    ADD COLUMN idsaldo_awal BIGINT REFERENCES saldo_awal,
    ADD COLUMN dibayar BIGINT,
    DROP CONSTRAINT ledger_transfer_kind_check,
    DROP CONSTRAINT ledger_transfer_check3,
    ADD CONSTRAINT ledger_transfer_kind_check CHECK (kind IN ('pending', 'post', 'void', 'topup', 'hapus', 'refund', 'batal',
        'penarikan', 'hangus', 'pindah_keluar', 'pindah_masuk', 'saldo_awal')) NOT VALID,
    ADD CONSTRAINT ledger_transfer_check3 CHECK ((kind IN ('topup', 'batal', 'penarikan', 'hangus', 'pindah_keluar', 'pindah_masuk', 'saldo_awal'))
        = (idtransaksi IS NULL)) NOT VALID,
    ADD CONSTRAINT ledger_penarikan CHECK (kind <> 'penarikan' OR idpenarikan IS NOT NULL) NOT VALID,
    ADD CONSTRAINT ledger_pindah CHECK (kind NOT IN ('pindah_keluar', 'pindah_masuk') OR idpindah IS NOT NULL) NOT VALID,
    ADD CONSTRAINT ledger_saldo_awal CHECK ((kind = 'saldo_awal') = (idsaldo_awal IS NOT NULL)) NOT VALID,
    ADD CONSTRAINT ledger_dibayar CHECK ((kind IN ('pindah_keluar', 'pindah_masuk', 'saldo_awal')) = (dibayar IS NOT NULL)
        AND (dibayar IS NULL OR dibayar BETWEEN 0 AND jumlah)) NOT VALID;
CREATE UNIQUE INDEX penarikan_sekali ON ledger_transfer (idpenarikan, kind) WHERE idpenarikan IS NOT NULL;
CREATE UNIQUE INDEX pindah_sekali ON ledger_transfer (idpindah, idcustomer, kind) WHERE idpindah IS NOT NULL;
CREATE UNIQUE INDEX saldo_awal_sekali ON ledger_transfer (idsaldo_awal) WHERE idsaldo_awal IS NOT NULL;

ALTER TABLE kas_gerak
    ADD COLUMN idpenarikan BIGINT REFERENCES penarikan,
    DROP CONSTRAINT kas_gerak_jenis_check,
    ADD CONSTRAINT kas_gerak_jenis_check CHECK (jenis IN ('modal', 'topup', 'batal', 'masuk', 'keluar', 'setor', 'tarik')) NOT VALID,
    ADD CONSTRAINT kas_gerak_penarikan CHECK ((jenis = 'tarik') = (idpenarikan IS NOT NULL)) NOT VALID;
CREATE UNIQUE INDEX kas_tarik_sekali ON kas_gerak (idpenarikan) WHERE idpenarikan IS NOT NULL;

ALTER TABLE izin
    DROP CONSTRAINT izin_aksi_check,
    ADD CONSTRAINT izin_aksi_check CHECK (aksi IN ('topup', 'batal', 'refund', 'hapus', 'kas', 'tarik', 'pindah'));
ALTER TABLE push
    DROP CONSTRAINT push_sebab_check,
    ADD CONSTRAINT push_sebab_check
        CHECK (sebab IN ('selesai', 'menunggu', 'gagal', 'topup_batal', 'panggilan', 'saldo', 'keluhan', 'pindah'));
ALTER TABLE kode_otp
    DROP CONSTRAINT kode_otp_tujuan_check,
    ADD CONSTRAINT kode_otp_tujuan_check CHECK (tujuan IN ('register', 'forgot_password', 'update_password', 'pindah'));

CREATE OR REPLACE VIEW pelanggaran_saldo AS
WITH gerak AS (
    SELECT idcustomer,
           COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('topup', 'hapus', 'refund', 'pindah_masuk', 'saldo_awal')), 0) AS kredit,
           COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('post', 'batal', 'penarikan', 'hangus', 'pindah_keluar')), 0) AS debit,
           COALESCE(SUM(jumlah) FILTER (WHERE kind = 'pending'), 0)
               - COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('post', 'void')), 0) AS tertahan,
           COALESCE(SUM(CASE WHEN kind IN ('pending', 'batal', 'penarikan', 'hangus', 'pindah_keluar') THEN -jumlah
                             WHEN kind = 'post' THEN 0 ELSE jumlah END), 0) AS riwayat
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
WHERE q.idakun <> CASE WHEN l.kind IN ('pending', 'post', 'batal', 'penarikan', 'hangus', 'pindah_keluar') THEN l.debit_akun ELSE l.credit_akun END;

CREATE OR REPLACE VIEW pelanggaran_akun AS
SELECT 'akun lawan salah' AS aturan, l.id::TEXT AS kunci
FROM ledger_transfer l
JOIN akun a ON a.idakun = CASE WHEN l.kind IN ('pending', 'post', 'batal', 'penarikan', 'hangus', 'pindah_keluar') THEN l.credit_akun
                               ELSE l.debit_akun END
WHERE a.jenis <> CASE WHEN l.kind IN ('topup', 'batal', 'penarikan', 'hangus', 'pindah_keluar', 'pindah_masuk', 'saldo_awal') THEN 'K' ELSE 'R' END
   OR a.idoutlet <> l.idoutlet
UNION ALL
SELECT 'gerak milik pelanggan lain', l.id::TEXT FROM ledger_transfer l JOIN customer c USING (idcustomer)
WHERE l.id_customer_global <> c.id_customer_global
UNION ALL
SELECT 'gerak bukan milik pembeliannya', l.id::TEXT FROM ledger_transfer l JOIN snap_transaksi t ON t.id = l.idtransaksi
WHERE (l.idcustomer, l.idoutlet) <> (t.idcustomer, t.idoutlet)
UNION ALL
SELECT 'gerak bukan milik pembeliannya', l.id::TEXT FROM ledger_transfer l JOIN pembelian_emoney p ON p.id = l.idpembelian_emoney
WHERE l.idoutlet <> p.idoutlet;

-- Payouts, moves and opening balances. That a payout is not more than what was paid in is a replay of an account: `nyala audit verify` does it.
CREATE VIEW pelanggaran_keluar AS
SELECT 'penarikan tidak sesuai kas' AS aturan, p.id::TEXT AS kunci FROM penarikan p
LEFT JOIN ledger_transfer l ON l.idpenarikan = p.id AND l.kind = 'penarikan'
LEFT JOIN ledger_transfer h ON h.idpenarikan = p.id AND h.kind = 'hangus'
LEFT JOIN kas_gerak g ON g.idpenarikan = p.id
WHERE (l.jumlah, l.idcustomer, l.idoutlet) IS DISTINCT FROM (p.dibayar, p.idcustomer, p.idoutlet) OR COALESCE(h.jumlah, 0) <> p.hangus
   OR (g.nominal, g.idshift) IS DISTINCT FROM (p.dibayar, p.idshift)
UNION ALL
SELECT 'pindah tidak seimbang', idpindah::TEXT FROM ledger_transfer WHERE idpindah IS NOT NULL AND kind IN ('pindah_keluar', 'pindah_masuk')
GROUP BY idpindah, idoutlet
HAVING SUM(CASE kind WHEN 'pindah_keluar' THEN jumlah ELSE -jumlah END) <> 0
    OR SUM(CASE kind WHEN 'pindah_keluar' THEN dibayar ELSE -dibayar END) <> 0
UNION ALL
SELECT 'saldo awal tidak sesuai', s.id::TEXT FROM saldo_awal s LEFT JOIN ledger_transfer l ON l.idsaldo_awal = s.id
WHERE CASE WHEN s.idcustomer IS NULL THEN l.id IS NOT NULL
    ELSE (l.jumlah, l.dibayar, l.idcustomer, l.idoutlet) IS DISTINCT FROM (s.jumlah, s.jumlah, s.idcustomer, s.idoutlet) END;

CREATE OR REPLACE VIEW pelanggaran AS
SELECT aturan, kunci FROM pelanggaran_saldo UNION ALL SELECT aturan, kunci FROM pelanggaran_akun UNION ALL
SELECT aturan, kunci FROM pelanggaran_kas UNION ALL SELECT aturan, kunci FROM pelanggaran_kasir UNION ALL
SELECT aturan, kunci FROM pelanggaran_mesin UNION ALL SELECT aturan, kunci FROM pelanggaran_keluar;
