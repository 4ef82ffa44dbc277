-- Machines that are started by coin pulses (docs/contract.md §6). `oldest_program` is raised when the first one is set up: an older program
-- would send its device a `start`.
ALTER TABLE mesin
    ADD COLUMN cara TEXT NOT NULL DEFAULT 'relai' CHECK (cara IN ('relai', 'pulsa')),
    -- width of a pulse, and the gap after it
    ADD COLUMN lebar_ms INT NOT NULL DEFAULT 50 CHECK (lebar_ms BETWEEN 1 AND 6000),
    ADD COLUMN jeda_ms INT NOT NULL DEFAULT 100 CHECK (jeda_ms BETWEEN 1 AND 6000),
    -- without the running signal for so long, the machine has ended
    ADD COLUMN sense_s INT NOT NULL DEFAULT 60 CHECK (sense_s BETWEEN 1 AND 3600),
    -- pulses of each service at this machine; NULL: the service's own
    ADD COLUMN pulsa INT CHECK (pulsa BETWEEN 1 AND 20);
ALTER TABLE layanan ADD COLUMN pulsa INT NOT NULL DEFAULT 1 CHECK (pulsa BETWEEN 1 AND 20);
-- What the purchase's device was sent; NULL: a relay.
ALTER TABLE snap_transaksi ADD COLUMN pulsa INT, ADD COLUMN lebar_ms INT, ADD COLUMN jeda_ms INT, ADD COLUMN sense_s INT;
-- What the device says that it can; NULL: it has not said.
ALTER TABLE perangkat_kini ADD COLUMN bisa TEXT[];
