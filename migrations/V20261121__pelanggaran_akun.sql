-- More rules for `nyala audit verify`: both accounts of every movement, and whose it is.

ALTER VIEW pelanggaran RENAME TO pelanggaran_saldo;

CREATE VIEW pelanggaran_akun AS
SELECT 'akun lawan salah' AS aturan, l.id::TEXT AS kunci
FROM ledger_transfer l
JOIN akun a ON a.idakun = CASE WHEN l.kind IN ('pending', 'post') THEN l.credit_akun ELSE l.debit_akun END
WHERE a.jenis <> CASE WHEN l.kind = 'topup' THEN 'K' ELSE 'R' END OR a.idoutlet <> l.idoutlet
UNION ALL
SELECT 'gerak milik pelanggan lain', l.id::TEXT FROM ledger_transfer l JOIN customer c USING (idcustomer)
WHERE l.id_customer_global <> c.id_customer_global
UNION ALL
SELECT 'gerak bukan milik pembeliannya', l.id::TEXT FROM ledger_transfer l JOIN snap_transaksi t ON t.id = l.idtransaksi
WHERE (l.idcustomer, l.idoutlet) <> (t.idcustomer, t.idoutlet)
UNION ALL
SELECT 'gerak bukan milik pembeliannya', l.id::TEXT FROM ledger_transfer l JOIN pembelian_emoney p ON p.id = l.idpembelian_emoney
WHERE l.idoutlet <> p.idoutlet;

CREATE VIEW pelanggaran AS
SELECT aturan, kunci FROM pelanggaran_saldo UNION ALL SELECT aturan, kunci FROM pelanggaran_akun;
