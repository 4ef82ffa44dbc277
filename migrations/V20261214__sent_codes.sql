-- How many codes were sent (docs/limits.md). A pot is an address, a block around it, or all strangers; a code takes the next number of each
-- of its pots. Numbers have no gaps, so that the code `max` numbers ago says whether so many were sent within a window.
CREATE TABLE kode_terkirim (
    pot TEXT NOT NULL,
    no BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (pot, no)
);
CREATE INDEX kode_terkirim_waktu ON kode_terkirim (created_at);
