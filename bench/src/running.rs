//! Many machines that run, at many outlets: put into the database, found by the server when it starts.

use nyala_loadtest::shop::{PRICE, Shop};
use tokio_postgres::Client;

use crate::BenchError;
use crate::shop::global;

const MACHINES_PER_OUTLET: usize = 8;
/// Machine `n` runs for an hour and a half from `n` fiftieths of a second ago, so that none ends during a measurement. Without triggers
/// and foreign keys for speed: the rows satisfy them, except for the money, which is not looked at here.
const FILL: &str = "
SET session_replication_role = replica;
CREATE TEMP TABLE running AS
    SELECT n, 1000000 + n AS idmesin, 1000000 + n / {per_outlet} AS idoutlet, clock_timestamp() - n * INTERVAL '0.02 s' AS at
    FROM generate_series(0::BIGINT, {machines} - 1) n;
INSERT INTO outlet (idoutlet, idowner, nama, kota, latitude, longitude, created_at) OVERRIDING SYSTEM VALUE
    SELECT DISTINCT ON (idoutlet) idoutlet, {owner}, 'Bench', 'Bandung', -6.9, 107.6, at FROM running;
INSERT INTO mesin (idmesin, idoutlet, idowner, nama, driver, kode, created_at) OVERRIDING SYSTEM VALUE
    SELECT idmesin, idoutlet, {owner}, 'M', 'sim', upper(lpad(to_hex(idmesin), 8, '0')), at FROM running;
INSERT INTO layanan (idlayanan, idoutlet, nama, durasi_s, harga, created_at) OVERRIDING SYSTEM VALUE
    SELECT DISTINCT ON (idoutlet) idoutlet, idoutlet, 'Cuci', 5400, {harga}, at FROM running;
INSERT INTO snap_transaksi (id_customer_global, no_nota, idcustomer, idowner, idmesin, idoutlet, idlayanan, nama_mesin, nama_layanan,
    durasi_s, grandtotal, state, cmd_id, cmd_epoch, cmd_exp, created_at, started_at, ends_at)
SELECT {global}, 'SLF' || lpad(n::TEXT, 15, '0'), {customer}, {owner}, idmesin, idoutlet, idoutlet, 'M', 'Cuci',
    5400, {harga}, 'RUNNING', gen_random_uuid(), 1, at, at, at, at + INTERVAL '5400 s' FROM running;
SET session_replication_role = origin;";

/// Makes `machines` running machines of the shop's owner, eight an outlet, bought by its first customer; gives their ids. The server
/// must not run.
///
/// # Errors
/// What the database says against it.
pub async fn fill(client: &Client, shop: &Shop, machines: usize) -> Result<Vec<i64>, BenchError> {
    let buyer = shop.customers.first().ok_or("a shop without customers")?;
    let numbers = [
        ("{machines}", i64::try_from(machines)?),
        ("{per_outlet}", i64::try_from(MACHINES_PER_OUTLET)?),
        ("{owner}", shop.idowner),
        ("{harga}", PRICE.cast_signed()),
        ("{global}", global(buyer)?),
        ("{customer}", buyer.idcustomer),
    ];
    let sql = numbers.iter().fold(FILL.to_owned(), |sql, (name, n)| sql.replace(name, &n.to_string()));
    client.batch_execute(&sql).await?;
    let rows = client.query("SELECT idmesin FROM running ORDER BY n", &[]).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}
