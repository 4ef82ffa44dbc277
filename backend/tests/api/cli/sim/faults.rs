//! Device faults as the server sees them.

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use uuid::Uuid;

use super::server::{Heard, Server};
use super::{NIL, Sim};

#[test]
fn a_refusing_and_a_clockless_device_start_nothing_until_they_are_healed() {
    for (fault, result) in [("refuse", "refused"), ("clock-off", "expired")] {
        let server = Server::start();
        let mut sim = Sim::one(&server, &["--fault", fault]);
        let mut device = server.let_in();
        device.say("start", Uuid::new_v4(), 1);
        let told = device.ack().1;
        // A device that received the time too late answers `expired`, with any fault.
        assert!(told == result || told == "expired", "{fault}: {told}");
        device.probe();
        sim.does("heal 7");
        device.starts();
    }
}

#[test]
fn a_silent_device_ignores_commands() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &[]);
    let mut device = server.let_in();
    sim.does("fault 7 silent");
    device.say("start", Uuid::new_v4(), 1);
    // A silent device gives no answer, but has read the command when it is counted.
    sim.until(|stats| stats["cmds"]["start"] == 1);
    sim.does("heal 7 silent");
    device.probe();
    assert_eq!((&device.state["seq"], &device.state["last"]), (&json!(2), &Value::Null), "it said nothing meanwhile");
}

#[test]
fn a_late_device_starts_at_once_and_reports_it_later() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &["--fault", "late"]);
    let mut device = server.let_in();
    let cmd_id = Uuid::new_v4();
    device.say("start", cmd_id, 1);
    device.probe();
    assert_eq!(device.state["run"]["cmd_id"], json!(cmd_id));
    assert_eq!(sim.ask("run 7")["starts"], 1);
    assert_eq!(device.ack(), (json!(cmd_id), json!("started")));
}

#[test]
fn messages_are_duplicated_and_reordered() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &[]);
    let mut device = server.let_in();
    let mut seqs = |fault: &str, words: usize| -> Vec<i64> {
        sim.does(&format!("fault all {fault}"));
        device.say("query", NIL, 0);
        device.say("query", NIL, 0);
        let heard = (0..words).map(|_| device.word().1["seq"].as_i64().unwrap()).collect();
        sim.does("heal all");
        heard
    };
    assert_eq!(seqs("duplicate", 4), [2, 2, 3, 3]);
    assert_eq!(seqs("reorder", 2), [5, 4]);
}

#[test]
fn a_message_that_no_other_overtakes_still_arrives() {
    let server = Server::start();
    let _sim = Sim::one(&server, &["--fault", "reorder"]);
    server.let_in();
}

#[test]
fn a_flapping_connection_reconnects_with_the_same_boot() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &[]);
    let first = server.let_in();
    sim.does("fault 7 flap");
    assert_eq!(server.next(), Heard::Closed { line: first.line });
    let second = server.let_in();
    assert_eq!((&second.boot_id, &second.state["conn"]), (&first.boot_id, &json!(2)));
    // The connection flaps again.
    assert_eq!(server.next(), Heard::Closed { line: second.line });
}

#[test]
fn a_last_command_and_the_end_of_its_connection_may_arrive_together() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &[]);
    let mut first = server.let_in();
    sim.signal(Signal::SIGSTOP);
    first.say("query", NIL, 0);
    server.end(first.line);
    sim.signal(Signal::SIGCONT);
    assert_eq!(first.word().0, "state");
    assert_eq!(server.let_in().boot_id, first.boot_id);
    assert_eq!(sim.ask("stats")["last_loss"], "closed by the server", "and not silent for too long");
}

#[test]
fn a_cycle_continues_after_a_reboot_and_not_after_amnesia() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &[]);
    let mut first = server.let_in();
    let cmd_id = first.starts();
    sim.does("fault 7 reboot");
    sim.does("heal 7");
    assert_eq!(sim.ask("run 7")["run"], Value::Null, "without power nothing runs");
    let second = server.let_in();
    assert_ne!(second.boot_id, first.boot_id);
    assert_eq!((&second.state["run"]["cmd_id"], &second.state["conn"]), (&json!(cmd_id), &json!(1)));
    assert_eq!(sim.ask("stats")["starts"]["went_on"], 1);

    sim.does("fault 7 amnesia");
    sim.does("heal 7");
    let third = server.let_in();
    assert!(third.boot_id != second.boot_id && third.boot_id != first.boot_id);
    assert_eq!((&third.state["run"], &third.state["epoch"], &third.state["last"]), (&Value::Null, &json!(0), &Value::Null));
}

#[test]
fn a_half_open_connection_is_silent_and_its_device_returns_on_another() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &[]);
    let mut first = server.let_in();
    assert_eq!(sim.line(), json!({"ready": 1}));
    sim.does("fault 7 half-open");
    first.say("query", NIL, 0);
    assert_eq!(sim.ask("stats")["connected"], 0);
    sim.does("come-back 7");
    // The old connection stays open until the device is on the new one.
    let Heard::LogIn { line, .. } = server.next() else { panic!("a login") };
    let mut rest: Vec<Heard> = (0..3).map(|_| server.next()).collect();
    rest.retain(|heard| *heard != Heard::Closed { line: first.line });
    let [Heard::Subscribed { .. }, Heard::DeviceMessage { line: of, word, .. }] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!((*of, &word["boot_id"], &word["conn"]), (line, &first.boot_id, &json!(2)), "and the query was never heard");
    sim.does("fault 7 half-open");
    sim.does("heal 7");
    first.server.say(line, &first.cmd("query", NIL, 0));
    assert_eq!(first.word().0, "state", "healed, its line is as good as before");
}

#[test]
fn a_clone_has_the_key_and_another_boot() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &[]);
    let first = server.let_in();
    sim.does("fault 7 clone");
    let second = server.let_in();
    assert_ne!(second.boot_id, first.boot_id);
    assert_eq!(sim.ask("stats")["devices"], 2);
    sim.does("heal 7");
    assert_eq!(server.next(), Heard::Closed { line: second.line });
    assert_eq!(sim.ask("stats")["connected"], 1);
    sim.does("fault 7 clone");
    assert_ne!(server.let_in().boot_id, second.boot_id);
}
