//! Lists that continue after a row. They use no offset, which would show a row twice when a new one is added in front.

use deadpool_postgres::GenericClient;
use nyala_core::domain::id::{Id, OutletId, ShiftId};
use nyala_core::domain::role::Role;
use nyala_core::domain::scope::Scope;
use nyala_core::domain::timestamp::Timestamp;
use nyala_identity::staff::operator::Operator;
use nyala_ledger::shift;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use utoipa::{IntoParams, ToSchema};

use super::scope;
use crate::http::error::AppError;
use crate::ops::people::key::NEEDS_TILL;

const DEFAULT_LIMIT: i64 = 50;

/// Which rows of a list.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Page {
    /// How many rows; 50 when left out.
    #[param(required = false, minimum = 1, maximum = 100)]
    limit: Option<i64>,
    /// `lanjut` of the page before.
    #[param(value_type = Id, required = false, inline)]
    sebelum: Option<Id>,
}

/// Which rows of an outlet's list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OutletPage {
    /// How many rows; 50 when left out.
    #[param(required = false, minimum = 1, maximum = 100)]
    limit: Option<i64>,
    /// `lanjut` of the page before.
    #[param(value_type = Id, required = false, inline)]
    sebelum: Option<Id>,
    /// The outlet; needed when the caller sees several outlets and is not at an outlet's till.
    #[param(value_type = OutletId, required = false, inline)]
    idoutlet: Option<OutletId>,
}

/// The rows that an operator may see.
#[derive(Debug, Clone, Copy)]
pub enum Sight {
    /// For a kasir whose till has no open shift.
    Nothing,
    /// For a kasir whose till has an open shift.
    Shift {
        id: ShiftId,
        idoutlet: OutletId,
        since: Timestamp,
    },
    Outlet(OutletId),
}

/// A page of a list, the newest row first.
#[derive(Debug, Serialize, ToSchema)]
pub struct Rows<T> {
    pub baris: Vec<T>,
    /// `sebelum` of the next page; null on the last one.
    #[schema(required)]
    pub lanjut: Option<i64>,
}

impl<T> Rows<T> {
    pub fn none() -> Self {
        Self { baris: Vec::new(), lanjut: None }
    }

    /// Builds a page from rows with their ids. The caller passes one row more than `limit` when there are more.
    pub fn of(rows: impl IntoIterator<Item = (i64, T)>, limit: i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or_default();
        let (mut baris, mut lanjut, mut last) = (Vec::new(), None, None);
        for (id, row) in rows {
            if baris.len() == limit {
                lanjut = last;
                break;
            }
            last = Some(id);
            baris.push(row);
        }
        Self { baris, lanjut }
    }
}

/// How many rows of a list are asked for.
pub fn limit(asked: Option<i64>) -> Result<i64, AppError> {
    let limit = asked.unwrap_or(DEFAULT_LIMIT);
    if (1..=100).contains(&limit) { Ok(limit) } else { Err(AppError::bad_input("limit harus 1 sampai 100")) }
}

impl Page {
    pub fn limit(self) -> Result<i64, AppError> {
        limit(self.limit)
    }

    /// Reads the page from `sql`, whose first column is the id: $1 owner and $2 outlet of the operator's scope, $3 `visible`, $4 an id
    /// above all of the page, $5 limit.
    pub async fn read<T>(
        self,
        store: &Store,
        operator: &Operator,
        sql: &str,
        visible: &(dyn ToSql + Sync),
        row: impl Fn(&Row) -> T,
    ) -> Result<Rows<T>, AppError> {
        let limit = self.limit()?;
        let client = store.get().await?;
        let stmt = client.prepare_cached(sql).await?;
        let Scope { owner, outlet } = operator.scope;
        let rows = client.query(&stmt, &[&owner, &outlet, visible, &self.before(), &(limit + 1)]).await?;
        Ok(Rows::of(rows.iter().map(|found| (found.get(0), row(found))), limit))
    }

    /// The last row of the page before; 0 on the first one of a list that begins with the oldest row.
    pub fn after(self) -> i64 {
        self.sebelum.map_or(0, Id::get)
    }

    /// The rows of the page have smaller ids.
    pub fn before(self) -> i64 {
        self.sebelum.map_or(i64::MAX, Id::get)
    }
}

impl OutletPage {
    pub const fn page(&self) -> Page {
        Page { limit: self.limit, sebelum: self.sebelum }
    }

    /// A kasir sees the rows of the till's open shift, others those of an outlet.
    pub async fn sight(&self, client: &impl GenericClient, operator: &Operator) -> Result<Sight, AppError> {
        let asked = match self.idoutlet {
            Some(id) => Some(scope::outlet(client, operator, id).await?.idoutlet),
            None => operator.scope.outlet,
        };
        let idoutlet = asked.ok_or(AppError::Unprocessable("idoutlet wajib diisi"))?;
        if operator.role > Role::Kasir {
            return Ok(Sight::Outlet(idoutlet));
        }
        let till = operator.at.ok_or(AppError::NotAllowed(NEEDS_TILL))?;
        let open = shift::open_at(client, till.browser).await?;
        Ok(open.map_or(Sight::Nothing, |shift| Sight::Shift { id: shift.id, idoutlet, since: shift.dibuka_at }))
    }
}
