//! `GET /ops/v1/keluhan`: complaints of customers, newest first, each with its evidence (supervisor and above).

use actix_web::{HttpResponse, web};
use nyala_core::complaint::Status;
use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{ComplaintId, MachineId, OutletId, WalletId};
use nyala_core::domain::right::Right;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::refund::THIS_MONTH;
use nyala_machines::device::mqtt::driver::Mqtt;
use nyala_store::db::Store;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::board::detail::{self, Of, PerangkatMesin, Riwayat, STEPS};
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::http::schema::{ComplaintReason, ComplaintStatus};
use crate::ops::people::key::Minimal;
use crate::ops::refund::issue::GivenBackOften;
use crate::ops::rows::{Page, Rows};
use crate::ops::scope;

/// Which complaints.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// Those with this answer only: `terbuka`, `diterima`, `ditolak`.
    #[param(value_type = ComplaintStatus, required = false, inline)]
    status: Option<String>,
    /// The outlet; when left out, all outlets in sight.
    #[param(value_type = OutletId, required = false, inline)]
    idoutlet: Option<OutletId>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ComplaintRow {
    #[schema(value_type = i64)]
    idkeluhan: ComplaintId,
    /// The receipt number of the purchase.
    idtransaksi: String,
    #[schema(value_type = i64)]
    idcustomer: WalletId,
    /// RFC 3339.
    created_at: Timestamp,
    #[schema(value_type = ComplaintReason)]
    alasan: String,
    #[schema(required)]
    catatan: Option<String>,
    /// The name at the time of the purchase.
    mesin: String,
    /// Rupiah.
    grandtotal: i64,
    /// Rupiah that staff refunded.
    dikembalikan: i64,
    bukti: Evidence,
}

/// Facts about the purchase, its machine and its customer.
#[derive(Debug, Serialize, ToSchema)]
pub struct Evidence {
    /// The steps of the purchase, the newest first.
    riwayat: Vec<Riwayat>,
    /// What the machine's device reports; null for a simulated machine.
    #[schema(required)]
    perangkat: Option<PerangkatMesin>,
    bulan_ini: GivenBackOften,
}

/// A page of complaints.
#[utoipa::path(
    get, path = "/ops/v1/keluhan", operation_id = "list_keluhan", tag = "operator", security(("operator" = []), ("session" = [])),
    params(Which, Page),
    responses(
        (status = 200, body = Answer<Rows<ComplaintRow>>), (status = 400, body = Empty), (status = 401, body = Empty), (status = 403, body = Empty),
        (status = 404, body = Empty),
    )
)]
pub async fn keluhan(
    Minimal(operator): Minimal<{ Right::KeluhanJawab.rank() }>,
    store: web::Data<Store>,
    mqtt: web::Data<Mqtt>,
    which: web::Query<Which>,
    page: web::Query<Page>,
) -> Result<HttpResponse, AppError> {
    let is_status = |text: &String| Status::ALL.iter().any(|status| status.as_str() == text);
    if !which.status.as_ref().is_none_or(is_status) {
        return Err(AppError::bad_input("status harus terbuka, diterima atau ditolak"));
    }
    let limit = page.limit()?;
    let (client, now) = (store.get().await?, store.now());
    let outlets = match which.idoutlet {
        Some(id) => vec![scope::outlet(&*client, &operator, id).await?.idoutlet],
        None => scope::in_sight(&*client, &operator).await?,
    };
    // $1 outlets, $2 now, $3 before this id, $4 limit, $5 status.
    let list = format!(
        "WITH page AS (
            SELECT * FROM keluhan WHERE idoutlet = ANY($1) AND id < $3 AND ($5::TEXT IS NULL OR status = $5) ORDER BY id DESC LIMIT $4
        ), went_back AS MATERIALIZED (
            SELECT t.idcustomer, t.idmesin FROM {THIS_MONTH} WHERE o.idoutlet IN (SELECT idoutlet FROM page)
        )
        SELECT k.id, t.no_nota, t.idcustomer, k.created_at AS dilaporkan_at, k.alasan, k.catatan, t.nama_mesin, t.grandtotal, t.dikembalikan,
            (SELECT count(*) FROM went_back b WHERE b.idcustomer = t.idcustomer) AS pelanggan,
            (SELECT count(*) FROM went_back b WHERE b.idmesin = t.idmesin) AS mesin,
            m.idmesin, m.driver, o.idoutlet, o.zona, o.hari_mulai,
            {STEPS}
        FROM page k JOIN snap_transaksi t ON t.id = k.idtransaksi JOIN customer_global c ON c.id = t.id_customer_global
        JOIN mesin m ON m.idmesin = t.idmesin JOIN outlet o ON o.idoutlet = k.idoutlet
        ORDER BY k.id DESC"
    );
    let stmt = client.prepare_cached(&list).await?;
    let rows = client.query(&stmt, &[&outlets, &now, &page.before(), &(limit + 1), &which.status]).await?;
    let mut complaints = Vec::with_capacity(rows.len());
    for row in &rows {
        let idmesin: MachineId = row.try_get("idmesin")?;
        let of = Of::row(idmesin, row, now)?;
        let perangkat = match of.driver {
            DriverKind::Sim => None,
            DriverKind::Mqtt => Some(detail::device(&client, &of, mqtt.signal(idmesin), None).await?),
        };
        let idkeluhan: ComplaintId = row.try_get("id")?;
        let complaint = ComplaintRow {
            idkeluhan,
            idtransaksi: row.try_get("no_nota")?,
            idcustomer: row.try_get("idcustomer")?,
            created_at: row.try_get("dilaporkan_at")?,
            alasan: row.try_get("alasan")?,
            catatan: row.try_get("catatan")?,
            mesin: row.try_get("nama_mesin")?,
            grandtotal: row.try_get("grandtotal")?,
            dikembalikan: row.try_get("dikembalikan")?,
            bukti: Evidence {
                riwayat: detail::of_purchase(row, now)?,
                perangkat,
                bulan_ini: GivenBackOften { pelanggan: row.try_get("pelanggan")?, mesin: row.try_get("mesin")? },
            },
        };
        complaints.push((idkeluhan.get(), complaint));
    }
    Ok(answer::ok(Rows::of(complaints, limit)))
}
