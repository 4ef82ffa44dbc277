//! `POST /qris/midtrans` and `POST /qris/simulated`: the provider notifies of an order. Only the signature shows who sends it.

use std::sync::PoisonError;

use actix_web::web::{self, Payload, ServiceConfig, post};
use actix_web::{HttpRequest, HttpResponse};
use nyala_core::bill::{BillId, ProviderKind};
use nyala_core::domain::address::Address;
use nyala_core::domain::id::OwnerId;
use nyala_core::domain::timestamp::seconds_up;
use nyala_ledger::bill::{self, ForeignPayment};
use nyala_store::config::HttpSettings;
use nyala_store::db::audit::{self, AuditEntry};
use serde_json::json;

use super::metrics::Notified;
use super::notification::{MAX_BYTES, Notification, Signer};
use super::{MAX_WRONG, Qris};
use crate::http::answer::{self, Empty};
use crate::http::client_ip;
use crate::http::error::AppError;
use crate::http::json;
use crate::live::balances::Balances;

const WRONG: AppError = AppError::NotAllowed("tanda tangan salah");

/// Below `/qris`.
pub fn routes(cfg: &mut ServiceConfig) {
    cfg.route("/midtrans", post().to(midtrans)).route("/simulated", post().to(simulated));
}

type Parts = (web::Data<Qris>, web::Data<Balances>, web::Data<HttpSettings>);

macro_rules! notify {
    ($(#[$doc:meta])* $name:ident, $path:literal, $id:literal, $kind:expr) => {
        $(#[$doc])*
        #[utoipa::path(
            post, path = $path, operation_id = $id, tag = "qris", request_body = Notification,
            responses(
                (status = 200, body = Empty, description = "Done, done before, or of no interest"),
                (status = 403, body = Empty, description = "`tanda tangan salah`: also of a provider that this server does not use"),
                (status = 413, body = Empty, description = "More than 16 KiB"),
                (status = 429, body = Empty, description = "Of an address: 30 wrong ones in a minute. A right one is always taken"),
            )
        )]
        pub async fn $name(req: HttpRequest, payload: Payload, parts: Parts) -> Result<HttpResponse, AppError> {
            receive($kind, &req, payload, &parts).await
        }
    };
}

notify!(
    /// Midtrans notifies of an order.
    midtrans, "/qris/midtrans", "qris_midtrans", ProviderKind::Midtrans
);
notify!(
    /// The provider of development notifies of an order.
    simulated, "/qris/simulated", "qris_simulated", ProviderKind::Simulated
);

async fn receive(
    kind: ProviderKind,
    req: &HttpRequest,
    payload: Payload,
    (qris, balances, http): &Parts,
) -> Result<HttpResponse, AppError> {
    let body = json::read(req, payload.into_inner(), MAX_BYTES, || AppError::TooLarge { max: MAX_BYTES }).await?;
    if qris.notified(balances, kind, &body).await? {
        return Ok(answer::done("OK"));
    }
    Err(qris.wrong(client_ip::counted(req, &http.trusted_proxies)))
}

impl Qris {
    /// Counts a wrong notification.
    fn wrong(&self, address: Address) -> AppError {
        self.metrics.notified(Notified::Forged);
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.store.now();
        match wrong.wait_ms(&address, MAX_WRONG, now, |()| true) {
            0 => {
                wrong.add(address, (), now);
                WRONG
            }
            wait_ms => AppError::TooMany { retry_s: seconds_up(wait_ms) },
        }
    }

    /// Handles a notification. False when its signature is wrong.
    ///
    /// # Errors
    /// 503 when it is to be sent again.
    pub async fn notified(&self, balances: &Balances, kind: ProviderKind, body: &[u8]) -> Result<bool, AppError> {
        let Ok(notification) = serde_json::from_slice::<Notification>(body) else { return Ok(false) };
        let Some(signer) = self.of(kind).and_then(|provider| provider.verify(&notification)) else { return Ok(false) };
        // The provider's account may have orders that are not ours.
        let Some(id) = BillId::parse(&notification.order_id) else {
            self.metrics.notified(Notified::Ignored);
            return Ok(true);
        };
        let bill = {
            let client = self.store.get().await?;
            bill::find(&*client, &id).await?
        };
        let Some(bill) = bill else {
            self.keep_foreign(kind, &id, signer, &notification).await?;
            return Ok(true);
        };
        if bill.provider != kind || matches!(signer, Signer::Owner(owner) if owner != bill.idowner) {
            return Ok(false);
        }
        if notification.is_pending() {
            self.metrics.notified(Notified::Ignored);
        } else {
            match notification.vouched() {
                Some(report) => _ = self.apply(balances, &id, &report).await?,
                None => {
                    {
                        let client = self.store.get().await?;
                        bill::make_due(&*client, &id, self.store.now()).await?;
                    }
                    self.ask(balances, &bill).await?;
                }
            }
            self.metrics.notified(Notified::Handled);
        }
        Ok(true)
    }

    /// A payment whose bill a restore has lost is kept for the owner.
    async fn keep_foreign(
        &self,
        provider: ProviderKind,
        order: &BillId,
        signer: Signer,
        notification: &Notification,
    ) -> Result<(), AppError> {
        const FIRST: &str = "SELECT min(idoutlet), $1::BIGINT FROM outlet WHERE idowner = $1";
        const ONLY: &str = "SELECT min(idoutlet), min(idowner) FROM outlet";
        if !notification.claims_payment() {
            self.metrics.notified(Notified::Ignored);
            return Ok(());
        }
        self.metrics.notified(Notified::Foreign);
        let now = self.store.now();
        let mut client = self.store.get().await?;
        let tx = client.transaction().await?;
        let row = match signer {
            Signer::Owner(owner) => tx.query_one(FIRST, &[&owner]).await?,
            Signer::AnyOwner => tx.query_one(ONLY, &[]).await?,
        };
        let (outlet, Some(owner)) = (row.get(0), row.get::<_, Option<OwnerId>>(1)) else { return Ok(()) };
        let content = json!({
            "order_id": notification.order_id, "gross_amount": notification.gross_amount, "transaction_id": notification.transaction_id,
        });
        let payment = ForeignPayment { provider, order, owner, content: &content };
        if bill::keep_foreign(&tx, &payment, now).await? {
            tracing::warn!(order = order.as_str(), "a payment without a bill came: its bill was lost by a restore");
            let object = format!("pembayaran_asing:{order}");
            let entry = AuditEntry { principal: provider.principal(), action: "pembayaran_asing", object, content };
            audit::write_at(&tx, outlet, &entry, now).await?;
        }
        Ok(tx.commit().await?)
    }
}
