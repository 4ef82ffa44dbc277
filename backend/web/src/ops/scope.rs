//! Scope of a key: an object outside it gets the same response as one that does not exist (docs/contract.md §1).

use deadpool_postgres::GenericClient;
use nyala_core::domain::id::{MachineId, OutletId, OwnerId};
use nyala_identity::staff::operator::Operator;
use nyala_ledger::topup::WalletRef;
use serde::Deserialize;
use utoipa::IntoParams;

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

/// All outlets that the caller sees.
pub async fn in_sight(client: &impl GenericClient, operator: &Operator) -> Result<Vec<OutletId>, AppError> {
    const SEES: &str = "
        SELECT idoutlet FROM outlet WHERE ($1::BIGINT IS NULL OR idowner = $1) AND ($2::BIGINT IS NULL OR idoutlet = $2) ORDER BY idoutlet";
    let stmt = client.prepare_cached(SEES).await?;
    let rows = client.query(&stmt, &[&operator.scope.owner, &operator.scope.outlet]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// The outlet of a path, or 404.
pub async fn named_outlet(client: &impl GenericClient, operator: &Operator, id: &str) -> Result<Outlet, AppError> {
    let id = OutletId::parse(id).ok_or(AppError::NotFound("outlet tidak ditemukan"))?;
    outlet(client, operator, id).await
}

/// Locks a machine in sight that is not retired, and returns its outlet, or 404.
pub async fn locked_machine(tx: &impl GenericClient, operator: &Operator, id: MachineId) -> Result<OutletId, AppError> {
    lock(tx, operator, id, false).await
}

/// The same, of a machine that may be retired.
pub async fn locked_old_machine(tx: &impl GenericClient, operator: &Operator, id: MachineId) -> Result<OutletId, AppError> {
    lock(tx, operator, id, true).await
}

async fn lock(tx: &impl GenericClient, operator: &Operator, id: MachineId, may_be_retired: bool) -> Result<OutletId, AppError> {
    const LOCK: &str = "
        SELECT idoutlet FROM mesin
        WHERE idmesin = $1 AND (aktif OR $4) AND ($2::BIGINT IS NULL OR idowner = $2) AND ($3::BIGINT IS NULL OR idoutlet = $3)
        FOR NO KEY UPDATE";
    let stmt = tx.prepare_cached(LOCK).await?;
    let row = tx.query_opt(&stmt, &[&id, &operator.scope.owner, &operator.scope.outlet, &may_be_retired]).await?;
    row.map(|row| row.get(0)).ok_or(AppError::MachineNotFound)
}

/// Of which outlet: may be left out by who sees only one.
#[derive(Debug, Clone, Copy, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AtOutlet {
    /// The outlet; needed when the caller sees several.
    #[param(value_type = OutletId, required = false, inline)]
    idoutlet: Option<OutletId>,
}

impl AtOutlet {
    pub const fn named(idoutlet: Option<OutletId>) -> Self {
        Self { idoutlet }
    }

    /// The outlet, which the caller sees: the one that is named, or the only one.
    pub async fn of(self, client: &impl GenericClient, operator: &Operator) -> Result<Outlet, AppError> {
        if let Some(idoutlet) = self.idoutlet.or(operator.scope.outlet) {
            return outlet(client, operator, idoutlet).await;
        }
        const ONLY: &str = "SELECT idoutlet, idowner FROM outlet WHERE $1::BIGINT IS NULL OR idowner = $1 LIMIT 2";
        let stmt = client.prepare_cached(ONLY).await?;
        match client.query(&stmt, &[&operator.scope.owner]).await?.as_slice() {
            [only] => Ok(Outlet { idoutlet: only.get(0), idowner: only.get(1) }),
            _ => Err(AppError::Unprocessable("idoutlet wajib diisi")),
        }
    }
}

/// Days of validity that a sale without a package gives an account there.
pub async fn valid_days(client: &impl GenericClient, idoutlet: OutletId) -> Result<Option<i32>, AppError> {
    let stmt = client.prepare_cached("SELECT berlaku_hari FROM outlet WHERE idoutlet = $1").await?;
    Ok(client.query_one(&stmt, &[&idoutlet]).await?.get(0))
}
