//! The program `nyala-device-sim`, connected to a server that the test controls.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where an expectation fails")]

mod faults;
mod server;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use uuid::Uuid;

use self::server::{Received, SECRET, Server};

/// How long a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server's clock, which is stopped. The commands' `exp` is an hour later.
const NOW_MS: i64 = 1_800_000_000_000;
const NIL: Uuid = Uuid::nil();

/// The program with its arguments, not yet run. Nothing of the caller's environment is a setting of it.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nyala-device-sim"));
    command.args(args);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("NYALA__")) {
        command.env_remove(name);
    }
    command
}

/// Output of the program when it ends by itself.
fn output(args: &[&str]) -> Output {
    program(args).output().unwrap()
}

/// Asserts exit code 1 and one line on standard error that contains `reason`.
#[track_caller]
fn assert_refused(output: &Output, reason: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.starts_with("nyala-device-sim: ") && error.contains(reason), "{error}");
}

/// The running program, killed when the test ends.
struct Program {
    child: Child,
    out: Receiver<String>,
    control: Option<(TcpStream, BufReader<TcpStream>)>,
}

impl Program {
    /// Starts the program and connects to its control port.
    fn start(args: &[&str]) -> Self {
        let mut program = Self::start_alone(&[args, &["--control", "127.0.0.1:0"]].concat());
        let stream = TcpStream::connect(program.line()["control"].as_str().unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        program.control = Some((stream.try_clone().unwrap(), BufReader::new(stream)));
        program
    }

    fn start_alone(args: &[&str]) -> Self {
        let mut child = program(args).stdout(Stdio::piped()).spawn().unwrap();
        let (lines_in, out) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| lines_in.send(line)));
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

    fn order(&mut self, order: &str) {
        let answer = self.ask(order);
        assert_eq!(answer["ok"], true, "{order}: {answer}");
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Waits for its end, and returns the exit code and its last output.
    fn wait_for_end(&mut self) -> (Option<i32>, String) {
        let rest: Vec<String> = self.out.iter().collect();
        (self.child.wait().unwrap().code(), rest.join("\n"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A logged-in device.
struct LoggedIn<'a> {
    server: &'a Server,
    connection: usize,
    boot_id: Value,
    state: Value,
}

impl Server {
    /// Lets a device log in, subscribe and report its state. Connections that close during this are ignored.
    fn log_in(&self) -> LoggedIn<'_> {
        let next = || loop {
            match self.next() {
                Received::Closed { .. } => {}
                received => break received,
            }
        };
        let Received::LogIn { connection, user, client, will } = next() else { panic!("a login") };
        assert_eq!((user.as_str(), client.as_str()), ("7", "nyala-7"));
        assert_eq!(next(), Received::Subscribed { connection, topic: "nyala/v1/3/7/cmd".to_owned() });
        let Received::DeviceMessage { connection: of, topic, message: state, retain } = next() else { panic!("a state") };
        assert_eq!((of, topic.as_str(), retain), (connection, "nyala/v1/3/7/state", true));
        assert_eq!(will, json!({"online": false, "boot_id": state["boot_id"], "conn": state["conn"]}));
        LoggedIn { server: self, connection, boot_id: state["boot_id"].clone(), state }
    }
}

impl LoggedIn<'_> {
    fn send(&self, op: &str, cmd_id: Uuid, epoch: i64) {
        self.server.send(self.connection, &self.cmd(op, cmd_id, epoch));
    }

    /// A command with the `echo` of the device's last state report.
    fn cmd(&self, op: &str, cmd_id: Uuid, epoch: i64) -> Value {
        let exp = NOW_MS / 1000 + 3_600;
        json!({
            "cmd_id": cmd_id, "epoch": epoch, "op": op, "durasi_s": 600, "exp": exp, "now_ms": NOW_MS, "echo": self.state["up_ms"],
        })
    }

    /// The next message: the last part of its topic, and its content. A state report is stored.
    fn message(&mut self) -> (String, Value) {
        match self.server.next() {
            Received::DeviceMessage { topic, message, .. } => {
                let last = topic.rsplit('/').next().unwrap().to_owned();
                if last == "state" {
                    self.state = message.clone();
                }
                (last, message)
            }
            other => panic!("a message: {other:?}"),
        }
    }

    /// The next ack, which only state reports may precede.
    fn ack(&mut self) -> (Value, Value) {
        loop {
            let (topic, message) = self.message();
            if topic == "ack" {
                return (message["cmd_id"].clone(), message["result"].clone());
            }
            assert_eq!(topic, "state");
        }
    }

    fn probe(&mut self) {
        self.send("query", NIL, 0);
        assert_eq!(self.message().0, "state");
    }

    /// Starts the device. A device that received the time too late is asked again.
    fn starts(&mut self) -> Uuid {
        for epoch in 1..=5 {
            let cmd_id = Uuid::new_v4();
            self.send("start", cmd_id, epoch);
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
    let mut program = Program::one(&server, &["--hb", "1"]);
    let mut device = server.log_in();
    assert_eq!(program.line(), json!({"ready": 1}));
    let state = device.state.clone();
    assert_eq!(
        (&state["online"], &state["conn"], &state["run"], &state["last"]),
        (&json!(true), &json!(1), &Value::Null, &Value::Null)
    );
    assert_eq!((&state["hw"], &state["epoch"]), (&json!("nyala device sim"), &json!(0)));
    let heartbeat = device.message();
    assert_eq!((heartbeat.0.as_str(), &heartbeat.1["boot_id"], &heartbeat.1["seq"]), ("hb", &device.boot_id, &json!(2)));
    drop(program);

    let server = Server::start();
    program = Program::one(&server, &[]);
    let mut device = server.log_in();
    device.server.send_retained(device.connection, &device.cmd("start", Uuid::new_v4(), 9));
    device.server.send(device.connection, &json!({"op": "start"}));
    let cmd_id = device.starts();
    assert_eq!(device.state["run"], json!({"cmd_id": cmd_id, "sisa_s": 600}));
    let run = program.ask("run 7");
    assert_eq!((&run["connected"], &run["starts"], &run["run"]["cmd_id"]), (&json!(true), &json!(1), &json!(cmd_id)));
    device.send("start", cmd_id, 0);
    assert_eq!(device.message().1["result"], "started", "and no state: nothing is new");
    device.send("stop", cmd_id, 0);
    assert_eq!((device.ack().1, &device.state["run"]), (json!("done"), &Value::Null));
    assert_eq!(program.ask("run 7")["run"], Value::Null);

    let stats = program.ask("stats");
    assert_eq!((&stats["connected"], &stats["devices"], &stats["starts"]["run"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!((&stats["cmds"]["ignored"], &stats["cmds"]["stop"], &stats["lost"]), (&json!(2), &json!(1), &json!(0)), "{stats}");
    assert_eq!(program.line(), json!({"ready": 1}));
    program.signal(Signal::SIGINT);
    let (code, summary) = program.wait_for_end();
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
    let mut program = Program::start(&["--keys", keys.path(), "--mesin", "11-30", "--seed", "1"]);
    assert_eq!(program.line(), json!({"ready": 20}));
    assert_eq!(program.ask("cut 11-15"), json!({"ok": true, "devices": 5}));
    let back = program.line();
    assert_eq!((&back["back"], &back["over"]), (&json!(5), &json!(true)), "{back}");
    assert!(back["max_ms"].as_i64() >= back["p99_ms"].as_i64(), "{back}");
    // The server closes all connections, and accepts new ones.
    server.close();
    assert_eq!(program.line()["back"], 20);
    let stats = program.ask("stats");
    assert_eq!((&stats["connected"], &stats["reconnects"], &stats["lost"]), (&json!(20), &json!(25), &json!(25)), "{stats}");
    assert_eq!(program.ask("quit"), json!({"ok": true}));
    let (code, summary) = program.wait_for_end();
    assert!(code == Some(0) && summary.contains("\noutage   20 back; all: "), "{summary}");
}

#[test]
fn a_devices_memory_survives_in_a_journal() {
    let server = Server::start();
    let journal = Keys::write("");
    let args = ["--journal", journal.path()];
    let mut program = Program::one(&server, &args);
    let mut before = server.log_in();
    let cmd_id = before.starts();
    program.signal(Signal::SIGKILL);
    assert_eq!(program.wait_for_end().0, None);
    let program = Program::one(&server, &args);
    let after = server.log_in();
    assert_ne!(after.boot_id, before.boot_id);
    assert_eq!((&after.state["run"]["cmd_id"], &after.state["conn"]), (&json!(cmd_id), &json!(1)));
    drop(program);
    let _sim = Program::one(&server, &[]);
    let other = server.log_in();
    assert_eq!((&other.state["run"], &other.state["epoch"]), (&Value::Null, &json!(0)), "without it all is new");
}

#[test]
fn a_login_that_fails_within_the_time_is_reported_with_its_cause() {
    let server = Server::start();
    let at = server.address.to_string();
    let wrong = |at: &str| {
        let args = ["--mesin", "7", "--outlet", "3", "--secret", "salah", "--wait", "1", "--server", at];
        output(&args)
    };
    let failed = wrong(&at);
    let summary = String::from_utf8_lossy(&failed.stdout);
    assert!(summary.contains("devices  0 of 1 connected") && summary.contains("logins refused"), "{summary}");
    assert_refused(
        &failed,
        "after 1 s 0 of 1 devices are connected; the last one was lost: login refused: wrong user or password",
    );
    // No server listens at this address any more.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    assert_refused(&wrong(&free), "the last one was lost: connection refused");
}

#[test]
fn lines_of_json_are_keys_too() {
    let server = Server::start();
    let key = |id: i64| {
        let at = (server.address.ip().to_string(), server.address.port());
        json!({"user": id.to_string(), "secret": SECRET, "host": at.0, "port": at.1, "idoutlet": 3, "idmesin": id, "ca": null})
    };
    let keys = Keys::write(&format!("{}\n{}\n", key(1), key(7)));
    let _sim = Program::start(&["--keys", keys.path(), "--mesin", "7"]);
    server.log_in();
}

#[test]
fn invalid_arguments_are_reported() {
    let server = Server::start();
    let good = Keys::of(1..=3, &server);
    let row = |rest: &str| Keys::write(&format!("user,secret,host,port,idoutlet,idmesin,ca\n{rest}"));
    let (tls, twice) = (row("1,s,127.0.0.1,1883,3,1,PEM\n"), row("1,s,h,1883,3,1,\n1,t,h,1883,3,1,\n"));
    let (two, none, text) = (row("1,s,h,1883,3,1,\n2,t,g,1883,3,2,\n"), row(""), Keys::write("halo\nhalo\n"));
    let folder = std::env::temp_dir().display().to_string();
    for (args, reason) in [
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
        assert_refused(&output(&args), reason);
    }
    for (args, reason) in [
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
        let failed = output(&args);
        let error = String::from_utf8_lossy(&failed.stderr);
        assert!(failed.status.code() == Some(2) && error.contains(reason), "{args:?}: {error}");
    }
}

#[test]
fn the_control_port_takes_one_line_orders_from_few_clients() {
    let server = Server::start();
    let mut program = Program::one(&server, &[]);
    for (order, reason) in [
        ("dance", "fault WHO KIND, heal WHO [KIND], cut WHO, come-back WHO, stats, run ID, quit; WHO is"),
        ("", "fault WHO KIND"),
        ("fault 7", "fault WHO KIND"),
        ("fault 7 dance", "\"dance\" is no fault: refuse"),
        ("cut 8-9", "no device has the number 8-9"),
        ("run 8", "no device has the number 8"),
        ("run seven", "\"seven\" is no machine's number"),
    ] {
        let answer = program.ask(order);
        assert!(answer["error"].as_str().is_some_and(|error| error.starts_with(reason)), "{order}: {answer}");
    }
    let address = program.control.as_ref().unwrap().0.peer_addr().unwrap();
    let others: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(address).unwrap()).collect();
    let closed = |stream: &TcpStream| {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        std::io::Read::read(&mut &*stream, &mut [0; 1]).map_or(true, |n| n == 0)
    };
    assert!(closed(&others[7]), "it is the ninth");
    (&others[0]).write_all(&[b'x'; 2_000]).unwrap();
    assert!(closed(&others[0]), "a line is too long");
    (&others[1]).write_all(&b"stats\n".repeat(2_000)).unwrap();
    others[1].set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answers = Vec::new();
    let _ = std::io::Read::read_to_end(&mut &others[1], &mut answers);
    assert!(answers.iter().filter(|b| **b == b'\n').count() < 2_000, "and a client that reads no answers is cut off");
    program.order("heal all");
}
