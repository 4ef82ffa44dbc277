//! `POST /ops/v1/mesin/{id}/uji`: starts a machine for a moment, or sends a coin machine pulses, to see that it works (supervisor and above, technician). A purchase of nothing by the
//! outlet's house account, so that one start wins, a late command is worthless and a crash is recovered from as for customers.

use actix_web::{HttpResponse, web};
use nyala_core::domain::id::{CustomerId, MachineId, OutletId, OwnerId, ServiceId, WalletId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::right::Right;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::domain::whole::Whole;
use nyala_core::purchase::facts::{Order, TestStart, Tested};
use nyala_ledger::test_start::{MAX_TEST_S, house_account};
use nyala_machines::machines::Machines;
use nyala_store::db::Store;
use rand::Rng;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::transaksi::create_snap_transaksi::buy;
use crate::board::history::day_began;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::json::Json;
use crate::ops::idempotency::{IdempotencyKey, IdempotentCall};
use crate::ops::people::key::Minimal;

/// One of both.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = TestStart)]
pub struct TestRequest {
    /// Seconds, of a machine that its relay starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 120, example = 5)]
    durasi: Option<Whole>,
    /// Coin pulses, of a closed machine that pulses start. They begin no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 5)]
    pulsa: Option<Whole>,
}

impl TestRequest {
    fn parse(&self, day_began: Timestamp) -> Result<Tested, AppError> {
        let within = |field, value: Whole, max, unit| {
            let value = i32::try_from(value.get()).ok().filter(|value| (1..=max).contains(value));
            value.ok_or_else(|| AppError::bad_input(format!("{field} harus 1 sampai {max}{unit}")))
        };
        match (self.durasi, self.pulsa) {
            (Some(seconds), None) => Ok(Tested::Run(within("durasi", seconds, MAX_TEST_S, " detik")?)),
            (None, Some(n)) => Ok(Tested::Pulses { n: within("pulsa", n, Tested::MAX_PULSES, "")?, day_began }),
            _ => Err(AppError::Unprocessable("isi salah satu: durasi atau pulsa")),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct TestStarted {
    /// Its receipt number.
    idtransaksi: String,
    /// Epoch milliseconds.
    ends_at: i64,
}

/// What a repeat needs to find the same test start.
#[derive(Debug, Deserialize, Serialize)]
struct Begun {
    receipt: String,
    id_customer_global: CustomerId,
    idcustomer: WalletId,
    idlayanan: ServiceId,
    idoutlet: OutletId,
    /// When the outlet's business day began, epoch milliseconds.
    day_began_ms: i64,
}

/// Starts a machine for some seconds, also one that is closed, or sends coin pulses to a closed one, 10 a business day at most. It moves no money and
/// counts nowhere.
#[utoipa::path(
    post, path = "/ops/v1/mesin/{id}/uji", operation_id = "uji_mesin", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(MachineId), Path), IdempotencyKey), request_body = TestRequest,
    responses(
        (status = 200, body = Answer<TestStarted>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty),
        (status = 409, body = Empty, description = "`mesin sedang digunakan`, `mesin sedang offline`, `mesin perlu petugas`, `mesin pulsa dites dengan pulsa`, `mesin relai dites dengan durasi`, `mesin harus ditutup dulu`, `paling banyak 10 pulsa tes sehari`, or its device refused"),
        (status = 422, body = Empty, description = "Both or neither of `durasi` and `pulsa`, or the `Idempotency-Key` belongs to another request"),
        (status = 504, body = Empty, description = "No answer from the device in 8 s; a repeat tells how it ended"),
    )
)]
pub async fn test_start(
    by: Minimal<{ Right::MesinUji.rank() }>,
    key: IdempotencyKey,
    store: web::Data<Store>,
    machines: web::Data<Machines>,
    id: web::Path<String>,
    body: Json<TestRequest>,
) -> Result<HttpResponse, AppError> {
    const FIND: &str = "
        SELECT m.idoutlet, m.idowner, o.zona, o.hari_mulai FROM mesin m JOIN outlet o USING (idoutlet)
        WHERE m.idmesin = $1 AND m.aktif AND ($2::BIGINT IS NULL OR m.idowner = $2) AND ($3::BIGINT IS NULL OR m.idoutlet = $3)";
    let Minimal(operator) = by;
    let idmesin = MachineId::parse(&id).ok_or(AppError::MachineNotFound)?;
    let now = store.now();
    body.parse(now)?;
    let call = IdempotentCall::new(&operator, key, &format!("mesin/{idmesin}/uji"), &*body, now)?;
    let mut client = store.get().await?;
    let begun = call.begin(&mut client, async |tx| {
        let stmt = tx.prepare_cached(FIND).await?;
        let row = tx.query_opt(&stmt, &[&idmesin, &operator.scope.owner, &operator.scope.outlet]).await?;
        let row = row.ok_or(AppError::MachineNotFound)?;
        let (idoutlet, idowner): (OutletId, OwnerId) = (row.try_get(0)?, row.try_get(1)?);
        let house = house_account(tx, idoutlet, idowner, now).await?;
        let receipt = format!("SLF{:015}", rand::rng().random_range(0..1_000_000_000_000_000_u64));
        Ok(Begun {
            receipt,
            id_customer_global: house.id_customer_global,
            idcustomer: house.idcustomer,
            idlayanan: house.idlayanan,
            idoutlet,
            day_began_ms: day_began(row.try_get("zona")?, row.try_get("hari_mulai")?, now)?.ms(),
        })
    });
    let begun = begun.await?;
    drop(client); // the device takes its time
    let order = Order {
        id_customer_global: begun.id_customer_global,
        receipt_number: ReceiptNumber::parse(&begun.receipt)
            .ok_or_else(|| AppError::internal("a receipt number that is none"))?,
        idcustomer: begun.idcustomer,
        idmesin,
        idoutlet: begun.idoutlet,
        idlayanan: begun.idlayanan,
        total: 0,
        grandtotal: 0,
        test: Some(TestStart { of: body.parse(Timestamp::from_ms(begun.day_began_ms))?, by: operator.principal() }),
    };
    buy(&store, &machines, None, &order).await?;
    const ENDS: &str = "SELECT ends_at FROM snap_transaksi WHERE id_customer_global = $1 AND no_nota = $2";
    let client = store.get().await?;
    let stmt = client.prepare_cached(ENDS).await?;
    let ends_at: Timestamp = client.query_one(&stmt, &[&order.id_customer_global, &begun.receipt]).await?.try_get(0)?;
    Ok(answer::ok(TestStarted { idtransaksi: begun.receipt, ends_at: ends_at.ms() }))
}
