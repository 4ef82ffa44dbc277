//! Check of the money: each customer's balance is the top-ups minus the purchases, and the ledger keeps its rules.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use tokio::task::JoinSet;

use crate::http::{Pool, TIME_LIMIT};
use crate::options::Common;
use crate::run::Measurement;
use crate::shop::{BALANCE, PRICE, TestCustomer};

const BALANCES: &str = "/scan/v1/dashboard/get_user_epayment_by_id_customer_global";
/// Greatest number of wrong or unknown balances that are reported one by one.
const TOLD: u64 = 5;

/// Result of the check of a balance.
enum Look {
    Right,
    /// The balance is wrong.
    Wrong(String),
    /// The server did not answer, so the balance is unknown.
    Unknown(String),
}

/// Checks the balances of all `customers`, and lets the server verify the ledger.
pub async fn check(run: &mut Measurement, pool: &Pool, common: &Common, customers: &[Arc<TestCustomer>]) {
    let (began, all) = (Instant::now(), customers.len() as u64);
    run.ui.part("balances", all);
    let mut looks = JoinSet::new();
    for customer in customers {
        let (pool, customer) = (pool.clone(), customer.clone());
        looks.spawn(async move { look(&pool, &customer).await });
    }
    let (mut right, mut wrong, mut unknown) = (0, 0, 0);
    while let Some(looked) = looks.join_next().await {
        let (n, fault) = match looked.unwrap_or_else(|e| Look::Unknown(e.to_string())) {
            Look::Right => (&mut right, None),
            Look::Wrong(why) => (&mut wrong, Some(format!("Wrong balance: {why}."))),
            Look::Unknown(why) => (&mut unknown, Some(format!("Balance not known: {why}."))),
        };
        *n += 1;
        if let Some(fault) = fault.filter(|_| *n <= TOLD) {
            run.note(&fault);
        }
        run.ui.progress(right + wrong + unknown, all, began.elapsed().as_secs(), "");
    }
    run.values.count("balances_checked", right + wrong);
    run.values.count("balances_unknown", unknown);
    if right + wrong > 0 {
        run.values.count("balances_wrong", wrong);
    }
    verify(run, common).await;
}

async fn look(pool: &Pool, customer: &TestCustomer) -> Look {
    let whose = customer.idcustomer;
    let answer = match pool.call_patiently(TIME_LIMIT, "GET", BALANCES, &customer.token, &Value::Null).await {
        Ok(answer) if answer.status == 200 => answer,
        Ok(answer) => return Look::Unknown(format!("account {whose}: {} {}", answer.status, answer.message)),
        Err(e) => return Look::Unknown(format!("account {whose}: {e}")),
    };
    let account = answer.data.as_array().and_then(|all| all.iter().find(|a| a["idcustomer"] == whose));
    let balance = account.and_then(|a| a["quota_emoney"]["saldo"].as_i64());
    let (paid, open) = (customer.paid(), customer.open());
    let right = (BALANCE + customer.topped_up()).saturating_sub(paid * PRICE);
    // Each purchase without an answer may be paid or not.
    let is_right = |balance| (0..=open).any(|bought| balance == Ok(right.saturating_sub(bought * PRICE)));
    match balance {
        Some(balance) if is_right(u64::try_from(balance)) => Look::Right,
        Some(balance) if open == 0 => {
            Look::Wrong(format!("account {whose} has {balance} rupiah, and {right} are right after {paid} purchases"))
        }
        Some(balance) => Look::Wrong(format!(
            "account {whose} has {balance} rupiah, and {right} are right after {paid} purchases, or less by what {open} without an \
             answer cost"
        )),
        None => Look::Wrong(format!("account {whose} is not shown")),
    }
}

/// Runs `nyala audit verify`, when the program is known.
async fn verify(run: &mut Measurement, common: &Common) {
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
            let output = [done.stdout, done.stderr].concat();
            run.note(&format!("`nyala audit verify` failed: {}", String::from_utf8_lossy(&output).trim()));
        }
        Err(e) => {
            run.values.count("audit_unknown", 1);
            run.note(&format!("The ledger was not verified: {}: {e}", program.display()));
        }
    }
}
