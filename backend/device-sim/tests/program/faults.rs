//! Device faults as the server sees them.

use std::iter;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use uuid::Uuid;

use super::server::{Received, Server};
use super::{LoggedIn, NIL, Program};

#[test]
fn a_refusing_and_a_clockless_device_start_nothing_until_they_are_healed() {
    for (fault, result) in [("refuse", "refused"), ("clock-off", "expired")] {
        let server = Server::start();
        let mut program = Program::one(&server, &["--fault", fault]);
        let mut device = server.log_in();
        device.send("start", Uuid::new_v4(), 1);
        let result_now = device.ack().1;
        // A device that received the time too late answers `expired`, with any fault.
        assert!(result_now == result || result_now == "expired", "{fault}: {result_now}");
        device.probe();
        program.order("heal 7");
        device.starts();
    }
}

#[test]
fn a_silent_device_ignores_commands() {
    let server = Server::start();
    let mut program = Program::one(&server, &[]);
    let mut device = server.log_in();
    program.order("fault 7 silent");
    device.send("start", Uuid::new_v4(), 1);
    // A silent device gives no answer, but has read the command when it is counted.
    program.until(|stats| stats["cmds"]["start"] == 1);
    program.order("heal 7 silent");
    device.probe();
    assert_eq!((&device.state["seq"], &device.state["last"]), (&json!(2), &Value::Null), "it sent nothing meanwhile");
}

#[test]
fn a_late_device_starts_at_once_and_reports_it_later() {
    let server = Server::start();
    let mut program = Program::one(&server, &["--fault", "late"]);
    let mut device = server.log_in();
    let cmd_id = Uuid::new_v4();
    device.send("start", cmd_id, 1);
    device.probe();
    assert_eq!(device.state["run"]["cmd_id"], json!(cmd_id));
    assert_eq!(program.ask("run 7")["starts"], 1);
    assert_eq!(device.ack(), (json!(cmd_id), json!("started")));
}

#[test]
fn messages_are_duplicated_and_reordered() {
    let server = Server::start();
    let mut program = Program::one(&server, &[]);
    let mut device = server.log_in();
    let mut seqs = |fault: &str, messages: usize| -> Vec<i64> {
        program.order(&format!("fault all {fault}"));
        device.send("query", NIL, 0);
        device.send("query", NIL, 0);
        let received = (0..messages).map(|_| device.message().1["seq"].as_i64().unwrap()).collect();
        program.order("heal all");
        received
    };
    assert_eq!(seqs("duplicate", 4), [2, 2, 3, 3]);
    assert_eq!(seqs("reorder", 2), [5, 4]);
}

#[test]
fn a_message_that_no_other_overtakes_still_arrives() {
    let server = Server::start();
    let _sim = Program::one(&server, &["--fault", "reorder"]);
    server.log_in();
}

#[test]
fn a_flapping_connection_reconnects_with_the_same_boot() {
    let server = Server::start();
    let mut program = Program::one(&server, &[]);
    let first = server.log_in();
    program.order("fault 7 flap");
    assert_eq!(server.next(), Received::Closed { connection: first.connection });
    let second = server.log_in();
    assert_eq!((&second.boot_id, &second.state["conn"]), (&first.boot_id, &json!(2)));
    // The connection flaps again.
    assert_eq!(server.next(), Received::Closed { connection: second.connection });
}

#[test]
fn a_last_command_and_the_end_of_its_connection_may_arrive_together() {
    let server = Server::start();
    let mut program = Program::one(&server, &[]);
    let mut first = server.log_in();
    program.signal(Signal::SIGSTOP);
    first.send("query", NIL, 0);
    server.end(first.connection);
    program.signal(Signal::SIGCONT);
    assert_eq!(first.message().0, "state");
    assert_eq!(server.log_in().boot_id, first.boot_id);
    assert_eq!(program.ask("stats")["last_loss"], "closed by the server", "and not silent for too long");
}

#[test]
fn a_cycle_continues_after_a_reboot_and_not_after_amnesia() {
    let server = Server::start();
    let mut program = Program::one(&server, &[]);
    let mut first = server.log_in();
    let cmd_id = first.starts();
    program.order("fault 7 reboot");
    program.order("heal 7");
    assert_eq!(program.ask("run 7")["run"], Value::Null, "without power nothing runs");
    let second = server.log_in();
    assert_ne!(second.boot_id, first.boot_id);
    assert_eq!((&second.state["run"]["cmd_id"], &second.state["conn"]), (&json!(cmd_id), &json!(1)));
    assert_eq!(program.ask("stats")["starts"]["went_on"], 1);

    program.order("fault 7 amnesia");
    program.order("heal 7");
    let third = server.log_in();
    assert!(third.boot_id != second.boot_id && third.boot_id != first.boot_id);
    assert_eq!((&third.state["run"], &third.state["epoch"], &third.state["last"]), (&Value::Null, &json!(0), &Value::Null));
}

#[test]
fn a_half_open_connection_is_silent_and_its_device_returns_on_another() {
    let server = Server::start();
    let mut program = Program::one(&server, &[]);
    let mut first = server.log_in();
    assert_eq!(program.line(), json!({"ready": 1}));
    program.order("fault 7 half-open");
    first.send("query", NIL, 0);
    assert_eq!(program.ask("stats")["connected"], 0);
    program.order("come-back 7");
    // The old connection stays open until the device is on the new one.
    let Received::LogIn { connection, .. } = server.next() else { panic!("a login") };
    let mut rest: Vec<Received> = (0..3).map(|_| server.next()).collect();
    rest.retain(|received| *received != Received::Closed { connection: first.connection });
    let [Received::Subscribed { .. }, Received::DeviceMessage { connection: of, message, .. }] = &rest[..] else {
        panic!("{rest:?}")
    };
    assert_eq!(
        (*of, &message["boot_id"], &message["conn"]),
        (connection, &first.boot_id, &json!(2)),
        "and the query was never received"
    );
    program.order("fault 7 half-open");
    program.order("heal 7");
    first.server.send(connection, &first.cmd("query", NIL, 0));
    assert_eq!(first.message().0, "state", "healed, the connection works as before");
}

#[test]
fn a_clone_has_the_key_and_another_boot() {
    let server = Server::start();
    let mut program = Program::one(&server, &[]);
    let first = server.log_in();
    program.order("fault 7 clone");
    let second = server.log_in();
    assert_ne!(second.boot_id, first.boot_id);
    assert_eq!(program.ask("stats")["devices"], 2);
    program.order("heal 7");
    assert_eq!(server.next(), Received::Closed { connection: second.connection });
    assert_eq!(program.ask("stats")["connected"], 1);
    program.order("fault 7 clone");
    assert_ne!(server.log_in().boot_id, second.boot_id);
}

/// Sends the device pulses, and returns the result. A device that received the time too late is asked again.
fn pulse(device: &mut LoggedIn<'_>) -> Value {
    for epoch in 1..=5 {
        let mut cmd = device.cmd("pulse", Uuid::new_v4(), epoch);
        for (field, n) in [("n", 1), ("width_ms", 50), ("gap_ms", 50)] {
            cmd[field] = json!(n);
        }
        device.server.send(device.connection, &cmd);
        let ack = iter::repeat_with(|| device.message()).find(|(topic, _)| topic == "ack").unwrap().1;
        if ack["result"] != "expired" {
            return ack["result"].clone();
        }
        device.probe();
    }
    panic!("its clock is always late")
}

#[test]
fn a_machine_runs_a_while_after_its_pulses_and_its_sensor_moves_the_end() {
    let server = Server::start();
    let mut program = Program::one(&server, &["--sensor"]);
    let mut device = server.log_in();
    assert_eq!((&device.state["can"], &device.state["sense"]), (&json!(["pulse", "sense"]), &json!(false)));
    assert_eq!(pulse(&mut device), "started");
    assert_eq!(device.message().0, "state");
    let run = &device.state["run"];
    assert!(device.state["sense"] == true && run["sisa_s"] == 600 && run["tambah_s"].as_i64().unwrap() >= 3, "{}", device.state);
    assert_eq!(program.ask("run 7")["sense"], true);
    assert_eq!(pulse(&mut device), "refused", "it runs");
}

#[test]
fn a_stuck_sensor_refuses_pulses_and_coins_are_counted() {
    let server = Server::start();
    let mut program = Program::one(&server, &["--sensor", "--coins", "36000"]);
    let mut device = server.log_in();
    assert_eq!(device.state["can"], json!(["pulse", "sense", "coin"]));
    program.order("fault 7 stuck-sensor");
    let mut coins = 0;
    while device.state["sense"] == false || coins == 0 {
        coins = coins.max(device.message().1["coins"].as_i64().unwrap());
    }
    assert!(program.ask("run 7")["coins"].as_i64().unwrap() >= coins);
    assert_eq!(pulse(&mut device), "refused");
}

/// The first coin of a boot is on flash at once, and the others a minute later.
#[test]
fn coins_that_are_not_on_flash_are_lost_with_the_power() {
    let server = Server::start();
    let mut program = Program::one(&server, &["--coins", "36000"]);
    server.log_in();
    while program.ask("run 7")["coins"].as_i64().unwrap() < 4 {}
    program.order("fault 7 reboot");
    program.order("heal 7");
    let counted = server.log_in().state["coins"].as_i64().unwrap();
    assert!((1..=2).contains(&counted), "{counted}");
}
