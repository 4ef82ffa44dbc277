//! The purchase's times, in milliseconds (docs/contract.md §1, §5; docs/decisions/0008-recovery-at-each-edge.md).

/// A command's `exp`: how long after the hold a device may still start.
pub const CMD_TTL_MS: i64 = 10_000;
/// How long `create_snap_transaksi` waits for the device before it answers 504.
pub const ANSWER_WAIT_MS: i64 = 8_000;
/// A `started` this soon after the first sending is taken as the moment of starting, so the countdown is never further off; a
/// later one is asked for the time left.
pub const PROMPT_MS: i64 = 1_000;
/// Without an answer for this long, the purchase is stored as sent.
pub const MARK_SENT_MS: i64 = 1_000;
/// A command without an answer is sent again: the device knows its `cmd_id` and does nothing twice.
pub const RESEND_MS: i64 = 3_000;
/// An unsure purchase asks its device this often.
pub const QUERY_EVERY_MS: i64 = 5_000;
/// Interval of queries to the device of a machine that waits for staff.
pub const STAFF_QUERY_MS: i64 = 15_000;
/// How long a late `started` waits for the device to report the time left.
pub const LEFT_WAIT_MS: i64 = 3_000;
/// After this long unsure, the customer has the money back and the machine waits for staff.
pub const GIVE_UP_MS: i64 = 15 * 60_000;
/// Time that a process which restarts after those minutes waits for the device's answer to one more query.
pub const LAST_WORD_MS: i64 = 5_000;
/// Starts that may wait at one machine; once one has won, the others are refused.
pub const MAX_WAITING_STARTS: usize = 64;
/// Repeats of one receipt that may wait for its outcome.
pub const MAX_WAITERS: usize = 256;
/// So much a device may have run since it last saved the time left: after a power cut it runs that again.
pub const SAVED_MS: i64 = 60_000;
/// Interval of reads of a remote purchase while a caller waits for it.
pub const LOOK_EVERY_MS: i64 = 250;
