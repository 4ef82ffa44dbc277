-- What recovery looks for each second, and what a device says of itself, is found without reading through purchases and machines.

-- Past their deadline; each holds open purchases only.
CREATE INDEX purchase_runs_until ON snap_transaksi (ends_at) WHERE state = 'RUNNING';
CREATE INDEX purchase_command_until ON snap_transaksi (cmd_exp) WHERE state IN ('HELD', 'SENT');
CREATE INDEX purchase_unsure_since ON snap_transaksi (created_at) WHERE state = 'UNSURE';

-- Whose run a device reports, however long ago it was bought.
CREATE INDEX purchase_command ON snap_transaksi (idmesin, cmd_id);

CREATE INDEX machine_waits_for_staff ON mesin (idmesin) WHERE perlu_petugas;
