//! Files for monitoring (docs/observability): rules for Prometheus and dashboards for Grafana. They may only query metrics that exist.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use nyala_core::purchase::state::PurchaseState;
use nyala_machines::device::mqtt::message::{DeviceMessage, Heartbeat};
use nyala_machines::device::mqtt::metrics::Dropped;
use serde_json::{Value, json};

use crate::support::helpers::Setup;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/observability")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

const FILES: [&str; 3] = ["alerts.yml", "grafana-server.json", "grafana-cluster.json"];

/// The metrics that a text names, as the server registers them: without the suffixes that the exposition adds.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("nyala_"));
    words.map(|word| word.trim_end_matches("_bucket").trim_end_matches("_total").to_owned()).collect()
}

#[actix_web::test]
async fn every_metric_that_is_asked_for_is_there() {
    let app = Setup::new()
        .with(|config| {
            config.cluster.enabled = true;
            config.cluster.name = "n1".to_owned();
            // Without a target there are no requests at the gate.
            config.database.admission_ms = 50;
            // Without a backup its metrics are left out.
            config.backup.dir = "backup".into();
        })
        .start()
        .await;
    // A labelled series exists once its label has been counted.
    app.state.metrics.machines.purchase_became(PurchaseState::Running);
    let devices = &app.state.metrics.machines.devices;
    devices.trouble("clone");
    devices.message_received(&DeviceMessage::Heartbeat(Heartbeat::default()));
    devices.dropped(Dropped::Malformed);
    // The response does not matter.
    let _ = app.post("/scan/v1/dashboard/get_dashboard", None, &json!({})).await;
    let mut res = app.http.get(format!("{}/metrics", app.base_url)).send().await.unwrap();
    let page = String::from_utf8(res.body().limit(1 << 20).await.unwrap().to_vec()).unwrap();
    let there: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for file in FILES {
        let asked = named(&text(file));
        assert!(asked.len() > 8, "{file}: {asked:?}");
        let missing: Vec<&String> = asked.iter().filter(|name| !there.contains(name.as_str())).collect();
        assert!(missing.is_empty(), "{file} asks for {missing:?}");
    }
}

#[test]
fn dashboards_have_panels_beside_and_not_over_each_other() {
    for file in ["grafana-server.json", "grafana-cluster.json"] {
        let board: Value = serde_json::from_str(&text(file)).unwrap();
        let panels = board["panels"].as_array().unwrap();
        let at: BTreeSet<(i64, i64)> = panels
            .iter()
            .map(|panel| {
                let grid = &panel["gridPos"];
                let n = |of: &str| grid[of].as_i64().unwrap();
                assert!(n("x") + n("w") <= 24 && n("y") % n("h") == 0 && n("x") % n("w") == 0, "{file}: {grid}");
                assert!(panel["targets"].as_array().unwrap().iter().all(|target| target["expr"].is_string()), "{file}");
                (n("x"), n("y"))
            })
            .collect();
        assert_eq!(at.len(), panels.len(), "{file}");
    }
}

#[test]
fn prometheus_takes_the_rules() {
    let checked = Command::new("promtool").args(["check", "rules"]).arg(folder().join("alerts.yml")).output();
    match checked {
        Ok(out) => {
            assert!(out.status.success(), "{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
        }
        // Written directly, because the test runner hides the output of tests that pass.
        Err(_) => {
            _ = writeln!(
                std::io::stderr(),
                "SKIPPED: promtool is not installed here (Debian's prometheus), so the rules are not checked"
            )
        }
    }
}

/// Series of the gate, and the alerts that follow from them after so many minutes.
const OVERLOAD: &str = r#"
rule_files: [RULES]
evaluation_interval: 15s
tests:
  - interval: 15s
    input_series:
      - series: 'nyala_admission_requests_total{instance="a", class="list", outcome="refused"}'
        values: '0+100x40'
      - series: 'nyala_admission_requests_total{instance="a", class="known_payment", outcome="admitted"}'
        values: '0+100x40'
      - series: 'nyala_admission_requests_total{instance="a", class="known_payment", outcome="refused"}'
        values: '0x12 1+1x28'
    alert_rule_test:
      - { eval_time: 3m, alertname: NyalaPaymentsRefused, exp_alerts: [] }
      - eval_time: 6m
        alertname: NyalaPaymentsRefused
        exp_alerts:
          - exp_labels: { severity: page, instance: a }
            exp_annotations:
              summary: "a is overloaded and has refused payments for a minute"
              action: "PostgreSQL is what is waited for: look at its processor, its disk and long statements (docs/operations.md, Overload)."
"#;

#[test]
fn refused_payments_page_after_a_minute_and_refused_histories_do_not() {
    let rules = std::fs::canonicalize(folder().join("alerts.yml")).unwrap();
    let test = std::env::temp_dir().join(format!("nyala-rules-{}.yml", std::process::id()));
    std::fs::write(&test, OVERLOAD.replace("RULES", rules.to_str().unwrap())).unwrap();
    let checked = Command::new("promtool").args(["test", "rules"]).arg(&test).output();
    std::fs::remove_file(&test).unwrap();
    // Without promtool the test above says so.
    if let Ok(out) = checked {
        assert!(out.status.success(), "{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    }
}
