-- Calls of customers who wait for a machine (docs/board.md, Customers). `oldest_program` stays: a server of the release before that takes the push
-- of a call cannot read it, and what it took is tried again a minute later.
CREATE TABLE panggilan (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id_customer_global BIGINT NOT NULL REFERENCES customer_global,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    jenis TEXT NOT NULL CHECK (jenis IN ('cuci', 'kering', 'lain')),
    created_at TIMESTAMPTZ NOT NULL,
    sampai TIMESTAMPTZ NOT NULL,
    -- the customer's newest purchase then: a later one that starts ends the call
    sesudah BIGINT NOT NULL,
    -- which machine the customer is called to now, and until when
    idmesin BIGINT REFERENCES mesin,
    dipanggil_sampai TIMESTAMPTZ,
    selesai_at TIMESTAMPTZ,
    CHECK ((idmesin IS NULL) = (dipanggil_sampai IS NULL))
);
CREATE UNIQUE INDEX panggilan_pelanggan ON panggilan (id_customer_global) WHERE selesai_at IS NULL;
CREATE UNIQUE INDEX panggilan_mesin ON panggilan (idmesin) WHERE selesai_at IS NULL AND idmesin IS NOT NULL;
CREATE INDEX panggilan_antrean ON panggilan (idoutlet, jenis, id) WHERE selesai_at IS NULL;
CREATE INDEX panggilan_lama ON panggilan (selesai_at);

ALTER TABLE push
    DROP CONSTRAINT push_sebab_check,
    ADD CONSTRAINT push_sebab_check CHECK (sebab IN ('selesai', 'menunggu', 'gagal', 'topup_batal', 'panggilan'));
