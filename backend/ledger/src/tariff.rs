//! What a service costs, as it is stored: its price, the rules of `layanan_jam`, and the zone of its outlet.

use nyala_core::prices::{ClockTime, PriceRule, Tariff, Weekdays, Zone};
use nyala_store::db::error::DbError;
use tokio_postgres::Row;
use tokio_postgres::types::Json;

/// Columns, as a literal, of the services `l` of the outlets `o`: `harga`, `zona`, `aturan`, which [`of`] reads.
#[doc(hidden)]
#[macro_export]
macro_rules! __tariff {
    () => {
        "l.harga, o.zona, (SELECT json_agg(json_build_array(j.hari, j.dari_menit, j.sampai_menit, j.harga) ORDER BY j.hari, j.dari_menit) \
         FROM layanan_jam j WHERE j.idlayanan = l.idlayanan) AS aturan"
    };
}
pub use __tariff as tariff;

type StoredRule = (Vec<i64>, i32, i32, i64);

/// The tariff of a row with the columns of [`tariff!`].
pub fn of(row: &Row) -> Result<Tariff, DbError> {
    let rules: Option<Json<Vec<StoredRule>>> = row.try_get("aturan")?;
    let zone: &str = row.try_get("zona")?;
    let rules = rules.map_or_else(Vec::new, |Json(rules)| rules).iter().map(rule).collect::<Option<_>>();
    Ok(Tariff {
        base: row.try_get("harga")?,
        rules: rules.ok_or_else(|| DbError::broken("a price by hour that cannot be"))?,
        zone: Zone::parse(zone).ok_or_else(|| DbError::broken(format!("unknown time zone {zone}")))?,
    })
}

fn rule((days, from, until, price): &StoredRule) -> Option<PriceRule> {
    let [from, until] = [from, until].map(|minute| ClockTime::from_minute(*minute));
    Some(PriceRule { days: Weekdays::parse(days)?, from: from?, until: until?, price: *price })
}
