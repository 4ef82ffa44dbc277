//! A new bill: stored first, then made known to the provider. In between it is `dibuat`.

use deadpool_postgres::{GenericClient, Transaction};
use nyala_core::bill::{BillId, BillStatus, MAX_BILL, QrisMode};
use nyala_core::domain::id::{OutletId, OwnerId, PackageId};
use nyala_core::domain::rupiah::Rupiah;
use nyala_ledger::bill::{self, BillPlace, Goods, NewBill};
use nyala_ledger::cap;
use nyala_ledger::topup::{DEFAULT_PACKAGE, WalletRef};
use nyala_store::db::error::DbError;
use utoipa::openapi::schema::{Object, OneOf, Type};

use super::{Qris, UNKNOWN};
use crate::http::error::AppError;
use crate::http::schema::{id, null, with};

const NO_PACKAGE: AppError = AppError::NotFound("paket tidak ditemukan");
pub const NOT_HERE: AppError = AppError::Conflict("QRIS tidak tersedia di outlet ini");

/// An outlet, as its bills need it.
#[derive(Debug, Clone, Copy)]
pub struct BillOutlet {
    pub idoutlet: OutletId,
    pub idowner: OwnerId,
    pub mode: QrisMode,
    /// It has been opened to customers.
    pub is_open: bool,
    /// Days of validity of a top-up without a package.
    days: Option<i32>,
}

/// The outlet with this id.
///
/// # Errors
/// When the database does not answer.
pub async fn outlet(client: &impl GenericClient, idoutlet: OutletId) -> Result<Option<BillOutlet>, DbError> {
    const FIND: &str = "SELECT idowner, qris, dibuka_at IS NOT NULL, berlaku_hari FROM outlet WHERE idoutlet = $1";
    let stmt = client.prepare_cached(FIND).await?;
    let Some(row) = client.query_opt(&stmt, &[&idoutlet]).await? else { return Ok(None) };
    let mode = QrisMode::from_stored(row.try_get(1)?).ok_or_else(|| DbError::broken("an outlet takes QRIS in an unknown way"))?;
    Ok(Some(BillOutlet { idoutlet, idowner: row.try_get(0)?, mode, is_open: row.try_get(2)?, days: row.try_get(3)? }))
}

/// What a request is for: rupiah, or a package of the outlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Nominal(i64),
    Package(PackageId),
}

/// The rule of [`Asked::parse`], for the schema of a body.
pub fn amount_or_package() -> OneOf {
    let is_amount = with("nominal", Object::with_type(Type::Integer)).property("idpaket", null());
    let is_package = with("idpaket", id()).property("nominal", null());
    OneOf::builder().item(is_amount).item(is_package).build()
}

impl Asked {
    /// Exactly one of the two.
    pub fn parse(nominal: Option<Rupiah>, idpaket: Option<PackageId>, min: i64) -> Result<Self, AppError> {
        match (nominal, idpaket) {
            (Some(nominal), None) => Ok(Self::Nominal(nominal.between("nominal", (min, MAX_BILL))?)),
            (None, Some(id)) => Ok(Self::Package(id)),
            _ => Err(AppError::bad_input("isi salah satu: nominal atau idpaket")),
        }
    }

    /// What is sold at the outlet now.
    pub async fn goods(self, client: &impl GenericClient, outlet: BillOutlet, min: i64) -> Result<Goods, AppError> {
        const FIND: &str = "SELECT harga, quota, nama, berlaku_hari FROM paket WHERE idpaket = $1 AND idoutlet = $2 AND aktif";
        let id = match self {
            Self::Nominal(nominal) => {
                let name = DEFAULT_PACKAGE.to_owned();
                return Ok(Goods { nominal, quota: nominal, name, idpaket: None, days: outlet.days });
            }
            Self::Package(id) => id,
        };
        let stmt = client.prepare_cached(FIND).await?;
        let row = client.query_opt(&stmt, &[&id, &outlet.idoutlet]).await?.ok_or(NO_PACKAGE)?;
        let nominal = row.get(0);
        if !(min..=MAX_BILL).contains(&nominal) {
            return Err(AppError::Unprocessable("harga paket di luar batas QRIS"));
        }
        Ok(Goods { nominal, quota: row.get(1), name: row.get(2), idpaket: Some(id), days: row.get(3) })
    }
}

impl Qris {
    /// Stores a bill of an outlet that takes QRIS by a provider.
    ///
    /// # Errors
    /// 409 `QRIS tidak tersedia di outlet ini`; 422 `saldo paling banyak …`.
    pub async fn store_bill(
        &self,
        tx: &Transaction<'_>,
        outlet: BillOutlet,
        (wallet, place): (WalletRef, BillPlace),
        goods: &Goods,
        principal: &str,
    ) -> Result<BillId, AppError> {
        let provider = outlet.mode.provider().ok_or(NOT_HERE)?;
        let minutes = match place {
            BillPlace::Till(_) => self.settings.till_minutes,
            BillPlace::Phone(_) => self.settings.phone_minutes,
        };
        let now = self.store.now();
        let (id, expires_at) = (BillId::random(&mut rand::rng()), now.plus_ms(minutes * 60_000));
        // Here, and nowhere else of a bill: what is paid is credited.
        cap::check(tx, wallet, goods.quota, self.max_balance).await?;
        bill::create(tx, &NewBill { id: &id, wallet, place, goods, provider, expires_at, principal }, now).await?;
        self.reach("before_bill");
        Ok(id)
    }

    /// Makes a stored bill known to the provider, unless that has been done or the bill has ended.
    ///
    /// # Errors
    /// 503 `QRIS sedang tidak bisa dipakai, coba lagi`. The bill stays, and the provider is asked about it.
    pub async fn charge(&self, id: &BillId) -> Result<(), AppError> {
        self.reach("after_bill");
        let bill = {
            let client = self.store.get().await?;
            bill::find(&*client, id).await?.ok_or(UNKNOWN)?
        };
        if bill.status != BillStatus::Created || bill.expires_at <= self.store.now() {
            return Ok(());
        }
        let provider = self.of(bill.provider).ok_or(AppError::QrisSilent)?;
        let charge = self.answer(("create", &bill), provider.create(&bill)).await.map_err(|_| AppError::QrisSilent)?;
        self.reach("after_charge");
        let client = self.store.get().await?;
        bill::charged(&*client, id, &charge).await?;
        self.reach("after_charged");
        self.metrics.bill("made");
        Ok(())
    }
}
