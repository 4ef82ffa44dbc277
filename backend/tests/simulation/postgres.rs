//! Replays a history on PostgreSQL. Every question of the simulation goes to the real statements, and every answer must be the same. All
//! data stored at the end must be the same, too.

use std::collections::HashMap;
use std::time::Duration;

use nyala_core::domain::driver_kind::DriverKind;
use nyala_core::domain::id::{CustomerId, MachineId, OutletId, OwnerId, PurchaseId, ServiceId, WalletId};
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::prices::Tariff;
use nyala_core::purchase::device::{Pulses, ReportedRun, Sensor, StateReport};
use nyala_core::purchase::facts::{MachineFacts, Order, SaleVersions, ServiceFacts, TestFacts};
use nyala_core::purchase::rules::decide;
use nyala_core::purchase::state::PurchaseState;
use nyala_core::purchase::step::Held;
use nyala_ledger::closing::record_closing;
use nyala_ledger::facts;
use nyala_ledger::purchase as ledger;
use nyala_ledger::refund::{self, Grounds, Visible, refund};
use nyala_ledger::topup::{AccountKind, Package, Payment, WalletRef, topup};
use nyala_machines::device::record::record;
use nyala_store::db::pool::{Db, DbClient, PoolLimits, StatementLimits};
use tokio_postgres::types::{FromSqlOwned, ToSql};
use uuid::Uuid;

use super::database::Database;
use super::devices::Devices;
use super::mqtt::Mqtt;
use super::plain::Plain;
use super::store::{
    Asked, COIN_MACHINE, MachineWrite, OrderRow, PRICE, PULSES, SERVICES_S, Store, Stored, coin_of, decision_text, outcome,
};
use super::world::{BALANCE, CUSTOMERS, MACHINES, T0, World};

/// As the record of a device's trouble closes a machine; the reason does not matter here.
const CLOSE: &str = concat!(
    "WITH closed AS (
    UPDATE mesin SET ditutup_sejak = $2, ditutup_alasan = 'uji' WHERE idmesin = $1 AND ditutup_sejak IS NULL
    RETURNING idmesin, idoutlet, ditutup_alasan AS alasan
), ",
    record_closing!("$2"),
    "
SELECT FROM closed"
);
/// What a board can do.
const PULSE: &[&str] = &["pulse"];
const NOTHING: &[&str] = &[];

/// A separate chain for each history; several share a database.
struct StoredChain {
    idowner: OwnerId,
    idoutlet: OutletId,
    services: Vec<ServiceId>,
    machines: Vec<MachineId>,
    /// `id_customer_global` and `idcustomer`.
    customers: Vec<(CustomerId, WalletId)>,
    /// The store's purchases in PostgreSQL: id and command.
    purchases: HashMap<PurchaseId, (PurchaseId, Uuid)>,
}

#[actix_web::test]
async fn postgres_tells_the_same_histories() {
    let database = Database::create().await;
    let five = Duration::from_secs(5);
    let statement = Some(StatementLimits { whole: five, lock: five });
    let db = Db::new(&database.url(), 1, PoolLimits { wait: five, connect: five, statement, admission: None }).unwrap();
    let mut client = db.get().await.unwrap();
    for seed in 0..super::POSTGRES_SEEDS {
        replay(&mut client, seed, World::<Plain>::new(seed, false)).await;
    }
    let mut never_ran = 0;
    for seed in 0..super::POSTGRES_MQTT_SEEDS {
        let store = replay(&mut client, super::POSTGRES_SEEDS + seed, World::<Mqtt>::new(seed, false)).await;
        never_ran += store.purchases.iter().filter(|p| p.never_ran).count();
    }
    assert!(never_ran > 0, "no machine stood still in its run");
}

/// `number`: of the history among all that are replayed.
async fn replay<D: Devices>(client: &mut DbClient, number: u64, mut world: World<D>) -> Store {
    world.run();
    let mut chain = arrange(client, number).await;
    for asked in &world.store.journal {
        ask(client, &mut chain, asked).await.unwrap_or_else(|e| panic!("history {number}: {asked:?}: {e:?}"));
    }
    compare(client, &chain, &world.store).await;
    let broken = client.query("SELECT aturan || ' ' || kunci FROM pelanggaran", &[]).await.unwrap();
    let broken: Vec<String> = broken.iter().map(|row| row.get(0)).collect();
    assert!(broken.is_empty(), "history {number}: {broken:?}");
    world.store
}

async fn insert<T: FromSqlOwned>(client: &DbClient, sql: &str, params: &[&(dyn ToSql + Sync)]) -> T {
    client.query_one(sql, params).await.unwrap_or_else(|e| panic!("{sql}: {e:?}")).get(0)
}

async fn arrange(client: &mut DbClient, number: u64) -> StoredChain {
    let idowner =
        insert(client, "INSERT INTO owner_usaha (nama, created_at) VALUES ('Bu Ani', $1) RETURNING idowner", &[&T0]).await;
    let outlet = "INSERT INTO outlet (idowner, nama, kota, latitude, longitude, created_at)
        VALUES ($1, 'Laundry Melati', 'Bandung', 0, 0, $2) RETURNING idoutlet";
    let idoutlet = insert(client, outlet, &[&idowner, &T0]).await;
    client.execute("INSERT INTO akun (jenis, idoutlet) VALUES ('R', $1), ('K', $1)", &[&idoutlet]).await.unwrap();
    let mut chain =
        StoredChain { idowner, idoutlet, services: vec![], machines: vec![], customers: vec![], purchases: HashMap::new() };
    for duration_s in SERVICES_S {
        let sql = "INSERT INTO layanan (idoutlet, nama, durasi_s, harga, created_at) VALUES ($1, 'Cuci', $2, $3, $4) RETURNING idlayanan";
        chain.services.push(insert(client, sql, &[&idoutlet, &duration_s, &PRICE, &T0]).await);
    }
    for _ in 0..MACHINES {
        let sql = "INSERT INTO mesin (idoutlet, idowner, nama, driver, kode, created_at) VALUES ($1, $2, 'Mesin', 'mqtt', $3, $4) RETURNING idmesin";
        let code = nyala_core::domain::machine_code::MachineCode::random(&mut rand::rng());
        chain.machines.push(insert(client, sql, &[&idoutlet, &idowner, &code.as_str(), &T0]).await);
    }
    let coin = "UPDATE mesin SET cara = 'pulsa', pulsa = $2, lebar_ms = $3, jeda_ms = $4, sense_s = $5 WHERE idmesin = $1";
    let Pulses { n, width_ms, gap_ms, sense_s } = PULSES;
    client.execute(coin, &[&chain.machines[COIN_MACHINE], &n, &width_ms, &gap_ms, &sense_s]).await.unwrap();
    let board = "INSERT INTO perangkat_kini (idmesin, terdengar_at, bisa) VALUES ($1, $2, '{pulse}')";
    client.execute(board, &[&chain.machines[COIN_MACHINE], &T0]).await.unwrap();
    for customer in 0..=CUSTOMERS {
        let sql = "INSERT INTO customer_global (telp, nama_awal, nama_akhir, password_hash, created_at, updated_at)
            VALUES ($1, 'Siti', 'Rahma', '', $2, $2) RETURNING id";
        let id_customer_global = insert(client, sql, &[&format!("8{number:05}{customer:02}"), &T0]).await;
        let package = Package::parse(BALANCE.into(), None, None, AccountKind::Lasting).unwrap();
        let tx = client.transaction().await.unwrap();
        let done =
            topup(&tx, WalletRef { id_customer_global, idoutlet, idowner }, &package, Payment::OutsideShift(None), "uji", T0)
                .await
                .unwrap();
        tx.commit().await.unwrap();
        chain.customers.push((id_customer_global, done.idcustomer));
    }
    chain
}

impl StoredChain {
    fn order(&self, order: OrderRow) -> Order {
        let (id_customer_global, idcustomer) = self.customers[order.customer];
        Order {
            id_customer_global,
            idcustomer,
            idmesin: self.machines[order.machine],
            idoutlet: self.idoutlet,
            idlayanan: self.services[order.service],
            ..order.order()
        }
    }
}

/// Asks PostgreSQL the same question and compares the answers.
async fn ask(client: &mut DbClient, chain: &mut StoredChain, asked: &Asked) -> Result<(), nyala_web::http::error::AppError> {
    match asked {
        Asked::Facts { order, decision, now } => {
            let order = chain.order(*order);
            let here = decide(&order, facts::read(client, &order, *now).await?, *now);
            assert_eq!(decision_text(&here), *decision, "{asked:?}");
        }
        Asked::Open { machine, stored } => {
            let here = facts::open_at(client, chain.machines[*machine]).await?;
            assert_eq!(here.as_ref().map(Stored::from), *stored, "{asked:?}");
        }
        Asked::Hold { order, now, held } => hold(client, chain, *order, *now, *held).await?,
        Asked::Refuse { order, why, now, done } => {
            assert_eq!(ledger::remember_refusal(client, &chain.order(*order), *why, *now).await?, *done, "{asked:?}");
        }
        Asked::Apply { purchase, change, now, done } => {
            assert_eq!(
                ledger::apply(client, chain.purchases[purchase].0, *change, *now, None).await?.is_some(),
                *done,
                "{asked:?}"
            );
        }
        Asked::Record { machine, report, of, named, foreign, now, done } => {
            let command = |of: &PurchaseId| chain.purchases[of].1;
            let run = report.run.map(|run| ReportedRun { cmd_id: of.as_ref().map_or(run.cmd_id, command), ..run });
            let sensor = Sensor { never_ran: named.as_ref().map(command).or(report.sensor.never_ran), ..report.sensor };
            let report = StateReport { run, sensor, ..*report };
            let here = record(client, chain.machines[*machine], report, *foreign, *now, None).await?;
            assert_eq!(here, done.again, "{asked:?}");
        }
        Asked::Set { machine, what } => {
            let idmesin = &chain.machines[*machine];
            let (sql, value): (_, &(dyn ToSql + Sync)) = match what {
                MachineWrite::Online(online) => ("UPDATE mesin SET online = $2 WHERE idmesin = $1", online),
                MachineWrite::NeedsStaff => ("UPDATE mesin SET perlu_petugas = $2 WHERE idmesin = $1", &true),
                MachineWrite::Closed => (CLOSE, &T0),
                MachineWrite::Pulses(true) => ("UPDATE perangkat_kini SET bisa = $2 WHERE idmesin = $1", &PULSE),
                MachineWrite::Pulses(false) => ("UPDATE perangkat_kini SET bisa = $2 WHERE idmesin = $1", &NOTHING),
            };
            client.execute(sql, &[idmesin, value]).await?;
        }
        Asked::Stop { purchase, now } => {
            let sql = "UPDATE snap_transaksi SET stop_requested_at = COALESCE(stop_requested_at, $2) WHERE id = $1";
            client.execute(sql, &[&chain.purchases[purchase].0, now]).await?;
        }
        Asked::OpenMachine { machine, now } => {
            let sql = "WITH o AS (UPDATE mesin SET ditutup_sejak = NULL, ditutup_alasan = NULL WHERE idmesin = $1 AND ditutup_sejak IS NOT NULL
                    RETURNING idmesin)
                UPDATE keadaan_mesin k SET sampai = $2 FROM o WHERE k.idmesin = o.idmesin AND k.keadaan = 'ditutup' AND k.sampai IS NULL";
            assert_eq!(client.execute(sql, &[&chain.machines[*machine], now]).await?, 1, "{asked:?}");
        }
        Asked::Refund { purchase, amount, now, done } => {
            let sql = "SELECT no_nota, idcustomer FROM snap_transaksi WHERE id = $1";
            let row = client.query_one(sql, &[&chain.purchases[purchase].0]).await?;
            let receipt = nyala_core::domain::receipt_number::ReceiptNumber::parse(row.get(0)).unwrap();
            let tx = client.transaction().await?;
            let given = give_back(&tx, &receipt, row.get(1), *amount, *now).await;
            tx.commit().await?;
            assert_eq!(given.is_ok(), *done, "{asked:?}: {given:?}");
        }
    }
    Ok(())
}

async fn hold(
    client: &DbClient,
    chain: &mut StoredChain,
    order: OrderRow,
    now: Timestamp,
    held: Result<PurchaseId, Option<nyala_core::purchase::rules::Refusal>>,
) -> Result<(), nyala_web::http::error::AppError> {
    let StoredChain { idoutlet, idowner, .. } = *chain;
    let name = || "Mesin".to_owned();
    let machine = MachineFacts {
        idoutlet,
        idowner,
        name: name(),
        driver: DriverKind::Sim,
        online: true,
        needs_staff: false,
        busy: false,
        coin: coin_of(order.machine),
        tests: TestFacts::default(),
    };
    let service = ServiceFacts {
        idoutlet,
        name: name(),
        duration_s: SERVICES_S[order.service],
        pulses: 1,
        tariff: Tariff::flat(PRICE),
        versions: SaleVersions { service: 1, outlet: 1 },
    };
    let here = ledger::hold(client, &chain.order(order), &machine, &service, now).await?;
    if let (Held::Won { purchase_id, cmd_id, .. }, Ok(purchase)) = (&here, held) {
        chain.purchases.insert(purchase, (*purchase_id, *cmd_id));
    }
    assert_eq!(outcome(&here).map(drop), held.map(drop), "{order:?}");
    Ok(())
}

async fn give_back(
    tx: &deadpool_postgres::Transaction<'_>,
    receipt: &nyala_core::domain::receipt_number::ReceiptNumber,
    idcustomer: WalletId,
    amount: i64,
    now: Timestamp,
) -> Result<refund::Refunded, nyala_web::http::error::AppError> {
    let visible = Visible { wallet: Some(idcustomer), ..Visible::default() };
    let use_ = refund::lock(tx, receipt, visible).await?;
    Ok(refund(tx, &use_, amount, Grounds { principal: "uji", reason: "uji", now }).await?)
}

/// Checks that both sides store the same data.
async fn compare(client: &DbClient, chain: &StoredChain, store: &Store) {
    for (i, p) in store.purchases.iter().enumerate() {
        let id = chain.purchases[&PurchaseId::new(i64::try_from(i).unwrap() + 1)].0;
        let sql = "SELECT state, cmd_epoch, created_at, ends_at, finished_at, stop_requested_at, dikembalikan, tambah_s, sense,
                kendala IS NOT DISTINCT FROM 'tidak_jalan', kendala IS NOT DISTINCT FROM 'terputus'
            FROM snap_transaksi WHERE id = $1";
        let row = client.query_one(sql, &[&id]).await.unwrap();
        let here: (PurchaseState, i64, Timestamp) = (row.get(0), row.get(1), row.get(2));
        assert_eq!(here, (p.state, p.epoch, p.created_at), "{p:?}");
        let here: [Option<Timestamp>; 3] = [row.get(3), row.get(4), row.get(5)];
        assert_eq!(here, [p.ends_at, p.finished_at, p.stop_requested_at], "{p:?}");
        assert_eq!((row.get(6), i64::from(row.get::<_, i32>(7))), (p.refunded, p.added_s), "{p:?}");
        assert_eq!((row.get(8), row.get(9), row.get(10)), (p.sense, p.never_ran, p.cut), "{p:?}");
    }
    for (wallet, (_, idcustomer)) in store.wallets.iter().zip(&chain.customers) {
        let sql = "SELECT credits_posted, debits_posted, debits_pending, saldo FROM quota_emoney WHERE idcustomer = $1";
        let row = client.query_one(sql, &[idcustomer]).await.unwrap();
        let here: (i64, i64, i64, i64) = (row.get(0), row.get(1), row.get(2), row.get(3));
        assert_eq!(here, (wallet.credits, wallet.debits, wallet.pending, wallet.balance()));
    }
    let count = async |action: &str, idmesin: MachineId| {
        let sql = "SELECT count(*) FROM audit_log WHERE aksi = $1 AND objek = 'mesin:' || $2::BIGINT";
        usize::try_from(insert::<i64>(client, sql, &[&action, &idmesin]).await).unwrap()
    };
    for (machine, (m, idmesin)) in store.machines.iter().zip(&chain.machines).enumerate() {
        let row = client
            .query_one(
                "SELECT online, perlu_petugas, epoch, jalan_sampai, ditutup_sejak IS NOT NULL, boot, sense_sejak IS NOT NULL
                    FROM mesin WHERE idmesin = $1",
                &[idmesin],
            )
            .await
            .unwrap();
        assert_eq!((row.get(0), row.get(1), row.get(2), row.get(4)), (m.online, m.needs_staff, m.epoch, m.closed));
        assert_eq!((row.get(5), row.get(6)), (m.boot, m.senses));
        assert_eq!(row.get::<_, Option<Timestamp>>(3), m.unpaid.map(|(_, ends_at)| ends_at));
        let gave_up = store.purchases.iter().filter(|p| p.order.machine == machine && p.gave_up).count();
        assert_eq!(count("mesin.perlu_petugas", *idmesin).await, gave_up);
        let unpaid = store.unpaid_runs.iter().filter(|id| store.purchase(**id).order.machine == machine).count();
        assert_eq!(count("mesin.jalan_tanpa_bayar", *idmesin).await, unpaid);
    }
}
