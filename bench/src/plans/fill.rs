//! Tables as a big operator has them: many finished purchases, every machine in use, a little that is due.

use tokio_postgres::Client;

use super::Plans;
use crate::BenchError;

/// The moment at which the statements are asked.
const NOW: &str = "TIMESTAMPTZ '2026-06-01 00:00:00+00'";
const CUSTOMERS: u32 = 1_000;
/// Machines of an outlet.
const PER_OUTLET: u32 = 100;
/// Rows of each kind of work that recovery finds: runs whose end was missed, held and unsure purchases, runs to stop, machines that wait for
/// staff, and unpaid cycles whose time is over.
pub const DUE: u32 = 20;

/// Purchase `i` is of machine `1 + i % machines`; the last ones, one of each machine, are open. Without triggers and foreign keys for
/// speed: the rows satisfy them. No ledger: none of the statements reads it.
const FILL: &str = "
SET session_replication_role = replica;
INSERT INTO owner_usaha (nama, created_at) VALUES ('Bench', {now});
INSERT INTO outlet (idowner, nama, kota, latitude, longitude, created_at)
    SELECT 1, 'Outlet ' || n, 'Bandung', -6.9, 107.6, {now} FROM generate_series(1, 1 + ({machines} - 1) / {per_outlet}) n;
INSERT INTO layanan (idoutlet, nama, durasi_s, harga, created_at) SELECT idoutlet, 'Cuci', 3600, 10000, {now} FROM outlet ORDER BY 1;
INSERT INTO mesin (idoutlet, idowner, nama, driver, kode, perlu_petugas, boot, jalan_cmd_id, jalan_sampai, jalan_stop_at, created_at)
    SELECT 1 + (n - 1) / {per_outlet}, 1, 'M ' || n, 'sim', lpad(n::TEXT, 8, '0'), n <= {due}, 1,
        CASE WHEN n > {machines} - 2 * {due} THEN gen_random_uuid() END, CASE WHEN n > {machines} - 2 * {due} THEN {now} + (n - {machines} + {due}) * INTERVAL '1 min' END,
        CASE WHEN n = {machines} THEN {now} END, {now} FROM generate_series(1, {machines}) n;
INSERT INTO customer_global (telp, nama_awal, nama_akhir, password_hash, created_at, updated_at)
    SELECT (8120000000 + n)::TEXT, 'Siti', 'Rahma', 'x', {now}, {now} FROM generate_series(1, {customers}) n;
INSERT INTO customer (id_customer_global, idoutlet, owner_idowner, created_at)
    SELECT id, 1, 1, {now} FROM customer_global ORDER BY id;
CREATE TEMP TABLE purchase AS
    SELECT i, 1 + i % {customers} AS buyer, 1 + i % {machines} AS idmesin, 'SLF' || lpad(i::TEXT, 15, '0') AS no_nota,
        i - ({purchases} - {machines}) AS open_no, {now} - (1 + ({purchases} - i) / 500) * INTERVAL '1 min' AS at
    FROM generate_series(1, {purchases}) i;
INSERT INTO nota (id_customer_global, no_nota, body_hash, created_at) SELECT buyer, no_nota, '\\x00', at FROM purchase ORDER BY i;
INSERT INTO snap_transaksi (id_customer_global, no_nota, idcustomer, idowner, idmesin, idoutlet, idlayanan, nama_mesin, nama_layanan,
    durasi_s, grandtotal, state, cmd_id, cmd_epoch, cmd_exp, created_at, started_at, ends_at, finished_at, stop_requested_at)
SELECT buyer, no_nota, buyer, 1, idmesin, 1 + (idmesin - 1) / {per_outlet}, 1 + (idmesin - 1) / {per_outlet}, 'M', 'Cuci', 3600, 10000, state,
    gen_random_uuid(), i, CASE WHEN state = 'HELD' THEN {now} + INTERVAL '8 s' ELSE at END,
    CASE WHEN state IN ('HELD', 'UNSURE') THEN {now} - INTERVAL '2 s' ELSE at END,
    CASE WHEN state IN ('RUNNING', 'FINISHED') THEN at END,
    CASE WHEN state = 'FINISHED' THEN at WHEN open_no <= {due} THEN {now} - INTERVAL '5 s' WHEN state = 'RUNNING' THEN {now} + INTERVAL '30 min' END,
    CASE WHEN state = 'FINISHED' THEN at END, CASE WHEN state = 'RUNNING' AND open_no > {machines} - {due} THEN {now} - INTERVAL '2 s' END
FROM (
    SELECT *, CASE WHEN open_no <= 0 THEN 'FINISHED' WHEN open_no <= {due} THEN 'RUNNING' WHEN open_no <= 2 * {due} THEN 'HELD'
        WHEN open_no <= 3 * {due} THEN 'UNSURE' ELSE 'RUNNING' END AS state FROM purchase ORDER BY i
) b;
SET session_replication_role = origin;";

/// # Errors
/// When a row breaks a rule.
pub async fn fill(client: &Client, plans: &Plans) -> Result<(), BenchError> {
    let numbers = [
        ("{purchases}", plans.purchases),
        ("{machines}", plans.machines),
        ("{customers}", CUSTOMERS),
        ("{per_outlet}", PER_OUTLET),
        ("{due}", DUE),
    ];
    let sql = numbers.iter().fold(at(FILL), |sql, (name, n)| sql.replace(name, &n.to_string()));
    Ok(client.batch_execute(&sql).await?)
}

/// `sql` with its instants: now, a moment ago, and longer ago than an unsure purchase may be.
pub fn at(sql: &str) -> String {
    let now = sql.replace("{late}", "{now} - INTERVAL '1 s'").replace("{long_ago}", "{now} - INTERVAL '15 min'");
    now.replace("{now}", NOW)
}
