//! `--fail-if 'tick_p99_ms > 50'`: thresholds of a measurement.

use std::fmt;
use std::str::FromStr;

use super::metrics::{self, Metric, Values, shown};

#[derive(Debug, Clone)]
pub struct Threshold {
    metric: &'static Metric,
    above: bool,
    or_equal: bool,
    limit: f64,
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no threshold; write one like 'tick_p99_ms > 50', with >, >=, < or <=");
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let (name, rest) = text.split_at(at);
        let above = rest.starts_with('>');
        let rest = &rest[1..];
        let (or_equal, number) = rest.strip_prefix('=').map_or((false, rest), |number| (true, number));
        let metric = metrics::find(name.trim())?;
        let limit = number.trim().parse().ok().filter(|limit: &f64| limit.is_finite()).ok_or_else(wrong)?;
        Ok(Self { metric, above, or_equal, limit })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.above { '>' } else { '<' };
        write!(f, "{} {sign}{} {}", self.metric.name, if self.or_equal { "=" } else { "" }, self.limit)
    }
}

impl Threshold {
    /// Message when the threshold is crossed. A figure that was not measured crosses every threshold, because it is unknown.
    pub fn crossed(&self, values: &Values) -> Option<String> {
        let Some(value) = values.get(self.metric.name) else {
            return Some(format!("{self}: {} was not measured", self.metric.name));
        };
        let crossed = match (self.above, self.or_equal) {
            (true, false) => value > self.limit,
            (true, true) => value >= self.limit,
            (false, false) => value < self.limit,
            (false, true) => value <= self.limit,
        };
        crossed.then(|| format!("{self}: it is {}", shown(value, self.metric.unit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossed(threshold: &str, value: f64) -> bool {
        let mut values = Values::default();
        values.set("tick_p99_ms", value);
        threshold.parse::<Threshold>().unwrap().crossed(&values).is_some()
    }

    #[test]
    fn thresholds_compare() {
        assert!(crossed("tick_p99_ms > 50", 50.1) && !crossed("tick_p99_ms > 50", 50.0));
        assert!(crossed("tick_p99_ms>=50", 50.0) && !crossed("tick_p99_ms >= 50", 49.9));
        assert!(crossed("tick_p99_ms < 50", 49.9) && !crossed(" tick_p99_ms < 50 ", 50.0));
        assert!(crossed("tick_p99_ms <= 50", 50.0));
        assert!(crossed("missed > 0", 1.0), "not measured is not well");
    }

    #[test]
    fn invalid_thresholds_are_refused() {
        assert!("tick_p98_ms > 1".parse::<Threshold>().unwrap_err().contains("there are tick_p50_ms"));
        for bad in ["tick_p99_ms", "tick_p99_ms > x", "tick_p99_ms > nan", "tick_p99_ms < inf", "tick_p99_ms = 5", ""] {
            assert!(bad.parse::<Threshold>().unwrap_err().contains("like 'tick_p99_ms > 50'"), "{bad}");
        }
    }
}
