//! Audit after a crash: everything is decided soon, the ledger keeps its rules, balances agree with the customers' receipts, and each
//! machine ran exactly for those who paid.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;

use super::Market;
use super::cashier::Cashier;
use super::payer::{Payer, ReceiptOutcome};
use crate::http::{ServerAnswer, ask};
use crate::server::Server;
use crate::shop::{BALANCE, PRICE, TestCustomer, id, list};

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Old receipts that each customer sends again.
const RECHECKED: usize = 3;
/// File with the memory of the simulated devices, a line for each change.
const DEVICES: &str = "perangkat-sim.jsonl";

/// Waits until everything in progress is decided, and checks it. All customers ask at once.
pub async fn settle(
    site: &Server,
    market: &Arc<Market>,
    customers: Vec<Payer>,
    cashiers: &mut [Cashier],
    devices: &mut Devices,
) -> Result<Vec<Payer>, String> {
    let patience = Patience { within: devices.within, come_back: devices.come_back };
    let customers = decided(site, market, customers, cashiers, patience, RECHECKED).await?;
    devices.read()?;
    runs(devices, &customers)?;
    Ok(customers)
}

/// What devices may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Time in which devices and server must settle everything.
    pub within: Duration,
    /// Whether a device may be offline for a while.
    pub come_back: bool,
}

/// Waits until everything in progress is decided, and checks money and answers; each customer sends this many old receipts again.
pub async fn decided(
    site: &Server,
    market: &Arc<Market>,
    customers: Vec<Payer>,
    cashiers: &mut [Cashier],
    patience: Patience,
    rechecked: usize,
) -> Result<Vec<Payer>, String> {
    let (since, to, within) = (Instant::now(), site.address(), patience.within);
    let customers = each(customers, move |mut customer| async move {
        while customer.ask_again(to).await? > 0 {
            in_time(since, within, "a receipt is still undecided")?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(customer)
    })
    .await?;
    free(site, market, since, patience).await?;
    for cashier in cashiers.iter_mut() {
        while cashier.is_open(to).await? {
            in_time(since, within, "a call of a till is still undecided")?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        while cashier.waits_for_credit(to).await? {
            in_time(since, within, "a paid bill is still not credited")?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
        cashier.audit(to).await?;
    }
    site.run(&["audit", "verify"]).await?;
    each(customers, move |mut customer| async move {
        paid(to, &customer).await?;
        customer.recheck(to, rechecked).await?;
        Ok(customer)
    })
    .await
}

/// Waits until every machine is free.
pub async fn free(
    site: &Server,
    market: &Market,
    since: Instant,
    Patience { within, come_back }: Patience,
) -> Result<(), String> {
    for machine in market.shop.machines.iter().map(|m| m.idmesin) {
        while status(site.address(), &market.key, machine, come_back).await? != "idle" {
            in_time(since, within, &format!("machine {machine} is still held"))?;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    Ok(())
}

/// Calls `act` for all customers at once.
async fn each<F>(customers: Vec<Payer>, act: impl Fn(Payer) -> F) -> Result<Vec<Payer>, String>
where
    F: Future<Output = Result<Payer, String>> + Send + 'static,
{
    let mut doing = JoinSet::new();
    for customer in customers {
        doing.spawn(act(customer));
    }
    let mut back = Vec::new();
    while let Some(done) = doing.join_next().await {
        back.push(done.map_err(|e| e.to_string())??);
    }
    back.sort_by_key(Payer::index);
    Ok(back)
}

fn in_time(since: Instant, within: Duration, what: &str) -> Result<(), String> {
    if since.elapsed() < within { Ok(()) } else { Err(format!("{what} after {} s", within.as_secs())) }
}

/// Status of a machine. `offline` is an error, unless `comes_back`: its device may be reconnecting.
async fn status(to: SocketAddr, key: &str, machine: i64, comes_back: bool) -> Result<String, String> {
    let answer = get(to, &format!("/ops/v1/mesin/{machine}"), key).await?;
    let status = answer.data["status"].as_str().ok_or_else(|| format!("machine {machine}: {answer:?}"))?;
    if status == "offline" && !comes_back {
        Err(format!("machine {machine} is out of service: {answer:?}"))
    } else {
        Ok(status.to_owned())
    }
}

/// Checks that each confirmed purchase cost its price once, and everything else nothing.
async fn paid(to: SocketAddr, customer: &Payer) -> Result<(), String> {
    let paid = i64::try_from(customer.paid()).map_err(|e| e.to_string())?;
    let checked = balance(to, customer.account(), BALANCE.cast_signed() - paid * PRICE.cast_signed()).await;
    checked.map_err(|why| format!("{paid} receipts are paid: {why}"))
}

/// Checks that the customer's app shows `expected` rupiah.
pub async fn balance(to: SocketAddr, customer: &TestCustomer, expected: i64) -> Result<(), String> {
    let whose = customer.idcustomer;
    let answer = get(to, "/scan/v1/dashboard/get_user_epayment_by_id_customer_global", &customer.token).await?;
    let account = list(&answer.data)?.iter().find(|a| a["idcustomer"] == whose);
    let left = account.and_then(|a| a["quota_emoney"]["saldo"].as_i64()).ok_or_else(|| format!("no balance in {answer:?}"))?;
    if left == expected { Ok(()) } else { Err(format!("customer {whose} must have {expected} rupiah, not {left}")) }
}

async fn get(to: SocketAddr, path: &str, token: &str) -> Result<ServerAnswer, String> {
    let auth = format!("Bearer {token}");
    ask(to, "GET", path, &[("authorization", &auth)], &Value::Null).await.map_err(|e| format!("{path}: {e}"))
}

/// Cycles of all rounds, as the devices remember them.
#[derive(Debug)]
pub struct Devices {
    journal: PathBuf,
    /// Time in which devices and server must settle everything.
    within: Duration,
    /// Whether a device may be offline for a while.
    come_back: bool,
    /// Position up to which the file was read, and its inode: a server that starts may write a shorter file, which has everything since
    /// the last round.
    read: u64,
    inode: u64,
    /// Machine and command of each cycle.
    started: HashSet<(i64, String)>,
}

impl Devices {
    /// Devices that the server simulates.
    pub fn simulated(site: &Server, within: Duration) -> Self {
        Self::new(site.data_dir().join(DEVICES), within, false)
    }

    /// Devices over MQTT, whose memory is in the file `journal`.
    pub fn over_mqtt(journal: PathBuf, within: Duration) -> Self {
        Self::new(journal, within, true)
    }

    fn new(journal: PathBuf, within: Duration, come_back: bool) -> Self {
        Self { journal, within, come_back, read: 0, inode: 0, started: HashSet::new() }
    }

    /// Reads what was added to the file since the last call.
    fn read(&mut self) -> Result<(), String> {
        let path = &self.journal;
        let failed = |e: std::io::Error| format!("{}: {e}", path.display());
        let mut file = File::open(path).map_err(failed)?;
        let inode = file.metadata().map_err(failed)?.ino();
        if std::mem::replace(&mut self.inode, inode) != inode {
            self.read = 0;
        }
        file.seek(SeekFrom::Start(self.read)).map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        // The last line may be incomplete; it is read at the next call.
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        self.read += whole as u64;
        for line in text[..whole].lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let idmesin = id(&line["idmesin"])?;
            for known in list(&line["memory"]["known"])?.iter().filter(|k| k["result"] == "started") {
                self.started.insert((idmesin, known["cmd_id"].to_string()));
            }
        }
        Ok(())
    }

    /// Number of different commands that each machine has run.
    pub fn started(&self) -> BTreeMap<i64, usize> {
        let mut of_machine = BTreeMap::new();
        for (idmesin, _) in &self.started {
            *of_machine.entry(*idmesin).or_default() += 1;
        }
        of_machine
    }
}

/// Checks that each cycle was paid for, and each confirmed purchase ran. It counts for each machine, so that an extra cycle at one machine
/// does not hide a missing one at another. A receipt does not contain its command's id.
fn runs(devices: &Devices, customers: &[Payer]) -> Result<(), String> {
    let mut of_machine: BTreeMap<i64, (usize, usize)> =
        devices.started().into_iter().map(|(idmesin, ran)| (idmesin, (ran, 0))).collect();
    for (number, receipt) in customers.iter().flat_map(Payer::receipts) {
        match receipt.outcome {
            ReceiptOutcome::Undecided => return Err(format!("{number} is still undecided")),
            ReceiptOutcome::Runs => of_machine.entry(id(&receipt.body["idmesin"])?).or_default().1 += 1,
            ReceiptOutcome::DidNotStart | ReceiptOutcome::Refused(_) => {}
        }
    }
    match of_machine.iter().find(|(_, (ran, paid))| ran != paid) {
        Some((idmesin, (ran, paid))) => Err(format!("machine {idmesin}: {ran} runs for {paid} paid receipts")),
        None => Ok(()),
    }
}
