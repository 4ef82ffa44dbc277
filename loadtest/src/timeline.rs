//! Timeline of a measurement: a point for each second, or for several seconds in a long measurement.

use crate::report::Point;

/// Greatest number of points; then each two are merged.
const MAX_POINTS: usize = 1_200;

#[derive(Debug)]
pub struct Timeline {
    points: Vec<Point>,
    /// Approximate length of a point, in seconds.
    every_s: f64,
    open: Option<Point>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { points: Vec::new(), every_s: 1.0, open: None }
    }
}

impl Timeline {
    pub fn add(&mut self, second: Point) {
        let open = match self.open.take() {
            Some(open) => merged(open, second),
            None => second,
        };
        // Half a second of tolerance, because reports come not exactly once a second.
        if open.seconds + 0.5 < self.every_s {
            self.open = Some(open);
            return;
        }
        self.points.push(open);
        if self.points.len() >= MAX_POINTS {
            self.points = self.points.chunks(2).map(|two| two.iter().copied().reduce(merged).unwrap_or_default()).collect();
            self.every_s *= 2.0;
        }
    }

    pub fn points(&self) -> Vec<Point> {
        self.points.iter().copied().chain(self.open).collect()
    }

    /// Growth of resident memory in the second half, in MiB per hour: the slope of a linear regression.
    pub fn rss_slope_mib_per_h(&self) -> Option<f64> {
        let points = self.points();
        let half: Vec<(f64, f64)> =
            points[points.len() / 2..].iter().filter_map(|p| p.server_rss_mib.map(|rss| (p.at_s / 3600.0, rss))).collect();
        if half.len() < 3 {
            return None;
        }
        let n = half.len() as f64;
        let (x, y) = (half.iter().map(|p| p.0).sum::<f64>() / n, half.iter().map(|p| p.1).sum::<f64>() / n);
        let across: f64 = half.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let along: f64 = half.iter().map(|p| (p.0 - x).powi(2)).sum();
        (along > 0.0).then(|| across / along)
    }
}

/// Merges two points: counts are added, medians averaged, and of other times the worse one is kept.
fn merged(a: Point, b: Point) -> Point {
    let seconds = a.seconds + b.seconds;
    let mean = |x: f64, y: f64| (x * a.seconds + y * b.seconds) / seconds.max(f64::MIN_POSITIVE);
    let both = |x: Option<f64>, y: Option<f64>| x.zip(y).map(|(x, y)| mean(x, y)).or(x).or(y);
    Point {
        at_s: b.at_s,
        seconds,
        frames: a.frames + b.frames,
        missed: a.missed + b.missed,
        duplicates: a.duplicates + b.duplicates,
        errors: a.errors + b.errors,
        done: a.done + b.done,
        live: b.live,
        tick_p50_ms: mean(a.tick_p50_ms, b.tick_p50_ms),
        tick_p99_ms: a.tick_p99_ms.max(b.tick_p99_ms),
        tick_max_ms: a.tick_max_ms.max(b.tick_max_ms),
        total_p50_ms: mean(a.total_p50_ms, b.total_p50_ms),
        total_p99_ms: a.total_p99_ms.max(b.total_p99_ms),
        server_cpu_percent: both(a.server_cpu_percent, b.server_cpu_percent),
        server_rss_mib: both(a.server_rss_mib, b.server_rss_mib),
        tool_cpu_percent: mean(a.tool_cpu_percent, b.tool_cpu_percent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_measurement_keeps_few_points_and_every_count() {
        let mut timeline = Timeline::default();
        for n in 0..10_000_u32 {
            let rss = 100.0 + f64::from(n) / 3600.0;
            let point = Point { at_s: f64::from(n), seconds: 1.0, frames: 3, server_rss_mib: Some(rss), ..Point::default() };
            timeline.add(point);
        }
        let points = timeline.points();
        assert!(points.len() <= MAX_POINTS, "{}", points.len());
        assert_eq!(points.iter().map(|p| p.frames).sum::<u64>(), 30_000);
        let slope = timeline.rss_slope_mib_per_h().unwrap();
        assert!((slope - 1.0).abs() < 0.01, "{slope}");
    }
}
