//! PostgreSQL's report on a statement that it has run (EXPLAIN (ANALYZE, FORMAT JSON)).

use std::time::Duration;

use serde_json::Value;
use tokio_postgres::Client;

use crate::BenchError;

#[derive(Debug, Default)]
pub struct Explained {
    pub took: Duration,
    /// Tables that were read from end to end, by a sequential scan.
    pub scanned: Vec<String>,
    /// Rows that scans of tables took or rejected, over all their rounds.
    pub looked_at: f64,
}

/// Runs the prepared statement `call`, such as `ASKED(1000)`.
///
/// # Errors
/// What PostgreSQL says against it.
pub async fn explain(client: &Client, call: &str) -> Result<Explained, BenchError> {
    let row = client.query_one(&format!("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE {call}"), &[]).await?;
    let explained_json: Value = row.try_get(0)?;
    let ms = explained_json[0]["Execution Time"].as_f64().ok_or_else(|| format!("no time in {explained_json}"))?;
    let mut explained = Explained { took: Duration::from_secs_f64(ms / 1000.0), ..Explained::default() };
    add(&mut explained, &explained_json[0]["Plan"]);
    Ok(explained)
}

fn add(explained: &mut Explained, node: &Value) {
    let number = |name: &str| node[name].as_f64().unwrap_or(0.0);
    if let (Some(table), Some(kind)) = (node["Relation Name"].as_str(), node["Node Type"].as_str())
        && kind.ends_with("Scan")
    {
        let rows = number("Actual Rows") + number("Rows Removed by Filter") + number("Rows Removed by Index Recheck");
        explained.looked_at += rows * number("Actual Loops");
        if kind == "Seq Scan" {
            explained.scanned.push(table.to_owned());
        }
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        add(explained, child);
    }
}
