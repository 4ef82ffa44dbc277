-- A kasir's sale that no supervisor said yes to: those of one customer at one outlet within an hour count together.
ALTER TABLE pembelian_emoney ADD COLUMN tanpa_izin BOOLEAN NOT NULL DEFAULT FALSE;

-- How many older sales a kasir has opened before the count, and what was counted when the till asked to count once more.
ALTER TABLE shift
    ADD COLUMN topup_dilihat INTEGER NOT NULL DEFAULT 0 CHECK (topup_dilihat >= 0),
    ADD COLUMN hitungan_ditanya BIGINT CHECK (hitungan_ditanya BETWEEN 0 AND 1000000000);

-- What a kasir does alone, and what a kasir looked at before the count.
CREATE VIEW pelanggaran_kasir AS
SELECT 'top-up tanpa izin di atas batas' AS aturan, id::TEXT AS kunci FROM pembelian_emoney
WHERE tanpa_izin AND idshift IS NOT NULL AND harga_paket > 1000000
UNION ALL
SELECT 'top-up yang dibuka tidak tercatat', s.id::TEXT FROM shift s
LEFT JOIN (SELECT objek, COUNT(*) AS kali FROM audit_log WHERE aksi = 'shift.topup_dilihat' GROUP BY objek) a ON a.objek = 'shift:' || s.id
WHERE s.topup_dilihat <> COALESCE(a.kali, 0);

CREATE OR REPLACE VIEW pelanggaran AS
SELECT aturan, kunci FROM pelanggaran_saldo UNION ALL SELECT aturan, kunci FROM pelanggaran_akun UNION ALL
SELECT aturan, kunci FROM pelanggaran_kas UNION ALL SELECT aturan, kunci FROM pelanggaran_kasir;
