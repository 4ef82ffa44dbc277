//! Paths, queries and values that several calls use.

use actix_web::web::{PathConfig, QueryConfig};
use nyala_core::domain::id::OutletId;
use serde::{Deserialize, Deserializer};

use super::error::AppError;

pub fn path_config() -> PathConfig {
    PathConfig::default().error_handler(|_, _| AppError::NotFound("data tidak ditemukan").into())
}

pub fn query_config() -> QueryConfig {
    QueryConfig::default()
        .error_handler(|_, req| AppError::bad_input(format!("parameter alamat tidak sesuai: {}", req.query_string())).into())
}

/// `""` is "no filter" in the app's requests; an id there is a number or a string (docs/contract.md §2).
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter(pub Option<OutletId>);

impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "harus kosong atau id berupa bilangan bulat positif")]
        enum Raw {
            Number(OutletId),
            Text(String),
        }
        match Option::<Raw>::deserialize(d)? {
            None => Ok(Self(None)),
            Some(Raw::Number(id)) => Ok(Self(Some(id))),
            Some(Raw::Text(t)) if t.is_empty() => Ok(Self(None)),
            Some(Raw::Text(_)) => Err(serde::de::Error::custom("harus kosong atau id berupa bilangan bulat positif")),
        }
    }
}

/// How many rows a page may have: 1 to 100 (docs/contract.md §2).
#[derive(Debug, Clone, Copy)]
pub struct OffsetPage {
    pub limit: i64,
    pub skip: i64,
}

impl OffsetPage {
    /// # Errors
    /// A 400 that names the field outside its bounds.
    pub fn checked(self) -> Result<Self, AppError> {
        if !(1..=100).contains(&self.limit) {
            return Err(AppError::bad_input("limit harus 1 sampai 100"));
        }
        if self.skip < 0 {
            return Err(AppError::bad_input("skip tidak boleh kurang dari 0"));
        }
        Ok(self)
    }
}
