//! Payments by QRIS (docs/money.md, docs/qris.md): bills, and the provider that says whether they are paid.

pub mod asking;
pub mod error;
pub mod make;
pub mod metrics;
mod midtrans;
pub mod notification;
pub mod notify;
pub mod provider;
pub mod simulated;
pub mod tagihan;

use std::sync::{Arc, Mutex};

use deadpool_postgres::GenericClient;
use nyala_core::bill::{BillId, BillStatus, PaymentState, ProviderKind, ProviderReport, QrisMode};
use nyala_core::domain::address::Address;
use nyala_core::domain::cause::Cause;
use nyala_core::domain::id::{CustomerId, OutletId, OwnerId};
use nyala_core::domain::rupiah::MaxBalance;
use nyala_core::rate_limit::{SlidingWindow, WindowLimits};
use nyala_ledger::bill::{self, Applied, DueBill};
use nyala_store::config::{QrisSettings, ServerKeys, ServerSettings};
use nyala_store::crash_point;
use nyala_store::db::Store;
use nyala_store::db::audit::{self, AuditEntry};
use nyala_store::db::error::DbError;
use serde_json::json;

use self::error::{ANSWER_LIMIT, ProviderError};
use self::metrics::QrisMetrics;
use self::midtrans::Midtrans;
use self::provider::PaymentProvider;
use self::simulated::Simulated;
use crate::http::error::AppError;
use crate::live::balances::{Balances, Moved};

/// Wrong notifications of an address in a minute, and those that are remembered of all addresses.
const MAX_WRONG: usize = 30;
const WRONG_LIMITS: WindowLimits = WindowLimits { window_ms: 60_000, max_events: 1 << 16 };

pub(crate) const UNKNOWN: AppError = AppError::NotFound("tagihan tidak ditemukan");
const PAID_ALREADY: AppError = AppError::Conflict("tagihan sudah dibayar");

/// One instance for the whole process.
pub struct Qris {
    store: Store,
    settings: QrisSettings,
    max_balance: MaxBalance,
    provider: Option<(ProviderKind, Arc<dyn PaymentProvider>)>,
    /// The provider of development, when it is the one in use.
    pub simulated: Option<Arc<Simulated>>,
    wrong: Mutex<SlidingWindow<Address, ()>>,
    fault_point: String,
    metrics: QrisMetrics,
}

impl Qris {
    /// # Errors
    /// When the settings name no known provider; of settings that were loaded they do.
    pub fn new(config: &ServerSettings, store: Store, metrics: QrisMetrics) -> Result<Self, String> {
        let settings = config.qris.clone();
        let simulated = (settings.provider()? == Some(ProviderKind::Simulated)).then(|| Arc::new(Simulated::new(store.clone())));
        let provider: Option<(ProviderKind, Arc<dyn PaymentProvider>)> = match settings.provider()? {
            None => None,
            Some(ProviderKind::Simulated) => {
                simulated.clone().map(|own| (ProviderKind::Simulated, own as Arc<dyn PaymentProvider>))
            }
            Some(ProviderKind::Midtrans) => {
                let keys = settings.keys()?.ok_or("qris.midtrans_server_keys is empty")?;
                Some((ProviderKind::Midtrans, Arc::new(Midtrans::new(&settings, keys, store.clock.clone()))))
            }
        };
        Ok(Self {
            store,
            settings,
            max_balance: config.ledger.max_balance(),
            provider,
            simulated,
            wrong: Mutex::new(SlidingWindow::new(WRONG_LIMITS)),
            fault_point: config.dev.fault_point.clone(),
            metrics,
        })
    }

    /// Several owners need a key each: with one key the money of all of them would go to one account.
    ///
    /// # Errors
    /// Whose key is missing.
    pub async fn check_owners(&self, client: &impl GenericClient) -> Result<(), QrisKeyError> {
        const PAID_BY: &str = "SELECT DISTINCT idowner FROM outlet WHERE qris = 'midtrans' ORDER BY idowner";
        if self.settings.provider() != Ok(Some(ProviderKind::Midtrans)) {
            return Ok(());
        }
        let owners = owners(client).await?;
        match self.settings.keys() {
            Ok(Some(ServerKeys::One(_))) if owners > 1 => Err(QrisKeyError::Shared { owners }),
            Ok(Some(ServerKeys::PerOwner(keys))) => {
                let rows = client.query(PAID_BY, &[]).await.map_err(DbError::from)?;
                let missing = rows.iter().map(|row| row.get::<_, OwnerId>(0)).find(|owner| !keys.contains_key(owner));
                missing.map_or(Ok(()), |owner| Err(QrisKeyError::Missing { owner }))
            }
            _ => Ok(()),
        }
    }

    /// Whether outlets of this owner may take QRIS in this way.
    pub async fn may_use(&self, client: &impl GenericClient, mode: QrisMode, owner: OwnerId) -> Result<bool, DbError> {
        if mode.provider().is_none() {
            return Ok(true);
        }
        let is_shared = matches!(self.settings.keys(), Ok(Some(ServerKeys::One(_)))) && mode == QrisMode::Midtrans;
        Ok(self.serves(mode, owner) && !(is_shared && owners(client).await? > 1))
    }

    /// Whether bills can be made at an outlet of this owner that takes QRIS in this way.
    pub fn serves(&self, mode: QrisMode, owner: OwnerId) -> bool {
        mode.provider().and_then(|kind| self.of(kind)).is_some_and(|provider| provider.serves(owner))
    }

    fn of(&self, kind: ProviderKind) -> Option<&dyn PaymentProvider> {
        self.provider.as_ref().filter(|(own, _)| *own == kind).map(|(_, provider)| &**provider)
    }

    fn reach(&self, point: &str) {
        crash_point::reach(&self.fault_point, point);
    }

    /// The answer of the provider to a call, in time.
    async fn answer<T>(
        &self,
        (call, bill): (&'static str, &DueBill),
        answer: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let answer = tokio::time::timeout(ANSWER_LIMIT, answer).await.unwrap_or(Err(ProviderError::TimedOut));
        answer.inspect_err(|e| {
            self.metrics.failed(call);
            tracing::warn!(error = %e, call, bill = bill.id.as_str(), "the payment provider gave no answer; it is asked again");
        })
    }

    /// Commits a report, and notifies the customer's phones.
    ///
    /// # Errors
    /// 404 for an unknown bill, 503 when the database does not answer.
    pub async fn apply(&self, balances: &Balances, id: &BillId, report: &ProviderReport) -> Result<Applied, AppError> {
        self.apply_by(balances, id, report, None).await
    }

    /// The same. `canceller` is a member of staff who cancels the bill.
    async fn apply_by(
        &self,
        balances: &Balances,
        id: &BillId,
        report: &ProviderReport,
        canceller: Option<(&str, OutletId)>,
    ) -> Result<Applied, AppError> {
        let now = self.store.now();
        let mut client = self.store.get().await?;
        let tx = client.transaction().await?;
        let applied = bill::apply(&tx, id, report, now).await?;
        if let (Applied::Became(BillStatus::Cancelled), Some((principal, idoutlet))) = (applied, canceller) {
            let entry = AuditEntry { principal, action: "tagihan.batal", object: format!("tagihan:{id}"), content: json!({}) };
            audit::write_at(&tx, Some(idoutlet), &entry, now).await?;
        }
        if matches!(applied, Applied::Credited(_)) {
            self.reach("before_credit");
        }
        tx.commit().await?;
        self.report(balances, id, applied);
        Ok(applied)
    }

    /// What follows from a committed change.
    fn report(&self, balances: &Balances, id: &BillId, applied: Applied) {
        match applied {
            Applied::Nothing(_) => {}
            Applied::Became(BillStatus::Cancelled) => self.metrics.bill("cancelled"),
            Applied::Became(_) => self.metrics.bill("expired"),
            Applied::Held(reason) => {
                self.metrics.bill("held");
                tracing::warn!(bill = id.as_str(), reason = reason.as_str(), "a QRIS payment needs its owner");
            }
            Applied::Credited(credited) => {
                self.reach("after_credit");
                self.metrics.bill(if credited.is_late { "paid_late" } else { "paid" });
                balances.notify(Some(Moved {
                    id_customer_global: credited.id_customer_global,
                    idcustomer: credited.idcustomer,
                    balance: credited.balance,
                    cause: Cause::TopUp,
                }));
            }
        }
    }

    /// Cancels what a customer could still pay. A bill whose end the provider does not confirm stays open.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn cancel_all(&self, balances: &Balances, customer: CustomerId) -> Result<(), AppError> {
        let open = {
            let client = self.store.get().await?;
            bill::open_of(&*client, customer).await?
        };
        for id in &open {
            match self.cancel(balances, id, None).await {
                Ok(()) | Err(AppError::QrisSilent | AppError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Cancels a bill at its provider. One that has ended stays as it is.
    ///
    /// # Errors
    /// 409 `tagihan sudah dibayar`; 503 when the provider does not confirm that it is over.
    pub async fn cancel(&self, balances: &Balances, id: &BillId, canceller: Option<&str>) -> Result<(), AppError> {
        let bill = {
            let client = self.store.get().await?;
            bill::find(&*client, id).await?.ok_or(UNKNOWN)?
        };
        if bill.status.is_final() {
            return Err(PAID_ALREADY);
        }
        if !bill.status.is_open() {
            return Ok(());
        }
        let provider = self.of(bill.provider).ok_or(AppError::QrisSilent)?;
        let answer = self.answer(("cancel", &bill), provider.cancel(&bill)).await;
        let mut report = answer.map_err(|_| AppError::QrisSilent)?;
        if report.state == PaymentState::Unknown {
            report = PaymentState::Cancelled.into();
        }
        let by = canceller.map(|principal| (principal, bill.idoutlet));
        match self.apply_by(balances, id, &report, by).await? {
            Applied::Credited(_) | Applied::Held(_) => Err(PAID_ALREADY),
            Applied::Nothing(status) if status.is_final() => Err(PAID_ALREADY),
            Applied::Nothing(status) if status.is_open() => Err(AppError::QrisSilent),
            Applied::Nothing(_) | Applied::Became(_) => Ok(()),
        }
    }
}

/// Why the keys of the settings do not fit the owners.
#[derive(Debug, thiserror::Error)]
pub enum QrisKeyError {
    #[error(
        "qris.midtrans_server_keys has one key, and there are {owners} owners: give each its own (\"1=key,2=key\"), or the money of all goes \
         to one account"
    )]
    Shared { owners: i64 },
    #[error("qris.midtrans_server_keys has no key of owner {owner}, at whose outlets QRIS is paid to Midtrans")]
    Missing { owner: OwnerId },
    #[error(transparent)]
    Db(#[from] DbError),
}

async fn owners(client: &impl GenericClient) -> Result<i64, DbError> {
    Ok(client.query_one("SELECT count(*) FROM owner_usaha", &[]).await?.try_get(0)?)
}
