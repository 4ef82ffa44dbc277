//! `GET /ops/v1/laporan/pemakaian` (supervisor and above): the uses that started, the oldest first. As JSON in pages, as CSV all of them.

use actix_web::web::{self, Bytes};
use actix_web::{HttpResponse, Responder};
use futures_util::{StreamExt, TryStreamExt, stream};
use nyala_core::domain::id::OutletId;
use nyala_core::domain::right::Right;
use nyala_core::domain::timestamp::Timestamp;
use nyala_ledger::figures::is_customers;
use nyala_store::db::Store;
use tokio_postgres::Row;

use super::csv::{self, Extras};
use super::period::{DaysAsked, snapshot};
use super::report::{FormatAsked, Laporan, ReportFormat};
use super::rows::LaporanPemakaian;
use crate::http::answer::{self, Answer, Empty};
use crate::http::error::AppError;
use crate::ops::people::key::Minimal;
use crate::ops::refund::list::UseStatus;
use crate::ops::rows::Page;
use crate::ops::topup::list::customer_name;

/// Rows that are read at once for a file.
const CHUNK: i64 = 2_000;

/// $1 outlet, $2 begin, $3 end, $4 the last row before these or 0, $5 limit.
const USES: &str = concat!(
    "
SELECT l.id, l.created_at, t.no_nota, c.nama_awal, c.nama_akhir, t.nama_mesin, t.nama_layanan, t.durasi_s::BIGINT, t.grandtotal, t.dikembalikan, t.state
FROM ledger_transfer l JOIN snap_transaksi t ON t.id = l.idtransaksi JOIN customer_global c ON c.id = l.id_customer_global
WHERE l.kind = 'post' AND l.idoutlet = $1 AND l.created_at >= $2 AND l.created_at < $3
    AND (l.created_at, l.id) > (COALESCE((SELECT b.created_at FROM ledger_transfer b WHERE b.id = $4), '-infinity'), $4::BIGINT) AND ",
    is_customers!(),
    " ORDER BY l.created_at, l.id LIMIT $5"
);

/// The uses of an outlet between two instants.
#[derive(Clone)]
struct Uses {
    store: Store,
    idoutlet: OutletId,
    from: Timestamp,
    until: Timestamp,
}

impl Uses {
    /// At most `limit` uses after the row `after`, and the row of the last one if more may follow.
    async fn page(&self, after: i64, limit: i64) -> Result<(Vec<LaporanPemakaian>, Option<i64>), AppError> {
        let client = self.store.get().await?;
        let stmt = client.prepare_cached(USES).await?;
        let mut rows = client.query(&stmt, &[&self.idoutlet, &self.from, &self.until, &after, &(limit + 1)]).await?;
        let limit = usize::try_from(limit).unwrap_or_default();
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|row| row.try_get(0)).transpose()?;
        Ok((rows.iter().map(read).collect::<Result<_, _>>()?, next))
    }
}

fn read(row: &Row) -> Result<LaporanPemakaian, AppError> {
    Ok(LaporanPemakaian {
        waktu: row.try_get(1)?,
        idtransaksi: row.try_get(2)?,
        pelanggan: customer_name(row.try_get(3)?, row.try_get(4)?, false),
        mesin: row.try_get(5)?,
        layanan: row.try_get(6)?,
        durasi: row.try_get(7)?,
        harga: row.try_get(8)?,
        dikembalikan: row.try_get(9)?,
        status: UseStatus::of(row.try_get(10)?).as_str().to_owned(),
    })
}

/// The uses that started at an outlet, the oldest first. `sebelum` is `lanjut` of the page before.
#[utoipa::path(
    get, path = "/ops/v1/laporan/pemakaian", operation_id = "laporan_pemakaian", tag = "laporan", security(("operator" = []), ("session" = [])),
    params(DaysAsked, FormatAsked, Page),
    responses(
        (status = 200, content((Answer<Laporan<LaporanPemakaian>> = "application/json"), (String = "text/csv"))),
        (status = 400, body = Empty, description = "No day, `dari` after `sampai`, or `limit` outside of 1 to 100"),
        (status = 401, body = Empty), (status = 403, body = Empty), (status = 404, body = Empty),
        (status = 422, body = Empty, description = "`paling banyak 92 hari`, `idoutlet wajib diisi`"),
    )
)]
pub async fn pemakaian(
    by: Minimal<{ Right::LaporanLihat.rank() }>,
    store: web::Data<Store>,
    days: web::Query<DaysAsked>,
    format: web::Query<FormatAsked>,
    page: web::Query<Page>,
) -> Result<impl Responder, AppError> {
    let days = days.read()?;
    let limit = page.limit()?;
    let asked = {
        let mut client = store.get().await?;
        let tx = snapshot(&mut client).await?;
        days.of(&tx, &by.0, store.now()).await?
    };
    let ((from, until), period) = (asked.span(), asked.period);
    let uses = Uses { store: store.get_ref().clone(), idoutlet: asked.outlet.idoutlet, from, until };
    if format.format == ReportFormat::Json {
        let (baris, lanjut) = uses.page(page.after(), limit).await?;
        return Ok(answer::ok(Laporan { dari: period.first, sampai: period.last, baris, lanjut }));
    }
    let calendar = asked.outlet.calendar;
    let name = csv::file_name("pemakaian", uses.idoutlet, period);
    // The first rows are read before the answer begins, so that a refusal of the database is one.
    let first = uses.page(0, CHUNK).await?;
    let head = csv::BOM.to_owned() + &csv::header_of::<LaporanPemakaian>(Extras::default())?;
    let chunks = stream::try_unfold(Some((Some(first), 0)), move |state| {
        let uses = uses.clone();
        async move {
            let Some((read, after)) = state else { return Ok(None) };
            let (rows, next) = match read {
                Some(read) => read,
                None => uses.page(after, CHUNK).await?,
            };
            Ok::<_, AppError>(Some((rows, next.map(|after| (None, after)))))
        }
    });
    let lines =
        chunks.and_then(move |rows| std::future::ready(csv::lines_of(&rows, &calendar, Extras::default()).map(Bytes::from)));
    Ok::<HttpResponse, AppError>(csv::download(&name, stream::once(std::future::ready(Ok(Bytes::from(head)))).chain(lines)))
}
