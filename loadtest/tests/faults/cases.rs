//! Faults, the runs against each, and the threshold that each must cross. They take long, so all of them run at once.

use std::sync::{LazyLock, Mutex};
use std::thread::JoinHandle;

use crate::fake::Faults;
use crate::run::{RunReport, measure};
use crate::soak;

const WATCH: &[&str] = &["watch", "--sessions=12", "--machines=6", "--machines-per-outlet=3", "--seconds=4", "--warmup=2"];
const STORM: &[&str] = &[
    "storm",
    "--sessions=12",
    "--machines=6",
    "--machines-per-outlet=3",
    "--seconds=2",
    "--warmup=2",
    "--storms=1",
    "--back-within=10",
];
/// Number of websockets before a storm.
const STORM_SESSIONS: u64 = 12;
const FINISH: &[&str] = &["finish", "--machines=3", "--sessions=6"];
const HOT: &[&str] = &["hot", "--customers=10", "--rounds=2"];
const PURCHASE: &[&str] = &["purchase", "--rate=10", "--even", "--seconds=2", "--durasi=1"];
/// Length of a run, so that an answer of a busy machine still arrives during it. After the run, a session waits for no final tick.
const LONG_PURCHASE: &[&str] = &["purchase", "--rate=10", "--even", "--seconds=2", "--durasi=8"];
const JOURNEY: &[&str] = &["journey", "--rate=4", "--seconds=2"];
const SOAK: &[&str] = &["soak", "--minutes=0.1", "--rate=5", "--even", "--durasi=2", "--watchers=6", "--per-session=2"];

/// Measurement in progress, until its report is taken.
type Running = Mutex<Option<JoinHandle<RunReport>>>;

static CASES: LazyLock<Vec<(&str, Running)>> = LazyLock::new(|| {
    let none = Faults::default();
    let back = Faults { well_sockets: STORM_SESSIONS, ..none };
    let cases = [
        ("watch", WATCH, "tick_p99_ms > 5000", none),
        ("watch: lost", WATCH, "missed > 0", Faults { lose_one_in: Some(4), ..none }),
        ("watch: doubled", WATCH, "duplicates > 0", Faults { double_one_in: Some(3), ..none }),
        ("watch: late", WATCH, "late_max_ms > 100", Faults { late_ms: 150, ..none }),
        ("watch: slow", WATCH, "tick_p50_ms > 100", Faults { slow_ms: 120, ..none }),
        ("watch: stall", WATCH, "missed > 0", Faults { stall_ms: 2_500, ..none }),
        ("watch: stall until a tick", WATCH, "missed > 0", Faults { stall_ms: 2_970, ..none }),
        ("watch: tl off", WATCH, "tl_wrong > 0", Faults { tl_off: true, ..none }),
        ("watch: tl stands", WATCH, "tl_wrong > 0", Faults { tl_stands: true, ..none }),
        ("watch: cut", WATCH, "sessions_lost > 0", Faults { cut_after: Some(4), ..none }),
        ("watch: cheat", WATCH, "balances_wrong > 0", Faults { cheat: true, ..none }),
        ("storm", STORM, "sessions_not_back > 0", none),
        ("storm: refused", STORM, "storm_all_s > 0.9", Faults { refuse_one_socket_in: Some(4), ..back }),
        ("storm: forgotten", STORM, "sessions_not_back > 0", Faults { forget_one_socket_in: Some(4), ..back }),
        ("storm: late", STORM, "storm_all_s > 0.6", Faults { socket_ms: 700, ..back }),
        ("finish", FINISH, "finals_missing > 0", none),
        ("finish: no final", FINISH, "finals_missing > 0", Faults { no_final: true, ..none }),
        ("finish: two finals", FINISH, "finals_duplicate > 0", Faults { two_finals: true, ..none }),
        ("finish: late", FINISH, "final_p50_ms > 400", Faults { final_late_ms: 450, ..none }),
        ("finish: early", FINISH, "finals_early > 0", Faults { final_late_ms: -150, ..none }),
        ("finish: no run", FINISH, "finals_missing > 0", Faults { no_run: true, ..none }),
        ("finish: deaf", FINISH, "finals_missing > 0", Faults { deaf_one_in: Some(3), ..none }),
        ("finish: not started", FINISH, "failed > 0", Faults { pay_fails_one_in: Some(3), ..none }),
        ("hot: many winners", HOT, "rounds_without_one_winner > 0", Faults { many_winners: true, ..none }),
        ("hot: failed presses", HOT, "failed > 0", Faults { pay_fails_one_in: Some(7), ..none }),
        ("hot: charged twice", HOT, "balances_wrong > 0", Faults { overcharge: 1, ..none }),
        ("hot: busy", HOT, "pay_503 > 0", Faults { pay_busy: 2, ..none }),
        ("hot: hidden balances", HOT, "failed > 0", Faults { hide_balances: true, ..none }),
        ("hot: losers charged", HOT, "balances_wrong > 0", Faults { charge_losers: true, ..none }),
        ("purchase: slow", PURCHASE, "failed > 0", Faults { pay_ms: 400, pay_fails_one_in: Some(5), ..none }),
        ("purchase: unanswered", PURCHASE, "failed > 0", Faults { pay_unanswered_one_in: Some(4), ..none }),
        (
            "purchase: repeated",
            PURCHASE,
            "balances_wrong > 0",
            Faults { pay_unanswered_one_in: Some(4), pay_repeats: true, ..none },
        ),
        ("purchase: not charged", PURCHASE, "balances_wrong > 0", Faults { overcharge: -1, ..none }),
        ("purchase: no final", LONG_PURCHASE, "failed > 0", Faults { no_final: true, ..none }),
        ("purchase: lost", PURCHASE, "failed > 0", Faults { no_run: true, ..none }),
        ("journey", JOURNEY, "failed > 0", none),
        ("journey: no code", JOURNEY, "failed > 0", Faults { no_code: true, ..none }),
        ("journey: limited", JOURNEY, "failed > 0", Faults { codes: Some(3), ..none }),
        ("journey: short history", JOURNEY, "failed > 0", Faults { short_history: true, ..none }),
        ("journey: charged twice", JOURNEY, "balances_wrong > 0", Faults { overcharge: 1, short_history: true, ..none }),
        ("soak", SOAK, "failed > 0", none),
        ("soak: faults", SOAK, "missed > 0", Faults { lose_one_in: Some(2), pay_fails_one_in: Some(5), ..none }),
    ];
    let cases = cases
        .map(|(name, args, threshold, faults)| start(name, move || measure(faults, &[args, &["--fail-if", threshold]].concat())));
    let memory = [
        start("soak: memory grows", soak::with_one_that_grows),
        start("soak: memory stays", soak::with_one_that_stays),
        start("soak: server ends", soak::with_one_that_ends),
    ];
    cases.into_iter().chain(memory).collect()
});

fn start(name: &'static str, run: impl FnOnce() -> RunReport + Send + 'static) -> (&'static str, Running) {
    (name, Mutex::new(Some(std::thread::spawn(run))))
}

/// Takes the report of a case; each can be taken once.
pub fn report_of(name: &str) -> RunReport {
    let (_, case) = CASES.iter().find(|(n, _)| *n == name).expect("a case");
    let running = case.lock().expect("no test panics with it").take().expect("asked for once");
    running.join().expect("a report")
}
