//! Machines that the server closes itself, because they must wait for a person.

/// For a statement with `closed`, which has the machine, the outlet and the reason (`idmesin`, `idoutlet`, `alasan`) of a machine that was closed at
/// `$now`: records that.
#[doc(hidden)]
#[macro_export]
macro_rules! __record_closing {
    ($now:literal) => {
        concat!(
            "closed_since AS (
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
pub use __record_closing as record_closing;

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
