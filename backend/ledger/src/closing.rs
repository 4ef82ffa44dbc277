//! Machines that the server closes itself, because they must wait for a person.

/// For a statement with `from`, which has an `idmesin` and the reason `alasan`: closes its machine at `$now`, unless staff have.
#[doc(hidden)]
#[macro_export]
macro_rules! __close_machine {
    ($from:literal, $now:literal) => {
        concat!(
            "closed AS (
    UPDATE mesin SET ditutup_sejak = ",
            $now,
            ", ditutup_alasan = f.alasan FROM ",
            $from,
            " f WHERE mesin.idmesin = f.idmesin AND mesin.ditutup_sejak IS NULL RETURNING mesin.idmesin, mesin.idoutlet, f.alasan
), closed_since AS (
    INSERT INTO keadaan_mesin (idmesin, keadaan, dari) SELECT idmesin, 'ditutup', ",
            $now,
            " FROM closed ON CONFLICT DO NOTHING
), closed_audit AS (
    INSERT INTO audit_log (aktor, aksi, objek, isi, idoutlet, created_at)
    SELECT 'sistem', 'mesin.tutup', 'mesin:' || idmesin, jsonb_build_object('alasan', alasan), idoutlet, ",
            $now,
            " FROM closed
)"
        )
    };
}
pub use __close_machine as close_machine;

/// When machine `idmesin`, a column, was last opened after a closing: what went wrong before that is mended.
#[doc(hidden)]
#[macro_export]
macro_rules! __last_opened {
    ($idmesin:literal) => {
        concat!(
            "COALESCE((SELECT max(e.sampai) FROM keadaan_mesin e WHERE e.idmesin = ",
            $idmesin,
            " AND e.keadaan = 'ditutup'), '-infinity')"
        )
    };
}
pub use __last_opened as last_opened;
