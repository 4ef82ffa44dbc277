//! `GET /ops/v1/outlet/{id}/siap`: what an outlet still lacks before it can be opened (supervisor and above). All of it is computed.

use actix_web::{HttpResponse, web};
use deadpool_postgres::GenericClient;
use nyala_core::domain::id::OutletId;
use nyala_core::domain::right::Right;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::ClockTime;
use nyala_ledger::on_sale::fits;
use nyala_store::db::Store;
use nyala_store::db::error::DbError;
use serde::Serialize;
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Minimal;
use crate::ops::scope;

/// A signal below this is weak, in dBm.
const WEAK_RSSI: i16 = -80;
const LAST_STEP: u8 = 5;

#[derive(Debug, Serialize, ToSchema)]
pub struct Kesiapan {
    /// Null: it is being prepared.
    #[schema(value_type = Option<Timestamp>, required)]
    pub dibuka_at: Option<Timestamp>,
    /// All that is needed is there.
    pub siap: bool,
    /// The first step with something missing; 5 when nothing is.
    #[schema(minimum = 1, maximum = 5)]
    pub langkah: u8,
    pub butir: Vec<Butir>,
}

/// Something that an outlet needs.
#[derive(Debug, Serialize, ToSchema)]
pub struct Butir {
    /// `outlet`, `layanan`, `mesin`, `perangkat`, `uji`, `petugas`, `tablet`, `sinyal`.
    butir: &'static str,
    /// Without it the outlet cannot be opened.
    wajib: bool,
    beres: bool,
    /// For people.
    teks: String,
    #[serde(skip)]
    step: u8,
}

/// What an outlet still lacks.
#[utoipa::path(
    get, path = "/ops/v1/outlet/{id}/siap", operation_id = "outlet_siap", tag = "papan", security(("operator" = []), ("session" = [])),
    params(("id" = inline(OutletId), Path)),
    responses((status = 200, body = Answer<Kesiapan>), (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty))
)]
pub async fn siap(
    by: Minimal<{ Right::OutletSiap.rank() }>,
    store: web::Data<Store>,
    id: web::Path<String>,
) -> Result<HttpResponse, AppError> {
    let Minimal(operator) = by;
    let client = store.get().await?;
    let id = scope::named_outlet(&*client, &operator, &id).await?.idoutlet;
    Ok(answer::ok(read(&*client, id, store.now()).await?))
}

/// A connected device has sent something within 45 seconds: otherwise its connection is closed.
const READ: &str = concat!(
    "
SELECT o.kota, o.zona, o.hari_mulai, o.dibuka_at,
    (SELECT count(*) FROM layanan l WHERE l.idoutlet = $1 AND l.aktif) AS layanan,
    ARRAY(SELECT DISTINCT concat_ws(' ', m.jenis, m.ukuran) FROM mesin m WHERE m.idoutlet = $1 AND m.aktif
        AND NOT EXISTS (SELECT FROM layanan l WHERE l.idoutlet = $1 AND l.aktif AND ",
    fits!(),
    ") ORDER BY 1) AS tanpa_layanan,
    (SELECT count(*) FROM mesin m WHERE m.idoutlet = $1 AND m.aktif) AS mesin,
    (SELECT count(*) FROM mesin m LEFT JOIN perangkat_kini k USING (idmesin) WHERE m.idoutlet = $1 AND m.aktif AND m.online
        AND (m.driver = 'sim' OR k.idmesin IS NOT NULL AND k.putus_sejak IS NULL)) AS terhubung,
    (SELECT count(*) FROM mesin m WHERE m.idoutlet = $1 AND m.aktif
        AND EXISTS (SELECT FROM snap_transaksi t WHERE t.idmesin = m.idmesin AND t.uji AND t.started_at IS NOT NULL)) AS teruji,
    (SELECT count(*) FROM petugas p JOIN kunci_operator k ON k.id = p.id_kunci
        WHERE k.idoutlet = $1 AND k.role <> 'teknisi' AND k.revoked_at IS NULL AND p.pin_awal_sampai IS NULL) AS petugas,
    (SELECT p.nama FROM perangkat p WHERE p.idoutlet = $1 AND p.token_hash IS NOT NULL AND p.token_sampai > $2 AND p.dicabut_at IS NULL
        ORDER BY p.id LIMIT 1) AS tablet,
    lemah.nama AS lemah, lemah.rssi
FROM outlet o LEFT JOIN LATERAL (
    SELECT m.nama, k.rssi FROM mesin m JOIN perangkat_kini k USING (idmesin)
    WHERE m.idoutlet = $1 AND m.aktif AND k.rssi < $3 ORDER BY k.rssi LIMIT 1) lemah ON TRUE
WHERE o.idoutlet = $1"
);

/// What an outlet has and lacks at `now`.
///
/// # Errors
/// When the database does not answer.
pub async fn read(client: &impl GenericClient, idoutlet: OutletId, now: Timestamp) -> Result<Kesiapan, DbError> {
    let stmt = client.prepare_cached(READ).await?;
    let row = client.query_one(&stmt, &[&idoutlet, &now, &WEAK_RSSI]).await?;
    let butir = items(&row)?;
    let missing = butir.iter().filter(|item| item.wajib && !item.beres).map(|item| item.step).min();
    Ok(Kesiapan { dibuka_at: row.try_get("dibuka_at")?, siap: missing.is_none(), langkah: missing.unwrap_or(LAST_STEP), butir })
}

fn items(row: &Row) -> Result<Vec<Butir>, DbError> {
    let count = |column: &str| row.try_get::<_, i64>(column);
    let (services, machines, connected, tested, people) =
        (count("layanan")?, count("mesin")?, count("terhubung")?, count("teruji")?, count("petugas")?);
    let unserved: Vec<String> = row.try_get("tanpa_layanan")?;
    let tablet: Option<String> = row.try_get("tablet")?;
    let weak: Option<(String, i16)> = row.try_get::<_, Option<String>>("lemah")?.zip(row.try_get("rssi")?);
    let begins = ClockTime::from_minute(row.try_get::<_, i16>("hari_mulai")?.into())
        .map_or_else(String::new, |at| at.to_string().replace(':', "."));
    let (city, zone): (&str, &str) = (row.try_get("kota")?, row.try_get("zona")?);
    let item = |butir, step, beres, teks| Butir { butir, wajib: true, beres, teks, step };
    let or = |beres: bool, there: String, missing: &str| if beres { there } else { missing.to_owned() };
    Ok(vec![
        item("outlet", 1, !zone.is_empty(), format!("{city}, {zone}, hari mulai {begins}")),
        item(
            "layanan",
            2,
            services > 0 && unserved.is_empty(),
            match unserved.as_slice() {
                [] => or(services > 0, format!("{services} layanan punya harga"), "Belum ada layanan"),
                kinds => format!("Belum ada layanan untuk {}", kinds.join(", ")),
            },
        ),
        item("mesin", 3, machines > 0, or(machines > 0, format!("{machines} mesin bernama"), "Belum ada mesin")),
        item("perangkat", 4, connected > 0, format!("{connected} dari {machines} perangkat terhubung")),
        item("uji", 4, tested > 0, format!("{tested} dari {machines} tes nyala berhasil")),
        item(
            "petugas",
            5,
            people > 0,
            or(people > 0, format!("{people} petugas sudah punya PIN"), "Belum ada petugas yang membuat PIN sendiri"),
        ),
        item(
            "tablet",
            5,
            tablet.is_some(),
            match tablet {
                Some(name) => format!("{name} terpasang"),
                None => "Tablet belum terpasang".to_owned(),
            },
        ),
        Butir {
            butir: "sinyal",
            wajib: false,
            beres: weak.is_none(),
            teks: match weak {
                Some((name, rssi)) => format!("{name} sinyal lemah, {rssi} dBm"),
                None => "Tidak ada sinyal lemah".to_owned(),
            },
            step: 4,
        },
    ])
}
