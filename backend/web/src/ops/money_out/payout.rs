//! `POST /ops/v1/tarik/hitung` and `POST /ops/v1/tarik`: a customer's balance is paid out in cash (docs/money.md, Paying out).

use actix_web::{HttpResponse, web};
use deadpool_postgres::Transaction;
use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{CustomerId, PayoutId, WalletId};
use nyala_core::domain::role::Role;
use nyala_core::domain::whole;
use nyala_identity::staff::Staff;
use nyala_identity::staff::approval::Act;
use nyala_ledger::payout::{self, PayoutAccount};
use nyala_ledger::shift::{self, Keeper};
use nyala_ledger::{newer_kinds, topup};
use nyala_store::config::ServerSettings;
use nyala_store::crash_point;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::secrets::Keyring;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::live::balances::{Balances, Moved};
use crate::ops::approval::{Approval, NEEDED, with_approver};
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};
use crate::ops::people::key::Seller;
use crate::ops::people::payee::{Named, Payee};
use crate::ops::shift::open as call;

/// The most that a call may name: more than any balance.
const MAX_AMOUNT: i64 = 1_000_000_000_000;

#[derive(Debug, Deserialize, ToSchema)]
pub struct TarikHitung {
    /// The text of the customer's QR, not older than 5 minutes.
    qr: String,
}

/// What a payout would pay.
#[derive(Debug, Serialize, ToSchema)]
pub struct Hitungan {
    #[schema(value_type = i64)]
    id_customer_global: CustomerId,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    /// The customer's first name and an initial.
    #[schema(example = "Siti R.")]
    nama: String,
    /// Rupiah in the account.
    saldo: i64,
    /// Rupiah of it that were paid for.
    dibayar: i64,
    /// The rest, which ends with a payout.
    hangus: i64,
}

#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Tarik {
    /// The text of the customer's QR, not older than 5 minutes.
    qr: String,
    /// As `tarik/hitung` has answered.
    #[schema(minimum = 0, maximum = 1000000000000_i64)]
    #[serde(deserialize_with = "whole::deserialize")]
    dibayar: i64,
    /// As `tarik/hitung` has answered.
    #[schema(minimum = 0, maximum = 1000000000000_i64)]
    #[serde(deserialize_with = "whole::deserialize")]
    hangus: i64,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PaidOut {
    #[schema(value_type = i64)]
    idpenarikan: PayoutId,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    /// Rupiah out of the drawer.
    dibayar: i64,
    /// Rupiah of bonus that ended.
    hangus: i64,
    /// 0: the account is empty.
    saldo_akhir: i64,
}

/// What a payout of the customer's account at this till's outlet would pay. Refused as `tarik` is, apart from the drawer and the approval.
#[utoipa::path(
    post, path = "/ops/v1/tarik/hitung", operation_id = "tarik_hitung", tag = "kasir", security(("session" = [])), request_body = TarikHitung,
    responses(
        (status = 200, body = Answer<Hitungan>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "An API key", body = Empty), (status = 404, description = "`E-Pay tidak ditemukan`", body = Empty),
        (status = 409, description = "`shift belum dibuka`; `nomor ini baru pindah, tunggu 24 jam`; `masih ada mesin yang belum selesai`", body = Empty),
        (status = 422, description = "`saldo ini sudah kedaluwarsa`, `tidak ada saldo yang bisa ditarik`", body = Empty),
        (status = 503, description = "While a server of an older release is alive", body = Empty),
    )
)]
pub async fn hitung(
    seller: Seller,
    staff: web::Data<Staff>,
    keyring: web::Data<Keyring>,
    body: Json<TarikHitung>,
) -> Result<HttpResponse, AppError> {
    let own = seller.operator.principal();
    let by = call::keeper(&seller, &own)?;
    let now = staff.store.now();
    let mut client = staff.store.get().await?;
    newer_kinds::check(&client).await?;
    let tx = client.transaction().await?;
    let payee = Named::Qr(&body.qr).find(&tx, (&staff, &seller.operator), &keyring.get(), now).await?;
    shift::hold_open(&tx, by.browser).await?;
    let account = account(&tx, &payee, by).await?.ok_or(AppError::EpayNotFound)?;
    let amount = payout::payable(&tx, account, now).await?;
    tx.commit().await?;
    Ok(answer::ok(Hitungan {
        id_customer_global: payee.id,
        idcustomer: account.wallet,
        nama: payee.name,
        saldo: amount.paid + amount.bonus,
        dibayar: amount.paid,
        hangus: amount.bonus,
    }))
}

/// The customer's account at this till's outlet: no other one is paid out here.
async fn account(tx: &Transaction<'_>, payee: &Payee, by: Keeper<'_>) -> Result<Option<PayoutAccount>, AppError> {
    let account = topup::account(tx, payee.id, by.idoutlet).await?;
    Ok(account.map(|account| PayoutAccount { customer: payee.id, wallet: account.idcustomer, idoutlet: by.idoutlet }))
}

/// Pays out the customer's account at this till's outlet, whole, and empties it. For a `kasir` this needs an approval of `tarik`,
/// `<idcustomer>:<dibayar>`.
#[utoipa::path(
    post, path = "/ops/v1/tarik", operation_id = "tarik", tag = "kasir", security(("session" = [])), request_body = Tarik,
    params(IdempotencyKey, Approval),
    responses(
        (status = 200, body = Answer<PaidOut>), (status = 400, body = Empty), (status = 401, body = Empty),
        (status = 403, description = "`perlu persetujuan supervisor`; `persetujuan tidak berlaku`; an API key", body = Empty),
        (status = 404, description = "`E-Pay tidak ditemukan`", body = Empty),
        (status = 409, description = "`shift belum dibuka`; `nomor ini baru pindah, tunggu 24 jam`; `masih ada mesin yang belum selesai`; \
            `jumlah berubah, hitung lagi`", body = Empty),
        (status = 422, description = "`saldo ini sudah kedaluwarsa`, `tidak ada saldo yang bisa ditarik`, `uang di laci tidak cukup`", body = Empty),
        (status = 503, description = "While a server of an older release is alive", body = Empty),
    )
)]
pub async fn tarik(
    seller: Seller,
    key: IdempotencyKey,
    approval: Approval,
    (staff, keyring, balances, settings): (web::Data<Staff>, web::Data<Keyring>, web::Data<Balances>, web::Data<ServerSettings>),
    body: Json<Tarik>,
) -> Result<HttpResponse, AppError> {
    let own = seller.operator.principal();
    let by = call::keeper(&seller, &own)?;
    let Tarik { qr, dibayar, hangus } = &*body;
    for (field, amount) in [("dibayar", *dibayar), ("hangus", *hangus)] {
        call::in_drawer(field, amount, &(0..=MAX_AMOUNT))?;
    }
    let now = staff.store.now();
    let once = IdempotentCall::new(&seller.operator, key, "tarik", &*body, now)?;
    let mut client = staff.store.get().await?;
    newer_kinds::check(&client).await?;
    let mut moved = None;
    let answer = once
        .once(&mut client, async |tx| {
            let needs_approval = seller.operator.role < Role::Supervisor;
            if needs_approval && approval.is_missing() {
                return Err(NEEDED);
            }
            let payee = Named::Qr(qr).find(tx, (&staff, &seller.operator), &keyring.get(), now).await?;
            let account = account(tx, &payee, by).await?;
            let approver = match account.filter(|_| needs_approval) {
                Some(account) => {
                    let act = Act::payout(account.wallet, *dibayar);
                    Some(approval.use_up(tx, &seller.operator, &act, NEEDED, now).await?)
                }
                None => None,
            };
            let shift = shift::hold_alone(tx, by.browser).await?;
            let account = account.ok_or(AppError::EpayNotFound)?;
            let amount = payout::payable(tx, account, now).await?;
            if (amount.paid, amount.bonus) != (*dibayar, *hangus) {
                return Err(AppError::Conflict("jumlah berubah, hitung lagi"));
            }
            let idpenarikan = payout::pay_out(tx, account, amount, shift, (by.principal, now)).await?;
            let content = json!({ "idcustomer": account.wallet, "dibayar": dibayar, "hangus": hangus, "saldo_akhir": 0 });
            let entry = AuditEntry {
                principal: by.principal,
                action: "tarik",
                object: format!("penarikan:{idpenarikan}"),
                content: with_approver(content, approver),
            };
            audit::write_at(tx, Some(by.idoutlet), &entry, now).await?;
            moved = Some(Moved { id_customer_global: payee.id, idcustomer: account.wallet, balance: 0, cause: Cause::Payout });
            crash_point::reach(&settings.dev.fault_point, "before_payout");
            Ok(PaidOut { idpenarikan, idcustomer: account.wallet, dibayar: *dibayar, hangus: *hangus, saldo_akhir: 0 })
        })
        .await?;
    crash_point::reach(&settings.dev.fault_point, "after_payout");
    balances.notify(moved);
    Ok(answer)
}
