//! The program `nyala device sim`, connected to the test's server.

mod faults;
mod server;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use futures_util::FutureExt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nyala_store::config::ServerSettings;
use serde_json::{Value, json};
use uuid::Uuid;

use self::server::{Heard, SECRET, Server};
use super::{Said, nyala};
use crate::purchase::races::PATIENCE;
use crate::support::helpers::Setup;
use crate::support::shop::buy;

/// The server's clock, which is stopped. The commands' `exp` is an hour later.
const NOW_MS: i64 = 1_800_000_000_000;
const NIL: Uuid = Uuid::nil();

/// The running program, killed when the test ends.
struct Sim {
    child: Child,
    out: Receiver<String>,
    control: Option<(TcpStream, BufReader<TcpStream>)>,
}

impl Sim {
    /// Starts the program and connects to its control port.
    fn start(args: &[&str]) -> Self {
        let mut sim = Self::start_alone(&[args, &["--control", "127.0.0.1:0"]].concat());
        let stream = TcpStream::connect(sim.line()["control"].as_str().unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        sim.control = Some((stream.try_clone().unwrap(), BufReader::new(stream)));
        sim
    }

    fn start_alone(args: &[&str]) -> Self {
        let mut child = nyala().args(["device", "sim"]).args(args).stdout(Stdio::piped()).spawn().unwrap();
        let (told, out) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| told.send(line)));
        Self { child, out, control: None }
    }

    /// One machine, number 7 of outlet 3.
    fn one(server: &Server, args: &[&str]) -> Self {
        let at = server.address.to_string();
        Self::start(&[&["--secret", SECRET, "--outlet", "3", "--mesin", "7", "--server", &at], args].concat())
    }

    /// The next line of its standard output.
    fn line(&self) -> Value {
        serde_json::from_str(&self.out.recv_timeout(PATIENCE).expect("a line")).expect("JSON")
    }

    fn ask(&mut self, order: &str) -> Value {
        let (stream, answers) = self.control.as_mut().unwrap();
        stream.write_all(format!("{order}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|e| panic!("{order}: {answer:?}: {e}"))
    }

    /// Waits until `is` accepts the answer to `stats`, and returns that answer.
    fn until(&mut self, is: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let stats = self.ask("stats");
            if is(&stats) {
                return stats;
            }
            assert!(began.elapsed() < PATIENCE, "{stats}");
        }
    }

    fn does(&mut self, order: &str) {
        let answer = self.ask(order);
        assert_eq!(answer["ok"], true, "{order}: {answer}");
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Waits for its end, and returns the exit code and its last output.
    fn ends(&mut self) -> (Option<i32>, String) {
        let rest: Vec<String> = self.out.iter().collect();
        (self.child.wait().unwrap().code(), rest.join("\n"))
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A logged-in device.
struct In<'a> {
    server: &'a Server,
    line: usize,
    boot_id: Value,
    state: Value,
}

impl Server {
    /// Lets a device log in, subscribe and report its state. Connections that close during this are ignored.
    fn let_in(&self) -> In<'_> {
        let next = || loop {
            match self.next() {
                Heard::Closed { .. } => {}
                heard => break heard,
            }
        };
        let Heard::LogIn { line, user, client, will } = next() else { panic!("a login") };
        assert_eq!((user.as_str(), client.as_str()), ("7", "nyala-7"));
        assert_eq!(next(), Heard::Subscribed { line, topic: "nyala/v1/3/7/cmd".to_owned() });
        let Heard::DeviceMessage { line: of, topic, word: state, retain } = next() else { panic!("a state") };
        assert_eq!((of, topic.as_str(), retain), (line, "nyala/v1/3/7/state", true));
        assert_eq!(will, json!({"online": false, "boot_id": state["boot_id"], "conn": state["conn"]}));
        In { server: self, line, boot_id: state["boot_id"].clone(), state }
    }
}

impl In<'_> {
    fn say(&self, op: &str, cmd_id: Uuid, epoch: i64) {
        self.server.say(self.line, &self.cmd(op, cmd_id, epoch));
    }

    /// A command with the `echo` of the device's last state report.
    fn cmd(&self, op: &str, cmd_id: Uuid, epoch: i64) -> Value {
        let exp = NOW_MS / 1000 + 3_600;
        json!({
            "cmd_id": cmd_id, "epoch": epoch, "op": op, "durasi_s": 600, "exp": exp, "now_ms": NOW_MS, "echo": self.state["up_ms"],
        })
    }

    /// The next message: the last part of its topic, and its content. A state report is stored.
    fn word(&mut self) -> (String, Value) {
        match self.server.next() {
            Heard::DeviceMessage { topic, word, .. } => {
                let last = topic.rsplit('/').next().unwrap().to_owned();
                if last == "state" {
                    self.state = word.clone();
                }
                (last, word)
            }
            other => panic!("a word: {other:?}"),
        }
    }

    /// The next ack, which only state reports may precede.
    fn ack(&mut self) -> (Value, Value) {
        loop {
            let (topic, word) = self.word();
            if topic == "ack" {
                return (word["cmd_id"].clone(), word["result"].clone());
            }
            assert_eq!(topic, "state");
        }
    }

    fn probe(&mut self) {
        self.say("query", NIL, 0);
        assert_eq!(self.word().0, "state");
    }

    /// Starts the device. A device that received the time too late is asked again.
    fn starts(&mut self) -> Uuid {
        for epoch in 1..=5 {
            let cmd_id = Uuid::new_v4();
            self.say("start", cmd_id, epoch);
            match self.ack() {
                (of, result) if result == "started" => {
                    assert_eq!(of, json!(cmd_id));
                    return cmd_id;
                }
                (_, result) => assert_eq!(result, "expired"),
            }
            self.probe();
        }
        panic!("it never starts");
    }
}

#[test]
fn a_device_subscribes_reports_starts_and_stops() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &["--hb", "1"]);
    let mut device = server.let_in();
    assert_eq!(sim.line(), json!({"ready": 1}));
    let state = device.state.clone();
    assert_eq!(
        (&state["online"], &state["conn"], &state["run"], &state["last"]),
        (&json!(true), &json!(1), &Value::Null, &Value::Null)
    );
    assert_eq!((&state["hw"], &state["epoch"]), (&json!("nyala device sim"), &json!(0)));
    let beat = device.word();
    assert_eq!((beat.0.as_str(), &beat.1["boot_id"], &beat.1["seq"]), ("hb", &device.boot_id, &json!(2)));
    drop(sim);

    let server = Server::start();
    sim = Sim::one(&server, &[]);
    let mut device = server.let_in();
    device.server.say_kept(device.line, &device.cmd("start", Uuid::new_v4(), 9));
    device.server.say(device.line, &json!({"op": "start"}));
    let cmd_id = device.starts();
    assert_eq!(device.state["run"], json!({"cmd_id": cmd_id, "sisa_s": 600}));
    let told = sim.ask("run 7");
    assert_eq!((&told["connected"], &told["starts"], &told["run"]["cmd_id"]), (&json!(true), &json!(1), &json!(cmd_id)));
    device.say("start", cmd_id, 0);
    assert_eq!(device.word().1["result"], "started", "and no state: nothing is new");
    device.say("stop", cmd_id, 0);
    assert_eq!((device.ack().1, &device.state["run"]), (json!("done"), &Value::Null));
    assert_eq!(sim.ask("run 7")["run"], Value::Null);

    let stats = sim.ask("stats");
    assert_eq!((&stats["connected"], &stats["devices"], &stats["starts"]["run"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!((&stats["cmds"]["ignored"], &stats["cmds"]["stop"], &stats["lost"]), (&json!(2), &json!(1), &json!(0)), "{stats}");
    assert_eq!(sim.line(), json!({"ready": 1}));
    sim.signal(Signal::SIGINT);
    let (code, summary) = sim.ends();
    assert_eq!(code, Some(0));
    assert!(summary.starts_with("devices  1 of 1 connected after ") && summary.contains("\nstarts   1 run, "), "{summary}");
}

/// A file of keys that is deleted after the test.
struct Keys(PathBuf);

impl Keys {
    fn write(text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("nyala-uji-{}.csv", Uuid::new_v4().simple()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn of(machines: std::ops::RangeInclusive<i64>, server: &Server) -> Self {
        let (host, port) = (server.address.ip(), server.address.port());
        let rows: String = machines.map(|id| format!("{id},{SECRET},{host},{port},3,{id},\n")).collect();
        Self::write(&format!("user,secret,host,port,idoutlet,idmesin,ca\n{rows}"))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn many_are_cut_and_come_back() {
    let server = Server::start();
    let keys = Keys::of(1..=40, &server);
    let mut sim = Sim::start(&["--keys", keys.path(), "--mesin", "11-30", "--seed", "1"]);
    assert_eq!(sim.line(), json!({"ready": 20}));
    assert_eq!(sim.ask("cut 11-15"), json!({"ok": true, "devices": 5}));
    let back = sim.line();
    assert_eq!((&back["back"], &back["over"]), (&json!(5), &json!(true)), "{back}");
    assert!(back["max_ms"].as_i64() >= back["p99_ms"].as_i64(), "{back}");
    // The server closes all connections, and accepts new ones.
    server.close();
    assert_eq!(sim.line()["back"], 20);
    let stats = sim.ask("stats");
    assert_eq!((&stats["connected"], &stats["reconnects"], &stats["lost"]), (&json!(20), &json!(25), &json!(25)), "{stats}");
    assert_eq!(sim.ask("quit"), json!({"ok": true}));
    let (code, summary) = sim.ends();
    assert!(code == Some(0) && summary.contains("\noutage   20 back; all: "), "{summary}");
}

#[test]
fn a_devices_memory_survives_in_a_journal() {
    let server = Server::start();
    let journal = Keys::write("");
    let args = ["--journal", journal.path()];
    let mut sim = Sim::one(&server, &args);
    let mut before = server.let_in();
    let cmd_id = before.starts();
    sim.signal(Signal::SIGKILL);
    assert_eq!(sim.ends().0, None);
    let sim = Sim::one(&server, &args);
    let after = server.let_in();
    assert_ne!(after.boot_id, before.boot_id);
    assert_eq!((&after.state["run"]["cmd_id"], &after.state["conn"]), (&json!(cmd_id), &json!(1)));
    drop(sim);
    let _sim = Sim::one(&server, &[]);
    let other = server.let_in();
    assert_eq!((&other.state["run"], &other.state["epoch"]), (&Value::Null, &json!(0)), "without it all is new");
}

#[test]
fn a_login_that_fails_within_the_time_is_reported_with_its_cause() {
    let server = Server::start();
    let at = server.address.to_string();
    let wrong = |at: &str| {
        let args = ["device", "sim", "--mesin", "7", "--outlet", "3", "--secret", "salah", "--wait", "1", "--server", at];
        Said::from(nyala().args(args).output().unwrap())
    };
    let told = wrong(&at);
    assert!(told.out.contains("devices  0 of 1 connected") && told.out.contains("logins refused"), "{told:?}");
    told.refused("after 1 s 0 of 1 devices are connected; the last one was lost: login refused: wrong user or password");
    // No server listens at this address any more.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    wrong(&free).refused("the last one was lost: connection refused");
}

#[test]
fn lines_of_json_are_keys_too() {
    let server = Server::start();
    let key = |id: i64| {
        let at = (server.address.ip().to_string(), server.address.port());
        json!({"user": id.to_string(), "secret": SECRET, "host": at.0, "port": at.1, "idoutlet": 3, "idmesin": id, "ca": null})
    };
    let keys = Keys::write(&format!("{}\n{}\n", key(1), key(7)));
    let _sim = Sim::start(&["--keys", keys.path(), "--mesin", "7"]);
    server.let_in();
}

#[actix_web::test]
async fn a_server_at_an_address_of_ipv6_is_known_by_its_certificate() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        // Written directly, because the test runner hides the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no IPv6 here, so no device connects by it");
        return;
    }
    let over_ipv6 = |c: &mut ServerSettings| (c.mqtt.host, c.mqtt.tls) = ("::1".to_owned(), true);
    let app = Setup::new().with(over_ipv6).running_clock().start().await;
    let given = app.given(app.outlet("Melati").await, "Cuci 1").await;
    let ca = Keys::write(app.state.mqtt.authority().unwrap().pem());
    let (id, outlet, at) = (given.idmesin.to_string(), given.idoutlet.to_string(), format!("[::1]:{}", given.port));
    let args = ["--mesin", &id, "--outlet", &outlet, "--secret", &given.secret, "--server", &at, "--ca", ca.path()];
    let _sim = Sim::start(&args);
    app.until_stored(given.idmesin.get(), "online", true).await;
}

#[test]
fn invalid_arguments_are_reported() {
    let server = Server::start();
    let good = Keys::of(1..=3, &server);
    let row = |rest: &str| Keys::write(&format!("user,secret,host,port,idoutlet,idmesin,ca\n{rest}"));
    let (tls, twice) = (row("1,s,127.0.0.1,1883,3,1,PEM\n"), row("1,s,h,1883,3,1,\n1,t,h,1883,3,1,\n"));
    let (two, none, text) = (row("1,s,h,1883,3,1,\n2,t,g,1883,3,2,\n"), row(""), Keys::write("halo\nhalo\n"));
    let folder = std::env::temp_dir().display().to_string();
    for (args, why) in [
        (vec!["--keys", tls.path()], "no certificate to trust: there is none"),
        (vec!["--keys", twice.path()], "machine 1 has two keys"),
        (vec!["--keys", two.path()], "for more than one server (g:1883, h:1883); name one with --server"),
        (vec!["--keys", none.path()], "has no keys"),
        (vec!["--keys", text.path()], "is not what `nyala device add` writes"),
        (vec!["--keys", "/tidak/ada.csv"], "/tidak/ada.csv: No such file"),
        (vec!["--keys", good.path(), "--mesin", "9-12"], "there is no key of a machine of --mesin 9-12"),
        (vec!["--keys", good.path(), "--fault", "late:9"], "no device has the number 9"),
        (vec!["--keys", good.path(), "--server", "127.0.0.1"], "127.0.0.1 is no server's HOST:PORT"),
        (vec!["--keys", good.path(), "--journal", &folder], "the journal "),
        (vec!["--keys", good.path(), "--control", &server.address.to_string()], "the control port "),
        (vec!["--secret", "s", "--outlet", "3"], "--secret is one machine's: name it with --mesin"),
    ] {
        Said::from(nyala().args(["device", "sim"]).args(&args).output().unwrap()).refused(why);
    }
    for (args, why) in [
        (vec![], "required arguments were not provided"),
        (vec!["--demo", "--secret", "s", "--outlet", "3"], "cannot be used with"),
        (vec!["--keys", good.path(), "--demo"], "cannot be used with"),
        (vec!["--secret", "s", "--mesin", "7"], "--outlet <ID>"),
        (vec!["--demo", "--mesin", "5-3"], "\"5-3\" is no machines: 7, 1-10000"),
        (vec!["--demo", "--fault", "dance"], "\"dance\" is no fault: refuse, silent"),
        (vec!["--demo", "--fault", "flap:200%"], "\"200%\" is not from 0% to 100%"),
        (vec!["--demo", "--control", "9300"], "\"9300\" is no address and port"),
        (vec!["--demo", "--control", "0.0.0.0:9300"], "0.0.0.0:9300 is not on loopback"),
        (vec!["--demo", "--hb", "0"], "0 is not in 1..=3600"),
        (vec!["--demo", "--wait", "x"], "invalid value 'x'"),
        (vec!["--demo", "--seed", "x"], "invalid value 'x' for '--seed"),
    ] {
        let told = Said::from(nyala().args(["device", "sim"]).args(&args).output().unwrap());
        assert!(told.code == 2 && told.err.contains(why), "{args:?}: {told:?}");
    }
}

#[test]
fn the_control_port_takes_one_line_orders_from_few_clients() {
    let server = Server::start();
    let mut sim = Sim::one(&server, &[]);
    for (order, why) in [
        ("dance", "fault WHO KIND, heal WHO [KIND], cut WHO, come-back WHO, stats, run ID, quit; WHO is"),
        ("", "fault WHO KIND"),
        ("fault 7", "fault WHO KIND"),
        ("fault 7 dance", "\"dance\" is no fault: refuse"),
        ("cut 8-9", "no device has the number 8-9"),
        ("run 8", "no device has the number 8"),
        ("run seven", "\"seven\" is no machine's number"),
    ] {
        let answer = sim.ask(order);
        assert!(answer["error"].as_str().is_some_and(|error| error.starts_with(why)), "{order}: {answer}");
    }
    let address = sim.control.as_ref().unwrap().0.peer_addr().unwrap();
    let others: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(address).unwrap()).collect();
    let closed = |stream: &TcpStream| {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        std::io::Read::read(&mut &*stream, &mut [0; 1]).map_or(true, |n| n == 0)
    };
    assert!(closed(&others[7]), "it is the ninth");
    (&others[0]).write_all(&[b'x'; 2_000]).unwrap();
    assert!(closed(&others[0]), "a line has an end");
    (&others[1]).write_all(&b"stats\n".repeat(2_000)).unwrap();
    others[1].set_read_timeout(Some(PATIENCE)).unwrap();
    let mut said = Vec::new();
    let _ = std::io::Read::read_to_end(&mut &others[1], &mut said);
    assert!(said.iter().filter(|b| **b == b'\n').count() < 2_000, "and so has what is asked without listening");
    sim.does("heal all");
}

#[actix_web::test]
async fn a_customer_washes_with_one() {
    let app = Setup::new().running_clock().start().await;
    let (shop, given, siti, epay) = app.device_shop(600).await;
    let (id, outlet, at) = (given.idmesin.to_string(), given.idoutlet.to_string(), format!("127.0.0.1:{}", given.port));
    let args = ["--mesin", &id, "--outlet", &outlet, "--secret", &given.secret, "--server", &at];
    let mut sim = Sim::start(&args);
    app.until_stored(given.idmesin.get(), "online", true).await;
    let order = buy(1, shop, epay);
    app.buy(&siti, &order).boxed_local().await.expect(200, "Mesin Berhasil dinyalakan");
    let told = sim.ask(&format!("run {id}"));
    assert_eq!((&told["starts"], &told["run"]["sisa_s"]), (&json!(1), &json!(600)));
    // The device loses its power for a moment, and the server learns of it from its first state report.
    sim.does(&format!("fault {id} reboot"));
    sim.does(&format!("heal {id}"));
    sim.until(|stats| stats["starts"]["went_on"] == 1 && stats["connected"] == 1);
    assert_eq!(app.states(&order.receipt).await, ["RUNNING"]);
    app.assert_no_violation().await;
}
