//! Whether the money is right: each customer's balance is what was paid in less what was bought, and the ledger keeps its rules.

use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinSet;

use crate::http::Pool;
use crate::options::Common;
use crate::run::Run;
use crate::shop::{Customer, PRICE, SALDO};

const BALANCES: &str = "/scan/v1/dashboard/get_user_epayment_by_id_customer_global";
/// Wrong balances that are told one by one.
const TOLD: usize = 5;

/// Looks at the balance of every one of `customers`, and lets the ledger be verified.
pub async fn check(run: &mut Run, pool: &Pool, common: &Common, customers: &[Arc<Customer>]) {
    run.ui.part("balances", customers.len() as u64);
    let mut looks = JoinSet::new();
    for customer in customers {
        let (pool, customer) = (pool.clone(), customer.clone());
        looks.spawn(async move { look(&pool, &customer).await });
    }
    let (mut checked, mut wrong) = (0, 0);
    while let Some(looked) = looks.join_next().await {
        match looked.unwrap_or_else(|e| Err(e.to_string())) {
            Ok(()) => {}
            Err(why) => {
                wrong += 1;
                if wrong <= TOLD {
                    run.note(&format!("Wrong balance: {why}."));
                }
            }
        }
        checked += 1;
        run.ui.progress(checked, customers.len() as u64, 0, "");
    }
    run.values.count("balances_checked", checked);
    run.values.count("balances_wrong", wrong as u64);
    verify(run, common).await;
}

async fn look(pool: &Pool, customer: &Customer) -> Result<(), String> {
    let whose = customer.idcustomer;
    let answer = pool.call("GET", BALANCES, &customer.token, &Value::Null).await.map_err(|e| format!("account {whose}: {e}"))?;
    let account = answer.data.as_array().and_then(|all| all.iter().find(|a| a["idcustomer"] == whose));
    let saldo = account.and_then(|a| a["quota_emoney"]["saldo"].as_i64());
    let paid = customer.paid();
    let right = SALDO.saturating_sub(paid * PRICE);
    match saldo {
        Some(saldo) if u64::try_from(saldo) == Ok(right) => Ok(()),
        Some(saldo) => Err(format!("account {whose} has {saldo} rupiah, and {right} are right after {paid} purchases")),
        None => Err(format!("account {whose} is not shown: {} {}", answer.status, answer.message)),
    }
}

/// `nyala audit verify`, when the program is known.
async fn verify(run: &mut Run, common: &Common) {
    let Some(program) = common.program() else {
        return run
            .note("The ledger was not verified: give --nyala FILE and --data-dir DIR to run `nyala audit verify` at the end.");
    };
    let mut command = Command::new(&program);
    command.args(["audit", "verify", "--config-dir"]).arg(&common.config_dir);
    if let Some(dir) = &common.data_dir {
        command.env("NYALA__DATA__DIR", dir).env_remove("DATABASE_URL");
    } else if std::env::var_os("DATABASE_URL").is_none() {
        return run.note("The ledger was not verified: give --data-dir DIR, or set DATABASE_URL, so that its database is found.");
    }
    let done = tokio::task::spawn_blocking(move || command.output()).await.unwrap_or_else(|e| Err(std::io::Error::other(e)));
    match done {
        Ok(done) if done.status.success() => run.values.count("audit_broken", 0),
        Ok(done) => {
            run.values.count("audit_broken", 1);
            let said = [done.stdout, done.stderr].concat();
            run.note(&format!("`nyala audit verify` failed: {}", String::from_utf8_lossy(&said).trim()));
        }
        Err(e) => run.note(&format!("The ledger was not verified: {}: {e}", program.display())),
    }
}
