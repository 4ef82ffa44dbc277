//! A thread that lost its alarm clock, its hub or its writer, or a server that lost its reaper: the process ends with a message, so that
//! it is started again.

use std::collections::BTreeSet;
use std::path::Path;

use actix_web::rt::task::spawn_blocking;
use nyala_store::config::{VITAL_TASKS, VITAL_TASKS_OF_A_CLUSTER};

use super::Site;
use crate::server::rules::{CRATES, checkout};

/// Starts the server with a task that panics, gives that task work, and waits for the end.
async fn ends(task: &str) {
    let mut site = Site::new().await;
    let mut command = site.program(&["serve"]);
    command.env("NYALA__DEV__PANIC_TASK", task);
    if VITAL_TASKS_OF_A_CLUSTER.contains(&task) {
        command.env("NYALA__CLUSTER__ENABLED", "true").env("NYALA__CLUSTER__NAME", "n1");
        // The task must panic with and without a reachable NATS server.
        command.env("NYALA__CLUSTER__NATS_URL", "nats://127.0.0.1:1");
    }
    let exit = if ["turn", "wheel"].contains(&task) {
        // These tasks begin with the first session.
        site.start_with(&[("NYALA__DEV__PANIC_TASK", task)]).await;
        // The server may die before it has answered.
        let _ = site.knock().await;
        let status = site.ended().await;
        (status.code(), site.log())
    } else {
        let out = spawn_blocking(move || command.output()).await.unwrap().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    assert_eq!(exit.0, Some(actix_socketio::host::vital::EXIT_CODE), "{}", exit.1);
    let line =
        exit.1.lines().find(|line| line.contains("a task that its thread cannot do without has panicked: the process ends"));
    assert!(line.is_some_and(|line| line.contains(task)), "{}", exit.1);
}

#[actix_web::test]
async fn its_panic_ends_the_process_with_a_line_that_names_it() {
    for task in VITAL_TASKS.into_iter().chain(VITAL_TASKS_OF_A_CLUSTER) {
        ends(task).await;
    }
}

/// The names of the tasks that are started in `dir`.
fn begun_in(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            begun_in(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let named = ["vital::spawn(\"", "vital::run(\""].into_iter().flat_map(|begin| text.split(begin).skip(1));
            found.extend(named.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }
}

#[test]
fn every_vital_task_is_on_the_list() {
    let mut begun = BTreeSet::new();
    for name in CRATES.into_iter().chain(["libs/actix-socketio"]) {
        begun_in(&checkout(&format!("backend/{name}/src")), &mut begun);
    }
    assert_eq!(begun, VITAL_TASKS.into_iter().chain(VITAL_TASKS_OF_A_CLUSTER).map(str::to_owned).collect());
}

#[actix_web::test]
async fn an_unknown_task_and_production_are_refused() {
    let site = Site::new().await;
    let check = async |set: &str| site.run(&["config", "check", "--set", set]).await;
    let unknown = check("dev.panic_task=cook").await.unwrap_err();
    assert!(unknown.contains("cook") && unknown.contains("alarm, hub, turn"), "{unknown}");
    check("dev.panic_task=alarm").await.unwrap();
    let production = [
        "profile=production",
        "whatsapp.meta_access_token=x",
        "whatsapp.meta_phone_number_id=1",
        "whatsapp.meta_template=kode",
        "dev.panic_task=alarm",
    ];
    let args: Vec<&str> = ["config", "check"].into_iter().chain(production.into_iter().flat_map(|set| ["--set", set])).collect();
    let refused = site.run(&args).await.unwrap_err();
    assert!(refused.contains("dev.panic_task must be empty"), "{refused}");
}
