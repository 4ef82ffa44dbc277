//! Reasons why the server is not ready or not healthy: logged when they change, and sent only to operators.

use std::sync::{Arc, Mutex, PoisonError};

/// The last results of `/readyz` and `/healthz`. Cheap to clone; one instance for the whole process.
#[derive(Debug, Clone, Default)]
pub struct Reasons(Arc<Last>);

#[derive(Debug, Default)]
struct Last {
    ready: Mutex<Option<String>>,
    healthy: Mutex<Option<String>>,
    keys: Mutex<Option<String>>,
}

impl Reasons {
    pub fn ready(&self, why_not: Option<&str>) {
        if changed(&self.0.ready, why_not) {
            match why_not {
                Some(why) => tracing::warn!(why, "not ready: /readyz answers 503"),
                None => tracing::info!("ready: /readyz answers 200"),
            }
        }
    }

    /// Which servers lack a key.
    pub fn keys(&self, missing: Option<&str>) {
        if changed(&self.0.keys, missing) {
            match missing {
                Some(missing) => {
                    tracing::warn!(missing, "the servers do not have the same keys: copy secrets.toml to them, and send SIGHUP")
                }
                None => tracing::info!("all servers have the same keys"),
            }
        }
    }

    pub fn healthy(&self, why_not: Option<&str>) {
        if changed(&self.0.healthy, why_not) {
            match why_not {
                Some(why) => tracing::error!(why, "not healthy: /healthz answers 503, restart the server"),
                None => tracing::info!("healthy again: /healthz answers 200"),
            }
        }
    }
}

fn changed(last: &Mutex<Option<String>>, now: Option<&str>) -> bool {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    let changed = last.as_deref() != now;
    if changed {
        *last = now.map(str::to_owned);
    }
    changed
}
