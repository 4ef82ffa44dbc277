-- Nyala's first schema. Rupiah are BIGINT whole rupiah; instants are timestamptz that the server's clock sets (never now()),
-- so that every rule can be tested in virtual time. States are TEXT with a CHECK: adding one needs no type change.

CREATE TABLE owner_usaha (
    idowner BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    nama TEXT NOT NULL CHECK (nama <> ''),
    created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE outlet (
    idoutlet BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idowner BIGINT NOT NULL REFERENCES owner_usaha,
    nama TEXT NOT NULL CHECK (nama <> ''),
    kota TEXT NOT NULL,
    latitude DOUBLE PRECISION NOT NULL CHECK (latitude BETWEEN -90 AND 90),
    longitude DOUBLE PRECISION NOT NULL CHECK (longitude BETWEEN -180 AND 180),
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (idoutlet, idowner)
);

CREATE TABLE customer_global (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    telp TEXT NOT NULL UNIQUE CHECK (telp ~ '^[1-9][0-9]{6,12}$'),
    nama_awal TEXT NOT NULL CHECK (nama_awal <> ''),
    nama_akhir TEXT NOT NULL CHECK (nama_akhir <> ''),
    password_hash TEXT NOT NULL,
    -- a token of an older version is dead (contract section 1)
    token_version INT NOT NULL DEFAULT 1,
    created_at TIMESTAMPTZ NOT NULL,
    -- moves only with the password (contract section 2)
    updated_at TIMESTAMPTZ NOT NULL
);

-- One E-Pay account per customer and outlet. The owner is carried so that foreign keys can prove "same owner".
CREATE TABLE customer (
    idcustomer BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id_customer_global BIGINT NOT NULL REFERENCES customer_global,
    idoutlet BIGINT NOT NULL,
    owner_idowner BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    FOREIGN KEY (idoutlet, owner_idowner) REFERENCES outlet (idoutlet, idowner),
    UNIQUE (id_customer_global, idoutlet),
    UNIQUE (idcustomer, id_customer_global, owner_idowner)
);

-- The chart of accounts: W wallet (one per E-Pay account), R revenue of an outlet, K e-money issued by an outlet.
-- R and K carry no running balance, so there is no hot row.
CREATE TABLE akun (
    idakun BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    jenis TEXT NOT NULL CHECK (jenis IN ('W', 'R', 'K')),
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    idcustomer BIGINT UNIQUE REFERENCES customer,
    CHECK ((jenis = 'W') = (idcustomer IS NOT NULL))
);
CREATE UNIQUE INDEX akun_outlet_satu ON akun (idoutlet, jenis) WHERE jenis <> 'W';

-- Counters only grow, pending is what is held (TigerBeetle's shape). The CHECK makes a negative balance impossible.
CREATE TABLE quota_emoney (
    idcustomer BIGINT PRIMARY KEY REFERENCES customer,
    idakun BIGINT NOT NULL UNIQUE REFERENCES akun,
    jenis_emoney SMALLINT NOT NULL CHECK (jenis_emoney IN (1, 2)),
    masa_aktif TIMESTAMPTZ,
    credits_posted BIGINT NOT NULL DEFAULT 0 CHECK (credits_posted >= 0),
    debits_posted BIGINT NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
    debits_pending BIGINT NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
    saldo BIGINT GENERATED ALWAYS AS (credits_posted - debits_posted - debits_pending) STORED,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT saldo_tidak_minus CHECK (debits_posted + debits_pending <= credits_posted),
    CONSTRAINT masa_aktif_wajib CHECK (jenis_emoney = 2 OR masa_aktif IS NOT NULL)
) WITH (fillfactor = 80);

CREATE TABLE mesin (
    idmesin BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idoutlet BIGINT NOT NULL,
    idowner BIGINT NOT NULL,
    nama TEXT NOT NULL CHECK (nama <> ''),
    driver TEXT NOT NULL CHECK (driver IN ('sim', 'mqtt')),
    -- typed by hand when the sticker cannot be scanned: 8 Crockford base32 characters
    kode TEXT NOT NULL UNIQUE CHECK (kode ~ '^[0-9A-HJKMNP-TV-Z]{8}$'),
    -- a sticker with an older version is revoked
    qr_versi INT NOT NULL DEFAULT 1,
    aktif BOOLEAN NOT NULL DEFAULT TRUE,
    online BOOLEAN NOT NULL DEFAULT TRUE,
    -- money was given back without a word from the device: no purchase until it reports that nothing runs
    perlu_petugas BOOLEAN NOT NULL DEFAULT FALSE,
    -- fencing: one more with every reservation, so that a late command of an old one is worthless
    epoch BIGINT NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ NOT NULL,
    FOREIGN KEY (idoutlet, idowner) REFERENCES outlet (idoutlet, idowner),
    UNIQUE (idmesin, idoutlet, idowner)
) WITH (fillfactor = 80);
CREATE INDEX mesin_outlet ON mesin (idoutlet);

CREATE TABLE layanan (
    idlayanan BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    nama TEXT NOT NULL CHECK (nama <> ''),
    durasi_s INT NOT NULL CHECK (durasi_s BETWEEN 1 AND 86400),
    harga BIGINT NOT NULL CHECK (harga BETWEEN 0 AND 20000000),
    aktif BOOLEAN NOT NULL DEFAULT TRUE,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (idlayanan, idoutlet)
);
CREATE INDEX layanan_outlet ON layanan (idoutlet);

-- A receipt number is claimed once per customer: by a purchase, or by a refusal that a repeat must hear again.
CREATE TABLE nota (
    id_customer_global BIGINT NOT NULL REFERENCES customer_global,
    no_nota TEXT NOT NULL CHECK (no_nota ~ '^SLF[0-9]{15}$'),
    body_hash BYTEA NOT NULL,
    tolak TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (id_customer_global, no_nota)
);

CREATE TABLE snap_transaksi (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id_customer_global BIGINT NOT NULL,
    no_nota TEXT NOT NULL,
    idcustomer BIGINT NOT NULL,
    idowner BIGINT NOT NULL,
    idmesin BIGINT NOT NULL,
    idoutlet BIGINT NOT NULL,
    idlayanan BIGINT NOT NULL,
    -- as they were when it was bought; renaming a machine does not rewrite history
    nama_mesin TEXT NOT NULL,
    nama_layanan TEXT NOT NULL,
    durasi_s INT NOT NULL CHECK (durasi_s > 0),
    grandtotal BIGINT NOT NULL CHECK (grandtotal >= 0),
    dikembalikan BIGINT NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING', 'FINISHED', 'STOPPED', 'REFUSED', 'EXPIRED')),
    cmd_id UUID NOT NULL,
    cmd_epoch BIGINT NOT NULL,
    cmd_exp TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    started_at TIMESTAMPTZ,
    ends_at TIMESTAMPTZ,
    finished_at TIMESTAMPTZ,
    dihapus_at TIMESTAMPTZ,
    UNIQUE (id_customer_global, no_nota),
    FOREIGN KEY (id_customer_global, no_nota) REFERENCES nota,
    FOREIGN KEY (idcustomer, id_customer_global, idowner) REFERENCES customer (idcustomer, id_customer_global, owner_idowner),
    FOREIGN KEY (idmesin, idoutlet, idowner) REFERENCES mesin (idmesin, idoutlet, idowner),
    FOREIGN KEY (idlayanan, idoutlet) REFERENCES layanan (idlayanan, idoutlet),
    CONSTRAINT kembali_tidak_lebih CHECK (dikembalikan BETWEEN 0 AND grandtotal),
    CONSTRAINT jalan_ada_waktu CHECK ((state IN ('RUNNING', 'FINISHED', 'STOPPED')) = (started_at IS NOT NULL AND ends_at IS NOT NULL)),
    CONSTRAINT selesai_ada_waktu CHECK ((state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING')) = (finished_at IS NULL))
) WITH (fillfactor = 80);
-- Exactly one winner: a machine has at most one open purchase.
CREATE UNIQUE INDEX satu_pemakai_per_mesin ON snap_transaksi (idmesin) WHERE state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING');
CREATE INDEX snap_transaksi_terbuka ON snap_transaksi (id_customer_global, id) WHERE state IN ('HELD', 'SENT', 'UNSURE', 'RUNNING');
-- an operator names a use by its receipt number alone
CREATE INDEX snap_transaksi_nota ON snap_transaksi (no_nota);

CREATE TABLE pembelian_emoney (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idcustomer BIGINT NOT NULL,
    id_customer_global BIGINT NOT NULL,
    idowner BIGINT NOT NULL,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    nama_paket TEXT NOT NULL CHECK (nama_paket <> ''),
    harga_paket BIGINT NOT NULL CHECK (harga_paket BETWEEN 1 AND 20000000),
    quota BIGINT NOT NULL CHECK (quota BETWEEN 1 AND 20000000),
    saldo_akhir BIGINT NOT NULL CHECK (saldo_akhir >= 0),
    created_at TIMESTAMPTZ NOT NULL,
    FOREIGN KEY (idcustomer, id_customer_global, idowner) REFERENCES customer (idcustomer, id_customer_global, owner_idowner)
);

-- One row is one balanced double entry: debit_akun pays credit_akun. Post, void and refund are new rows, never updates.
CREATE TABLE ledger_transfer (
    -- lets a history page be read again as of its first one, however transactions overlapped. It comes before the id, because
    -- defaults are taken in this order: whoever took a lower id already had its transaction number.
    xid XID8 NOT NULL DEFAULT pg_current_xact_id(),
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('pending', 'post', 'void', 'topup', 'hapus', 'refund')),
    debit_akun BIGINT NOT NULL REFERENCES akun,
    credit_akun BIGINT NOT NULL REFERENCES akun,
    jumlah BIGINT NOT NULL CHECK (jumlah >= 0),
    pending_id BIGINT REFERENCES ledger_transfer,
    idtransaksi BIGINT REFERENCES snap_transaksi,
    idpembelian_emoney BIGINT REFERENCES pembelian_emoney,
    id_customer_global BIGINT NOT NULL,
    idcustomer BIGINT NOT NULL,
    idoutlet BIGINT NOT NULL,
    aktor TEXT NOT NULL,
    alasan TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    CHECK (debit_akun <> credit_akun),
    CHECK ((kind IN ('post', 'void')) = (pending_id IS NOT NULL)),
    CHECK ((kind = 'topup') = (idpembelian_emoney IS NOT NULL)),
    CHECK ((kind = 'topup') = (idtransaksi IS NULL)),
    CHECK ((kind IN ('hapus', 'refund')) <= (alasan IS NOT NULL))
);
CREATE UNIQUE INDEX pending_diselesaikan_sekali ON ledger_transfer (pending_id) WHERE pending_id IS NOT NULL;
CREATE UNIQUE INDEX gerak_sekali ON ledger_transfer (idtransaksi, kind) WHERE kind IN ('pending', 'post', 'void', 'hapus');
CREATE INDEX ledger_refund ON ledger_transfer (idtransaksi) WHERE kind = 'refund';
CREATE UNIQUE INDEX topup_sekali ON ledger_transfer (idpembelian_emoney) WHERE kind = 'topup';
CREATE INDEX riwayat ON ledger_transfer (id_customer_global, id) WHERE kind <> 'post';
CREATE INDEX riwayat_topup ON ledger_transfer (id_customer_global, id) WHERE kind = 'topup';

CREATE FUNCTION tolak_ubah() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER ledger_hanya_tambah BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transfer
    FOR EACH STATEMENT EXECUTE FUNCTION tolak_ubah();

-- Device commands that a transaction has decided and a device may not have heard yet.
CREATE TABLE outbox (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idtransaksi BIGINT NOT NULL REFERENCES snap_transaksi,
    idmesin BIGINT NOT NULL,
    op TEXT NOT NULL CHECK (op IN ('start', 'stop')),
    available_at TIMESTAMPTZ NOT NULL,
    attempts INT NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ NOT NULL,
    UNIQUE (idtransaksi, op)
);
CREATE INDEX outbox_giliran ON outbox (available_at);

-- One-time codes. Only an HMAC is kept; a code belongs to one purpose and one number.
CREATE TABLE kode_otp (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tujuan TEXT NOT NULL CHECK (tujuan IN ('register', 'forgot_password', 'update_password')),
    telp TEXT NOT NULL,
    hmac BYTEA NOT NULL,
    ip TEXT NOT NULL,
    tries SMALLINT NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    -- set once WhatsApp took the message: only sent codes count against the limits
    sent_at TIMESTAMPTZ,
    used_at TIMESTAMPTZ
);
CREATE INDEX kode_otp_nomor ON kode_otp (telp, tujuan, id);
CREATE INDEX kode_otp_waktu ON kode_otp (created_at);
CREATE INDEX kode_otp_ip ON kode_otp (ip, created_at);

CREATE TABLE login_gagal (
    telp TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX login_gagal_nomor ON login_gagal (telp, created_at);

-- Operators' keys. Only the SHA-256 of the secret (256 random bits) is kept.
CREATE TABLE kunci_operator (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('root', 'owner', 'supervisor', 'kasir')),
    idowner BIGINT REFERENCES owner_usaha,
    idoutlet BIGINT REFERENCES outlet,
    nama TEXT NOT NULL CHECK (nama <> ''),
    hash BYTEA NOT NULL UNIQUE,
    created_at TIMESTAMPTZ NOT NULL,
    revoked_at TIMESTAMPTZ,
    CHECK ((role = 'owner') = (idowner IS NOT NULL)),
    CHECK ((role IN ('supervisor', 'kasir')) = (idoutlet IS NOT NULL))
);

-- The answer of a call that moved money, told again to a repeat (contract section 4).
CREATE TABLE idempotensi (
    id_kunci BIGINT NOT NULL REFERENCES kunci_operator,
    kunci TEXT NOT NULL,
    body_hash BYTEA NOT NULL,
    -- JSON and not JSONB, so that a repeat hears it byte for byte
    jawaban JSON NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (id_kunci, kunci)
);

CREATE TABLE audit_log (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    aktor TEXT NOT NULL,
    aksi TEXT NOT NULL,
    objek TEXT NOT NULL,
    isi JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
-- a run that nobody paid for is told once, however often its device reports it
CREATE UNIQUE INDEX jalan_tanpa_bayar_sekali ON audit_log (objek, (isi ->> 'cmd_id')) WHERE aksi = 'mesin.jalan_tanpa_bayar';
CREATE TRIGGER audit_hanya_tambah BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION tolak_ubah();

-- Every row is a broken rule. `nyala audit verify` prints them.
CREATE VIEW pelanggaran AS
WITH gerak AS (
    SELECT idcustomer,
           COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('topup', 'hapus', 'refund')), 0) AS kredit,
           COALESCE(SUM(jumlah) FILTER (WHERE kind = 'post'), 0) AS debit,
           COALESCE(SUM(jumlah) FILTER (WHERE kind = 'pending'), 0)
               - COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('post', 'void')), 0) AS tertahan,
           COALESCE(SUM(CASE WHEN kind = 'pending' THEN -jumlah WHEN kind = 'post' THEN 0 ELSE jumlah END), 0) AS riwayat
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
WHERE q.idakun <> CASE WHEN l.kind IN ('pending', 'post') THEN l.debit_akun ELSE l.credit_akun END
UNION ALL
SELECT 'perintah mulai tertinggal', o.id::TEXT FROM outbox o JOIN snap_transaksi t ON t.id = o.idtransaksi
WHERE o.op = 'start' AND t.state NOT IN ('HELD', 'SENT', 'UNSURE');
