//! The provider of development. Its orders are rows of the server's database and are paid at `/dev/qris`.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use nyala_core::bill::{PaymentState, ProviderReport};
use nyala_core::domain::id::OwnerId;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::bill::{Charge, DueBill};
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use tokio_postgres::Row;

use super::error::ProviderError;
use super::notification::{Notification, Signer, signature};
use super::provider::PaymentProvider;

const KEY: &str = "simulated";
/// Orders that are listed.
const LISTED: i64 = 200;

/// An order. An unpaid one expires by time alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedOrder {
    pub order_id: String,
    pub amount: i64,
    /// `menunggu`, `dibayar`, `kedaluwarsa` or `batal`.
    pub status: String,
    pub paid: Option<i64>,
    pub expires_at: Timestamp,
}

impl SimulatedOrder {
    fn of(row: &Row, now: Timestamp) -> Result<Self, DbError> {
        let (status, expires_at): (String, Timestamp) = (row.try_get(2)?, row.try_get(4)?);
        let status = if status == "menunggu" && expires_at <= now { "kedaluwarsa".to_owned() } else { status };
        Ok(Self { order_id: row.try_get(0)?, amount: row.try_get(1)?, status, paid: row.try_get(3)?, expires_at })
    }

    fn report(&self) -> ProviderReport {
        let state = match (self.status.as_str(), self.paid) {
            ("dibayar", amount) => PaymentState::Paid { amount: amount.unwrap_or(self.amount), in_rupiah: true },
            ("kedaluwarsa", _) => PaymentState::Expired,
            ("batal", _) => PaymentState::Cancelled,
            _ => PaymentState::Pending,
        };
        ProviderReport { state, reference: Some(reference(&self.order_id)) }
    }

    /// The signed notification of its state.
    pub fn notification(&self) -> Notification {
        let (transaction_status, status_code) = match self.status.as_str() {
            "dibayar" => ("settlement", "200"),
            "kedaluwarsa" => ("expire", "407"),
            "batal" => ("cancel", "202"),
            _ => ("pending", "201"),
        };
        let gross_amount = format!("{}.00", self.paid.unwrap_or(self.amount));
        Notification {
            signature_key: signature(&self.order_id, status_code, &gross_amount, KEY),
            order_id: self.order_id.clone(),
            status_code: status_code.to_owned(),
            gross_amount,
            transaction_status: transaction_status.to_owned(),
            transaction_id: Some(reference(&self.order_id)),
            currency: Some("IDR".to_owned()),
        }
    }
}

fn reference(order_id: &str) -> String {
    format!("simulated-{order_id}")
}

/// An act at `/dev/qris`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedAct {
    /// Pays this many rupiah, or the order's.
    Pay(Option<i64>),
    Expire,
}

pub struct Simulated {
    store: Store,
}

macro_rules! columns {
    () => {
        "order_id, jumlah, status, dibayar, kedaluwarsa_at"
    };
}

impl Simulated {
    pub const fn new(store: Store) -> Self {
        Self { store }
    }

    /// The orders, newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn orders(&self) -> Result<Vec<SimulatedOrder>, DbError> {
        const LIST: &str = concat!("SELECT ", columns!(), " FROM qris_simulasi ORDER BY created_at DESC, order_id LIMIT $1");
        let (client, now) = (self.store.get().await?, self.store.now());
        let stmt = client.prepare_cached(LIST).await?;
        client.query(&stmt, &[&LISTED]).await?.iter().map(|row| SimulatedOrder::of(row, now)).collect()
    }

    /// Changes an order, and returns it as it is then; `None` for an unknown one. A paid order stays paid.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn act(&self, order_id: &str, act: SimulatedAct) -> Result<Option<SimulatedOrder>, DbError> {
        const PAY: &str = concat!(
            "UPDATE qris_simulasi SET dibayar = COALESCE(dibayar, $2, jumlah), status = 'dibayar' WHERE order_id = $1 RETURNING ",
            columns!()
        );
        const EXPIRE: &str = concat!(
            "UPDATE qris_simulasi SET status = CASE status WHEN 'menunggu' THEN 'kedaluwarsa' ELSE status END WHERE order_id = $1 RETURNING ",
            columns!()
        );
        let (client, now) = (self.store.get().await?, self.store.now());
        let row = match act {
            SimulatedAct::Pay(amount) => client.query_opt(&client.prepare_cached(PAY).await?, &[&order_id, &amount]).await?,
            SimulatedAct::Expire => client.query_opt(&client.prepare_cached(EXPIRE).await?, &[&order_id]).await?,
        };
        row.as_ref().map(|row| SimulatedOrder::of(row, now)).transpose()
    }

    async fn make(&self, bill: &DueBill) -> Result<Charge, ProviderError> {
        const MAKE: &str = "
            INSERT INTO qris_simulasi (order_id, jumlah, status, kedaluwarsa_at, created_at) VALUES ($1, $2, 'menunggu', $3, $4)
            ON CONFLICT DO NOTHING";
        let (client, now) = (self.store.get().await?, self.store.now());
        let stmt = client.prepare_cached(MAKE).await.map_err(DbError::from)?;
        let order = bill.id.as_str();
        client.execute(&stmt, &[&order, &bill.nominal, &bill.expires_at, &now]).await.map_err(DbError::from)?;
        Ok(Charge { qr: format!("QRIS SIMULASI {order} {}", bill.nominal), deeplink: None, reference: Some(reference(order)) })
    }

    async fn look(&self, bill: &DueBill) -> Result<ProviderReport, ProviderError> {
        const FIND: &str = concat!("SELECT ", columns!(), " FROM qris_simulasi WHERE order_id = $1");
        let (client, now) = (self.store.get().await?, self.store.now());
        let stmt = client.prepare_cached(FIND).await.map_err(DbError::from)?;
        let row = client.query_opt(&stmt, &[&bill.id.as_str()]).await.map_err(DbError::from)?;
        let order = row.as_ref().map(|row| SimulatedOrder::of(row, now)).transpose()?;
        Ok(order.map_or_else(|| PaymentState::Unknown.into(), |order| order.report()))
    }

    async fn end(&self, bill: &DueBill) -> Result<ProviderReport, ProviderError> {
        const CANCEL: &str =
            "UPDATE qris_simulasi SET status = 'batal' WHERE order_id = $1 AND status = 'menunggu' AND kedaluwarsa_at > $2";
        {
            let (client, now) = (self.store.get().await?, self.store.now());
            let stmt = client.prepare_cached(CANCEL).await.map_err(DbError::from)?;
            client.execute(&stmt, &[&bill.id.as_str(), &now]).await.map_err(DbError::from)?;
        }
        self.look(bill).await
    }
}

impl PaymentProvider for Simulated {
    fn serves(&self, _: OwnerId) -> bool {
        true
    }

    fn create<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<Charge, ProviderError>> {
        self.make(bill).boxed_local()
    }

    fn status<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<ProviderReport, ProviderError>> {
        self.look(bill).boxed_local()
    }

    fn cancel<'a>(&'a self, bill: &'a DueBill) -> LocalBoxFuture<'a, Result<ProviderReport, ProviderError>> {
        self.end(bill).boxed_local()
    }

    fn verify(&self, notification: &Notification) -> Option<Signer> {
        notification.is_signed_by(KEY).then_some(Signer::AnyOwner)
    }
}
