-- Whom a till, or a kasir's key, has found by number or code: for an hour it may sell to the customer's id.
CREATE TABLE pelanggan_ditemukan (
    oleh TEXT NOT NULL, -- perangkat:<id> or kunci:<id>
    id_customer_global BIGINT NOT NULL REFERENCES customer_global (id),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (oleh, id_customer_global)
);
CREATE INDEX pelanggan_ditemukan_lama ON pelanggan_ditemukan (created_at);
