//! Steps that several scenarios have.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::engine::{EngineReport, SessionEngine};
use crate::http::Pool;
use crate::report::metrics::shown;
use crate::run::Measurement;
use crate::shop::{Shop, Wish};

/// Number of machines that are started at once.
const STARTS_AT_ONCE: usize = 256;

/// Takes reports until `last` or for two seconds, also after Ctrl-C.
pub async fn drain(run: &mut Measurement, engine: &mut SessionEngine, last: impl FnMut(&mut Measurement, &EngineReport) -> bool) {
    let before = std::mem::take(&mut run.interrupt);
    // An engine that has ended sends no more reports.
    let _ = run.take(engine, Instant::now() + Duration::from_secs(2), last).await;
    run.interrupt = before;
}

/// Waits until every session has joined or given up. Returns `false` after Ctrl-C.
///
/// # Errors
/// When no session could join.
pub async fn join_all(run: &mut Measurement, engine: &mut SessionEngine, sessions: usize) -> Result<bool, String> {
    run.ui.part("joining", sessions as u64);
    let began = Instant::now();
    let mut settled = None;
    let going = run
        .take(engine, began + run.join_within, |run, report| {
            match report {
                EngineReport::Second(second) => {
                    let left = if second.joining > 0 { format!("{} still join", second.joining) } else { String::new() };
                    run.ui.progress(second.live as u64, sessions as u64, began.elapsed().as_secs(), &left);
                }
                EngineReport::Settled { after_us, live } => settled = Some((*after_us, *live)),
                EngineReport::Subscribed { .. } | EngineReport::Tick { .. } => {}
            }
            settled.is_some()
        })
        .await?;
    if settled.is_some_and(|(_, live)| live < sessions) {
        // The next report of a second has the kinds of errors.
        drain(run, engine, |_, report| matches!(report, EngineReport::Second(_))).await;
    }
    if going && settled.map_or(run.live, |(_, live)| live) == 0 {
        let mut kinds: Vec<String> = run.errors.iter().map(|(kind, n)| format!("{kind} ({n})")).collect();
        if kinds.is_empty() {
            kinds.push(format!("nothing was answered within {} s", run.join_within.as_secs()));
        }
        return Err(format!("no session could join: {}", kinds.join(", ")));
    }
    if let Some((after_us, live)) = settled {
        run.values.set("connect_all_s", after_us as f64 / 1e6);
        run.ui.print(&format!("{} of {sessions} sessions joined in {:.2} s", shown(live as f64, ""), after_us as f64 / 1e6));
    } else if going {
        run.note(&format!("Not all sessions had joined after {} s.", run.join_within.as_secs()));
    }
    Ok(going)
}

/// Creates machines and customers with bulk calls.
///
/// # Errors
/// One line with the refused call.
pub async fn open_shop(run: &mut Measurement, pool: &Pool, key: &str, wish: Wish) -> Result<Arc<Shop>, String> {
    let began = Instant::now();
    let shop = run.prepare(Shop::open(pool, key, wish)).await?;
    let took = began.elapsed().as_secs_f64();
    run.values.set("prepared_s", took);
    run.ui.print(&format!("{} machines and {} customers in {took:.1} s", wish.machines, wish.customers));
    Ok(Arc::new(shop))
}

/// Buys every machine once.
///
/// # Errors
/// One line when a machine could not be started.
pub async fn start_all(run: &mut Measurement, pool: &Pool, shop: &Arc<Shop>) -> Result<(), String> {
    let total = shop.machines.len();
    run.ui.part("starting", total as u64);
    let wide = Pool::new(pool.address(), STARTS_AT_ONCE);
    let (began, mut starts) = (Instant::now(), JoinSet::new());
    for n in 0..total {
        let (wide, shop) = (wide.clone(), shop.clone());
        starts.spawn(async move {
            let customer = &shop.customers[n % shop.customers.len()];
            (n, shop.buy(&wide, customer, &shop.machines[n]).await)
        });
    }
    let mut started = 0;
    while let Some((n, bought)) = run.prepare(next(&mut starts)).await? {
        bought.map_err(|why| format!("machine {} could not be started: {why}", shop.machines[n].idmesin))?;
        started += 1;
        run.ui.progress(started, total as u64, began.elapsed().as_secs(), "");
    }
    let took = began.elapsed().as_secs_f64();
    run.values.set("started_s", took);
    run.ui.print(&format!("{total} machines started in {took:.1} s"));
    Ok(())
}

/// Result of the next task that ends; `None` when all have ended.
async fn next<T: 'static>(tasks: &mut JoinSet<T>) -> Result<Option<T>, String> {
    tasks.join_next().await.transpose().map_err(|e| e.to_string())
}
