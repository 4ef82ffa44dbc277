//! Shared parts of `hapus` and `refund`: permission, response, audit log.

use deadpool_postgres::Transaction;
use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{StaffId, WalletId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::role::Role;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::operator::Operator;
use nyala_ledger::refund::{self, GivenBack, Grounds, Visible};
use nyala_store::db::audit::{self, AuditEntry};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::http::error::AppError;
use crate::live::balances::Moved;
use crate::ops::approval::with_approver;

#[derive(Debug, Serialize, ToSchema)]
pub struct MoneyBack {
    /// The receipt number.
    idtransaksi: String,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    /// The movement's id, `entri` of the history row.
    entri: i64,
    /// Rupiah given back.
    jumlah: i64,
    saldo_akhir: i64,
    /// RFC 3339: the account had expired, and is good until then; null: it is as it was.
    #[schema(required)]
    berlaku_sampai: Option<Timestamp>,
    /// This one included.
    ke: GivenBackOften,
}

/// Refunds and deletions of this month.
#[derive(Debug, Serialize, ToSchema)]
pub struct GivenBackOften {
    /// To this account.
    pub pelanggan: i64,
    /// For uses of this machine.
    pub mesin: i64,
}

/// The purchases that `operator` may change, only those of `idcustomer` if it is given.
pub(super) fn visible(operator: &Operator, idcustomer: Option<WalletId>) -> Visible {
    Visible { scope: operator.scope, wallet: idcustomer }
}

/// The purchase's customer, if given. A kasir must give it, because the approval names it.
pub(super) fn customer(operator: &Operator, idcustomer: Option<WalletId>) -> Result<Option<WalletId>, AppError> {
    match idcustomer {
        None if operator.role == Role::Kasir => Err(AppError::Unprocessable("idcustomer wajib diisi")),
        id => Ok(id),
    }
}

pub(super) fn moved(back: &GivenBack, cause: Cause) -> Moved {
    let GivenBack { id_customer_global, idcustomer, balance, .. } = *back;
    Moved { id_customer_global, idcustomer, balance, cause }
}

pub(super) async fn record(
    tx: &Transaction<'_>,
    action: &'static str,
    receipt: &ReceiptNumber,
    given_back: GivenBack,
    grounds: Grounds<'_>,
    approver: Option<StaffId>,
) -> Result<MoneyBack, AppError> {
    let GivenBack { entry: entri, usage, idcustomer, idoutlet, amount: jumlah, balance: saldo_akhir, usable_until, .. } =
        given_back;
    let content = json!({
        "idtransaksi": receipt, "idcustomer": idcustomer, "jumlah": jumlah, "alasan": grounds.reason, "saldo_akhir": saldo_akhir,
        "masa_aktif": usable_until.map(Timestamp::ms),
    });
    let content = with_approver(content, approver);
    let entry = AuditEntry { principal: grounds.principal, action, object: format!("ledger_transfer:{entri}"), content };
    audit::write_at(tx, Some(idoutlet), &entry, grounds.now).await?;
    let often = refund::how_often(tx, usage, grounds.now).await?;
    let ke = GivenBackOften { pelanggan: often.customer, mesin: often.machine };
    Ok(MoneyBack {
        idtransaksi: receipt.as_str().to_owned(),
        idcustomer,
        entri,
        jumlah,
        saldo_akhir,
        berlaku_sampai: usable_until,
        ke,
    })
}
