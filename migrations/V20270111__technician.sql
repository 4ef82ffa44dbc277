-- The role `teknisi` (docs/board.md), and what a machine's panel shows of its device. `oldest_program` is raised when the first technician is made:
-- an older program cannot list one. The table is small.
ALTER TABLE kunci_operator
    DROP CONSTRAINT kunci_operator_role_check,
    DROP CONSTRAINT kunci_operator_check1,
    ADD CONSTRAINT kunci_operator_role_check CHECK (role IN ('root', 'owner', 'supervisor', 'kasir', 'teknisi')),
    ADD CONSTRAINT kunci_operator_outlet CHECK ((role IN ('supervisor', 'kasir', 'teknisi')) = (idoutlet IS NOT NULL));
ALTER TABLE perangkat_kini
    -- why the board booted, in its own word
    ADD COLUMN reset TEXT,
    -- since when it has said that it can this
    ADD COLUMN bisa_sejak TIMESTAMPTZ;
UPDATE perangkat_kini SET bisa_sejak = terdengar_at WHERE bisa IS NOT NULL;
-- Messages that were lost on the way: gaps in their numbers.
ALTER TABLE perangkat_jam ADD COLUMN hilang INT NOT NULL DEFAULT 0;
-- A test of pulses (docs/board.md) runs nothing.
ALTER TABLE snap_transaksi
    DROP CONSTRAINT snap_transaksi_durasi_s_check,
    ADD CONSTRAINT snap_transaksi_durasi CHECK (durasi_s > 0 OR durasi_s = 0 AND uji AND pulsa IS NOT NULL) NOT VALID;
