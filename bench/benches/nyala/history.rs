//! A page of the history over HTTP, from a ledger of a million rows.

use criterion::Criterion;
use nyala_bench::history::{HistoryPages, PAGE, Pages};

pub fn bench(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let history = if super::quick() { HistoryPages::quick() } else { HistoryPages::default() };
    let mut pages: Option<Pages> = None;
    let mut group = criterion.benchmark_group(format!("history of {} rows", history.rows));
    for (name, skip) in [("first page", 0), ("page 51", 50 * PAGE)] {
        group.bench_function(name, |b| {
            let pages = pages.get_or_insert_with(|| runtime.block_on(Pages::open(&history)).unwrap());
            b.iter(|| runtime.block_on(pages.next(skip)).unwrap());
        });
    }
    group.finish();
}
