//! Logins of devices: the claim of a CONNECT, and the check of several claims in one statement.

use nyala_core::domain::id::{DeviceKeyId, MachineId, OutletId};
use std::sync::Arc;

use nyala_mqtt::server::Connect;
use tokio::sync::mpsc;

use super::connection::Login;
use super::shared::{Shared, SlotKey, ThreadCommand, Verdict};
use crate::device::mqtt::keys::{KeyError, hash};
use crate::device::mqtt::logins::{self, Claim, DeviceKey};

/// Login that waits for its check.
#[derive(Debug)]
pub struct PendingLogin {
    pub key: SlotKey,
    pub claim: Claim,
}

/// Machine that a CONNECT claims; `None`: no machine. Anonymous logins are not accepted.
pub fn claim(connect: &Connect) -> Option<Claim> {
    let (user, password) = connect.user().zip(connect.password())?;
    let idmesin = MachineId::parse(user).filter(|id| user == id.to_string())?;
    Some(Claim { idmesin, hash: hash(password) })
}

/// The rest of what a CONNECT asks for.
pub fn login(connect: &Connect, idmesin: MachineId) -> Login {
    Login {
        idmesin,
        client: connect.client_id().into(),
        silence_ms: i64::try_from(connect.silence().as_millis()).unwrap_or(i64::MAX),
        will: connect.will().map(|will| will.topic.into()),
    }
}

/// Whether the will, if there is one, is on the topic of the device's own state.
pub fn has_own_will(login: &Login, prefix: &str) -> bool {
    login.will.as_deref().is_none_or(|topic| topic.strip_prefix(prefix) == Some("state"))
}

/// Prefix of a device's topics.
pub fn prefix(idoutlet: OutletId, idmesin: MachineId) -> String {
    format!("nyala/v1/{idoutlet}/{idmesin}/")
}

/// Checks gathered logins together, until all senders are dropped; `to` receives the verdicts.
pub async fn check_loop(shared: Arc<Shared>, mut logins: mpsc::Receiver<Vec<PendingLogin>>, to: mpsc::Sender<ThreadCommand>) {
    while let Some(logins) = logins.recv().await {
        let _ = to.send(ThreadCommand::Judged(check(&shared, logins).await)).await;
    }
}

/// Checks logins against the keys as they are now.
async fn check(shared: &Shared, logins: Vec<PendingLogin>) -> Vec<(SlotKey, Verdict)> {
    let (keys, claims): (Vec<SlotKey>, Vec<Claim>) = logins.into_iter().map(|login| (login.key, login.claim)).unzip();
    let verdicts = look_up(shared, &claims).await.unwrap_or_else(|e| {
        tracing::warn!(error = %e, logins = claims.len(), "devices cannot log in");
        vec![Verdict::Unavailable; claims.len()]
    });
    keys.into_iter().zip(verdicts).collect()
}

async fn look_up(shared: &Shared, claims: &[Claim]) -> Result<Vec<Verdict>, KeyError> {
    let mut client = shared.store.get().await?;
    let found = logins::check(&*client, claims).await?;
    let new: Vec<DeviceKeyId> = found.iter().flatten().filter(|key| key.first_use).map(|key| key.id).collect();
    let mut used = Vec::new();
    if !new.is_empty() {
        let tx = client.transaction().await?;
        used = logins::first_used(&tx, &new, shared.store.now()).await?;
        tx.commit().await.map_err(KeyError::from)?;
    }
    Ok(found.into_iter().map(|key| verdict(key, &used)).collect())
}

/// Verdict for a key. `used`: the keys whose first use is committed. No login succeeds before that commit. So an old key counts beside
/// its successor only until the successor's first login.
fn verdict(key: Option<DeviceKey>, used: &[DeviceKeyId]) -> Verdict {
    match key {
        Some(key) if key.first_use && !used.contains(&key.id) => Verdict::Unavailable,
        Some(key) => Verdict::Yes(key),
        None => Verdict::Wrong,
    }
}
