//! Purchases whose timer or message was lost are found again, even when others are stuck.

use nyala_core::domain::id::MachineId;
use nyala_core::purchase::times::CMD_TTL_MS;
use nyala_machines::recovery::{OVERDUE, RESEND, UNDECIDED};

use crate::purchase::races::quick;
use crate::support::arrange::receipt;
use crate::support::helpers::TestApp;

impl TestApp {
    /// Commits an operator's stop of which the actor is not notified.
    pub async fn stop_without_notification(&self, receipt: &str) {
        let stop = "UPDATE snap_transaksi SET stop_requested_at = $2 WHERE no_nota = $1 AND state = 'RUNNING'";
        assert_eq!(self.db.execute(stop, &[&receipt, &self.now()]).await.unwrap(), 1, "it runs");
    }
}

/// A small batch size per kind: cycles that stay stuck, though more than a batch, keep no command and no unsure purchase from being
/// found.
#[actix_web::test]
async fn each_kind_of_lost_work_has_its_own_batch() {
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
    let rows = app.db.query(OVERDUE, &[&long_after, &long_after, &OF_EACH, &None::<Vec<i32>>]).await.unwrap();
    let found: Vec<MachineId> = rows.iter().map(|row| row.get(0)).collect();
    let of = |kind: &[MachineId]| kind.iter().filter(|idmesin| found.contains(idmesin)).count();
    assert_eq!((of(&machines[..4]), of(&machines[4..5]), of(&machines[5..])), (2, 1, 1), "{found:?} of {machines:?}");
}

/// Finds each kind of command that was lost, also with a batch size of one. Recent ones are left to the actor, which may still be working
/// on them.
#[actix_web::test]
async fn lost_commands_are_found_once_they_are_old_enough() {
    let app = TestApp::spawn().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 200_000).await;
    let mut machines = Vec::new();
    for (n, state) in (0..).zip(["HELD", "HELD", "SENT", "UNSURE", "RUNNING", "RUNNING", "RUNNING"]) {
        let machine = app.machine(outlet, &format!("Mesin {n}")).await;
        let held = app.hold(epay, &machine, &receipt(n)).await;
        match (n, state) {
            (4 | 5, _) => {
                app.started(&held).await;
                app.stop_without_notification(&held.receipt).await;
            }
            (_, "RUNNING") => app.started(&held).await,
            _ => {
                app.db.execute("UPDATE snap_transaksi SET state = $2 WHERE id = $1", &[&held.id, &state]).await.unwrap();
            }
        }
        machines.push(machine.idmesin);
    }
    let found = async |sql: &str, age_ms: i64, of_each: i64| {
        let until = app.now().plus_ms(-age_ms);
        let rows = app.db.query(sql, &[&until.plus_ms(CMD_TTL_MS), &until, &of_each, &None::<Vec<i32>>]).await.unwrap();
        let found: Vec<MachineId> = rows.iter().map(|row| row.get(0)).collect();
        machines.iter().zip(0..).filter(|(m, _)| found.contains(m)).map(|(_, n)| n).collect::<Vec<usize>>()
    };
    for sql in [RESEND, UNDECIDED] {
        assert!(found(sql, 2_000, 10).await.is_empty(), "they are younger than that");
    }
    assert_eq!(found(RESEND, 0, 10).await, [0, 1, 4, 5]);
    assert_eq!(found(UNDECIDED, 0, 10).await, [2, 3]);
    let one_of_each = found(RESEND, 0, 1).await;
    assert!(matches!(one_of_each[..], [0 | 1, 4 | 5]), "{one_of_each:?}");
}

#[actix_web::test]
async fn a_start_and_a_stop_that_were_never_sent_are_sent() {
    let app = quick().start().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 200_000).await;
    let held = app.hold(epay, &app.machine(outlet, "Mesin 1").await, &receipt(1)).await;
    // Within the command's validity: after that the money would be refunded.
    app.until(&held.receipt, "RUNNING").await;
    app.stop_without_notification(&held.receipt).await;
    app.until(&held.receipt, "STOPPED").await;
    app.assert_no_violation().await;
}

#[actix_web::test]
async fn an_unsure_purchase_without_an_actor_is_queried() {
    let app = quick().start().await;
    let outlet = app.outlet("Melati").await;
    let siti = app.register_customer("81234567890", "Siti", "Rahma").await;
    let epay = app.funded(&siti, outlet, 200_000).await;
    let unsure = app.hold(epay, &app.machine(outlet, "Mesin 1").await, &receipt(1)).await;
    app.db.execute("UPDATE snap_transaksi SET state = 'UNSURE' WHERE id = $1", &[&unsure.id]).await.unwrap();
    // Its device knows nothing of it.
    app.until(&unsure.receipt, "EXPIRED").await;
    assert_eq!(app.balance(epay.idcustomer).await, 200_000);
    app.assert_no_violation().await;
}
