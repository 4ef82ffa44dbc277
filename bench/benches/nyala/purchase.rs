//! The two transactions of a purchase, one after the other on one connection, as the machine's actor does them.

use std::time::{Duration, Instant};

use criterion::Criterion;
use embedded_postgres::Postgres;
use nyala_bench::db;
use nyala_bench::server::Scratch;
use nyala_bench::shop::{self, DURATION_S, global};
use nyala_core::domain::id::{CustomerId, MachineId, OutletId, PurchaseId, ServiceId, WalletId};
use nyala_core::domain::receipt_number::ReceiptNumber;
use nyala_core::domain::timestamp::Timestamp;
use nyala_core::purchase::facts::{MachineFacts, Order, ServiceFacts};
use nyala_core::purchase::step::{Change, Held};
use nyala_ledger::facts;
use nyala_ledger::purchase::{apply, hold};
use nyala_loadtest::shop::{PRICE, Shop};
use nyala_store::clock::wall_clock;
use nyala_store::db::pool::{Db, DbClient, PoolLimits};
use tokio::runtime::Runtime;

/// A customer's balance is enough for two thousand purchases.
const CUSTOMERS: usize = 1000;
const LIMITS: PoolLimits =
    PoolLimits { wait: Duration::from_secs(5), connect: Duration::from_secs(5), statement: None, admission: None };

/// A shop in a separate database; the server that made it has ended.
struct Till {
    runtime: Runtime,
    shop: Shop,
    pool: Db,
    machine: MachineFacts,
    service: ServiceFacts,
    bought: usize,
    _postgres: Postgres,
    _scratch: Scratch,
}

pub fn bench(criterion: &mut Criterion) {
    let mut till = None;
    criterion.bench_function("purchase/hold and run", |b| {
        let till = till.get_or_insert_with(Till::open);
        b.iter_custom(|n| till.sell(n));
    });
}

impl Till {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let scratch = Scratch::make().unwrap();
        let shop = runtime.block_on(async {
            let mut server = scratch.start().await.unwrap();
            let shop = shop::open(&server, 1, CUSTOMERS).await.unwrap();
            server.stop().await.unwrap();
            shop
        });
        let postgres = db::open(&scratch.data()).unwrap();
        let pool = Db::new(&postgres.connection_string("postgres"), 1, LIMITS).unwrap();
        let facts = runtime.block_on(async {
            let client = pool.get().await.unwrap();
            facts::read(&client, &order(&shop, 0), wall_clock()).await.unwrap()
        });
        let (machine, service) = (facts.machine.unwrap(), facts.service.unwrap());
        Self { runtime, shop, pool, machine, service, bought: 0, _postgres: postgres, _scratch: scratch }
    }

    /// The time that `n` purchases take; that their runs end is not in it.
    fn sell(&mut self, n: u64) -> Duration {
        let client = self.runtime.block_on(self.pool.get()).unwrap();
        let mut took = Duration::ZERO;
        for _ in 0..n {
            let order = order(&self.shop, self.bought);
            self.bought += 1;
            let now = wall_clock();
            let ends_at = now.plus_ms(i64::from(DURATION_S) * 1000);
            let began = Instant::now();
            let id = self.runtime.block_on(buy(&client, &order, &self.machine, &self.service, now, ends_at));
            took += began.elapsed();
            assert!(self.runtime.block_on(apply(&client, id, Change::Finish, ends_at, None)).unwrap().is_some());
        }
        took
    }
}

async fn buy(
    client: &DbClient,
    order: &Order,
    machine: &MachineFacts,
    service: &ServiceFacts,
    now: Timestamp,
    ends_at: Timestamp,
) -> PurchaseId {
    let Held::Won { purchase_id, .. } = hold(client, order, machine, service, now).await.unwrap() else {
        panic!("the machine is not free")
    };
    assert!(apply(client, purchase_id, Change::Run { started_at: now, ends_at, added_s: 0 }, now, None).await.unwrap().is_some());
    purchase_id
}

fn order(shop: &Shop, n: usize) -> Order {
    let (customer, machine) = (&shop.customers[n % CUSTOMERS], &shop.machines[0]);
    Order {
        id_customer_global: CustomerId::new(global(customer).unwrap()),
        receipt_number: ReceiptNumber::parse(&format!("SLF{n:015}")).unwrap(),
        idcustomer: WalletId::new(customer.idcustomer),
        idmesin: MachineId::new(machine.idmesin),
        idoutlet: OutletId::new(machine.idoutlet),
        idlayanan: ServiceId::new(machine.idlayanan),
        total: PRICE.cast_signed(),
        grandtotal: PRICE.cast_signed(),
        test: None,
    }
}
