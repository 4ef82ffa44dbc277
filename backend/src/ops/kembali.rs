//! What `hapus` and `refund` answer, and their line in the audit log.

use deadpool_postgres::Transaction;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::kunci::Operator;
use crate::db::audit::{self, Catatan};
use crate::domain::id::Id;
use crate::domain::no_nota::NoNota;
use crate::http::error::AppError;
use crate::ledger::pemakaian::{Batas, Kembali, Keputusan};

#[derive(Debug, Serialize, ToSchema)]
pub struct MoneyBack {
    /// The receipt number.
    idtransaksi: String,
    idcustomer: i64,
    /// The movement's id, `entri` of the history row.
    entri: i64,
    /// Rupiah given back.
    jumlah: i64,
    saldo_akhir: i64,
}

/// The uses that `operator` may touch, of `idcustomer` only when that is said.
pub(super) fn batas(operator: &Operator, idcustomer: Option<Id>) -> Batas {
    Batas { idowner: operator.idowner, idoutlet: operator.idoutlet, idcustomer: idcustomer.map(Id::get) }
}

pub(super) async fn record(
    tx: &Transaction<'_>,
    aksi: &'static str,
    nota: &NoNota,
    kembali: Kembali,
    keputusan: Keputusan<'_>,
) -> Result<MoneyBack, AppError> {
    let Kembali { entri, idcustomer, jumlah, saldo_akhir } = kembali;
    let isi = json!({
        "idtransaksi": nota, "idcustomer": idcustomer, "jumlah": jumlah, "alasan": keputusan.alasan, "saldo_akhir": saldo_akhir,
    });
    let catatan = Catatan { aktor: keputusan.aktor, aksi, objek: format!("ledger_transfer:{entri}"), isi };
    audit::write(tx, &catatan, keputusan.now).await?;
    Ok(MoneyBack { idtransaksi: nota.as_str().to_owned(), idcustomer, entri, jumlah, saldo_akhir })
}
