//! Paths, queries and values that several calls take.

use std::ops::Deref;
use std::str::FromStr;

use actix_web::web::{PathConfig, QueryConfig};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
pub struct Filter(pub Option<crate::domain::id::Id>);

impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "harus kosong atau id berupa bilangan bulat positif")]
        enum Raw {
            Number(crate::domain::id::Id),
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
pub struct Page {
    pub limit: i64,
    pub skip: i64,
}

impl Page {
    pub fn parse(limit: i64, skip: i64) -> Result<Self, AppError> {
        if !(1..=100).contains(&limit) {
            return Err(AppError::bad_input("limit harus 1 sampai 100"));
        }
        if skip < 0 {
            return Err(AppError::bad_input("skip tidak boleh kurang dari 0"));
        }
        Ok(Self { limit, skip })
    }
}

/// A secret text: never printed by `Debug` nor told by `Serialize`, so it cannot reach a log by accident.
#[derive(Clone, Deserialize, Default, PartialEq, Eq)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl Deref for Secret {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl FromStr for Secret {
    type Err = std::convert::Infallible;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ok(Self(s.to_owned()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// `***`, or nothing when there is no secret, so that a missing one can be seen.
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(if self.is_empty() { "" } else { "***" })
    }
}
