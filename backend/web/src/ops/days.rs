//! Days of validity in an operator's request.

use nyala_core::domain::whole::Whole;

use crate::http::error::AppError;

const MAX_DAYS: i64 = 3650;

/// 1 to 3650, or absent; otherwise a 400 that names `field`.
pub fn within(field: &str, days: Option<Whole>) -> Result<Option<i32>, AppError> {
    let Some(days) = days else { return Ok(None) };
    let few = Some(days.get()).filter(|days| (1..=MAX_DAYS).contains(days)).and_then(|days| i32::try_from(days).ok());
    few.map(Some).ok_or_else(|| AppError::bad_input(format!("{field} harus 1 sampai {MAX_DAYS} hari")))
}
