//! What recovery asks each second finds its rows by index, however PostgreSQL plans it.
#![allow(clippy::unwrap_used, reason = "a test ends where an expectation fails")]

use nyala_bench::plans::Plans;
use nyala_bench::plans::fill::DUE;

#[tokio::test]
async fn recovery_reads_neither_all_purchases_nor_all_machines() {
    let plans = Plans { purchases: 30_000, machines: 4_000, calls: 1 };
    let measured = plans.measure().await.unwrap();
    let looks_at = |statement: &str, indexed: bool| {
        let of = measured.iter().filter(move |m| m.statement == statement && m.indexed == indexed);
        of.map(|m| m.looked_at).fold(0.0, f64::max)
    };
    for m in measured.iter().filter(|m| m.indexed) {
        let big: Vec<_> = m.scanned.iter().filter(|table| ["snap_transaksi", "mesin"].contains(&table.as_str())).collect();
        assert!(big.is_empty(), "{m:?}");
        // Each row that is due, with its machine or its purchase, and no other one.
        assert!(m.looked_at <= f64::from(10 * DUE), "{m:?}");
    }
    for (statement, at_least) in
        [("OVERDUE", DUE), ("ASKED", DUE), ("UNPAID", DUE), ("RELAY", 2 * DUE), ("UNDECIDED", DUE), ("UNSETTLED_BUT", DUE)]
    {
        assert!(looks_at(statement, true) >= f64::from(at_least), "{statement} found what is due");
    }
    for statement in ["OVERDUE", "RELAY", "UNDECIDED", "UNSETTLED_BUT", "ASKED", "UNPAID", "RECORD"] {
        assert!(looks_at(statement, false) >= f64::from(plans.machines), "{statement} needs its index: {measured:?}");
    }
}
