//! A log without a reader.

use nix::sys::signal::Signal;
use serde_json::Value;

use super::Site;

/// Maximum number of requests until lines are dropped: each logs some dozens, and 8,192 wait in addition to the pipe's buffer.
const MAX_REQUESTS: usize = 5_000;

#[actix_web::test]
async fn a_pipe_without_a_reader_stops_no_request_and_its_lines_are_counted() {
    let mut site = Site::new().await;
    let (reader, writer) = std::io::pipe().unwrap();
    site.start_logging_to(writer, &["serve"], &[("NYALA__LOG__FILTER", "trace"), ("NYALA__LOG__FORMAT", "json")]).await;
    let dropped = async || {
        let page = site.scrape().await;
        let line =
            page.lines().find_map(|line| line.strip_prefix("nyala_log_lines_dropped_total ")).expect("it is counted").to_owned();
        line.parse::<f64>().unwrap()
    };
    let mut requests = 0;
    while dropped().await == 0.0 {
        assert!(requests < MAX_REQUESTS, "the pipe is full long before");
        for _ in 0..50 {
            site.ask("GET", "/readyz", "", &Value::Null).await.unwrap().ok();
        }
        requests += 50;
    }
    for _ in 0..50 {
        site.ask("GET", "/readyz", "", &Value::Null).await.unwrap().ok();
    }
    site.signal(Signal::SIGTERM);
    let status = site.ended().await;
    assert!(status.success(), "it does not wait for a reader at its end either: {status}");
    drop(reader);
}
