//! `GET /ops/v1/laporan/{harian,mesin,shift,saldo}` (supervisor and above): an outlet's figures by day, by machine and by shift, and its balances.
//! `GET /ops/v1/laporan/qris` (owner): its bills.

use actix_web::web::{self, Bytes};
use actix_web::{HttpResponse, Responder};
use deadpool_postgres::Transaction;
use futures_util::stream;
use nyala_core::domain::right::Right;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::Day;
use nyala_identity::staff::operator::Operator;
use nyala_ledger::figures::Days;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::csv::{self, Extras, ReportRow};
use super::period::{Asked, DaysAsked, snapshot};
use super::rows::{Harian, LaporanMesin, LaporanQris, LaporanSaldo, LaporanShift};
use super::sums;
use crate::figures::outlet::ReportOutlet;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Minimal;

/// As what a report comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportFormat {
    #[default]
    Json,
    Csv,
}

#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FormatAsked {
    /// `json` when left out.
    #[param(required = false, inline)]
    #[serde(default)]
    pub format: ReportFormat,
}

/// A report.
#[derive(Debug, Serialize, ToSchema)]
pub struct Laporan<R> {
    #[schema(value_type = String, format = Date)]
    pub dari: Day,
    #[schema(value_type = String, format = Date)]
    pub sampai: Day,
    pub baris: Vec<R>,
    /// `sebelum` of the next page; null on the last page.
    #[schema(required)]
    pub lanjut: Option<i64>,
}

/// What all of these calls need.
type Calls = (web::Query<DaysAsked>, web::Query<FormatAsked>, web::Data<Store>);

macro_rules! report {
    ($(#[$doc:meta])* $name:ident, $path:literal, $id:literal, $row:ty, $right:ident) => {
        $(#[$doc])*
        #[utoipa::path(
            get, path = $path, operation_id = $id, tag = "laporan", security(("operator" = []), ("session" = [])), params(DaysAsked, FormatAsked),
            responses(
                (status = 200, content((Answer<Laporan<$row>> = "application/json"), (String = "text/csv"))),
                (status = 400, body = Empty, description = "No day, or `dari` after `sampai`"),
                (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
                (status = 422, body = Empty, description = "`paling banyak 92 hari`, `idoutlet wajib diisi`"),
            )
        )]
        pub async fn $name(
            by: Minimal<{ Right::$right.rank() }>,
            (days, format, store): Calls,
        ) -> Result<impl Responder, AppError> {
            answer_with(stringify!($name), by.0, (&days, format.format), &store, sums::$name).await
        }
    };
}

report!(
    /// An outlet's figures by day.
    harian, "/ops/v1/laporan/harian", "laporan_harian", Harian, LaporanLihat
);
report!(
    /// An outlet's figures by machine.
    mesin, "/ops/v1/laporan/mesin", "laporan_mesin", LaporanMesin, LaporanLihat
);
report!(
    /// The shifts of an outlet's tills.
    shift, "/ops/v1/laporan/shift", "laporan_shift", LaporanShift, LaporanLihat
);
report!(
    /// The balances of an outlet's accounts by day.
    saldo, "/ops/v1/laporan/saldo", "laporan_saldo", LaporanSaldo, LaporanLihat
);
report!(
    /// The bills of an outlet that were made in the period.
    qris, "/ops/v1/laporan/qris", "laporan_qris", LaporanQris, LaporanQris
);

async fn answer_with<R: ReportRow + Serialize>(
    name: &str,
    operator: Operator,
    (days, format): (&DaysAsked, ReportFormat),
    store: &Store,
    rows: impl AsyncFnOnce(&Transaction<'_>, &Asked, Timestamp) -> Result<Vec<R>, AppError>,
) -> Result<HttpResponse, AppError> {
    let days = days.read()?;
    let now = store.now();
    let mut client = store.get().await?;
    let tx = snapshot(&mut client).await?;
    let asked = days.of(&tx, &operator, now).await?;
    let baris = rows(&tx, &asked, now).await?;
    let period = asked.period;
    if format == ReportFormat::Json {
        return Ok(answer::ok(Laporan { dari: period.first, sampai: period.last, baris, lanjut: None }));
    }
    let ReportOutlet { calendar, counts_coins: coins, has_pulses: pulses, .. } = &asked.outlet;
    let extras = Extras { coins: *coins, pulses: *pulses };
    let text = csv::BOM.to_owned() + &csv::header_of::<R>(extras)? + &csv::lines_of(&baris, calendar, extras)?;
    let name = csv::file_name(name, asked.outlet.idoutlet, period);
    Ok(csv::download(&name, stream::iter([Ok(Bytes::from(text))])))
}

impl Asked {
    /// As sums of the ledger take them.
    pub fn days(&self) -> Days<'_> {
        Days { idoutlet: self.outlet.idoutlet, first: self.period.first, bounds: &self.bounds }
    }

    /// When the first day begins, and when the last one ends.
    pub fn span(&self) -> (Timestamp, Timestamp) {
        let at = |bound: Option<&Timestamp>| bound.copied().unwrap_or_default();
        (at(self.bounds.first()), at(self.bounds.last()))
    }
}
