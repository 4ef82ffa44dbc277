-- The outbox goes: what it said, the purchase's own row says. A start is due while it is HELD (`purchase_command_until` finds it), a
-- stop from when it was asked for until the run ends.

ALTER TABLE snap_transaksi ADD COLUMN stop_requested_at TIMESTAMPTZ;

-- Stops that were under way; one that came too late for its run has nothing to stop.
UPDATE snap_transaksi t SET stop_requested_at = o.created_at FROM outbox o
WHERE o.idtransaksi = t.id AND o.op = 'stop' AND t.state = 'RUNNING';

-- By machine: few are in it, so that all are read. By the moment, a generic plan takes a third of all runs for due and reads those.
CREATE INDEX purchase_stop_requested ON snap_transaksi (idmesin) WHERE state = 'RUNNING' AND stop_requested_at IS NOT NULL;

-- The same rules without the one about starts that were left in the outbox.
CREATE OR REPLACE VIEW pelanggaran_saldo AS
WITH gerak AS (
    SELECT idcustomer,
           COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('topup', 'hapus', 'refund')), 0) AS kredit,
           COALESCE(SUM(jumlah) FILTER (WHERE kind = 'post'), 0) AS debit,
           COALESCE(SUM(jumlah) FILTER (WHERE kind = 'pending'), 0)
               - COALESCE(SUM(jumlah) FILTER (WHERE kind IN ('post', 'void')), 0) AS tertahan,
           COALESCE(SUM(CASE WHEN kind = 'pending' THEN -jumlah WHEN kind = 'post' THEN 0 ELSE jumlah END), 0) AS riwayat
    FROM ledger_transfer GROUP BY idcustomer
), kembali AS (
    SELECT idtransaksi, SUM(jumlah) AS jumlah FROM ledger_transfer WHERE kind IN ('hapus', 'refund') GROUP BY idtransaksi
), selesai AS (
    SELECT p.idtransaksi, p.jumlah, s.kind AS akhir, s.jumlah AS jumlah_akhir
    FROM ledger_transfer p LEFT JOIN ledger_transfer s ON s.pending_id = p.id WHERE p.kind = 'pending'
)
SELECT 'saldo tidak sama dengan buku besar' AS aturan, q.idcustomer::TEXT AS kunci
FROM quota_emoney q LEFT JOIN gerak g USING (idcustomer)
WHERE (q.credits_posted, q.debits_posted, q.debits_pending)
    IS DISTINCT FROM (COALESCE(g.kredit, 0), COALESCE(g.debit, 0), COALESCE(g.tertahan, 0))
   OR q.saldo <> COALESCE(g.riwayat, 0)
UNION ALL
SELECT 'gerak tanpa dompet', g.idcustomer::TEXT FROM gerak g WHERE NOT EXISTS (SELECT FROM quota_emoney q WHERE q.idcustomer = g.idcustomer)
UNION ALL
SELECT 'pembelian tanpa uang tertahan', t.id::TEXT FROM snap_transaksi t LEFT JOIN selesai s ON s.idtransaksi = t.id
WHERE s.idtransaksi IS NULL OR s.jumlah <> t.grandtotal
UNION ALL
SELECT 'keadaan tidak sesuai uang', t.id::TEXT FROM snap_transaksi t JOIN selesai s ON s.idtransaksi = t.id
WHERE s.akhir IS DISTINCT FROM CASE
    WHEN t.state IN ('RUNNING', 'FINISHED', 'STOPPED') THEN 'post'
    WHEN t.state IN ('REFUSED', 'EXPIRED') THEN 'void' END
   OR s.jumlah_akhir <> s.jumlah
UNION ALL
SELECT 'pengembalian tidak sesuai', t.id::TEXT FROM snap_transaksi t LEFT JOIN kembali k ON k.idtransaksi = t.id
WHERE t.dikembalikan <> COALESCE(k.jumlah, 0)
   OR (t.dihapus_at IS NOT NULL) <> EXISTS (SELECT FROM ledger_transfer l WHERE l.idtransaksi = t.id AND l.kind = 'hapus')
   OR (t.dihapus_at IS NOT NULL AND t.dikembalikan <> t.grandtotal)
   OR (t.dikembalikan > 0 AND t.state NOT IN ('RUNNING', 'FINISHED', 'STOPPED'))
UNION ALL
SELECT 'nota ditolak tetapi dibeli', t.id::TEXT FROM snap_transaksi t JOIN nota n USING (id_customer_global, no_nota) WHERE n.tolak IS NOT NULL
UNION ALL
SELECT 'top-up tidak sesuai', p.id::TEXT FROM pembelian_emoney p LEFT JOIN ledger_transfer l ON l.idpembelian_emoney = p.id AND l.kind = 'topup'
WHERE l.jumlah IS DISTINCT FROM p.quota OR l.idcustomer IS DISTINCT FROM p.idcustomer
UNION ALL
SELECT 'akun dompet salah arah', l.id::TEXT FROM ledger_transfer l JOIN quota_emoney q USING (idcustomer)
WHERE q.idakun <> CASE WHEN l.kind IN ('pending', 'post') THEN l.debit_akun ELSE l.credit_akun END;

DROP TABLE outbox;
