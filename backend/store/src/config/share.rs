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

/// What the distribution follows from.
#[derive(Debug, Clone, Copy)]
pub struct Connections {
    /// `database.connections`; 0 selects the default.
    pub chosen: usize,
    /// Worker threads.
    pub threads: usize,
}

impl Connections {
    /// Maximum number of open connections.
    pub const fn in_all(self) -> usize {
        if self.chosen == 0 { self.threads * USUAL + APART } else { self.chosen }
    }

    /// Those of one worker thread.
    ///
    /// # Errors
    /// [`TooFew`], which names the least that would do.
    pub fn per_thread(self) -> Result<usize, TooFew> {
        let Self { chosen, threads } = Self { threads: self.threads.max(1), ..self };
        let (least, usual) = (threads * LEAST + APART, threads * USUAL + APART);
        if self.in_all() < least { Err(TooFew { chosen, threads, least, usual }) } else { Ok((self.in_all() - APART) / threads) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_stays_within_what_was_chosen_and_every_thread_has_two() {
        for threads in 1..=64 {
            for chosen in 1..=300 {
                match (Connections { chosen, threads }).per_thread() {
                    Ok(each) => assert!(each >= 2 && each * threads + 2 <= chosen, "{each} of {chosen} for {threads}"),
                    Err(few) => {
                        assert!(chosen < few.least, "{few}");
                        let would = [few.least, few.usual].map(|chosen| Connections { chosen, threads }.per_thread());
                        assert_eq!(would, [Ok(2), Ok(4)], "{few}");
                        assert!(few.to_string().contains(&few.least.to_string()), "{few}");
                    }
                }
            }
            let usual = Connections { chosen: 0, threads };
            assert_eq!((usual.per_thread(), usual.in_all()), (Ok(4), 4 * threads + 2));
        }
    }
}
