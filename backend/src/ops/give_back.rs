//! What `hapus` and `refund` answer, and their line in the audit log.

use deadpool_postgres::Transaction;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::db::audit::{self, AuditEntry};
use crate::domain::id::Id;
use crate::domain::receipt_number::ReceiptNumber;
use crate::http::error::AppError;
use crate::ledger::refund::{GivenBack, Grounds, Visible};
use crate::staff::operator::Operator;

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
pub(super) fn visible(operator: &Operator, idcustomer: Option<Id>) -> Visible {
    Visible { idowner: operator.idowner, idoutlet: operator.idoutlet, idcustomer: idcustomer.map(Id::get) }
}

pub(super) async fn record(
    tx: &Transaction<'_>,
    action: &'static str,
    receipt: &ReceiptNumber,
    given_back: GivenBack,
    grounds: Grounds<'_>,
) -> Result<MoneyBack, AppError> {
    let GivenBack { entry: entri, idcustomer, amount: jumlah, balance: saldo_akhir } = given_back;
    let content = json!({
        "idtransaksi": receipt, "idcustomer": idcustomer, "jumlah": jumlah, "alasan": grounds.reason, "saldo_akhir": saldo_akhir,
    });
    let entry = AuditEntry { principal: grounds.principal, action, object: format!("ledger_transfer:{entri}"), content };
    audit::write(tx, &entry, grounds.now).await?;
    Ok(MoneyBack { idtransaksi: receipt.as_str().to_owned(), idcustomer, entri, jumlah, saldo_akhir })
}
