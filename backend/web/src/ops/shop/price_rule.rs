//! Prices by hour in requests and answers.

use nyala_core::domain::rupiah::Rupiah;
use nyala_core::domain::whole;
use nyala_core::prices::{self, ClockTime, MAX_RULES, PriceRule, RulesError, Weekdays};
use nyala_core::schema::describe;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::http::error::AppError;
use crate::http::schema::{EndOfHours, TimeOfDay};

/// A price from `dari` until before `sampai` on the wall clock of the outlet. When `sampai` comes first, until the next day.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct NewAturan {
    /// 1 is Monday.
    #[schema(min_items = 1, value_type = Vec<Hari>)]
    #[serde(deserialize_with = "days")]
    hari: Vec<i64>,
    #[schema(value_type = TimeOfDay)]
    dari: String,
    /// Another one than `dari`.
    #[schema(value_type = EndOfHours)]
    sampai: String,
    /// Whole rupiah.
    #[schema(value_type = i64, minimum = 0, maximum = 20000000)]
    harga: Rupiah,
}

/// A day of the week: 1 is Monday.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Hari(#[serde(deserialize_with = "whole::deserialize")] i64);

describe! {
    Hari => ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(7)).description(Some("1 is Monday.")).build();
}

fn days<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<i64>, D::Error> {
    Ok(Vec::<Hari>::deserialize(d)?.into_iter().map(|Hari(day)| day).collect())
}

/// A price from `dari` until before `sampai` on the wall clock of the outlet.
#[derive(Debug, Serialize, ToSchema)]
pub struct Aturan {
    /// 1 is Monday.
    hari: Vec<i16>,
    dari: String,
    sampai: String,
    /// Rupiah.
    harga: i64,
}

impl From<PriceRule> for Aturan {
    fn from(rule: PriceRule) -> Self {
        Self { hari: rule.days.iter().collect(), dari: rule.from.to_string(), sampai: rule.until.to_string(), harga: rule.price }
    }
}

/// The rules of a service.
///
/// # Errors
/// A 400 that names the field, or a 422 when two rules hold at one minute.
pub fn read_all(rules: &[NewAturan]) -> Result<Vec<PriceRule>, AppError> {
    let rules = rules.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    prices::check(&rules).map_err(|e| match e {
        RulesError::TooMany => AppError::bad_input(format!("aturan paling banyak {MAX_RULES}")),
        RulesError::Empty => AppError::bad_input("aturan.sampai harus lain dari aturan.dari"),
        RulesError::Overlap => AppError::Unprocessable("jam harga bertumpuk"),
    })?;
    Ok(rules)
}

fn read(rule: &NewAturan) -> Result<PriceRule, AppError> {
    let from = ClockTime::parse(&rule.dari).filter(|time| *time != ClockTime::DAY_END);
    Ok(PriceRule {
        days: Weekdays::parse(&rule.hari)
            .ok_or_else(|| AppError::bad_input("aturan.hari harus memuat hari 1 (Senin) sampai 7"))?,
        from: from.ok_or_else(|| AppError::bad_input("aturan.dari harus jam 00:00 sampai 23:59"))?,
        until: ClockTime::parse(&rule.sampai).ok_or_else(|| AppError::bad_input("aturan.sampai harus jam 00:00 sampai 24:00"))?,
        price: rule.harga.within("aturan.harga", 0)?,
    })
}
