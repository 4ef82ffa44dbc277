//! Asks the provider about bills: notifications may never come. One server asks about a bill at a time.

use std::sync::Arc;
use std::time::Duration;

use nyala_core::bill::{BillId, ask, differs};
use nyala_ledger::bill::{self, DueBill};
use nyala_store::db::error::DbError;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::Qris;
use super::error::ProviderError;
use crate::http::error::AppError;
use crate::live::balances::Balances;

/// How often due bills are read.
const EVERY: Duration = Duration::from_secs(1);
/// Questions at the same time.
const AT_ONCE: usize = 16;

/// Runs until the process ends.
pub async fn ask_loop(qris: Arc<Qris>, balances: Balances) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut questions = JoinSet::new();
    let mut more = false;
    loop {
        tokio::select! {
            _ = every.tick() => {}
            Some(ended) = questions.join_next() => {
                if let Err(panicked) = ended {
                    std::panic::resume_unwind(panicked.into_panic());
                }
                if !more {
                    continue;
                }
            }
        }
        let room = AT_ONCE - questions.len();
        if room == 0 {
            continue;
        }
        let due = qris.claim(room).await.unwrap_or_else(|e| {
            tracing::warn!(error = %e, "due bills cannot be read; it will be tried again");
            Vec::new()
        });
        more = due.len() == room;
        for bill in due {
            let (qris, balances) = (qris.clone(), balances.clone());
            questions.spawn_local(async move {
                if let Err(e) = qris.ask(&balances, &bill).await {
                    tracing::warn!(error = %e, bill = bill.id.as_str(), "what the provider reported is not stored; it is asked again");
                }
            });
        }
    }
}

impl Qris {
    async fn claim(&self, free_slots: usize) -> Result<Vec<DueBill>, DbError> {
        let client = self.store.get().await?;
        bill::claim(&*client, self.store.now(), i64::try_from(free_slots).unwrap_or(i64::MAX)).await
    }

    /// Asks about a bill that was claimed, and stores when to ask next, counted from the question. A provider that is no longer in use is silent.
    ///
    /// # Errors
    /// When the answer was not stored: the bill is due again.
    pub async fn ask(&self, balances: &Balances, bill: &DueBill) -> Result<(), AppError> {
        let asked_at = self.store.now();
        let report = match self.of(bill.provider) {
            Some(provider) => self.answer(("status", bill), provider.status(bill)).await.ok(),
            None => None,
        };
        if let Some(report) = &report {
            self.apply(balances, &bill.id, report).await?;
        }
        let client = self.store.get().await?;
        Ok(bill::asked(&*client, &bill.id, ask::next(bill.expires_at, asked_at, report.is_some())).await?)
    }

    /// Asks about a bill, and says in what it differs from the provider's order.
    ///
    /// # Errors
    /// When the provider gives no answer.
    pub async fn compare(&self, bill: &DueBill) -> Result<Option<String>, ProviderError> {
        let provider = self.of(bill.provider).ok_or(ProviderError::NotInUse(bill.provider.as_str()))?;
        let state = self.answer(("status", bill), provider.status(bill)).await?.state;
        let (status, nominal) = (bill.status, bill.nominal);
        Ok(differs(status, nominal, state).then(|| format!("{} {nominal} here, {state} at the provider", status.as_str())))
    }

    /// Asks about a bill that is being viewed, every few seconds at most. Without an answer the stored bill is shown.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn look(&self, balances: &Balances, id: &BillId) -> Result<(), AppError> {
        let claimed = {
            let client = self.store.get().await?;
            bill::claim_watched(&*client, id, self.store.now()).await?
        };
        match claimed {
            Some(bill) => self.ask(balances, &bill).await,
            None => Ok(()),
        }
    }
}
