//! Line plots as inline SVG. Colours come from the page's style, so that they follow light and dark.

use std::fmt::Write as _;

use super::metrics::shown;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 30.0;
/// Grid lines on each axis, about.
const GRID: f64 = 5.0;

/// A line of a plot.
pub struct Series {
    pub name: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// How positions on the x axis are named.
pub enum XAxis {
    /// In seconds since the beginning.
    Seconds,
    /// Marks of its own: position and name.
    Marks(Vec<(f64, String)>),
}

pub struct Plot {
    pub title: &'static str,
    pub unit: &'static str,
    pub series: Vec<Series>,
    pub x: XAxis,
}

impl Plot {
    /// A figure of the page; empty when there is nothing to draw.
    pub fn figure(&self) -> String {
        let points = || self.series.iter().flat_map(|s| s.points.iter());
        if points().count() < 2 {
            return String::new();
        }
        let x_low = points().map(|p| p.0).fold(f64::INFINITY, f64::min);
        let x_high = points().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max).max(x_low + 1e-9);
        let step = nice_step(points().map(|p| p.1).fold(0.0, f64::max) / GRID);
        let y_high = (points().map(|p| p.1).fold(0.0, f64::max) / step).ceil().max(1.0) * step;
        let x = |v: f64| LEFT + (v - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
        let y = |v: f64| HEIGHT - BOTTOM - v.max(0.0) / y_high * (HEIGHT - TOP - BOTTOM);
        let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">", self.title);
        let mut line = 0.0;
        while line <= y_high + step / 2.0 {
            let (at, text) = (y(line), shown(line, self.unit));
            // Writing to a string cannot fail.
            let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/>", WIDTH - RIGHT);
            let _ = write!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" class=\"end\">{text}</text>", LEFT - 8.0, at + 4.0);
            line += step;
        }
        for (at, text) in self.x_marks(x_low, x_high) {
            let _ = write!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" class=\"mid\">{text}</text>", x(at), HEIGHT - 10.0);
        }
        for (n, series) in self.series.iter().enumerate() {
            let path: Vec<String> = series.points.iter().map(|p| format!("{:.1} {:.1}", x(p.0), y(p.1))).collect();
            if !path.is_empty() {
                let _ = write!(svg, "<path class=\"line s{n}\" d=\"M{}\"><title>{}</title></path>", path.join("L"), series.name);
            }
        }
        svg.push_str("</svg>");
        format!("<figure><figcaption>{}{}</figcaption>{svg}</figure>", self.title, self.legend())
    }

    fn legend(&self) -> String {
        if self.series.len() < 2 {
            return String::new();
        }
        let names: Vec<String> =
            self.series.iter().enumerate().map(|(n, s)| format!("<span class=\"key k{n}\">{}</span>", s.name)).collect();
        format!("<span class=\"legend\">{}</span>", names.concat())
    }

    fn x_marks(&self, low: f64, high: f64) -> Vec<(f64, String)> {
        match &self.x {
            XAxis::Marks(marks) => marks.clone(),
            XAxis::Seconds => {
                let step = nice_step((high - low) / GRID);
                let first = (low / step).ceil() * step;
                (0..=20).map(|n| first + f64::from(n) * step).take_while(|at| *at <= high).map(|at| (at, time(at))).collect()
            }
        }
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 7200.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 300.0 => format!("{:.0} min", s / 60.0),
        s => shown(s, "s"),
    }
}

/// The next of 1, 2, 5, 10, … that is not below `at_least`.
fn nice_step(at_least: f64) -> f64 {
    if at_least <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(at_least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= at_least).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert!((nice_step(0.3) - 0.5).abs() < 1e-9);
        assert!((nice_step(7.0) - 10.0).abs() < 1e-9);
        assert!((nice_step(1000.0) - 1000.0).abs() < 1e-6);
        assert!((nice_step(0.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_plot_has_its_lines_and_nothing_has_none() {
        let plot = |points: Vec<(f64, f64)>| Plot {
            title: "Throughput",
            unit: "/s",
            series: vec![Series { name: "frames", points }],
            x: XAxis::Seconds,
        };
        assert_eq!(plot(vec![]).figure(), "");
        let svg = plot(vec![(0.0, 5.0), (1.0, 7.0)]).figure();
        assert!(svg.contains("<path class=\"line s0\"") && svg.contains("Throughput") && !svg.contains("NaN"), "{svg}");
    }
}
