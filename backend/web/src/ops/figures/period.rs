//! Which days of which outlet a report is about.

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::domain::id::OutletId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::figures::calendar::{Day, Period, PeriodError};
use nyala_identity::staff::operator::Operator;
use nyala_store::db::pool::DbClient;
use serde::Deserialize;
use tokio_postgres::IsolationLevel;
use utoipa::IntoParams;

use crate::figures::outlet::ReportOutlet;
use crate::http::error::AppError;
use crate::http::schema::CalendarDay;
use crate::ops::scope::{self, AtOutlet};

#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DaysAsked {
    /// The outlet; needed when the caller sees several.
    #[param(value_type = OutletId, required = false, inline)]
    idoutlet: Option<OutletId>,
    /// The first day; today when left out.
    #[param(value_type = CalendarDay, required = false, inline)]
    dari: Option<String>,
    /// The last day, which counts; today when left out. At most 92 days.
    #[param(value_type = CalendarDay, required = false, inline)]
    sampai: Option<String>,
}

/// The days, as far as they are known without the outlet.
#[derive(Debug, Clone, Copy)]
pub struct DaysRead {
    at: AtOutlet,
    first: Option<Day>,
    last: Option<Day>,
}

impl DaysAsked {
    /// # Errors
    /// A 400 for what is no day, or a first day after the last.
    pub fn read(&self) -> Result<DaysRead, AppError> {
        let day = |field: &str, text: &Option<String>| {
            let day = text.as_deref().map(|text| Day::parse(text).ok_or(field.to_owned())).transpose();
            day.map_err(|field| AppError::bad_input(format!("{field} harus tanggal YYYY-MM-DD")))
        };
        let (first, last) = (day("dari", &self.dari)?, day("sampai", &self.sampai)?);
        if let (Some(first), Some(last)) = (first, last) {
            period(first, last)?;
        }
        Ok(DaysRead { at: AtOutlet::named(self.idoutlet), first, last })
    }
}

fn period(first: Day, last: Day) -> Result<Period, AppError> {
    Period::new(first, last).map_err(|e| match e {
        PeriodError::Backwards => AppError::bad_input("dari tidak boleh sesudah sampai"),
        PeriodError::TooLong => AppError::Unprocessable("paling banyak 92 hari"),
    })
}

/// A report's outlet and days.
#[derive(Debug, Clone)]
pub struct Asked {
    pub outlet: ReportOutlet,
    pub period: Period,
    /// When each day begins, and when the last one ends.
    pub bounds: Vec<Timestamp>,
}

impl DaysRead {
    /// The outlet, which the caller sees, and the days, in one reading of the database.
    ///
    /// # Errors
    /// 404 for another's outlet, 422 for none or too many days.
    pub async fn of(self, tx: &Transaction<'_>, operator: &Operator, now: Timestamp) -> Result<Asked, AppError> {
        let idoutlet = self.outlet(tx, operator).await?.idoutlet;
        let outlet = ReportOutlet::read(tx, idoutlet).await?;
        let today = outlet.calendar.day_of(now);
        // One that is left out is today, or the other one if that would be none.
        let first = self.first.unwrap_or_else(|| today.min(self.last.unwrap_or(today)));
        let period = period(first, self.last.unwrap_or_else(|| today.max(first)))?;
        let bounds = outlet.calendar.bounds(period);
        Ok(Asked { outlet, period, bounds })
    }

    async fn outlet(self, client: &impl GenericClient, operator: &Operator) -> Result<scope::Outlet, AppError> {
        self.at.of(client, operator).await
    }
}

/// All figures of an answer are as of one moment.
///
/// # Errors
/// When the database does not answer.
pub async fn snapshot(client: &mut DbClient) -> Result<Transaction<'_>, AppError> {
    let tx = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    Ok(tx.start().await?)
}
