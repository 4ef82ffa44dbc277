//! What single steps cost. `make bench` runs them all; `cargo bench -p nyala-bench --features criterion -- wheel` those whose name has `wheel` in it.
//! `QUICK=1` in the environment measures for a second each and with a smaller ledger.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use criterion::Criterion;

mod codec;
mod fanout;
mod history;
mod purchase;
mod qr;
mod token;
mod wheel;

/// Whether a rough figure in a minute is wanted.
fn quick() -> bool {
    std::env::var("QUICK").is_ok_and(|text| !matches!(text.as_str(), "" | "0"))
}

fn main() {
    // cargo starts benches in their package's folder; the server finds its settings in the checkout's
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
    let (warm_up, measure) = if quick() { (200, 800) } else { (1000, 5000) };
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(warm_up))
        .measurement_time(Duration::from_millis(measure))
        .sample_size(if quick() { 10 } else { 50 })
        .configure_from_args();
    codec::bench(&mut criterion);
    token::bench(&mut criterion);
    qr::bench(&mut criterion);
    wheel::bench(&mut criterion);
    fanout::bench(&mut criterion);
    purchase::bench(&mut criterion);
    history::bench(&mut criterion);
}
