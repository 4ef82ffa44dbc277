-- What browsers are told while the app is closed (docs/decisions/0035-a-push-is-a-row-of-the-end-it-tells.md).

-- A browser that takes pushes. It belongs to whoever subscribed it last, by the login that did.
CREATE TABLE langganan_push (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id_customer_global BIGINT NOT NULL REFERENCES customer_global,
    endpoint TEXT NOT NULL UNIQUE CHECK (length(endpoint) <= 1024),
    p256dh BYTEA NOT NULL CHECK (octet_length(p256dh) = 65),
    auth BYTEA NOT NULL CHECK (octet_length(auth) = 16),
    -- which login, as in ended_token, and when that runs out
    token BYTEA NOT NULL CHECK (octet_length(token) = 16),
    expires_at TIMESTAMPTZ NOT NULL,
    subscribed_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX langganan_push_pelanggan ON langganan_push (id_customer_global);
CREATE INDEX langganan_push_until ON langganan_push (expires_at);

-- What is to be told to a browser; gone when it is. Without foreign keys: a purchase's statement reads subscriptions and waits for none, and one
-- that is gone when it would be told is not told. Few indexes: that statement opens them all, also when it writes nothing.
CREATE TABLE push (
    -- the purchase, or the top-up of 'topup_batal'
    objek BIGINT NOT NULL,
    sebab TEXT NOT NULL CHECK (sebab IN ('selesai', 'menunggu', 'gagal', 'topup_batal')),
    idlangganan BIGINT NOT NULL,
    id_customer_global BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    -- when it is to be tried next
    due_at TIMESTAMPTZ NOT NULL,
    -- how often a server took it to send it
    tries SMALLINT NOT NULL DEFAULT 0,
    PRIMARY KEY (objek, sebab, idlangganan)
);
CREATE INDEX push_due ON push (due_at);

-- When its customer said that the laundry is fetched.
ALTER TABLE snap_transaksi ADD COLUMN diambil_at TIMESTAMPTZ;
