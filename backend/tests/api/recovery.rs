//! Purchases whose timer or message was lost are found again, whatever else is stuck.

use nyala::machine::recovery::OVERDUE;

use crate::arrange::receipt;
use crate::helpers::TestApp;

/// With room for one of each kind only: runs that stay stuck for ever, though more than a batch, keep no command and no unsure purchase
/// from their turn.
#[actix_web::test]
async fn each_kind_of_lost_work_has_a_batch_of_its_own() {
    const OF_EACH: i64 = 2;
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 200_000).await;
    let mut machines = Vec::new();
    for n in 0..6 {
        let machine = app.machine(outlet, &format!("Mesin {n}")).await;
        let held = app.hold(epay, &machine, &receipt(n)).await;
        match n {
            0..=3 => app.started(&held).await,
            4 => {}
            _ => {
                let unsure = "UPDATE snap_transaksi SET state = 'UNSURE' WHERE id = $1";
                app.db.execute(unsure, &[&held.id]).await.unwrap();
            }
        }
        machines.push(machine.idmesin);
    }
    let long_after = app.now().plus_ms(24 * 60 * 60 * 1000);
    let rows = app.db.query(OVERDUE, &[&long_after, &long_after, &OF_EACH]).await.unwrap();
    let found: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    let of = |kind: &[i64]| kind.iter().filter(|idmesin| found.contains(idmesin)).count();
    assert_eq!((of(&machines[..4]), of(&machines[4..5]), of(&machines[5..])), (2, 1, 1), "{found:?} of {machines:?}");
}
