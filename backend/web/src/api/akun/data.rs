//! `GET /scan/v1/akun/data`: all that is stored of the customer, as a zip of JSON and CSV (docs/money.md, A person's data).

use std::io::{Cursor, Write};
use std::pin::pin;

use actix_web::http::header;
use actix_web::{HttpResponse, web};
use futures_util::TryStreamExt;
use nyala_core::domain::id::CustomerId;
use nyala_core::domain::ledger_kind::LedgerKind;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::rate_limit::downloads::DownloadRate;
use nyala_store::db::Store;
use nyala_store::db::pool::DbClient;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::api::auth::customer::Customer;
use crate::api::transaksi::list_history::{movement, ref_id_sql};
use crate::http::answer::Empty;
use crate::http::error::AppError;
use crate::http::schema::ZipFile;
use crate::ops::figures::csv::{self, BOM};

/// Limits how many files are made at once: each is in memory, compressed, until it is sent.
static MAKING: Semaphore = Semaphore::const_new(4);

/// Who did something, as a role: `l.aktor` of a ledger row or of another one.
macro_rules! role_sql {
    ($actor:literal) => {
        concat!(
            "COALESCE((SELECT p.role FROM kunci_operator p WHERE p.id = CASE WHEN ",
            $actor,
            " LIKE 'operator:%' THEN split_part(",
            $actor,
            ", ':', 2)::BIGINT END), split_part(",
            $actor,
            ", ':', 1))"
        )
    };
}

/// A file of the zip. $1 customer.
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    sql: &'static str,
    cells: fn(&Row) -> Result<Vec<String>, AppError>,
}

const TABLES: [Table; 5] = [
    Table {
        name: "akun.csv",
        columns: &["idcustomer", "outlet", "kota", "saldo", "jenis_emoney", "masa_aktif", "dibuka_at"],
        sql: "SELECT c.idcustomer, o.nama, o.kota, q.saldo, q.jenis_emoney, q.masa_aktif, c.created_at
              FROM customer c JOIN quota_emoney q USING (idcustomer) JOIN outlet o ON o.idoutlet = c.idoutlet
              WHERE c.id_customer_global = $1 ORDER BY c.idcustomer",
        cells: |row| {
            Ok(vec![
                number(row, 0)?,
                text(row, 1)?,
                text(row, 2)?,
                number(row, 3)?,
                row.try_get::<_, i16>(4)?.to_string(),
                time(row, 5)?,
                time(row, 6)?,
            ])
        },
    },
    Table {
        name: "riwayat.csv",
        columns: &["entri", "waktu", "jenis", "ref_id", "outlet", "mesin", "layanan", "nominal", "alasan", "oleh"],
        sql: concat!(
            "SELECT l.id, l.created_at, l.kind, l.jumlah, ",
            ref_id_sql!(),
            ", o.nama, t.nama_mesin, t.nama_layanan, l.alasan, ",
            role_sql!("l.aktor"),
            " FROM ledger_transfer l JOIN outlet o ON o.idoutlet = l.idoutlet LEFT JOIN snap_transaksi t ON t.id = l.idtransaksi
              WHERE l.id_customer_global = $1 AND l.kind <> 'post' ORDER BY l.id"
        ),
        cells: |row| {
            let (kind, value) = movement(row.try_get::<_, LedgerKind>(2)?, row.try_get(3)?)?;
            let kind = serde_json::to_value(kind).map_err(AppError::internal)?;
            let kind = kind.as_str().unwrap_or_default().to_owned();
            Ok(vec![
                number(row, 0)?,
                time(row, 1)?,
                kind,
                text(row, 4)?,
                text(row, 5)?,
                text(row, 6)?,
                text(row, 7)?,
                value.to_string(),
                text(row, 8)?,
                text(row, 9)?,
            ])
        },
    },
    Table {
        name: "masuk.csv",
        columns: &["waktu", "apa", "alamat"],
        sql: "SELECT k.created_at, k.tujuan, k.ip FROM kode_otp k JOIN customer_global c USING (telp) WHERE c.id = $1
              UNION ALL SELECT c.updated_at, 'kata_sandi', NULL FROM customer_global c WHERE c.id = $1 ORDER BY 1",
        cells: |row| Ok(vec![time(row, 0)?, text(row, 1)?, text(row, 2)?]),
    },
    Table {
        name: "push.csv",
        columns: &["alamat", "dinyalakan_at", "berlaku_sampai"],
        sql: "SELECT endpoint, subscribed_at, expires_at FROM langganan_push WHERE id_customer_global = $1 ORDER BY id",
        cells: |row| Ok(vec![text(row, 0)?, time(row, 1)?, time(row, 2)?]),
    },
    Table {
        name: "keluhan.csv",
        columns: &[
            "idkeluhan",
            "idtransaksi",
            "dilaporkan_at",
            "alasan",
            "catatan",
            "status",
            "nominal",
            "jawaban",
            "dijawab_at",
            "dijawab_oleh",
        ],
        sql: concat!(
            "SELECT k.id, t.no_nota, k.created_at, k.alasan, k.catatan, k.status, k.nominal, k.jawaban, k.dijawab_at, ",
            role_sql!("k.dijawab_oleh"),
            " FROM keluhan k JOIN snap_transaksi t ON t.id = k.idtransaksi WHERE k.id_customer_global = $1 ORDER BY k.id"
        ),
        cells: |row| {
            let amount = row.try_get::<_, Option<i64>>(6)?.map(|amount| amount.to_string()).unwrap_or_default();
            Ok(vec![
                number(row, 0)?,
                text(row, 1)?,
                time(row, 2)?,
                text(row, 3)?,
                text(row, 4)?,
                text(row, 5)?,
                amount,
                text(row, 7)?,
                time(row, 8)?,
                text(row, 9)?,
            ])
        },
    },
];

/// `profil.json`.
#[derive(Serialize)]
struct Profile {
    id_customer_global: CustomerId,
    nama: String,
    telp: String,
    created_at: Timestamp,
    /// When the password was changed.
    updated_at: Timestamp,
}

/// All that is stored of the customer, three times a day.
#[utoipa::path(
    get, path = "/scan/v1/akun/data", operation_id = "akun_data", tag = "akun", security(("pelanggan" = [])),
    responses(
        (status = 200, description = "`profil.json`, `akun.csv`, `riwayat.csv`, `masuk.csv`, `push.csv`, `keluhan.csv`", body = ZipFile,
            content_type = "application/zip"),
        (status = 429, description = "The fourth within 24 hours; `Retry-After` in seconds", body = Empty),
    )
)]
pub async fn data(store: web::Data<Store>, rate: web::Data<DownloadRate>, customer: Customer) -> Result<HttpResponse, AppError> {
    rate.admit(customer.id, store.now())?;
    let _one_of_few = MAKING.acquire().await.map_err(AppError::internal)?;
    let client = store.get().await?;
    let file = made(&client, customer.id).await?;
    Ok(HttpResponse::Ok()
        .content_type("application/zip")
        .insert_header((header::CONTENT_DISPOSITION, "attachment; filename=\"data-nyala.zip\""))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(file))
}

async fn made(client: &DbClient, customer: CustomerId) -> Result<Vec<u8>, AppError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    zip.start_file("profil.json", options).map_err(AppError::internal)?;
    write(&mut zip, &serde_json::to_vec_pretty(&profile(client, customer).await?).map_err(AppError::internal)?)?;
    for Table { name, columns, sql, cells } in TABLES {
        zip.start_file(name, options).map_err(AppError::internal)?;
        write(&mut zip, BOM.as_bytes())?;
        write(&mut zip, csv::lines([columns])?.as_bytes())?;
        let stmt = client.prepare_cached(sql).await?;
        let params: [&(dyn ToSql + Sync); 1] = [&customer];
        let mut rows = pin!(client.query_raw(&stmt, params).await?);
        while let Some(row) = rows.try_next().await? {
            write(&mut zip, csv::lines([cells(&row)?])?.as_bytes())?;
        }
    }
    Ok(zip.finish().map_err(AppError::internal)?.into_inner())
}

async fn profile(client: &DbClient, customer: CustomerId) -> Result<Profile, AppError> {
    const FIND: &str = "SELECT nama_awal || ' ' || nama_akhir, telp, created_at, updated_at FROM customer_global WHERE id = $1";
    let stmt = client.prepare_cached(FIND).await?;
    let row = client.query_one(&stmt, &[&customer]).await?;
    Ok(Profile {
        id_customer_global: customer,
        nama: row.try_get(0)?,
        telp: row.try_get(1)?,
        created_at: row.try_get(2)?,
        updated_at: row.try_get(3)?,
    })
}

fn write(zip: &mut ZipWriter<Cursor<Vec<u8>>>, bytes: &[u8]) -> Result<(), AppError> {
    zip.write_all(bytes).map_err(AppError::internal)
}

fn text(row: &Row, column: usize) -> Result<String, AppError> {
    Ok(csv::text(row.try_get::<_, Option<&str>>(column)?.unwrap_or_default()))
}

fn number(row: &Row, column: usize) -> Result<String, AppError> {
    Ok(row.try_get::<_, i64>(column)?.to_string())
}

fn time(row: &Row, column: usize) -> Result<String, AppError> {
    Ok(row.try_get::<_, Option<Timestamp>>(column)?.map(Timestamp::rfc3339).unwrap_or_default())
}
