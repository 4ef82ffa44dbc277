//! Distribution of `database.connections`: a number for each worker thread, one for recovery, one for everything else.

/// Default number of connections of a thread. Requests that wait behind a lock leave some for others.
const USUAL: usize = 4;
/// While one waits behind a lock, another one must be there.
const LEAST: usize = 2;
/// Recovery's own, and one for what else runs beside the worker threads (pruning).
const APART: usize = 2;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "database.connections = {chosen} is too few for {threads} worker threads: at least {least} (two a thread and two), or 0 for {usual} \
     (four a thread and two)"
)]
pub struct TooFew {
    chosen: usize,
    threads: usize,
    least: usize,
    usual: usize,
}

/// Maximum number of open connections; `chosen` 0 selects the default.
pub const fn in_all(chosen: usize, threads: usize) -> usize {
    if chosen == 0 { threads * USUAL + APART } else { chosen }
}

/// Those of one of `threads` worker threads.
///
/// # Errors
/// [`TooFew`], which names the least that would do.
pub fn per_thread(chosen: usize, threads: usize) -> Result<usize, TooFew> {
    let (threads, all) = (threads.max(1), in_all(chosen, threads));
    let (least, usual) = (threads * LEAST + APART, in_all(0, threads));
    if all < least { Err(TooFew { chosen, threads, least, usual }) } else { Ok((all - APART) / threads) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_stays_within_what_was_chosen_and_every_thread_has_two() {
        for threads in 1..=64 {
            for chosen in 1..=300 {
                match per_thread(chosen, threads) {
                    Ok(each) => assert!(each >= 2 && each * threads + 2 <= chosen, "{each} of {chosen} for {threads}"),
                    Err(few) => {
                        assert!(chosen < few.least, "{few}");
                        assert_eq!((per_thread(few.least, threads), per_thread(few.usual, threads)), (Ok(2), Ok(4)), "{few}");
                        assert!(few.to_string().contains(&few.least.to_string()), "{few}");
                    }
                }
            }
            assert_eq!((per_thread(0, threads), in_all(0, threads)), (Ok(4), 4 * threads + 2));
        }
    }
}
