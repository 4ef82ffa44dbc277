//! Figures of an outlet: the business days of a report, and when machines were down (docs/board.md, Figures).

pub mod calendar;
pub mod downtime;
pub mod intervals;

/// The middle of some numbers; of an even count, the mean of the two in the middle. `None` below two numbers, which say nothing of what is usual.
pub fn usual(mut numbers: Vec<i64>) -> Option<f64> {
    numbers.sort_unstable();
    let (middle, count) = (numbers.len() / 2, numbers.len());
    let at = |n: usize| numbers.get(n).copied().unwrap_or_default();
    #[allow(clippy::cast_precision_loss, reason = "counts of a day")]
    match count {
        0 | 1 => None,
        _ if count % 2 == 1 => Some(at(middle) as f64),
        _ => Some((at(middle - 1) + at(middle)) as f64 / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::usual;

    #[test]
    fn what_is_usual_needs_two_days() {
        for (numbers, expected) in
            [(vec![], None), (vec![9], None), (vec![9, 4], Some(6.5)), (vec![9, 1, 5], Some(5.0)), (vec![1, 9, 5, 6], Some(5.5))]
        {
            assert_eq!(usual(numbers.clone()), expected, "{numbers:?}");
        }
    }
}
