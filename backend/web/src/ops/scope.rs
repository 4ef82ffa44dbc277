//! Scope of a key: an object outside it gets the same response as one that does not exist (docs/contract.md §1).

use deadpool_postgres::GenericClient;
use nyala_core::domain::id::{OutletId, OwnerId};
use nyala_identity::staff::operator::Operator;
use nyala_ledger::topup::WalletRef;

use crate::http::error::AppError;
use crate::ops::people::payee::Payee;

/// An outlet within the caller's scope.
#[derive(Debug, Clone, Copy)]
pub struct Outlet {
    pub idoutlet: OutletId,
    pub idowner: OwnerId,
}

impl Outlet {
    /// A customer's wallet there.
    pub const fn wallet_of(self, payee: &Payee) -> WalletRef {
        WalletRef { id_customer_global: payee.id, idoutlet: self.idoutlet, idowner: self.idowner }
    }
}

const OUTLET: &str = "
    SELECT idowner FROM outlet
    WHERE idoutlet = $1 AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3)";

/// The outlet, or 404 when it is unknown or outside the caller's scope.
pub async fn outlet(client: &impl GenericClient, operator: &Operator, idoutlet: OutletId) -> Result<Outlet, AppError> {
    let stmt = client.prepare_cached(OUTLET).await?;
    let row = client.query_opt(&stmt, &[&idoutlet, &operator.scope.owner, &operator.scope.outlet]).await?;
    row.map(|r| Outlet { idoutlet, idowner: r.get(0) }).ok_or(AppError::NotFound("outlet tidak ditemukan"))
}

/// Days of validity that a sale without a package gives an account there.
pub async fn valid_days(client: &impl GenericClient, idoutlet: OutletId) -> Result<Option<i32>, AppError> {
    let stmt = client.prepare_cached("SELECT berlaku_hari FROM outlet WHERE idoutlet = $1").await?;
    Ok(client.query_one(&stmt, &[&idoutlet]).await?.get(0))
}
