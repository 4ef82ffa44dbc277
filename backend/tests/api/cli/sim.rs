//! Played devices at this server, and `nyala device sim`, which starts the program that plays them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use clap::Parser;
use futures_util::FutureExt;
use nyala_device_sim::cli::Cli;
use nyala_device_sim::fleet::Stop;
use nyala_store::config::ServerSettings;
use serde_json::{Value, json};

use super::CommandOutput;
use crate::purchase::races::PATIENCE;
use crate::support::helpers::Setup;
use crate::support::shop::buy;

/// Devices that are played in this process until the test ends.
struct PlayedDevices {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    control: (TcpStream, BufReader<TcpStream>),
}

impl PlayedDevices {
    fn start(args: &[&str]) -> Self {
        let args = [&["nyala-device-sim", "--control", "127.0.0.1:0"], args].concat();
        let mut fleet = Cli::parse_from(args).fleet().unwrap();
        let (events, mut out) = std::io::pipe().unwrap();
        let stop = fleet.stopper();
        let thread = std::thread::spawn(move || fleet.run(&mut out).unwrap());
        let mut first = String::new();
        BufReader::new(events).read_line(&mut first).unwrap();
        let first: Value = serde_json::from_str(&first).unwrap();
        let stream = TcpStream::connect(first["control"].as_str().unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stop, thread: Some(thread), control: (stream.try_clone().unwrap(), BufReader::new(stream)) }
    }

    fn ask(&mut self, order: &str) -> Value {
        let (stream, answers) = &mut self.control;
        stream.write_all(format!("{order}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }
}

impl Drop for PlayedDevices {
    fn drop(&mut self) {
        self.stop.stop();
        let _ = self.thread.take().unwrap().join();
    }
}

#[actix_web::test]
async fn a_server_at_an_address_of_ipv6_is_known_by_its_certificate() {
    if TcpListener::bind("[::1]:0").is_err() {
        // Written directly, because the test runner hides the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no IPv6 here, so no device connects by it");
        return;
    }
    let over_ipv6 = |c: &mut ServerSettings| (c.mqtt.host, c.mqtt.tls) = ("::1".to_owned(), true);
    let app = Setup::new().with(over_ipv6).running_clock().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let folder = ProgramFolder::new();
    let ca = folder.0.join("ca.pem");
    fs::write(&ca, app.state.mqtt.trusted().unwrap().unwrap()).unwrap();
    let (id, outlet, at) = (given.idmesin.to_string(), given.idoutlet.to_string(), format!("[::1]:{}", given.port));
    let ca = ca.to_str().unwrap();
    let _devices =
        PlayedDevices::start(&["--mesin", &id, "--outlet", &outlet, "--secret", &given.secret, "--server", &at, "--ca", ca]);
    app.until_stored(given.idmesin.get(), "online", true).await;
}

#[actix_web::test]
async fn a_customer_washes_with_one() {
    let app = Setup::new().running_clock().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let (id, outlet, at) = (given.idmesin.to_string(), given.idoutlet.to_string(), format!("127.0.0.1:{}", given.port));
    let mut devices = PlayedDevices::start(&["--mesin", &id, "--outlet", &outlet, "--secret", &given.secret, "--server", &at]);
    app.until_stored(given.idmesin.get(), "online", true).await;
    let order = buy(1, shop, epay);
    app.buy(&siti, &order).boxed_local().await.expect(200, "Mesin Berhasil dinyalakan");
    let run = devices.ask(&format!("run {id}"));
    assert_eq!((&run["starts"], &run["run"]["sisa_s"]), (&json!(1), &json!(600)));
    // The device loses its power for a moment, and the server learns of it from its first state report.
    for order in ["fault", "heal"] {
        let fault = format!("{order} {id} reboot");
        assert_eq!(devices.ask(&fault)["ok"], true, "{fault}");
    }
    let began = std::time::Instant::now();
    loop {
        let stats = devices.ask("stats");
        if stats["starts"]["went_on"] == 1 && stats["connected"] == 1 {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{stats}");
    }
    assert_eq!(app.states(&order.receipt).await, ["RUNNING"]);
    app.assert_no_violation().await;
}

/// A folder that is deleted after the test.
struct ProgramFolder(PathBuf);

impl ProgramFolder {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(uuid::Uuid::new_v4().simple().to_string());
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// A program in place of `nyala-device-sim`: it prints where it lies and its arguments, and ends with 7.
    fn with_sim(self) -> Self {
        let text = "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\"\nexit 7\n";
        // A process of its own writes it: a file that this one writes could be open in the child of another test when it is executed.
        let write = "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\"";
        let written = Command::new("sh").args(["-c", write]).arg(self.0.join("nyala-device-sim")).arg(text).status().unwrap();
        assert!(written.success());
        self
    }
}

impl Drop for ProgramFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn device_sim_becomes_the_program_beside_this_one_else_the_one_on_path() {
    let (alone, beside, path) = (ProgramFolder::new(), ProgramFolder::new().with_sim(), ProgramFolder::new().with_sim());
    let run = |programs: &ProgramFolder, path: &ProgramFolder| -> CommandOutput {
        let nyala = programs.0.join("nyala");
        if !nyala.exists() {
            fs::hard_link(env!("CARGO_BIN_EXE_nyala"), &nyala).unwrap();
        }
        let args = ["--config-dir", "c", "device", "sim", "--set", "a.b=c", "--keys", "k.csv", "--set", "d.e=f", "--help"];
        Command::new(nyala).args(args).env("PATH", format!("{}:/usr/bin:/bin", path.0.display())).output().unwrap().into()
    };
    let args = "--config-dir\nc\n--set\na.b=c\n--keys\nk.csv\n--set\nd.e=f\n--help\n";
    for (programs, from) in [(&beside, &beside), (&alone, &path)] {
        let ended = run(programs, &path);
        let program = from.0.join("nyala-device-sim");
        assert_eq!((ended.code, ended.out.as_str()), (7, format!("{}\n{args}", program.display()).as_str()), "{ended:?}");
    }
    run(&alone, &ProgramFolder::new())
        .refused(&format!("neither in {} nor on PATH: in a checkout of this version, `cargo", alone.0.display()));
}
