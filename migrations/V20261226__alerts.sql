-- `oldest_program` stays: what is changed here is new.
-- Browsers of staff that receive alerts: a person's own, until it is paired again.
CREATE TABLE langganan_petugas (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id_kunci BIGINT NOT NULL REFERENCES kunci_operator,
    id_perangkat BIGINT NOT NULL UNIQUE REFERENCES perangkat,
    -- the browser's cookie: another pairing has another one
    token_hash BYTEA NOT NULL,
    endpoint TEXT NOT NULL UNIQUE CHECK (length(endpoint) <= 1024),
    p256dh BYTEA NOT NULL CHECK (octet_length(p256dh) = 65),
    auth BYTEA NOT NULL CHECK (octet_length(auth) = 16),
    -- the server's key that it was made with
    kid INTEGER NOT NULL,
    subscribed_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX langganan_petugas_orang ON langganan_petugas (id_kunci);

-- What a person wants to be told; without a row: all kinds of all outlets in sight, quiet from 22:00 to 07:00, no digest.
CREATE TABLE alarm_petugas (
    id_kunci BIGINT PRIMARY KEY REFERENCES kunci_operator,
    jenis TEXT[] NOT NULL,
    -- NULL: all in sight
    idoutlet BIGINT[],
    -- minutes of the day on the outlet's clock; NULL: no quiet hours
    senyap_dari SMALLINT,
    senyap_sampai SMALLINT,
    ringkasan BOOLEAN NOT NULL,
    CHECK ((senyap_dari IS NULL) = (senyap_sampai IS NULL))
);

-- An alert, from its first message to its all-clear.
CREATE TABLE alarm (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    jenis TEXT NOT NULL,
    -- the machine or the shift that it is about; 0: the outlet
    tentang BIGINT NOT NULL,
    sejak TIMESTAMPTZ NOT NULL,
    mulai_at TIMESTAMPTZ NOT NULL,
    lagi_at TIMESTAMPTZ,
    diambil_oleh BIGINT REFERENCES kunci_operator,
    hilang_at TIMESTAMPTZ,
    beres_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX alarm_sekarang ON alarm (idoutlet, jenis, tentang) WHERE beres_at IS NULL;
CREATE INDEX alarm_lama ON alarm (beres_at);

-- Messages to browsers of staff. `due_at` NULL: done with; kept so that its secret can be used once, and that only who was told hears the end.
CREATE TABLE alarm_kirim (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- NULL: the digest of a day
    id_alarm BIGINT REFERENCES alarm ON DELETE CASCADE,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    apa TEXT NOT NULL CHECK (apa IN ('mulai', 'lagi', 'diambil', 'beres', 'ringkasan')),
    idlangganan BIGINT NOT NULL REFERENCES langganan_petugas ON DELETE CASCADE,
    hari DATE,
    -- what a digest says
    isi TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    due_at TIMESTAMPTZ,
    tries SMALLINT NOT NULL DEFAULT 0,
    sent_at TIMESTAMPTZ,
    dipakai_at TIMESTAMPTZ,
    UNIQUE (id_alarm, apa, idlangganan),
    UNIQUE (idlangganan, idoutlet, hari),
    CHECK ((id_alarm IS NULL) = (apa = 'ringkasan') AND (hari IS NULL) = (apa <> 'ringkasan') AND (isi IS NULL) = (apa <> 'ringkasan'))
);
CREATE INDEX alarm_kirim_due ON alarm_kirim (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX alarm_kirim_lama ON alarm_kirim (created_at) WHERE id_alarm IS NULL;
