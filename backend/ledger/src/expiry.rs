//! When an account has expired, for the statements that have to decide it: the rule of `nyala_core::domain::expiry` in SQL.

/// Condition, as a literal: the account `q` (`quota_emoney`) has not expired at `$now`.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_good {
    ($now:literal) => {
        concat!("(q.jenis_emoney = 2 OR q.masa_aktif >= ", $now, "::TIMESTAMPTZ)")
    };
}
pub use __is_good as is_good;
