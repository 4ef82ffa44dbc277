//! The floor: pgbench with the server's own two statements, as many clients, and nothing else.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use embedded_postgres::{Postgres, SUPERUSER};
use nyala_ledger::purchase::{HOLD, POST};
use nyala_loadtest::shop::{PRICE, Shop, TestCustomer};

use crate::BenchError;
use crate::shop::{DURATION_S, global};

/// pgbench's own threads, as many as it takes not to be the limit.
const THREADS: &str = "2";

/// Purchases per second that PostgreSQL alone does: the machines `machines..2 * machines` of `shop`, each once, shared out over the
/// clients, each for the customer who has bought the machine `machines` before it.
///
/// # Errors
/// When pgbench is missing or a purchase fails.
pub fn run(postgres: &Postgres, shop: &Shop, clients: u32, machines: usize) -> Result<f64, BenchError> {
    let script = script(shop, machines, clients)?;
    let each = machines / clients as usize;
    let mut child = Command::new(program()?)
        .args(["-n", "-M", "prepared", "-j", THREADS, "-c", &clients.to_string()])
        .args(["-t", &each.to_string(), "-D", "n=0", "-f", "/dev/stdin", "postgres"])
        .env("PGHOST", postgres.socket_dir())
        .env("PGPORT", postgres.port().to_string())
        .env("PGUSER", SUPERUSER)
        .env("PGOPTIONS", "-c synchronous_commit=on")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        std::io::Write::write_all(&mut stdin, script.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let answer = String::from_utf8(output.stdout)?;
    let done = format!("actually processed: {}/", each * clients as usize);
    if !output.status.success() || !answer.contains(&done) {
        return Err(format!("pgbench: {answer}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let tps = answer.lines().find_map(|line| line.strip_prefix("tps = ")).and_then(|rest| rest.split(' ').next());
    Ok(tps.ok_or("pgbench told no tps")?.parse()?)
}

/// One purchase: both statements, each its own transaction, with pgbench's variables where the server puts parameters.
fn script(shop: &Shop, machines: usize, clients: u32) -> Result<String, BenchError> {
    let (customer, machine, each_thread) = (&shop.customers[0], &shop.machines[machines], machines / clients as usize);
    let first = global(customer)?;
    let is_nth = |c: &TestCustomer, n| c.id_customer_global == Some(first + n) && c.idcustomer == customer.idcustomer + n;
    let regular = shop.machines[machines..].iter().zip(machine.idmesin..).all(|(m, id)| m.idmesin == id)
        && shop.customers.iter().zip(0..).all(|(c, n)| is_nth(c, n));
    if !regular {
        return Err("the ids of a fresh database are not in sequence".into());
    }
    let mut text = format!("\\set k :client_id * {each_thread} + :n\n\\set n :n + 1\n");
    for (name, first) in
        [("global", first), ("customer", customer.idcustomer), ("mesin", machine.idmesin), ("nota", 900_000_000_000_000)]
    {
        writeln!(text, "\\set {name} {first} + :k")?;
    }
    let (owner, outlet, service) = (shop.idowner.to_string(), machine.idoutlet.to_string(), machine.idlayanan.to_string());
    let (price, duration_s, hash) = (PRICE.to_string(), DURATION_S.to_string(), format!("'\\x{}'::bytea", "5a".repeat(32)));
    let hold: [&str; 17] = [
        ":global",
        "('SLF' || :nota)",
        ":customer",
        ":mesin",
        &owner,
        &outlet,
        &service,
        &price,
        &duration_s,
        "now()",
        "gen_random_uuid()",
        "now() + interval '10 s'",
        &hash,
        "'M 1'",
        "'Cuci'",
        // versions of the service and the outlet
        "1",
        "1",
    ];
    let ends = format!("now() + interval '{DURATION_S} s'");
    let post = [":id", "'RUNNING'", "now()", &ends, "NULL::timestamptz", "now()"];
    writeln!(text, "{}\n\\gset\n{};", fill(HOLD, &hold), fill(POST, &post))?;
    Ok(text)
}

/// `$1` is the first of `values`, and so on.
fn fill(statement: &str, values: &[&str]) -> String {
    // the longest numbers first, so that $1 leaves $10 alone
    let numbered = values.iter().enumerate().rev();
    numbered.fold(statement.trim().to_owned(), |text, (i, value)| text.replace(&format!("${}", i + 1), value))
}

/// pgbench of the newest PostgreSQL of the system, else of the search path.
fn program() -> Result<PathBuf, BenchError> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = installed.map(|version| version.path()).collect();
    let version = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<f32>().ok()).unwrap_or(0.0);
    installed.sort_by(|a, b| version(b).total_cmp(&version(a)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = installed.into_iter().map(|version| version.join("bin"));
    installed
        .chain(std::env::split_paths(&path))
        .map(|dir| dir.join("pgbench"))
        .find(|program| program.is_file())
        .ok_or_else(|| "pgbench is missing: apt-get install postgresql".into())
}
