-- Coins that boards count (docs/board.md, Coin machines). `oldest_program` stays: what is added here is new.
ALTER TABLE mesin
    -- rupiah of a coin
    ADD COLUMN nilai_koin INT NOT NULL DEFAULT 0 CHECK (nilai_koin BETWEEN 0 AND 20000000);

-- How far the coins of a machine's board are counted: what the board said, in which boot, and when.
CREATE TABLE koin_seri (
    idmesin BIGINT PRIMARY KEY REFERENCES mesin,
    -- NULL: the board names none
    boot BIGINT,
    koin BIGINT NOT NULL,
    didengar_at TIMESTAMPTZ NOT NULL,
    -- counted in all, of every board
    jumlah BIGINT NOT NULL DEFAULT 0
);

-- Coins as they were counted, at most about one row a minute and machine, because a board saves them so often.
CREATE TABLE koin_hitung (
    idmesin BIGINT NOT NULL REFERENCES mesin,
    dihitung_at TIMESTAMPTZ NOT NULL,
    idoutlet BIGINT NOT NULL REFERENCES outlet,
    jumlah BIGINT NOT NULL,
    -- rupiah, by what a coin was worth then
    nilai BIGINT NOT NULL,
    PRIMARY KEY (idmesin, dihitung_at)
);
CREATE INDEX koin_hitung_outlet ON koin_hitung (idoutlet, dihitung_at);
