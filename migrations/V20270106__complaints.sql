-- What a customer says went wrong with a use (docs/money.md). `oldest_program` stays: the table is new.
CREATE TABLE keluhan (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idtransaksi BIGINT NOT NULL UNIQUE REFERENCES snap_transaksi,
    id_customer_global BIGINT NOT NULL REFERENCES customer_global,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    idmesin BIGINT NOT NULL REFERENCES mesin,
    alasan TEXT NOT NULL CHECK (alasan IN ('tidak_jalan', 'berhenti', 'hasil', 'lain')),
    catatan TEXT CHECK (catatan <> ''),
    status TEXT NOT NULL CHECK (status IN ('terbuka', 'diterima', 'ditolak')),
    -- rupiah that went back for it
    nominal BIGINT,
    jawaban TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    dijawab_at TIMESTAMPTZ,
    dijawab_oleh TEXT,
    CHECK ((status = 'terbuka') = (dijawab_at IS NULL))
);
CREATE INDEX keluhan_outlet ON keluhan (idoutlet, id);
CREATE INDEX keluhan_terbuka ON keluhan (idoutlet, created_at) WHERE status = 'terbuka';
CREATE INDEX keluhan_pelanggan ON keluhan (id_customer_global, created_at);

-- Who wanted all kinds of alerts wants those of complaints, too.
UPDATE alarm_petugas SET jenis = jenis || 'keluhan'::TEXT
WHERE jenis @> ARRAY['perlu_petugas', 'tanpa_bayar', 'outlet_putus', 'belum_pasti', 'ditolak', 'offline', 'shift', 'cadangan'];
